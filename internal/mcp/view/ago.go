package view

import (
	"fmt"
	"time"
)

// Ago is how long ago something was, for a person: "3 minutes ago".
func Ago(d time.Duration) string {
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		if n := int(d / u.size); n > 0 {
			if n > 1 {
				u.name += "s"
			}
			return fmt.Sprintf("%d %s ago", n, u.name)
		}
	}
	return "just now"
}

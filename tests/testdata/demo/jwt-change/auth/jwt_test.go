package auth

import (
	"testing"
	"time"
)

func TestExpired(t *testing.T) {
	now := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
	for expiresAt, want := range map[string]bool{
		"2026-03-04 10:00:01": false,
		"2026-03-04 09:59:45": false, // within the leeway
		"2026-03-04 09:59:00": true,
	} {
		if got, err := Expired(expiresAt, now); got != want || err != nil {
			t.Errorf("%s: %v, %v", expiresAt, got, err)
		}
	}
}

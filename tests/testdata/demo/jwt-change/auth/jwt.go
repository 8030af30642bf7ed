// Package auth checks the tokens of the API.
package auth

import (
	"errors"
	"time"
)

// ErrTokenExpired is a token whose time is over.
var ErrTokenExpired = errors.New("token expired")

// leeway is how far the clocks of two servers may differ.
const leeway = 30 * time.Second

// Expired reports whether a token's expires_at, which is in UTC, lies before now.
func Expired(expiresAt string, now time.Time) (bool, error) {
	t, err := time.ParseInLocation(time.DateTime, expiresAt, time.UTC)
	if err != nil {
		return false, err
	}
	return now.After(t.Add(leeway)), nil
}

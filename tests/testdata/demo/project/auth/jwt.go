// Package auth checks the tokens of the API.
package auth

import (
	"errors"
	"time"
)

// ErrTokenExpired is a token whose time is over.
var ErrTokenExpired = errors.New("token expired")

// Expired reports whether a token's expires_at lies before now.
func Expired(expiresAt string, now time.Time) (bool, error) {
	t, err := time.ParseInLocation(time.DateTime, expiresAt, time.Local)
	if err != nil {
		return false, err
	}
	return now.After(t), nil
}

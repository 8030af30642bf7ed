package session_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func TestMinutesInWords(t *testing.T) {
	for minutes, want := range map[int]string{
		0: "0 minutes", 1: "1 minute", 89: "89 minutes", 90: "2 hours", 301: "5 hours", 2159: "36 hours", 2160: "2 days",
		5784: "4 days",
	} {
		harness.Equal(t, "in words", want, session.MinutesInWords(minutes))
	}
}

package result_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/result"
)

func TestRounded(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 9999: "9999", 10_000: "10.0k", 399_402: "399.4k", 18_199_135: "18.2M",
		3_970_000_000: "4.0G",
	} {
		if got := result.RoundTokens(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestTokensString(t *testing.T) {
	if got, want := (result.Tokens{Input: 100_000, CacheWrite: 14_880, Output: 399_402, CacheRead: 397_041_819}).String(),
		"114.9k in, 399.4k out, 397.0M from caches"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

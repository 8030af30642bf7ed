package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// ErrDate is text that git does not take for a date.
var ErrDate = errors.New("not a date")

// Date reads a date as git does: "yesterday", "3 days ago", "2026-02-01 14:00", a Unix time. A
// day without a time means its end. It returns ErrDate for anything else, also for words that
// git would skip without a sound.
func (r *Repo) Date(ctx context.Context, text string) (time.Time, error) {
	spec, ok := plainDate(text)
	if !ok {
		return time.Time{}, fmt.Errorf("git: %q: %w", text, ErrDate)
	}
	// The one parser of git's that is strict, and asks for neither a revision nor a reflog.
	out, _ := r.Run(ctx, "-c", "rekal.at="+spec, "config", "--type=expiry-date", "--get", "rekal.at") // where it fails it prints no number
	sec, err := strconv.ParseUint(strings.TrimSpace(out), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("git: %q: %w", text, ErrDate)
	}
	return time.Unix(int64(min(sec, endOfTime)), 0).UTC(), nil
}

// endOfTime is what git says for "now": later than everything.
const endOfTime = 1 << 40

var (
	isoDay    = lazy.Expr(`^\d{4}-\d{2}-\d{2}`)
	onlyDay   = lazy.Expr(`^\d{4}-\d{2}-\d{2}$`)
	noClock   = lazy.Expr(`(?:^|[^:\d])(?:2[5-9]|[3-9]\d):\d|:[6-9]\d`)
	position  = lazy.Expr(`^[-+]?\d{0,8}$`) // of a reflog; a Unix time has more digits
	dateWords = lazy.Expr(`[A-Za-z]+`)
)

// plainDate is a text for git, which takes anything with a digit for some date.
func plainDate(text string) (spec string, ok bool) {
	text = strings.TrimSpace(text)
	if position.MatchString(text) || noClock.MatchString(text) || strings.ContainsFunc(text, isControl) {
		return "", false
	}
	for _, w := range dateWords.FindAllString(text, -1) {
		if !isDateWord(strings.ToLower(w)) {
			return "", false
		}
	}
	if day := isoDay.FindString(text); day != "" {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return "", false
		}
	}
	if onlyDay.MatchString(text) {
		text += " 23:59:59"
	}
	return text, true
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// isDateWord knows git's words, those for months, weekdays and units by their first three
// letters.
func isDateWord(w string) bool {
	for _, list := range []string{
		"january february march april may june july august september october november december",
		"monday tuesday wednesday thursday friday saturday sunday",
		"seconds minutes hours days weeks months years",
	} {
		if slices.ContainsFunc(strings.Fields(list), func(long string) bool {
			return w == long || len(w) >= 3 && strings.HasPrefix(long, w)
		}) {
			return true
		}
	}
	return slices.Contains(strings.Fields("now yesterday noon midnight tea am pm last ago "+
		"one two three four five six seven eight nine ten t z utc gmt"), w)
}

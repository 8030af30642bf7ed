package question

import (
	"strconv"
	"time"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// parseWritten reads what programs write, git log among them; of seconds since 1970 those with ten digits, as shorter
// ones may be a day or a commit.
func parseWritten(text string, zone *time.Location) (time.Time, bool) {
	if sec, err := strconv.ParseInt(text, 10, 64); err == nil && len(text) == 10 && sec > 0 {
		return time.Unix(sec, 0).In(zone), true
	}
	for _, form := range []string{
		time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05 -0700", "Mon Jan 2 15:04:05 2006 -0700",
		time.RFC1123Z,
	} {
		if t, err := time.ParseInLocation(form, text, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// instant reads "now", "2 hours ago", and a time of a day: "yesterday 14:30", "noon yesterday", "5pm".
func (r reader) instant() (time.Time, bool) {
	last := len(r.words) - 1
	if last == 0 && r.wordAt(0) == "now" {
		return r.Now, true
	}
	if n, used := r.count(0); used > 0 && used+1 == last && r.wordAt(last) == "ago" && isShort(unitOf(r.wordAt(used))) {
		return r.unitsAgo(unitOf(r.wordAt(used)), n), true
	}
	for _, at := range []int{last, 0} {
		h, m, s, ok := timeOfDay(r.wordAt(at))
		if !ok {
			continue
		}
		day, n := r.dayFromToday(0), 0
		if rest := (reader{r.Clock, append(r.words[:at:at], r.words[at+1:]...)}); last > 0 {
			if day, n = rest.moment(0, true); n < last || !day.Since.AddDate(0, 0, 1).Equal(day.Until) {
				continue
			}
		}
		y, month, d := day.Since.Date()
		return time.Date(y, month, d, h, m, s, 0, r.Now.Location()), true
	}
	return time.Time{}, false
}

var clockTime = lazy.Expr(`^(\d{1,2})(?::(\d\d)(?::(\d\d))?)?(am|pm)?$`)

// timeOfDay reads "14:30", "14:30:05", "5pm", "noon" and "midnight".
func timeOfDay(w string) (h, m, s int, ok bool) {
	switch w {
	case "noon":
		return 12, 0, 0, true
	case "midnight":
		return 0, 0, 0, true
	}
	part := clockTime.FindStringSubmatch(w)
	if part == nil || part[2]+part[4] == "" {
		return 0, 0, 0, false
	}
	h, _ = strconv.Atoi(part[1])
	m, _ = strconv.Atoi(part[2])
	s, _ = strconv.Atoi(part[3])
	if half := part[4]; half != "" {
		if h == 0 || h > 12 {
			return 0, 0, 0, false
		}
		if h %= 12; half == "pm" {
			h += 12
		}
	}
	return h, m, s, h < 24 && m < 60 && s < 60
}

package question

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// reader reads spans of time at places of a text.
type reader struct {
	Clock
	words []word
}

// wordAt is the text of a word; "" behind the end, and for what is cited.
func (r reader) wordAt(i int) string {
	if i < 0 || i >= len(r.words) || r.words[i].quoted {
		return ""
	}
	return r.words[i].text
}

// span reads what begins at a word, with what leads to it: "since Monday", "between 3 and 5 March". It returns how many
// words that are, 0 for no time that has come.
func (r reader) span(i int) (Span, int) {
	if prev := r.wordAt(i - 1); prev == "every" || prev == "each" || prev == "per" || prev == "next" {
		return Span{}, 0
	}
	s, n := r.afterPreposition(i)
	if n == 0 || s.empty() || s.Since.After(r.Now) {
		return Span{}, 0
	}
	return s, n
}

// isStrict reports whether the time that begins at a word bounds the answer. A date bounds it only behind a word that
// says so: people tell in October of September. What is relative to today does, always.
func (r reader) isStrict(i int) bool {
	switch r.wordAt(i) {
	case "since", "after", "starting", "before", "until", "till", "between", "from", "on", "in":
		return true
	case "during", "over", "within", "of", "around", "at":
		i++
	}
	if r.wordAt(i) == "the" {
		i++
	}
	_, n := r.date(i, true)
	return n == 0
}

func (r reader) afterPreposition(i int) (Span, int) {
	switch lead := r.wordAt(i); lead {
	case "since", "after", "starting", "before", "until", "till":
		s, n := r.momentOrRelease(i + 1)
		switch {
		case n == 0:
			return Span{}, 0
		case lead == "before":
			return Span{Until: s.Since}, 1 + n
		case lead == "until" || lead == "till":
			return Span{Until: s.Until}, 1 + n
		case lead == "after" && !s.Until.IsZero():
			return Span{Since: s.Until}, 1 + n
		}
		return Span{Since: s.Since}, 1 + n
	case "between", "from":
		return r.range_(i+1, lead)
	case "on", "in", "during", "over", "within", "of", "around", "at":
		if s, n := r.moment(i+1, true); n > 0 {
			return s, 1 + n
		}
		return Span{}, 0
	}
	return r.moment(i, false)
}

// range_ reads "Monday and Wednesday", "3 and 5 March", "v1.0 to v1.1".
func (r reader) range_(i int, lead string) (Span, int) {
	from, n := r.momentOrRelease(i)
	day, short := -1, false
	if n == 0 {
		day, short = number(r.wordAt(i))
		if n = 1; !short {
			return Span{}, 0
		}
	}
	switch and := r.wordAt(i + n); {
	case lead == "between" && and == "and", lead == "from" && (and == "to" || and == "until" || and == "till"):
		to, m := r.momentOrRelease(i + n + 1)
		if m == 0 {
			return Span{}, 0
		}
		if short {
			from.Since = r.midnight(to.Since.Year(), to.Since.Month(), day)
		}
		if to.Until.IsZero() {
			to.Until = to.Since
		}
		return Span{from.Since, to.Until}, 1 + n + 1 + m
	case lead == "from" && !short:
		return from, 1 + n
	}
	return Span{}, 0
}

// momentOrRelease reads a time or a release, to which something leads.
func (r reader) momentOrRelease(i int) (Span, int) {
	if s, n := r.moment(i, true); n > 0 && !s.empty() {
		return s, n
	}
	return r.release(i)
}

// moment reads a time without a word that leads to it. hasPreposition says that one did: then the name of a month alone
// is one, or a year.
func (r reader) moment(i int, hasPreposition bool) (Span, int) {
	if r.wordAt(i) == "the" {
		if s, n := r.moment(i+1, hasPreposition); n > 0 {
			return s, 1 + n
		}
		return Span{}, 0
	}
	for _, read := range []func(int, bool) (Span, int){r.relative, r.ago, r.weekday, r.date} {
		if s, n := read(i, hasPreposition); n > 0 {
			return s, n
		}
	}
	return Span{}, 0
}

// dayFromToday is a day of the calendar, n days from today.
func (r reader) dayFromToday(n int) Span {
	y, m, d := r.Now.Date()
	return Span{r.midnight(y, m, d+n), r.midnight(y, m, d+n+1)}
}

// midnight is when a day begins.
func (r reader) midnight(y int, m time.Month, d int) time.Time {
	return time.Date(y, m, d, 0, 0, 0, 0, r.Now.Location())
}

// hours is part of a day, from one hour to another.
func (s Span) hours(from, to int) Span {
	y, m, d := s.Since.Date()
	at := func(h int) time.Time { return time.Date(y, m, d, h, 0, 0, 0, s.Since.Location()) }
	return Span{at(from), at(to)}
}

// relative reads "today", "yesterday evening", "this week", "last month", "the past 3 days".
func (r reader) relative(i int, _ bool) (Span, int) {
	switch w := r.wordAt(i); w {
	case "today":
		return r.dayFromToday(0), 1
	case "tonight":
		return r.dayFromToday(0).hours(18, 30), 1
	case "yesterday":
		s, n := r.partOfDay(r.dayFromToday(-1), i+1)
		return s, 1 + n
	case "day":
		if r.wordAt(i+1) == "before" && r.wordAt(i+2) == "yesterday" {
			return r.dayFromToday(-2), 3
		}
	case "this", "last", "past", "previous", "current":
		return r.thisOrLastUnit(i+1, w)
	}
	return Span{}, 0
}

// partOfDay reads a part of a day ("morning"); without one it is the whole day.
func (r reader) partOfDay(day Span, i int) (Span, int) {
	hours, ok := map[string][2]int{
		"morning": {0, 12}, "noon": {11, 14}, "afternoon": {12, 18}, "evening": {17, 24},
		"night": {18, 30},
	}[r.wordAt(i)]
	if !ok {
		return day, 0
	}
	return day.hours(hours[0], hours[1]), 1
}

// thisOrLastUnit reads what stands behind "this", "last" and the like.
func (r reader) thisOrLastUnit(i int, which string) (Span, int) {
	if n, used := r.count(i); used > 0 && which != "this" && which != "current" {
		if u := unitOf(r.wordAt(i + used)); u != "" {
			return Span{Since: r.unitsAgo(u, n), Until: r.Now.Add(time.Second)}, 1 + used + 1
		}
		return Span{}, 0
	}
	now, u := which == "this" || which == "current", unitOf(r.wordAt(i))
	switch {
	case r.wordAt(i) == "night" && which == "last":
		return r.dayFromToday(-1).hours(18, 30), 2
	case now && u == "":
		if s, n := r.partOfDay(r.dayFromToday(0), i); n > 0 {
			return s, 2
		}
	case u == "" || strings.HasSuffix(r.wordAt(i), "s"): // "the last days" have no number
	case u == "second" || u == "minute":
	case now:
		return r.calendarUnit(u, 0), 2
	case which == "past", u == "hour":
		return Span{Since: r.unitsAgo(u, 1), Until: r.Now.Add(time.Second)}, 2
	default:
		return r.calendarUnit(u, -1), 2
	}
	return Span{}, 0
}

// ago reads "3 days ago", "a couple of weeks ago".
func (r reader) ago(i int, _ bool) (Span, int) {
	n, used := r.count(i)
	u := unitOf(r.wordAt(i + used))
	if used == 0 || u == "" || r.wordAt(i+used+1) != "ago" {
		return Span{}, 0
	}
	if isShort(u) { // about then
		d := r.Now.Sub(r.unitsAgo(u, n))
		return Span{r.Now.Add(-d * 3 / 2), r.Now.Add(-d / 2)}, used + 2
	}
	return r.calendarUnit(u, -n), used + 2
}

// isShort reports whether a unit is shorter than a day.
func isShort(unit string) bool { return unit == "second" || unit == "minute" || unit == "hour" }

// count reads a number in digits or words, and how many words it is.
func (r reader) count(i int) (n, used int) {
	switch w := r.wordAt(i); w {
	case "a", "an":
		if r.wordAt(i+1) == "couple" || r.wordAt(i+1) == "few" {
			n, used := r.count(i + 1)
			return n, used + 1
		}
		return 1, 1
	case "couple":
		if r.wordAt(i+1) == "of" {
			return 2, 2
		}
		return 2, 1
	case "few":
		return 3, 1
	default:
		if n := slices.Index(strings.Fields("zero one two three four five six seven eight nine ten eleven twelve"),
			w); n >= 0 {
			return n, 1
		}
		if n, ok := number(w); ok {
			return n, 1
		}
	}
	return 0, 0
}

func number(w string) (int, bool) {
	n, err := strconv.Atoi(w)
	return n, err == nil && n > 0 && n <= 9999 && w[0] != '+'
}

func unitOf(w string) string {
	switch w = strings.TrimSuffix(w, "s"); w {
	case "second", "minute", "hour", "day", "week", "month", "quarter", "year":
		return w
	}
	return ""
}

// unitsAgo is n units before now; of days and longer, the beginning of that day.
func (r reader) unitsAgo(unit string, n int) time.Time {
	if clock := map[string]time.Duration{
		"second": time.Second, "minute": time.Minute,
		"hour": time.Hour,
	}[unit]; clock > 0 {
		return r.Now.Add(-time.Duration(n) * clock)
	}
	y, m, d := r.Now.Date()
	switch unit {
	case "day":
		d -= n
	case "week":
		d -= 7 * n
	case "month":
		m -= time.Month(n)
	case "quarter":
		m -= time.Month(3 * n)
	case "year":
		y -= n
	}
	return r.midnight(y, m, d)
}

// calendarUnit is the day, week (from Monday), month, quarter or year that lies n of them from the one of today.
func (r reader) calendarUnit(unit string, n int) Span {
	y, m, d := r.Now.Date()
	switch unit {
	case "week":
		monday := d - (int(r.Now.Weekday())+6)%7 + 7*n
		return Span{r.midnight(y, m, monday), r.midnight(y, m, monday+7)}
	case "month":
		return r.months(y, m+time.Month(n), 1)
	case "quarter":
		return r.months(y, m-(m-1)%3+time.Month(3*n), 3)
	case "year":
		return r.months(y+n, 1, 12)
	}
	return r.dayFromToday(n)
}

// months is the span of n months from a month on.
func (r reader) months(y int, m time.Month, n int) Span {
	return Span{r.midnight(y, m, 1), r.midnight(y, m+time.Month(n), 1)}
}

const days = "sunday monday tuesday wednesday thursday friday saturday"

// weekday reads "Friday", "last Tuesday": the last one before today, as git does.
func (r reader) weekday(i int, hasPreposition bool) (Span, int) {
	n, w := 1, r.wordAt(i)
	if w == "last" || w == "this" || w == "past" {
		w, n, hasPreposition = r.wordAt(i+1), 2, true
	}
	for number, name := range strings.Fields(days) {
		if w == name || hasPreposition && (w == name[:3] || len(w) == 4 && strings.HasPrefix(name, w)) {
			back := (int(r.Now.Weekday())-number+6)%7 + 1
			s, more := r.partOfDay(r.dayFromToday(-back), i+n)
			return s, n + more
		}
	}
	return Span{}, 0
}

var (
	isoDate  = lazy.Expr(`^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$`)
	dotted   = lazy.Expr(`^(\d{1,2})\.(\d{1,2})\.(\d{4})$`)
	monthDay = lazy.Expr(`^(\d{1,2})(?:st|nd|rd|th)?$`)
	yearForm = lazy.Expr(`^20\d\d$`)
	version  = lazy.Expr(`^v?\d+(\.\d+)+[-\w.]*$|^v\d+$`)
)

// date reads days, months and years of the calendar. Without a year it is the last one that has begun.
func (r reader) date(i int, hasPreposition bool) (Span, int) {
	w := r.wordAt(i)
	if m := isoDate.FindStringSubmatch(w); m != nil {
		return r.exactDay(m[1], m[2], m[3]), 1
	}
	if m := dotted.FindStringSubmatch(w); m != nil {
		return r.exactDay(m[3], m[2], m[1]), 1
	}
	if month, err := time.Parse("2006-01", w); err == nil && hasPreposition {
		return r.months(month.Year(), month.Month(), 1), 1
	}
	if year, err := time.Parse("2006", w); err == nil && hasPreposition && yearForm.MatchString(w) {
		return r.months(year.Year(), 1, 12), 1
	}
	if d := monthDay.FindStringSubmatch(w); d != nil { // 13 February 2026, 13th of Feb
		n := 1
		if r.wordAt(i+n) == "of" {
			n++
		}
		if m := monthOf(r.wordAt(i + n)); m > 0 && !r.words[i].stops &&
			(hasPreposition || n > 1 || d[1] != w || r.isMonthName(i+n)) {
			return r.dayOfMonth(d[1], m, i, n+1)
		}
	}
	if m := monthOf(w); m > 0 {
		// February 13, 2026
		if d := monthDay.FindStringSubmatch(r.wordAt(i + 1)); d != nil && !r.words[i].stops &&
			(hasPreposition || r.isMonthName(i)) {
			return r.dayOfMonth(d[1], m, i, 2)
		}
		if yearForm.MatchString(r.wordAt(i + 1)) {
			return r.month(r.wordAt(i+1), m), 2
		}
		if hasPreposition {
			return r.month("", m), 1
		}
	}
	if (w == "last" || w == "this") && monthOf(r.wordAt(i+1)) > 0 {
		return r.month("", monthOf(r.wordAt(i+1))), 2
	}
	return Span{}, 0
}

// isMonthName reports whether the name of a month is no verb there: "3 may fail".
func (r reader) isMonthName(i int) bool {
	w := r.words[i]
	return w.upper || w.text != "may" && w.text != "march" && w.text != "mar"
}

// dayOfMonth is a day of a month, behind whose n words a year may follow.
func (r reader) dayOfMonth(day string, m time.Month, i, n int) (Span, int) {
	month := strconv.Itoa(int(m))
	if yearForm.MatchString(r.wordAt(i + n)) {
		return r.exactDay(r.wordAt(i+n), month, day), n + 1
	}
	s := r.exactDay(strconv.Itoa(r.Now.Year()), month, day)
	if s.Since.After(r.Now) {
		s = r.exactDay(strconv.Itoa(r.Now.Year()-1), month, day)
	}
	return s, n
}

// exactDay is the span of a day; an empty span if the calendar has no such day.
func (r reader) exactDay(year, month, day string) Span {
	y, _ := strconv.Atoi(year)
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(day)
	t := r.midnight(y, time.Month(m), d)
	if t.Day() != d || int(t.Month()) != m {
		return Span{Since: r.Now, Until: r.Now}
	}
	return Span{t, t.AddDate(0, 0, 1)}
}

// month is a month of a given year; without a year, the latest month of that name that has begun.
func (r reader) month(year string, m time.Month) Span {
	y, err := strconv.Atoi(year)
	if err != nil {
		if y = r.Now.Year(); m > r.Now.Month() {
			y--
		}
	}
	return r.months(y, m, 1)
}

func monthOf(w string) time.Month {
	for i, name := range strings.Fields("january february march april may june july august september october november december") {
		if w == name || w == name[:3] || w == "sept" && i == 8 {
			return time.Month(i + 1)
		}
	}
	return 0
}

// release reads "v1.2", "the 0.5 release", "release 0.5", "the last release": the moment of a tag.
func (r reader) release(i int) (Span, int) {
	n := 0
	if r.wordAt(i) == "the" {
		n++
	}
	before := r.wordAt(i + n)
	lead := before == "release" || before == "version" || before == "tag"
	if lead {
		n++
	}
	name := r.wordAt(i + n)
	switch {
	case lead && before != "release" && name == "":
		return Span{}, 0
	case (name == "last" || name == "latest" || name == "newest") && r.wordAt(i+n+1) == "release":
		name, n = "", n+2
	case version.MatchString(name):
		if n++; !lead && r.wordAt(i+n) == "release" {
			n++
		}
	default:
		return Span{}, 0
	}
	if r.Tag == nil {
		return Span{}, 0
	}
	t, ok := r.Tag(name)
	if !ok {
		return Span{}, 0
	}
	return Span{t, t}, n
}

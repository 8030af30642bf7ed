package question_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/question"
)

var zone = time.FixedZone("here", 2*60*60)

// clock stands on a Thursday.
func clock() question.Clock {
	return question.Clock{
		Now: time.Date(2026, 3, 12, 15, 30, 0, 0, zone),
		Tag: func(name string) (time.Time, bool) {
			switch name {
			case "0.5", "v0.5":
				return time.Date(2026, 1, 20, 10, 0, 0, 0, zone), true
			case "v1.2", "":
				return time.Date(2026, 2, 20, 10, 0, 0, 0, zone), true
			}
			return time.Time{}, false
		},
	}
}

func TestSpans(t *testing.T) {
	for text, want := range map[string]string{
		"what did we do on 13 February":           "02-13 02-14|on 13 February|what did we do",
		"what did we do on February 13th?":        "02-13 02-14|on February 13th|what did we do",
		"13th of feb, JWT":                        "02-13 02-14|13th of feb|JWT",
		"JWT 2026-02-13":                          "02-13 02-14|2026-02-13|JWT",
		"JWT on 13.02.2026":                       "02-13 02-14|on 13.02.2026|JWT",
		"JWT since 2025-12":                       "2025-12-01 -|since 2025-12|JWT",
		"what happened in December":               "2025-12-01 01-01|in December|what happened",
		"what happened in march":                  "03-01 04-01|in march|what happened",
		"Feb 2026 releases":                       "02-01 03-01|Feb 2026|releases",
		"decisions in 2025":                       "2025-01-01 01-01|in 2025|decisions",
		"today":                                   "03-12 03-13|today|",
		"what broke yesterday evening":            "03-11T17:00 03-12|yesterday evening|what broke",
		"yesterday's build error":                 "03-11 03-12|yesterday's|build error",
		"the day before yesterday":                "03-10 03-11|the day before yesterday|",
		"last night's crash":                      "03-11T18:00 03-12T06:00|last night's|crash",
		"this morning":                            "03-12 03-12T12:00|this morning|",
		"what did we do last week":                "03-02 03-09|last week|what did we do",
		"this week":                               "03-09 03-16|this week|",
		"JWT in the past week":                    "03-05 03-12T15:30:01|in the past week|JWT",
		"in the last 3 days":                      "03-09 03-12T15:30:01|in the last 3 days|",
		"last two hours":                          "03-12T13:30 03-12T15:30:01|last two hours|",
		"a week ago":                              "03-02 03-09|a week ago|",
		"three days ago we chose":                 "03-09 03-10|three days ago|we chose",
		"2 months ago":                            "01-01 02-01|2 months ago|",
		"last quarter":                            "2025-10-01 01-01|last quarter|",
		"since Monday":                            "03-09 -|since Monday|",
		"what did we decide last Thursday":        "03-05 03-06|last Thursday|what did we decide",
		"on fri":                                  "03-06 03-07|on fri|",
		"since Monday until Wednesday":            "03-09 03-12|since Monday until Wednesday|",
		"between 3 and 5 March":                   "03-03 03-06|between 3 and 5 March|",
		"from Monday to Tuesday: retries":         "03-09 03-11|from Monday to Tuesday|retries",
		"JWT since v1.2":                          "02-20T10:00 -|since v1.2|JWT",
		"cache before the 0.5 release":            "- 01-20T10:00|before the 0.5 release|cache",
		"what changed since the last release":     "02-20T10:00 -|since the last release|what changed",
		"retries between v0.5 and v1.2":           "01-20T10:00 02-20T10:00|between v0.5 and v1.2|retries",
		"after yesterday":                         "03-12 -|after yesterday|",
		"before 2026-02-13, how were tokens made": "- 02-13|before 2026-02-13|how were tokens made",
	} {
		q := question.Read(text, clock())
		if got := at(q.When.Since) + " " + at(q.When.Until) + "|" + q.Read + "|" + q.Words; got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestStrict holds that a date bounds the answer only where a word says so, and what is relative to today always.
func TestStrict(t *testing.T) {
	for text, want := range map[string]bool{
		"what did we do on 13 February": true, "JWT in February": true, "JWT since 2026-02-13": true,
		"between 3 and 5 March": true, "what broke yesterday": true,
		"JWT last week": true, "three days ago we chose": true, "retries over the past week": true, "last Tuesday": true,
		"JWT":            false,
		"JWT 2026-02-13": false, "13 February, JWT": false, "Feb 2026 releases": false, "retries during February": false,
		"the crash of the 13th of February": false,
	} {
		if got := question.Read(text, clock()).Strict; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func at(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	form := "01-02"
	if t.Year() != 2026 {
		form = "2006-01-02"
	}
	if h, m, s := t.Clock(); s != 0 {
		form += "T15:04:05"
	} else if h+m != 0 {
		form += "T15:04"
	}
	return t.Format(form)
}

func TestWhatIsNoTime(t *testing.T) {
	for _, text := range []string{
		"", "JWT expiry", "a token expires in 7 days", "the job runs every Monday", "retry after 30 seconds",
		"test 3 may fail", "march through the list",
		"since v9.9 it fails", "before the refactoring", "next week", "in 2048", "on 31 February", "since 2026-02-30",
		"until 30 Feb", "tomorrow", `the "last week" filter`, "the `today` button",
		"what is 2026-99-99", "port 2025", "the second argument", "last commit", "last 2 commits", "sunset", "mon ami",
		"an hour", "between tests and code", "from A to B",
	} {
		if q := question.Read(text, clock()); q.Read != "" || q.Words != text || q.When != (question.Span{}) {
			t.Errorf("%q: %+v", text, q)
		}
	}
}

func TestTheLatest(t *testing.T) {
	for text, want := range map[string][2]bool{
		"what was I working on":               {true, true},
		"what did we do last week":            {true, false},
		"what did I do yesterday?":            {true, true},
		"last session":                        {true, false},
		"show the most recent sessions":       {true, false},
		"what changed?":                       {true, false},
		"yesterday":                           {true, false},
		"what have I been working on lately?": {true, true},
		"sessions":                            {false, false},
		"work":                                {false, false},
		"the":                                 {false, false},
		"what is it":                          {false, false},
		"what did we do about JWT last week":  {false, false},
		"last failing tests":                  {false, false},
		"I think":                             {false, false},
	} {
		q := question.Read(text, clock())
		if diff := cmp.Diff(want, [2]bool{q.Latest, q.Own}); diff != "" {
			t.Errorf("%q: -want +got\n%s", text, diff)
		}
	}
}

// TestExactly reads what flags and @{…} name: where it begins, where it ends, and its last second.
func TestExactly(t *testing.T) {
	for text, want := range map[string]string{
		"now":                            "03-12T15:30 03-12T15:30 03-12T15:30",
		"today":                          "03-12 03-13 03-12T23:59:59",
		"yesterday":                      "03-11 03-12 03-11T23:59:59",
		" Yesterday ":                    "03-11 03-12 03-11T23:59:59",
		"friday":                         "03-06 03-07 03-06T23:59:59",
		"last monday":                    "03-09 03-10 03-09T23:59:59",
		"Nov 20":                         "2025-11-20 2025-11-21 2025-11-20T23:59:59",
		"13 Feb":                         "02-13 02-14 02-13T23:59:59",
		"2026-02-13":                     "02-13 02-14 02-13T23:59:59",
		"3 days ago":                     "03-09 03-10 03-09T23:59:59",
		"3.days.ago":                     "03-09 03-10 03-09T23:59:59",
		"two weeks ago":                  "02-23 03-02 03-01T23:59:59",
		"last week":                      "03-02 03-09 03-08T23:59:59",
		"Feb 2026":                       "02-01 03-01 02-28T23:59:59",
		"2025":                           "2025-01-01 01-01 2025-12-31T23:59:59",
		"2 hours ago":                    "03-12T13:30 03-12T13:30 03-12T13:30",
		"a minute ago":                   "03-12T15:29 03-12T15:29 03-12T15:29",
		"yesterday 14:30":                "03-11T14:30 03-11T14:30 03-11T14:30",
		"noon yesterday":                 "03-11T12:00 03-11T12:00 03-11T12:00",
		"09:05":                          "03-12T09:05 03-12T09:05 03-12T09:05",
		"friday 5pm":                     "03-06T17:00 03-06T17:00 03-06T17:00",
		"12am today":                     "03-12 03-12 03-12",
		"2026-02-13 14:30":               "02-13T14:30 02-13T14:30 02-13T14:30",
		"2026-02-13 14:30:05":            "02-13T14:30:05 02-13T14:30:05 02-13T14:30:05",
		"Feb 13 2026 10:00":              "02-13T10:00 02-13T10:00 02-13T10:00",
		"2026-02-13T14:30:00Z":           "02-13T16:30 02-13T16:30 02-13T16:30",
		"2026-02-13 14:30:00 +0000":      "02-13T16:30 02-13T16:30 02-13T16:30",
		"Fri Feb 13 14:30:00 2026 +0000": "02-13T16:30 02-13T16:30 02-13T16:30",
		"1770993000":                     "02-13T16:30 02-13T16:30 02-13T16:30",
	} {
		since, ok := question.Since(text, clock())
		until, ok2 := question.Until(text, clock())
		last, ok3 := question.At(text, clock())
		if got := at(since.In(zone)) + " " + at(until.In(zone)) + " " + at(last.In(zone)); !ok || !ok2 || !ok3 ||
			got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
	for _, text := range []string{
		"", " ", "2", "-1", "12345678", "v1.2", "HEAD", "last week and so on", "30 Feb", "2026-02-30", "2026-02-30 10:00",
		"2026-13-01", "tomorrow", "never", "all", "upstream",
		"2026-02-13 dinner", "2026-02-13 25:00", "2026-02-13 10:75", "13pm", "last week 10:00", "10:00 11:00",
		"3 days ago; rm", "the release", "since yesterday",
	} {
		if got, ok := question.At(text, clock()); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		q := question.Read(text, clock())
		if len(q.Words) > len(text) {
			t.Errorf("%q: longer words: %q", text, q.Words)
		}
		if q.Read == "" && q.When != (question.Span{}) {
			t.Errorf("%q: a span that was read of nothing", text)
		}
		since, ok := question.Since(text, clock())
		if until, _ := question.Until(text, clock()); ok && (since.IsZero() || until.Before(since)) {
			t.Errorf("%q: from %v to %v", text, since, until)
		}
	})
}

package config

import (
	"strconv"
	"strings"
)

// Records are the settings of what commands printed. The zero value is the default.
type Records struct {
	Off  bool  // rekal.records=false: nothing is kept
	Deaf bool  // rekal.records.transcripts=false: nothing is made of transcripts
	Days int   // rekal.records.days: how long they are kept; 0 where nobody said
	Size int64 // rekal.records.size: how many bytes at most; 0 where nobody said
}

// read takes the settings in; fault makes the error of a value that says nothing sensible.
func (r *Records) read(value func(string) (string, bool), fault func(key, v, what string) error) []error {
	var wrong []error
	if v, ok := value("records"); ok {
		on, good := parseBool(v)
		if r.Off = !on; !good {
			wrong = append(wrong, fault("records", v, "is not a boolean"))
		}
	}
	if v, ok := value("records.transcripts"); ok {
		on, good := parseBool(v)
		if r.Deaf = !on && good; !good {
			wrong = append(wrong, fault("records.transcripts", v, "is not a boolean"))
		}
	}
	if v, ok := value("records.days"); ok {
		n, err := strconv.Atoi(v)
		if r.Days = n; err != nil || n < 1 {
			r.Days = 0
			wrong = append(wrong, fault("records.days", v, "is no number of days"))
		}
	}
	if v, ok := value("records.size"); ok {
		if r.Size, ok = parseSize(v); !ok {
			wrong = append(wrong, fault("records.size", v, "is no number of bytes, such as 64m"))
		}
	}
	return wrong
}

// parseSize takes what git takes for a number of bytes, above 0.
func parseSize(v string) (int64, bool) {
	factor, digits := int64(1), strings.ToLower(v)
	for suffix, f := range map[string]int64{"k": 1 << 10, "m": 1 << 20, "g": 1 << 30} {
		if rest, ok := strings.CutSuffix(digits, suffix); ok {
			factor, digits = f, rest
		}
	}
	n, err := strconv.ParseInt(digits, 10, 40)
	if err != nil || n < 1 {
		return 0, false
	}
	return n * factor, true
}

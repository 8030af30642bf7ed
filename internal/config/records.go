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

func (r *reader) readRecords() Records {
	out := Records{Off: !r.boolOrTrue("records"), Deaf: !r.boolOrTrue("records.transcripts")}
	if v, ok := r.value("records.days"); ok {
		n, err := strconv.Atoi(v)
		if err == nil && n > 0 {
			out.Days = n
		} else {
			r.addFault("records.days", v, "is no number of days")
		}
	}
	if v, ok := r.value("records.size"); ok {
		if out.Size, ok = parseSize(v); !ok {
			r.addFault("records.size", v, "is no number of bytes, such as 64m")
		}
	}
	return out
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

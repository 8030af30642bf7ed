package config

import (
	"testing"
	"time"
)

func TestPause(t *testing.T) {
	from := time.Date(2026, 3, 4, 10, 0, 0, 123e6, time.UTC)
	for name, p := range map[string]Pause{"over": {from, from.Add(time.Hour)}, "lasts": {From: from}} {
		var c Config
		if wrong := c.setPause(p.String()); wrong != "" || len(c.Pauses) != 1 || !c.Pauses[0].From.Equal(p.From) ||
			!c.Pauses[0].To.Equal(p.To) {
			t.Errorf("%s: %q gives %v %s", name, p.String(), c.Pauses, wrong)
		}
		if _, paused := c.Paused(); paused != p.To.IsZero() {
			t.Errorf("%s: paused: %v", name, paused)
		}
	}
	for _, v := range []string{"", "yesterday/", "2026-03-04T10:00:00Z", "2026-03-04T10:00:00Z/soon"} {
		if c := (Config{}); c.setPause(v) == "" || len(c.Pauses) > 0 {
			t.Errorf("%q is taken", v)
		}
	}
	for v, ok := range map[string]bool{"claude-code/a/b": true, "claude-code": false, "/a": false, "claude-code/": false} {
		if c := (Config{}); (appendSession(v, &c.Forgot) == "") != ok {
			t.Errorf("%q: taken %v", v, !ok)
		}
	}
}

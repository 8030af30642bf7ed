package config

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// Pause is a time in which this clone captured nothing; To is zero where it still lasts.
type Pause struct{ From, To time.Time }

// String is a value of rekal.pause: two times, the second one empty where it still lasts.
func (p Pause) String() string {
	from, to := p.From.UTC().Format(time.RFC3339Nano), ""
	if !p.To.IsZero() {
		to = p.To.UTC().Format(time.RFC3339Nano)
	}
	return from + "/" + to
}

// Paused is the pause that still lasts, if one does.
func (c Config) Paused() (Pause, bool) {
	for _, p := range c.Pauses {
		if p.To.IsZero() {
			return p, true
		}
	}
	return Pause{}, false
}

// PausedError says that nothing is captured, because a pause lasts.
type PausedError struct{ Since time.Time }

func (e *PausedError) Error() string {
	return fmt.Sprintf("paused since %s: nothing is captured", e.Since.UTC().Format(time.RFC3339))
}

// Hint is what to do about it.
func (*PausedError) Hint() string { return `"git rekal resume" goes on` }

// CheckPaused returns a PausedError during a pause.
func (c Config) CheckPaused() error {
	if p, ok := c.Paused(); ok {
		return &PausedError{p.From}
	}
	return nil
}

// setPause takes a span of time.
func (c *Config) setPause(v string) (wrong string) {
	from, to, ok := strings.Cut(v, "/")
	var p Pause
	var errs [2]error
	p.From, errs[0] = time.Parse(time.RFC3339Nano, from)
	if to != "" {
		p.To, errs[1] = time.Parse(time.RFC3339Nano, to)
	}
	if !ok || errors.Join(errs[:]...) != nil {
		return "is no span of time, FROM/TO"
	}
	c.Pauses = append(c.Pauses, p)
	return ""
}

// appendSession takes a session's name.
func appendSession(v string, into *[]string) (wrong string) {
	if source, id, ok := strings.Cut(v, "/"); !ok || source == "" || id == "" {
		return "is no session, AGENT/ID"
	}
	*into = append(*into, v)
	return ""
}

// agentName is what the agent of a user's own program may be called.
var agentName = lazy.Expr(`^[a-z][a-z0-9-]{0,31}$`)

// addAgent takes the name of a user's own program.
func (c *Config) addAgent(v string) (wrong string) {
	if !agentName.MatchString(v) {
		return "is no name of small letters, digits and -"
	}
	c.Agents = append(c.Agents, v)
	return ""
}

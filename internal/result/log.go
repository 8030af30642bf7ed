package result

import (
	"cmp"
	"slices"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Checkpoint is one line of `git rekal log --json`.
type Checkpoint struct {
	Repo       string       `json:"repo,omitempty"`   // as of a Hit
	Checkpoint string       `json:"checkpoint"`       // OID of the ledger's commit
	Commit     string       `json:"commit"`           // OID of the code commit; zeros before the first
	Became     string       `json:"became,omitempty"` // what rewrites, or in a range a squash, made of it
	Branch     string       `json:"branch"`
	Author     string       `json:"author"`
	Actor      string       `json:"actor"`
	LastTurnAt string       `json:"last_turn_at,omitempty"` // of an import: when its sessions took place
	TS         string       `json:"ts"`                     // when it was captured
	Via        string       `json:"via,omitempty"`
	Files      int          `json:"files"`
	Sessions   []LogSession `json:"sessions"`
}

// LogSession is a session of a checkpoint.
type LogSession struct {
	ID         string `json:"id"`
	Title      string `json:"title,omitempty"`
	StartedAt  string `json:"started_at,omitempty"`
	LastTurnAt string `json:"last_turn_at,omitempty"`
	Source     string `json:"source"`
	session.Facts
	Actor     string `json:"actor"`
	Turns     int    `json:"turns"`
	Tools     int    `json:"tool_calls"`
	Tie       string `json:"tie,omitempty"` // as of a Hit; none where the checkpoint is of no commit that was made then
	Inferred  bool   `json:"inferred,omitempty"`
	Private   bool   `json:"private,omitempty"`   // as of a Hit
	Signature string `json:"signature,omitempty"` // the same

	Begins string `json:"-"` // the words with which it and many other automated sessions begin; "" for none
	Alike  int    `json:"-"` // of Folded: how many others of the checkpoint begin so
}

// Code is the commit that there is of a checkpoint today.
func (c Checkpoint) Code() string { return cmp.Or(c.Became, c.Commit) }

// AddSessions adds the sessions of another checkpoint at the same commit; one that is there keeps its stronger tie.
func (c *Checkpoint) AddSessions(others []LogSession) {
	for _, o := range others {
		i := slices.IndexFunc(c.Sessions, func(s LogSession) bool { return s.ID == o.ID })
		if i < 0 {
			c.Sessions = append(c.Sessions, o)
			continue
		}
		was, wasTied := session.ParseTie(c.Sessions[i].Tie)
		if now, isTied := session.ParseTie(o.Tie); isTied && (!wasTied || now < was) {
			c.Sessions[i].Tie, c.Sessions[i].Inferred = o.Tie, o.Inferred
		}
	}
}

// Folded are the sessions of a checkpoint, of those that begin alike the first of each kind.
func (c Checkpoint) Folded() []LogSession {
	var out []LogSession
	first := map[string]int{}
	for _, s := range c.Sessions {
		if at, had := first[s.Begins]; had && s.Begins != "" {
			out[at].Alike++
			continue
		}
		first[s.Begins], out = len(out), append(out, s)
	}
	return out
}

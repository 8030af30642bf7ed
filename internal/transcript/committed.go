package transcript

import (
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// Commit is what git said of a commit that a session's command made: "[main 1f2e3d4] Subject". Of a command that had
// git make commits, and to which that said nothing, it is the command.
type Commit struct {
	OID, Subject string    // the beginning of the OID; "" where git said nothing
	Command      string    // to which git said nothing
	From, At     time.Time // when the command was called, and when its result was written
}

// gitSaid is the line in which git says that it made a commit.
var gitSaid = lazy.Expr(`(?m)^\[[^\[\n]+ ([0-9a-f]{4,64})\] (.+?)\r?$`)

// maxCommits is how many commits one command is believed to have made.
const maxCommits = 50

// mayHaveCommitted reports whether a result may be of a call that had git make a commit: also where an earlier read
// holds the call.
func (p *part) mayHaveCommitted(id string) bool {
	calls := p.calls[id]
	if len(calls) == 0 {
		return p.where == inside && id != ""
	}
	return p.ToolCalls[calls[0]].MakesCommit()
}

// addCommits takes the commits that a call made, as git says in its output.
func (d *decoder) addCommits(p *part, id, text string) {
	if !p.mayHaveCommitted(id) {
		return
	}
	quiet, called := p.committing[id]
	delete(p.committing, id)
	for _, m := range gitSaid.FindAllStringSubmatch(text, maxCommits) {
		called = false
		d.addCommit(p, Commit{OID: strings.Clone(m[1]), Subject: strings.Clone(truncate(validText(m[2]), maxCmd)), At: d.ts})
	}
	if called {
		quiet.At = d.ts
		d.addCommit(p, quiet)
	}
}

func (d *decoder) addCommit(p *part, c Commit) {
	p.Commits, p.at.commits = append(p.Commits, c), append(p.at.commits, d.start)
}

package web

import (
	"cmp"
	"errors"
	"slices"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/result"
	nouns "github.com/git-rekal/git-rekal/internal/session"
)

// Bounds of the lists of files and of time.
const (
	filesShown  = 200
	pairsShown  = 50
	eventsShown = 50
	eventsMost  = 100_000
)

// timelinePage is the page of what happened when.
type timelinePage struct {
	Days         []day
	Form         form
	Newer, Older string
	Failed       string
}

type day struct {
	Date    string
	Authors []authorsDay
}

type authorsDay struct {
	Author string
	Blocks []block
}

// block is checkpoints in a row with the same sessions, which are said once.
type block struct {
	Events   []event
	Sessions []result.LogSession
}

// event is a checkpoint.
type event struct {
	result.Checkpoint
	At, Subject string
	Tied        bool // to a commit, that is
}

func makeTimeline(r *request) (page, error) {
	f := readForm(r)
	from := r.queryNumber("from", 0, eventsMost)
	out := timelinePage{Form: f}
	p := page{Template: "timeline", Title: "Timeline", Here: "timeline"}
	all, err := r.at.Log(r, ask.LogRequest{
		Limit: from + eventsShown + 1, Agent: f.Agent, Author: f.Author, Verified: f.verified(),
		Times: ask.Times{Since: f.Since, Until: f.Until},
	})
	if usage := (*name.UsageError)(nil); errors.As(err, &usage) {
		out.Failed = usage.Error()
	} else if err != nil {
		return p, err
	}
	link := func(from int) string {
		return r.To("timeline", "from", from, "author", f.Author, "agent", f.Agent, "since", f.Since, "until", f.Until,
			"signature", f.Signature)
	}
	shown := all[min(from, len(all)):]
	if len(shown) > eventsShown {
		shown, out.Older = shown[:eventsShown], link(from+eventsShown)
	}
	if from > 0 {
		out.Newer = link(max(0, from-eventsShown))
	}
	zone := r.Now().Location()
	for _, c := range shown {
		out.add(event{
			Checkpoint: c, At: cmp.Or(c.LastTurnAt, c.TS), Subject: r.Subject(c.Code()),
			Tied: c.Commit != nouns.ZeroSHA,
		},
			func(stamp string) string { return result.FormatTime(stamp, zone, "Monday, 2 January 2006") })
	}
	if !r.Static {
		if out.Form.Authors, err = r.at.Authors(r); err != nil {
			return p, err
		}
	}
	p.Body = out
	return p, nil
}

// add puts an event into its day, at its author.
func (d *timelinePage) add(e event, date func(string) string) {
	on := date(e.At)
	if len(d.Days) == 0 || d.Days[len(d.Days)-1].Date != on {
		d.Days = append(d.Days, day{Date: on})
	}
	last := &d.Days[len(d.Days)-1]
	i := slices.IndexFunc(last.Authors, func(a authorsDay) bool { return a.Author == e.Author })
	if i < 0 {
		i = len(last.Authors)
		last.Authors = append(last.Authors, authorsDay{Author: e.Author})
	}
	last.Authors[i].add(e)
}

// add puts an event to the block before, if its sessions are the same, and tied in the same way.
func (a *authorsDay) add(e event) {
	sessions := e.Folded()
	isSame := func(x, y result.LogSession) bool { return x.ID == y.ID && x.Tie == y.Tie && x.Alike == y.Alike }
	if n := len(a.Blocks) - 1; n >= 0 && slices.EqualFunc(a.Blocks[n].Sessions, sessions, isSame) {
		a.Blocks[n].Events = append(a.Blocks[n].Events, e)
		return
	}
	a.Blocks = append(a.Blocks, block{[]event{e}, sessions})
}

// filesPage is the page of all files.
type filesPage struct {
	Name     string // a part of the paths
	Files    []ask.Touched
	Cut      bool
	Together []ask.Pair // of all paths
}

func makeFiles(r *request) (page, error) {
	out := filesPage{Name: r.query.Get("name")}
	var err error
	if out.Files, err = r.at.TouchedFiles(r, out.Name, filesShown+1); err != nil {
		return page{}, err
	}
	if out.Cut = len(out.Files) > filesShown; out.Cut {
		out.Files = out.Files[:filesShown]
	}
	if out.Name == "" {
		if out.Together, err = r.at.ChangedTogether(r, "", pairsShown); err != nil {
			return page{}, err
		}
	}
	return page{Template: "files", Title: "Files", Here: "files", Body: out}, nil
}

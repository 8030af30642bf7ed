// Package view prints what recall found as text for an agent, in three depths, each within a budget of tokens.
//
// In: items of package result, with their texts. Out: a text. Others' text stays in one line where a line is promised,
// holds nothing invisible, and cannot look like the server's own lines. Somebody else's item names its author in every
// view.
package view

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/tokens"
)

// Detail is how much is shown of each item.
type Detail string

// The three depths: a line each, lines by date, and texts.
const (
	Compact  Detail = "compact"
	Timeline Detail = "timeline"
	Full     Detail = "full"
)

// What an answer may weigh, by tokens.Count.
const (
	Budget     = 2000
	FullBudget = 4000 // of one item in full
)

// Snippet is how many characters a line shows of the passage that matched; 0 where texts are shown.
func (d Detail) Snippet() int {
	switch d {
	case Full:
		return 0
	case Timeline:
		return 150
	}
	return 100
}

// Item is one thing that was found.
type Item struct {
	result.Hit
	Short   string // the shortest beginning of its ID that means it alone
	Text    string // of a memory or record
	Age     string // of a record: "3 minutes ago"
	Turns   []result.Turn
	At      int           // index of the turn around which a session is shown
	Total   int           // how many turns it has
	Changed []result.File // each path once
	Files   int           // how many it changed
}

// Answer is what a view shows.
type Answer struct {
	Detail Detail
	Items  []Item
	Total  int      // how many match
	One    bool     // it was asked for by its ID
	Own    string   // the address of who asks
	Notes  []string // lines to say besides
}

// Text prints an answer.
func (a Answer) Text() string {
	p := page{room: Budget}
	if a.Detail == Full && a.One {
		p.room = FullBudget
	}
	p.room -= reserve
	notes := page{room: p.room / 3} // one that repeats what was asked may be long
	for _, n := range a.Notes {
		notes.add(n)
	}
	p.room -= p.room/3 - notes.room
	switch a.Detail {
	case Timeline:
		a.writeTimeline(&p)
	case Full:
		a.writeFull(&p)
	default:
		a.writeCompact(&p)
	}
	p.lines = append(p.lines, notes.lines...)
	return strings.Join(append(p.lines, "---", a.footer(&p)), "\n")
}

// reserve is what the footer may weigh.
const reserve = 50

// page is a text that grows within its room.
type page struct {
	lines []string
	room  int // tokens left
	items int // shown
	cut   bool
	left  bool // turns are left out, which another call shows
}

// add takes lines in, all or none.
func (p *page) add(lines ...string) bool {
	cost := countTokens(lines)
	if cost > p.room {
		p.cut = true
		return false
	}
	p.lines, p.room = append(p.lines, lines...), p.room-cost
	return true
}

func (a Answer) footer(p *page) string {
	weight := tokens.Count(strings.Join(p.lines, "\n")) + 1
	tail := " tokens | detail: " + string(a.Detail)
	if p.items < a.Total {
		tail += fmt.Sprintf(" | showing %d", p.items)
	}
	switch {
	case a.One && p.left:
		tail += " | truncated (pass turn to read on)"
	case a.One && p.cut && a.Detail == Full:
		tail += " | truncated (git rekal query --session has more)"
	case p.cut:
		tail += " | truncated (use id for full view)"
	}
	head := fmt.Sprintf("%d result(s) | ~", a.Total)
	weight += tokens.Count("---\n" + head + strconv.Itoa(weight) + tail)
	return head + strconv.Itoa(weight) + tail
}

// writeCompact shows an item a line.
func (a Answer) writeCompact(p *page) {
	a.lines(p, func(i int, it Item) string {
		score := "-"
		if it.Score > 0 {
			score = strconv.FormatFloat(it.Score, 'f', 2, 64)
		}
		return fmt.Sprintf("[%d] %s | %s | %s | %s | %s", i+1, it.address(), it.title(), score, it.passage(Compact.Snippet()),
			it.date())
	})
}

// lines adds a line for each item, with the most signs that fit behind all of them.
func (a Answer) lines(p *page, line func(int, Item) string) {
	bare, chosen := make([]string, len(a.Items)), make([]string, len(a.Items))
	for i, it := range a.Items {
		bare[i] = line(i, it) + it.repositoryNote() + a.foreignAuthor(it)
	}
	for _, signs := range []func(Item) string{Item.describeTrust, Item.trust, Item.essentialMarks} {
		for i, it := range a.Items {
			chosen[i] = bare[i] + signs(it)
		}
		if countTokens(chosen) <= p.room {
			break
		}
	}
	for _, l := range chosen {
		if !p.add(l) {
			return
		}
		p.items++
	}
}

// writeTimeline groups lines by date, the latest first.
func (a Answer) writeTimeline(p *page) {
	a.Items = slices.Clone(a.Items)
	slices.SortStableFunc(a.Items, func(x, y Item) int { return cmp.Compare(y.lastTime(), x.lastTime()) })
	day := ""
	a.lines(p, func(_ int, it Item) string {
		head := ""
		if it.date() != day {
			day = it.date()
			head = day + "\n"
		}
		return fmt.Sprintf("%s%s | %s | %s | %s | %s", head, it.clock(), it.title(), it.agent(),
			it.passage(Timeline.Snippet()), it.address())
	})
}

// repositoryNote names the repository, where several were asked.
func (it Item) repositoryNote() string {
	if it.Repo == "" {
		return ""
	}
	return " | in " + session.Shorten(inLine(filepath.Base(it.Repo)), 80)
}

// foreignAuthor names the author of what is somebody else's.
func (a Answer) foreignAuthor(it Item) string {
	if it.Author == "" || strings.EqualFold(it.Author, a.Own) {
		return ""
	}
	known := result.NewPeople(map[string]string{strings.ToLower(a.Own): ""}, nil)
	return " | by " + session.Shorten(inLine(known.Name(it.Author)), 80)
}

// describeTrust tells what an item is, how far to trust it and why it was found.
func (it Item) describeTrust() string {
	why := ""
	if len(it.Matched) > 0 {
		why = " | matched " + strings.Join(it.Matched, ",")
	}
	return it.kind() + it.commandOutcome() + why + it.essentialMarks()
}

// commandOutcome is how a command of a record ended, and when.
func (it Item) commandOutcome() (out string) {
	if it.Exit != nil {
		out = fmt.Sprintf(" | exit %d", *it.Exit)
	}
	if it.Age != "" {
		out += " | captured " + it.Age
	}
	return out
}

// trust is of the signs what an item is and how far to trust it.
func (it Item) trust() string { return it.kind() + it.commandOutcome() + it.essentialMarks() }

func (it Item) kind() string {
	if it.Freshness == "" || it.Kind == "memory" && it.Note == nil { // which names no files
		return " | " + it.Kind
	}
	return " | " + it.Kind + " | " + it.Freshness
}

// essentialMarks are the signs that no line goes without.
func (it Item) essentialMarks() (out string) {
	if it.Alike > 0 {
		out = fmt.Sprintf(" | and %d that begin alike", it.Alike)
	}
	if it.Note != nil {
		for _, r := range it.Note.Remarks()[1:] {
			out += " | " + session.Shorten(inLine(r), 120)
		}
	}
	for _, mark := range []struct {
		is   bool
		name string
	}{
		{it.Rejects != "", "rejects " + session.Shorten(inLine(it.Rejected()), statedSize)},
		{len(it.SupersededBy) > 0, "superseded"},
		{len(it.RejectedBy) > 0, "rejected" + firstSaid(it.RejectedBy)},
		{len(it.Differs) > 0, "differs from" + firstSaid(it.Differs)},
		{it.Weak, "weak"},
		{it.Tie != "", it.Tie},
		{it.Signature != "", it.Signature},
		{len(it.Reverted) > 0, "reverted"},
		{it.Purged, "purged"},
	} {
		if mark.is {
			out += " | " + mark.name
		}
	}
	return out
}

// statedSize is how many characters a mark has of what a memory says.
const statedSize = 80

// firstSaid is what the latest of some memories says, with its day.
func firstSaid(all []result.Said) string {
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf(" %.10s (%s): %s", all[0].At, all[0].ID, session.Shorten(inLine(all[0].Text), statedSize))
}

// address is what the input id takes: with the turn that matched.
func (it Item) address() string {
	if it.Kind == "session" {
		return result.Address(it.Short, it.Turn)
	}
	return it.Short
}

func (it Item) title() string { return cmp.Or(session.Shorten(inLine(it.Title), 120), "untitled") }

// agent is where it comes from: of a session its agent, with the facts that are known of it.
func (it Item) agent() string {
	out := session.Shorten(inLine(it.Source), 80)
	for _, fact := range it.Shown() {
		out += " (" + session.Shorten(inLine(fact), 80) + ")"
	}
	return out
}

// passage is "-" where the title says it all.
func (it Item) passage(size int) string {
	return cmp.Or(session.Shorten(inLine(it.Snippet), size), "-")
}

// lastTime a session last had a turn, or a memory was saved.
func (it Item) lastTime() string { return cmp.Or(it.LastTurnAt, it.CapturedAt) }

func (it Item) date() string { return it.partOfTime(0, 10) }

func (it Item) clock() string { return it.partOfTime(11, 16) }

// partOfTime is a part of the time; a transcript may hold any year.
func (it Item) partOfTime(from, to int) string {
	if len(it.lastTime()) != len("2026-11-21T10:00:00Z") {
		return "-"
	}
	return it.lastTime()[from:to]
}

// inLine is text of others as a part of a line: what stands between our own parts it can't hold.
func inLine(s string) string {
	s = strings.Join(strings.Fields(result.Printable(s)), " ")
	return strings.ReplaceAll(s, "|", "¦")
}

// TakeTexts takes in what was read of an item around a turn: a session or a memory; the other one is nil.
func (it *Item) TakeTexts(s *result.Session, m *result.Memory, turn int) {
	it.At = turn
	if m != nil {
		it.Text = m.Content
	}
	if s == nil {
		return
	}
	it.Turns, it.Total, it.Turn = s.Page, s.Turns, nil
	if at := it.turnPlace(); at >= 0 {
		it.Turn = &s.Page[at].Turn
	}
	it.Changed = nil
	for _, f := range s.Files { // one for each commit that changed it, all of which say how it stands now
		if !slices.ContainsFunc(it.Changed, func(c result.File) bool { return c.Path == f.Path }) {
			it.Changed = append(it.Changed, f)
		}
	}
	it.Files = max(s.FilesTotal, len(it.Changed))
}

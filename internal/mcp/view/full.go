package view

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/tokens"
)

// writeFull shows the texts: a memory as it is, a session as a window of turns around the one that matched.
// Several items share the room, as long as that leaves some to each; those behind are left out.
func (a Answer) writeFull(p *page) {
	for i, it := range a.Items {
		head := []string{fmt.Sprintf("--- %s | %s | %s ---", it.address(), it.title(), it.lastTime())}
		head = append(head, strings.TrimPrefix(it.repositoryNote()+a.foreignAuthor(it)+it.describeTrust(), " | "))
		if a.One {
			head = append(head, it.files()...)
		}
		if p.room < countTokens(head)+leastText {
			p.cut = true
			return
		}
		p.add(head...)
		p.items++
		kept := p.room - max(p.room/(len(a.Items)-i), min(p.room, leastShare))
		p.room -= kept
		if it.Kind != "session" {
			p.addText(it.Text)
		} else {
			it.addTurnsAround(p)
		}
		p.room += kept
	}
}

// leastText is the room in tokens without which an item is not begun: a head alone says nothing, not even that it was
// cut.
const leastText = 100

// leastShare is what of the room one of several items has at least: enough for some turns.
const leastShare = 500

// addText adds a text, or as much of it as there is room for.
func (p *page) addText(s string) {
	lines := visibleLines(s)
	if p.add(lines...) {
		return
	}
	p.lines = append(p.lines, p.takeBeginning(strings.Join(lines, "\n"))...)
}

// ShortText is a text within some tokens, without what is hidden.
func ShortText(s string, most int) string {
	p := page{room: most}
	p.addText(s)
	return strings.Join(p.lines, "\n")
}

// takeBeginning returns the beginning of a text that takes up the room, and the mark of the cut.
func (p *page) takeBeginning(s string) []string {
	p.cut = true
	room := p.room - markWeight
	if room < 0 {
		return nil
	}
	low, high := 0, min(len(s), room*9) // no token has more bytes than that, by Tokens
	for low < high {                    // the longest beginning that fits
		mid := (low + high + 1) / 2
		if tokens.Count(s[:mid])+1 <= room {
			low = mid
		} else {
			high = mid - 1
		}
	}
	for low > 0 && low < len(s) && !utf8.RuneStart(s[low]) {
		low--
	}
	p.room = 0
	weight := tokens.Count(s[:low])
	return []string{s[:low], fmt.Sprintf("[...truncated at ~%d tokens]", weight)}
}

// markWeight is what the mark of a cut weighs at most.
const markWeight = 16

// addTurnsAround adds the turn that matched, then alternately a turn after and a turn before, as long as they fit. It
// says how many turns are left out.
func (it Item) addTurnsAround(p *page) {
	at := it.turnPlace()
	switch {
	case at < 0 && it.Total > 0:
		p.add(fmt.Sprintf("[no turn %d: it has %d turns]", it.At, it.Total))
		return
	case at < 0:
		p.add("[no turns]")
		return
	}
	p.room -= pointerWeight
	parts := make([][]string, len(it.Turns))
	parts[at] = p.turn(it.Turns[at])
	from, to := at, at
	for more := true; more && p.room > 0; {
		more = false
		if to+1 < len(it.Turns) && p.takeIfFits(&parts[to+1], it.Turns[to+1]) {
			to, more = to+1, true
		}
		if from > 0 && p.takeIfFits(&parts[from-1], it.Turns[from-1]) {
			from, more = from-1, true
		}
	}
	for _, lines := range parts[from : to+1] {
		p.lines = append(p.lines, lines...)
	}
	p.room += pointerWeight
	first, last := it.Turns[from].Turn, it.Turns[to].Turn
	if left := it.Total - (to - from + 1); left > 0 {
		p.cut, p.left = true, true
		p.add(fmt.Sprintf("[turns %d to %d, %d more; pass turn to read around another]", first, last, left))
	}
}

// pointerWeight is what the line about what is left out weighs at most.
const pointerWeight = 40

// turnPlace is the place of the turn around which the session is shown; -1 where nothing was read.
func (it Item) turnPlace() int {
	at := -1
	for i, t := range it.Turns {
		if at < 0 || t.Turn <= it.At {
			at = i
		}
	}
	return at
}

// turn takes a turn's lines out of the room, cut where they don't fit.
func (p *page) turn(t result.Turn) []string {
	lines := turnLines(t)
	if weight := countTokens(lines); weight <= p.room {
		p.room -= weight
		return lines
	}
	return p.takeBeginning(strings.Join(lines, "\n"))
}

// takeIfFits takes a turn's lines out of the room where there is enough.
func (p *page) takeIfFits(into *[]string, t result.Turn) bool {
	lines := turnLines(t)
	weight := countTokens(lines)
	if weight > p.room {
		return false
	}
	*into, p.room = lines, p.room-weight
	return true
}

func countTokens(lines []string) (n int) {
	for _, l := range lines {
		n += tokens.Count(l) + 1
	}
	return n
}

func turnLines(t result.Turn) []string {
	lines := visibleLines(t.Content)
	lines[0] = "[turn " + strconv.Itoa(t.Turn) + "] " + t.Role + ": " + lines[0]
	return lines
}

// ours is how the lines begin that the server writes itself: heads, signs, files, turns, marks of a cut,
// notes, the footer, and the items and dates of the other views.
var ours = lazy.Expr(`^(---|\[turn|\[no turn|\[\.\.\.|files: |(by .*\| )?(session|memory)( \||$)|\d+ result\(s\)|` +
	`Not found: |No result touched |Nothing answers this well|\[\d+\] .* \| |(\d\d:\d\d|-) \| .* \| |\d{4}-\d\d-\d\d$)`)

// visibleLines is a text in lines that hold nothing hidden, none of which looks like one of ours.
func visibleLines(s string) []string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		cells := strings.Split(l, "\t")
		for j := range cells {
			cells[j] = result.Printable(cells[j])
		}
		l = strings.TrimRight(strings.Join(cells, "\t"), " \t")
		if ours.MatchString(l) {
			l = " " + l
		}
		lines[i] = l
	}
	return lines
}

// files lists what a session's commits changed, and how far it still is as they left it.
func (it Item) files() []string {
	const most, weight = 20, 500
	line := "files: "
	for i, f := range it.Changed {
		name := session.Shorten(inLine(f.Path), 120)
		if f.Branch != "" {
			name += " (only on " + session.Shorten(inLine(f.Branch), 80) + ")"
		} else if f.Freshness != "" {
			name += " (" + f.Freshness + ")"
		}
		if i > 0 {
			name = ", " + name
		}
		if i == most || tokens.Count(line+name) > weight {
			return []string{fmt.Sprintf("%s, %d more", line, it.Files-i)}
		}
		line += name
	}
	switch more := it.Files - len(it.Changed); {
	case len(it.Changed) == 0:
		return nil
	case more > 0:
		return []string{fmt.Sprintf("%s, %d more", line, more)}
	}
	return []string{line}
}

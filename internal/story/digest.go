package story

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// digest is what of a session a reviewer reads first.
type digest struct {
	asked   []string // the first prompt, and those that turned the work
	decided []string // sentences that give a reason or a choice
	dropped []string // sentences that turn away from something, calls that never worked
	outcome string   // how the agent summed it up
}

// allowance is how many words each part of a digest may have, about: of 100.
const (
	askedShare   = 40
	decidedShare = 30
	droppedShare = 15
	outcomeShare = 15
)

// prompt is what a person asked, and what came of it.
type prompt struct {
	result.Turn
	answer []result.Turn // up to the next prompt
	edits  int           // calls that named a path, behind it
}

// turnMost is how much of a turn is read for a digest, in bytes: what is longer was mostly pasted.
const turnMost = 16 << 10

func prompts(s result.StorySession) (out []prompt) {
	for _, t := range s.Said {
		t.Content = strings.ToValidUTF8(t.Content[:min(len(t.Content), turnMost)], "")
		switch {
		case t.Content == session.Scrubbed || t.Content == session.Elsewhere:
		case t.Role == session.RoleHuman:
			out = append(out, prompt{Turn: t})
		case len(out) > 0:
			out[len(out)-1].answer = append(out[len(out)-1].answer, t)
		}
	}
	for _, c := range s.Tools {
		if i := behind(out, c.Turn); i >= 0 && c.Path != "" {
			out[i].edits++
		}
	}
	return out
}

// behind is the last prompt that came before a turn; -1 for none.
func behind(all []prompt, turn int) int {
	i, _ := slices.BinarySearchFunc(all, turn+1, func(p prompt, turn int) int { return cmp.Compare(p.Turn.Turn, turn) })
	return i - 1
}

// material is what a digest is chosen from: it is read once, however often one is chosen.
type material struct {
	opening   string
	turned    []candidate // prompts, the ones that turned the work most first
	decisions []candidate // sentences, the best first
	drops     []candidate
	reports   []string
	failures  []string
}

func materialOf(s result.StorySession) (m material) {
	all := prompts(s)
	first := slices.IndexFunc(all, func(p prompt) bool {
		return session.IsInformative(session.PromptTitle(p.Content)) && !quoted(p.Content)
	})
	if first >= 0 {
		m.opening = opening(s.Title, all[first].Content)
		m.turned = ranked(turnings(all[first+1:]))
	}
	taken := slices.DeleteFunc(slices.Clone(m.turned), func(c candidate) bool { return !takesBack.MatchString(c.text) })
	m.turned = slices.DeleteFunc(m.turned, func(c candidate) bool { return takesBack.MatchString(c.text) })
	m.decisions = ranked(candidates(all, decides, true))
	m.drops = slices.Concat(taken, ranked(slices.Concat(candidates(all, drops, false), candidates(asked(all), gaveUp, true))))
	m.reports, m.failures = reported(all), failures(s, 2)
	return m
}

// asked are prompts without their answers.
func asked(all []prompt) (out []prompt) {
	for _, p := range all {
		p.answer = nil
		out = append(out, p)
	}
	return out
}

// choose takes at most about so many words.
func (m material) choose(words int) (d digest) {
	said := map[string]bool{}
	opening := clip(m.opening, max(words*askedShare/200, 25))
	if opening != "" {
		said[opening], d.asked = true, []string{opening}
	}
	d.asked = append(d.asked, best(m.turned, words*askedShare/100-count(opening), said)...)
	d.dropped = append(best(m.drops, words*droppedShare/100, said), m.failures...)
	d.outcome = joined(m.reports, words*outcomeShare/100, said)
	d.decided = best(m.decisions, words*decidedShare/100, said)
	return d
}

// rankedMost is how many candidates of a sort are looked at: of a session of a thousand turns, a digest holds ten.
const rankedMost = 100

// ranked are the best candidates, the best first, each cut to what is told of it.
func ranked(all []candidate) []candidate {
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	all = all[:min(len(all), rankedMost)]
	for i := range all {
		all[i].text = clip(all[i].text, 32)
	}
	return all
}

// turnings are the prompts that may have turned the work.
func turnings(all []prompt) (out []candidate) {
	for i, p := range all {
		text := clip(strings.Join(sentences(sections(p.Content)[0].lines), " "), 30)
		score := min(p.edits, 2)
		if organises.MatchString(text) || count(text) < 8 && acknowledged.MatchString(text) {
			score -= 2
		}
		switch {
		case !prose(text) || quoted(p.Content) || acknowledges.MatchString(text):
			continue
		case refuses.MatchString(text):
			score += 4
		case turns.MatchString(text):
			score += 3
		case strings.Contains(text, "?"):
			score++
		}
		out = append(out, candidate{i, score, text})
	}
	return out
}

// acknowledges is a prompt that only lets the agent go on.
var acknowledges = lazy.Expr(`(?i)^(yes|yep|ok(ay)?|sure|go ahead|continue|proceed|thanks?( you)?|great|nice|looks good|lgtm|commit( (this|it|that))?|push( it)?|do it|please( do)?|\[request interrupted[^\]]*\])[ ,.!]*(please|then|and (push|commit)( it)?|it|on)?[.! ]*$`)

// acknowledged begins a prompt that agrees, and organises is of one about how to go about the work rather than about the work.
var (
	acknowledged = lazy.Expr(`(?i)^(yes|yeah|yep|ok(ay)?|sure|cool|great|nice|thanks|perfect)\b`)
	organises    = lazy.Expr(`(?i)\b(commit|push|pull request|PRs?|plan|rebase|let me know|go ahead|session|subagents?|skill|ultrathink)\b`)
)

// quoted reports whether a prompt is not what a person typed: a command of the agent's, or what a tool put there.
func quoted(text string) bool {
	text = strings.TrimSpace(text)
	return tagged.MatchString(text) || strings.HasPrefix(text, "[Request interrupted") || strings.HasPrefix(text, "This session is being continued") ||
		strings.HasPrefix(text, "/") && !strings.Contains(text, " ") || strings.HasPrefix(text, "Base directory for this skill")
}

// tagged is what agents put around what nobody typed.
var tagged = lazy.Expr(`^<(command|local-command|bash|system|task|user|teammate|ide)[-_a-z]*>`)

// opening is what a first prompt says, unless that is its title and no more; of a plan, what its first section says.
func opening(title, text string) string {
	if session.Beyond(title, text) == "" {
		return ""
	}
	for _, part := range sections(text) {
		said := strings.Join(sentences(part.lines), " ")
		if prose(said) && !strings.HasSuffix(said, ":") && (len(said) > len(title) || !strings.HasPrefix(title, said)) {
			return said
		}
	}
	return ""
}

// candidate is a sentence that may be told.
type candidate struct {
	n, score int
	text     string
}

// planned are headings of plans below which choices stand.
var planned = lazy.Expr(`(?i)\b(decisions?|approach|design|rationale|trade-?offs?|why|alternatives?|constraints?)\b`)

// candidates are sentences with a cue: of people, of plans, and of what an agent says last before it is asked again, which counts more than what it says
// between its calls.
func candidates(all []prompt, cues []cue, own bool) (out []candidate) {
	n := 0
	add := func(text string, bonus int, headed bool) {
		for _, part := range sections(text) {
			under := headed && planned.MatchString(part.heading)
			for i, s := range sentences(part.lines) {
				n++
				score := weigh(s, cues)
				if under && i < 3 {
					score += 3
				}
				if score == 0 || short(s) || count(s) > 60 || !prose(s) || narrates.MatchString(s) || strings.HasSuffix(s, ":") || strings.HasSuffix(s, "?") {
					continue
				}
				out = append(out, candidate{n, score + bonus, s})
			}
		}
	}
	for _, p := range all {
		if !quoted(p.Content) && own {
			add(p.Content, 1, true)
		}
		for i, a := range p.answer {
			bonus := 0
			if i == len(p.answer)-1 {
				bonus = 2
			}
			add(a.Content, bonus, own)
		}
	}
	return out
}

// short reports whether a sentence has too few words to tell a choice; to drop something takes four.
func short(s string) bool {
	n := count(s)
	return n < 6 && (n < 4 || !givesUp.MatchString(s))
}

// best are those of ranked candidates that score, of about so many words, in the order in which they were said.
func best(ranked []candidate, words int, said map[string]bool) (out []string) {
	var chosen []candidate
	for _, c := range ranked {
		if c.score < 2 || words <= 0 {
			break
		}
		if said[c.text] || similar(c.text, said) {
			continue
		}
		if words -= count(c.text); words < 0 && len(chosen) > 0 {
			break
		}
		said[c.text], chosen = true, append(chosen, c)
	}
	slices.SortFunc(chosen, func(a, b candidate) int { return cmp.Compare(a.n, b.n) })
	for _, c := range chosen {
		out = append(out, c.text)
	}
	return out
}

// similar reports whether most words of a text stand in one that was told.
func similar(text string, said map[string]bool) bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(strings.ToLower(text)) {
		words[w] = true
	}
	for other := range said {
		same := 0
		for _, w := range strings.Fields(strings.ToLower(other)) {
			if words[w] {
				same++
			}
		}
		if 10*same >= 7*max(len(words), 1) {
			return true
		}
	}
	return false
}

// reports is of a sentence that says what was done, and addresses of one that speaks to who asked.
var (
	reports   = lazy.Expr(`(?i)\b(added|fix(ed|es)|changed|updated|removed|implemented|moved|renamed|created|replaced|refactored|extracted|simplified|now|no longer|wired|passes|covers?)\b`)
	addresses = lazy.Expr(`(?i)^(you|would you|do you|if you|want|shall|should i|feel free|i('ve| have) (successfully )?(fixed the issue|completed)|all (the )?(\w+ )?(tests|checks) pass|the code is)\b`)
)

// plans is of a sentence that says what is still to be done.
var plans = lazy.Expr(`(?i)\b(needs? to|should|would|could|will|todo|next steps?)\b`)

// reportsMost is how many sentences of an answer are taken.
const reportsMost = 12

// reported is what the last answer behind edits says was done.
func reported(all []prompt) (out []string) {
	for _, p := range slices.Backward(all) {
		if len(p.answer) == 0 || p.edits == 0 {
			continue
		}
		for _, part := range sections(p.answer[len(p.answer)-1].Content) {
			for _, s := range sentences(part.lines) {
				if count(s) > 4 && prose(s) && reports.MatchString(s) && !plans.MatchString(s) && !narrates.MatchString(s) && !addresses.MatchString(s) && !strings.HasSuffix(s, "?") && !strings.HasSuffix(s, ":") {
					out = append(out, s)
				}
			}
		}
		if len(out) > 0 {
			return out[:min(len(out), reportsMost)]
		}
	}
	return nil
}

// joined are sentences of about so many words, as one text.
func joined(all []string, words int, said map[string]bool) string {
	var told []string
	for _, s := range all {
		if words <= 0 {
			break
		}
		s = clip(s, max(words, 12))
		words -= count(s)
		said[s], told = true, append(told, ended(s))
	}
	return strings.Join(told, " ")
}

// ended is a sentence with its full stop, which an item of a list lacks.
func ended(s string) string {
	if strings.HasSuffix(s, "…") || strings.ContainsAny(s[len(s)-1:], ".!?:;") {
		return s
	}
	return s + "."
}

// looks are programs whose failing says nothing of the work: they look for something that may not be there, or talk to others.
var looks = lazy.Expr(`^(ls|cat|grep|rg|find|cd|head|tail|which|test|stat|sed|awk|echo|diff|pgrep|kill|sleep|wc|file|git|gh|jq|curl|rm|mkdir|cp|mv|for|if|while|timeout|source|export)$`)

// literal is of a command that carries a text or a program.
var literal = lazy.Expr(`<<|\n|\s-[ce]\s|\$\(|;|\|`)

// failures are the commands that failed and never worked afterwards, by program and first argument.
func failures(s result.StorySession, most int) (out []string) {
	failed := map[string]string{}
	var order []string
	for _, c := range s.Tools {
		head := program(c.Cmd)
		if head == "" || literal.MatchString(c.Cmd) {
			continue
		}
		if !c.Failed {
			delete(failed, head)
		} else if failed[head] == "" {
			failed[head] = strings.TrimSpace(strings.ReplaceAll(session.OneLine(c.Cmd), "2>&1", ""))
			order = append(order, head)
		}
	}
	for _, head := range order {
		if cmd := failed[head]; cmd != "" && len(out) < most {
			out = append(out, "`"+strings.ReplaceAll(clip(cmd, 10), "`", "'")+"` failed, and was not run again with success.")
			delete(failed, head)
		}
	}
	return out
}

// program is what a command runs: its name and first argument, without what stands before it.
func program(cmd string) string {
	if i := strings.LastIndex(cmd, "&& "); i >= 0 && strings.HasPrefix(cmd, "cd ") {
		cmd = cmd[i+3:]
	}
	words := strings.Fields(cmd)
	for len(words) > 0 && strings.Contains(words[0], "=") {
		words = words[1:]
	}
	if len(words) == 0 || looks.MatchString(words[0]) || slices.Contains(words, "&&") {
		return ""
	}
	return strings.Join(words[:min(len(words), 2)], " ")
}

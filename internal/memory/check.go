package memory

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/notes"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// checked is a section that is checked.
type checked struct {
	notes.Section
	where      string // a file of the tree, or an agent's for people
	file       string // of a patch: the file's path in it; "" for what is in the ledger alone
	id, author string // of a memory that no file here holds
	things     []notes.Thing
	gone       []notes.Gone
}

// maxRules bounds the rules files that are read.
const maxRules = 100

// isRules reports whether a file of the tree tells agents what to do.
func isRules(file string) bool {
	dir, base := path.Split(file)
	switch {
	case slices.Contains(strings.Fields("CLAUDE.md CLAUDE.local.md AGENTS.md GEMINI.md QWEN.md .cursorrules "+
		".windsurfrules .clinerules"), base):
		return true
	case base == "copilot-instructions.md":
		return strings.HasSuffix(dir, ".github/")
	}
	isText := strings.HasSuffix(base, ".md") || strings.HasSuffix(base, ".mdc")
	return isText && slices.ContainsFunc([]string{
		".cursor/rules/", ".claude/rules/", ".github/instructions/", ".continue/rules/", ".clinerules/", ".windsurf/rules/",
		".factory/", ".junie/", ".qwen/team-memory/", ".claude/agent-memory/",
	}, func(folder string) bool { return strings.HasPrefix(file, folder) || strings.Contains(file, "/"+folder) })
}

// Check looks for what does not hold: notes here, those that only the ledgers have, and the rules of the tree. patch is
// what would mend it, as far as that is plain.
func (n Notes) Check(ctx context.Context) (out result.NoteCheck, patch string, err error) {
	out = result.NoteCheck{Schema: result.Schema, Problems: []result.NoteProblem{}}
	code, err := notes.OpenCode(n.W.Repo)
	if err != nil {
		return out, "", err
	}
	all, late, err := n.toCheck(ctx, code)
	if err != nil {
		return out, "", err
	}
	named := make([][]notes.Thing, len(all))
	for i := range all {
		all[i].things = notes.Named(all[i].Text)
		named[i] = all[i].things
	}
	gone, err := code.FindGone(ctx, named)
	if err != nil {
		return out, "", err
	}
	out.Sections = len(all)
	for i := range all {
		all[i].gone = gone[i]
		for _, g := range gone[i] {
			thing := recall.NoteThing(g)
			p := all[i].problem("gone")
			p.Thing = &thing
			out.Problems = append(out.Problems, p)
		}
	}
	pairs, more := contradictions(all)
	out.Problems, out.More, out.TimedOut = append(append(out.Problems, pairs...), late...), more, code.Hurried
	patch, err = n.mend(ctx, all)
	return out, patch, err
}

func (c checked) problem(kind string) result.NoteProblem {
	return result.NoteProblem{Kind: kind, Where: c.where, Heading: c.Title, ID: c.id, Author: c.author}
}

// toCheck are the sections, and those problems that need no look at the code: what a later version has superseded,
// and files with a conflict.
func (n Notes) toCheck(ctx context.Context, code *notes.Code) (all []checked, late []result.NoteProblem, err error) {
	if n.Agent == "" {
		rules, err := code.FilesMatching(ctx, isRules, maxRules)
		if err != nil {
			return nil, nil, err
		}
		for _, file := range rules {
			text, err := n.W.Repo.BlobWithin(code.Blob(file), 256<<10)
			if err != nil {
				continue // too large to be rules
			}
			if notes.CountConflicts(string(text)) > 0 {
				late = append(late, result.NoteProblem{Kind: "conflict", Where: file})
			}
			for _, s := range notes.Split("", file, string(text), 2) {
				all = append(all, checked{Section: s, where: file, file: "b/" + file})
			}
		}
	}
	from, err := n.ledger(ctx, n.Author.Email)
	if err != nil {
		return nil, nil, err
	}
	here, err := n.files()
	if err != nil {
		return nil, nil, err
	}
	isHere := map[string]bool{}
	for _, l := range here {
		if notes.CountConflicts(l.own) > 0 {
			late = append(late, result.NoteProblem{Kind: "conflict", Where: n.shown(l.Path())})
		}
		for _, s := range l.sections {
			c := checked{Section: s, where: n.shown(l.Path()), file: "b/" + strings.TrimPrefix(n.shown(l.Path()), "~/")}
			all, isHere[s.Source] = append(all, c), true
			later, err := n.laterThan(ctx, l, s, from[l.key()])
			if err != nil {
				return nil, nil, err
			}
			if later != "" {
				p := c.problem("superseded")
				p.Other = later
				late = append(late, p)
			}
		}
	}
	more, err := n.inLedgersAlone(ctx, isHere)
	return append(all, more...), late, err
}

// laterThan is the memory that stands in the place of a section here, of which the ledger has a former version.
func (n Notes) laterThan(ctx context.Context, f local, s notes.Section, in *stored) (string, error) {
	if in == nil || in.section(s.Source) == nil {
		return "", nil
	}
	v := in.section(s.Source)
	clean, err := n.clean(ctx, f, s)
	heads := v.heads()
	for _, h := range heads {
		if h.Content == clean {
			return "", err
		}
	}
	if len(heads) == 0 || !v.was(clean) {
		return "", err
	}
	return heads[len(heads)-1].ID, err
}

// inLedgersAlone are the notes that the ledgers hold and no file here.
func (n Notes) inLedgersAlone(ctx context.Context, isHere map[string]bool) (out []checked, err error) {
	rows, err := n.At.Notes(ctx, "")
	for _, r := range rows {
		agent, _, heading, ok := notes.Parse(r.Source)
		if own := strings.EqualFold(r.Email, n.Author.Email); r.Purged || !ok || own && isHere[r.Source] ||
			n.Agent != "" && agent != n.Agent || r.Content == session.Scrubbed {
			continue
		}
		s := notes.Section{Source: r.Source, Title: heading, Text: r.Content}
		out = append(out, checked{Section: s, where: fileOf(r.Source), id: r.ID, author: r.Email})
	}
	return out, err
}

// What a sentence says just before it names a thing. A rule with a condition forbids nothing.
var (
	forbids   = lazy.Expr("(?i)\\b(never|don't|do not|avoid|must not|should not|shouldn't|stop) (?:\\S+ ){0,2}[`*\"']*$")
	demands   = lazy.Expr("(?i)\\b(always|must|use|prefer|run|call|using|calling|running) (?:\\S+ ){0,1}[`*\"']*$")
	condition = lazy.Expr(`(?i)\b(without|unless|except|when|while|before|after|until|if|by hand|twice|only|directly)\b`)
	value     = lazy.Expr("^`?(?:\\(\\))?\\s*(?:=|:|is|are|to|of|at)\\s*`?([0-9]+(?:\\.[0-9]+)?)\\b")
)

// claim is what a section says of a thing.
type claim struct {
	of      *checked
	forbids bool
	value   string // a number
}

// maxPairs is how many contradictions are told.
const maxPairs = 100

// contradictions are pairs of sections that say of the same thing that it must and must not be used, or that it has
// different values, as many as are told; more counts the others.
func contradictions(all []checked) (out []result.NoteProblem, more int) {
	claims := map[string][]claim{}
	var order []string
	for i := range all {
		for name, c := range claimsOf(&all[i]) {
			if claims[name] == nil {
				order = append(order, name)
			}
			claims[name] = append(claims[name], c...)
		}
	}
	slices.Sort(order)
	for _, name := range order {
		for i, a := range claims[name] {
			for _, b := range claims[name][:i] {
				if a.of == b.of || a.of.where == b.of.where && a.of.Source == b.of.Source || !a.contradicts(b) {
					continue
				}
				if len(out) == maxPairs {
					more++
					continue
				}
				p := a.of.problem("contradiction")
				p.Thing = &result.NoteThing{Kind: a.kindOf(name), Name: name}
				p.Other = b.of.where
				if b.of.Title != "" {
					p.Other += "#" + b.of.Title
				}
				out = append(out, p)
			}
		}
	}
	return out, more
}

func (c claim) kindOf(name string) string {
	for _, t := range c.of.things {
		if t.Name == name {
			return t.Kind
		}
	}
	return notes.Symbol
}

func (c claim) contradicts(o claim) bool {
	return c.forbids != o.forbids && c.value == "" && o.value == "" || c.value != "" && o.value != "" && c.value != o.value
}

// claimsOf are what a section says of the things that it names, by their names.
func claimsOf(c *checked) map[string][]claim {
	out := map[string][]claim{}
	for _, said := range notes.Sentences(c.Text) {
		for _, t := range c.things {
			at := strings.Index(said, t.Name)
			if at < 0 || t.Kind == notes.File {
				continue
			}
			if m := value.FindStringSubmatch(said[at+len(t.Name):]); m != nil {
				out[t.Name] = append(out[t.Name], claim{of: c, value: m[1]})
				continue
			}
			no, yes := forbids.MatchString(said[:at]), demands.MatchString(said[:at])
			if no && !condition.MatchString(said) || yes && !no {
				out[t.Name] = append(out[t.Name], claim{of: c, forbids: no})
			}
		}
	}
	return out
}

// mend is a patch of what is plain: a file that has another name is called by that, and a point of a list that names
// nothing but what is gone is left out.
func (n Notes) mend(ctx context.Context, all []checked) (string, error) {
	var pairs []pair
	for _, c := range all {
		if c.file == "" {
			continue
		}
		name := strings.TrimPrefix(c.file, "b/")
		if len(pairs) == 0 || pairs[len(pairs)-1].name != name {
			pairs = append(pairs, pair{name: name})
		}
		p := &pairs[len(pairs)-1]
		p.before, p.after = p.before+c.Text, p.after+c.mended()
	}
	return n.patch(ctx, slices.DeleteFunc(pairs, func(p pair) bool { return p.before == p.after }))
}

func (c checked) mended() string {
	var b strings.Builder
	for line := range strings.Lines(c.Text) {
		lost := 0
		for _, g := range c.gone {
			now, isNamed := notes.Rename(line, g.Name, cmp.Or(g.Now, g.Name))
			switch {
			case !isNamed || g.Several: // which of them is meant, nobody knows
			case g.Now != "":
				line = now
			default:
				lost++
			}
		}
		isPoint := strings.HasPrefix(strings.TrimSpace(line), "- ") || strings.HasPrefix(strings.TrimSpace(line), "* ")
		if lost > 0 && isPoint && lost >= len(notes.Named(line)) {
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}

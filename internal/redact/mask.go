package redact

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Private stands where a <private> passage was. It is not empty, so that a turn that
// was all private keeps its place and identity, and that what is left on both sides
// can't join to a new tag.
const Private = "[private]"

// Excluded stands for a text that names a path of rekal.exclude. It is not empty, for the
// same reason.
const Excluded = "[excluded]"

const (
	// minValue is the shortest value, in bytes, that is replaced wherever it stands;
	// shorter ones only where a rule found them.
	minValue = 8
	// minTail is the shortest beginning of a value, in bytes, that is replaced at the
	// end of a title, which may be the cut beginning of a prompt.
	minTail = 6
)

var (
	privateTag = lazy.Expr(`(?i)(?:<|&lt;)\s*(/?)\s*private(?:\s[^<>]*?)?(?:>|&gt;)`)
	marker     = lazy.Expr(`\[REDACTED:([a-z0-9-]+)\]`)
)

// dropPrivate replaces each <private>…</private>, in any case, nested ones as one. An
// unclosed one reaches to the end, and one that was not opened, as its beginning stands in
// another record, from the start.
//
// It returns where the passages were, too.
func dropPrivate(s string) (string, []window) {
	if !bytes.Contains(lower(s), []byte("private")) { // the expression below takes a third of the time of all rules
		return s, nil
	}
	tags := privateTag.FindAllStringSubmatchIndex(s, -1)
	if len(tags) == 0 {
		return s, nil
	}
	var out strings.Builder
	var at []window
	put := func(before string) {
		out.WriteString(before + Private)
		at = append(at, window{out.Len() - len(Private), out.Len()})
	}
	depth, done := 0, 0
	for _, t := range tags {
		closing := t[2] < t[3]
		switch {
		case !closing:
			if depth++; depth == 1 {
				put(s[done:t[0]])
			}
		case depth > 0:
			depth--
			done = t[1]
		default:
			out.Reset()
			at = nil
			put("")
			done = t[1]
		}
	}
	if depth == 0 {
		out.WriteString(s[done:])
	}
	return out.String(), at
}

// findings is what one scan of an entry brought to light.
type findings struct {
	spans  map[*string][]span
	values map[string]string // found secret to the rule that names it
	ids    map[string]bool   // of rules; what may stand in a marker
	memory Remembered
	public map[string]bool // what the repository publishes, of all rounds
	allow  func(value string) bool
}

func (f *findings) add(t *text, spans []span) {
	if len(spans) == 0 {
		return
	}
	f.spans[t.at] = spans
	for _, s := range spans {
		for _, v := range []string{(*t.at)[s.lo:s.hi], s.value} {
			if had, ok := f.values[v]; v != "" && (!ok || preferred(s.rule, had)) {
				f.values[v] = s.rule
			}
		}
	}
}

// broad reports whether a rule says little of what it finds.
func broad(rule string) bool { return strings.HasPrefix(rule, "generic") || rule == "vendor-token" }

// preferred reports whether rule a names a value better than b: a specific rule before
// a broad one, then by name.
func preferred(a, b string) bool {
	ga, gb := broad(a), broad(b)
	if ga != gb {
		return gb
	}
	return a < b
}

// weigh drops what the repository publishes, and has the rest remembered.
func (f *findings) weigh(ctx context.Context, r *Redactor) error {
	names := slices.Sorted(maps.Keys(f.values))
	if r.public != nil {
		candidates := slices.DeleteFunc(slices.Clone(names), func(v string) bool { return !strings.HasPrefix(f.values[v], "generic") })
		if err := f.publish(ctx, r, candidates); err != nil {
			return err
		}
	}
	if r.memory == nil {
		return nil
	}
	var values []Value
	for _, v := range names {
		if rule, left := f.values[v]; left && rule != KnownValue {
			values = append(values, Value{v, rule, Ordinary(v)})
		}
	}
	if len(values) == 0 {
		return nil
	}
	return r.memory.Add(values)
}

// publish drops those of the candidates that the repository publishes.
func (f *findings) publish(ctx context.Context, r *Redactor, candidates []string) error {
	if len(candidates) == 0 {
		return nil
	}
	known, err := r.public(ctx, candidates)
	if err != nil {
		return err
	}
	for i, v := range candidates {
		if known[i] {
			f.public[v] = true
			delete(f.values, v)
		}
	}
	for at, spans := range f.spans {
		f.spans[at] = slices.DeleteFunc(spans, func(s span) bool { return strings.HasPrefix(s.rule, "generic") && f.public[(*at)[s.lo:s.hi]] })
	}
	return nil
}

// replace puts markers into every text that holds a found value, and returns which
// texts changed.
func (f *findings) replace(ctx context.Context, all []*text, rep *Report) (changed []bool, err error) {
	changed = make([]bool, len(all))
	if len(f.values) == 0 && f.memory == nil {
		return changed, nil
	}
	elsewhere := f.finder()
	spans := make([][]span, len(all))
	err = each(ctx, all, func(i int) error {
		t := all[i]
		found := slices.Concat(f.spans[t.at], elsewhere(*t.at))
		if t.title {
			found = append(found, f.tail(*t.at)...)
		}
		if f.memory != nil {
			for form := range forms(*t.at) {
				for _, s := range f.memory.Find(form.text) {
					if v := form.text[s.Lo:s.Hi]; f.public[v] || f.allow(v) {
						continue
					}
					found = append(found, form.outward(span{lo: s.Lo, hi: s.Hi, rule: s.Rule, trigger: "remembered"}))
				}
			}
		}
		spans[i] = f.settleSpans(*t.at, found)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, t := range all {
		if len(spans[i]) == 0 {
			continue
		}
		t.mask(spans[i])
		changed[i] = true
		for _, s := range spans[i] {
			rep.count(s.rule)
		}
	}
	return changed, nil
}

// finder returns a function that finds the values in a text, however they are written there.
func (f *findings) finder() func(string) []span {
	var values []string
	for v := range f.values {
		if !Ordinary(v) {
			values = append(values, v)
		}
	}
	all := newNeedles(values)
	return func(s string) []span {
		var out []span
		for form := range forms(s) {
			all.each(form.text, func(lo, hi int) {
				out = append(out, form.outward(span{lo: lo, hi: hi, rule: f.values[form.text[lo:hi]], trigger: "found elsewhere"}))
			})
		}
		return out
	}
}

// tail finds the beginning of a value at the end of a title.
func (f *findings) tail(title string) []span {
	title = strings.TrimRight(title, ".… ")
	var out []span
	for v, rule := range f.values {
		if Ordinary(v) {
			continue
		}
		for n := min(len(v), len(title)); n >= minTail; n-- {
			if strings.HasSuffix(title, v[:n]) {
				out = append(out, span{lo: len(title) - n, hi: len(title), rule: rule, trigger: "found elsewhere"})
				break
			}
		}
	}
	return out
}

// settleSpans joins spans that overlap, each named by the rule that says most, and
// keeps markers whole: a span within one is nothing new, one that reaches beyond
// takes it in.
func (f *findings) settleSpans(s string, spans []span) []span {
	if len(spans) == 0 {
		return nil
	}
	markers := f.markers(s)
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(b.hi, a.hi), cmp.Compare(a.rule, b.rule))
	})
	var out []span
	for _, p := range spans {
		p, fresh := aroundMarkers(p, markers)
		if !fresh {
			continue
		}
		n := len(out) - 1
		if n < 0 || p.lo >= out[n].hi {
			out = append(out, p)
			continue
		}
		if preferred(p.rule, out[n].rule) {
			out[n].rule, out[n].trigger = p.rule, p.trigger
		}
		out[n].lo, out[n].hi = min(out[n].lo, p.lo), max(out[n].hi, p.hi)
	}
	return out
}

// markers are where s already holds markers of ours.
func (f *findings) markers(s string) []window {
	var out []window
	for _, m := range marker.FindAllStringSubmatchIndex(s, -1) {
		if f.ids[s[m[2]:m[3]]] {
			out = append(out, window{m[0], m[1]})
		}
	}
	return out
}

// aroundMarkers widens p so that it cuts no marker. It reports false when p lies
// within one.
func aroundMarkers(p span, markers []window) (span, bool) {
	for _, m := range markers {
		if m.lo <= p.lo && p.hi <= m.hi {
			return p, false
		}
		if m.lo < p.hi && p.lo < m.hi {
			p.lo, p.hi = min(p.lo, m.lo), max(p.hi, m.hi)
		}
	}
	return p, true
}

// mask puts markers in the place of spans, which are in order and apart.
func (t *text) mask(spans []span) {
	s := *t.at
	var out strings.Builder
	var marks []mark
	done := 0
	keep := func(to int) { // and the marks there
		for len(t.marks) > 0 && t.marks[0].hi <= to {
			m := t.marks[0]
			if t.marks = t.marks[1:]; m.lo >= done {
				m.lo, m.hi = m.lo-done+out.Len(), m.hi-done+out.Len()
				marks = append(marks, m)
			}
		}
		out.WriteString(s[done:to])
	}
	for _, p := range spans {
		keep(p.lo)
		m := mark{p}
		m.value, m.lo = s[p.lo:p.hi], out.Len()
		fmt.Fprintf(&out, "[REDACTED:%s]", p.rule)
		m.hi, done = out.Len(), p.hi
		marks = append(marks, m)
	}
	keep(len(s))
	*t.at, t.marks = out.String(), marks
}

// cutCommand keeps the first session.CmdPrefix runes. A marker that does not fit is
// left out whole.
func cutCommand(s string) string {
	if len(s) <= session.CmdPrefix {
		return s
	}
	n := 0
	for i := range s {
		if n == session.CmdPrefix {
			return s[:beforeMarker(s, i)]
		}
		n++
	}
	return s
}

// cutTurn keeps at most session.MaxTurn bytes: whole runes, then a line that says how
// many bytes of the redacted turn are missing. A marker that does not fit is left out
// whole.
func cutTurn(s string) string {
	if len(s) <= session.MaxTurn {
		return s
	}
	note := fmt.Sprintf("\n[cut: %d bytes]", len(s)) // as long as the note can get
	keep := session.MaxTurn - len(note)
	for !utf8.RuneStart(s[keep]) {
		keep--
	}
	keep = beforeMarker(s, keep)
	return s[:keep] + fmt.Sprintf("\n[cut: %d bytes]", len(s)-keep)
}

// beforeMarker is i, or the start of the marker that i lies in.
func beforeMarker(s string, i int) int {
	open := strings.LastIndexByte(s[:i], '[')
	if open < 0 {
		return i
	}
	if m := marker.FindStringIndex(s[open:]); m != nil && m[0] == 0 && open+m[1] > i {
		return open
	}
	for _, m := range []string{Private, Excluded} {
		if strings.HasPrefix(s[open:], m) && open+len(m) > i {
			return open
		}
	}
	return i
}

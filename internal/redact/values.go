package redact

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/session"
)

const (
	// minValue is the shortest value, in bytes, that is replaced wherever it stands; shorter ones only where a rule found
	// them.
	minValue = 8
	// minTail is the shortest beginning of a value, in bytes, that is replaced at the end of a title, which may be the cut
	// beginning of a prompt.
	minTail = 6
)

// findings is what one scan of an entry brought to light.
type findings struct {
	*Redactor
	spans  map[*text][]span
	values map[string]string // found secret to the rule that names it
	// published are the values that the repository itself publishes, of all scans.
	published map[string]bool
	// everywhere are the values that are replaced wherever they stand, and ruleOf what names them.
	everywhere *searcher
	ruleOf     []string
	filter     *decodeFilter // of everywhere
}

func (f *findings) add(t *text, spans []span) {
	f.spans[t] = spans
	for _, s := range spans {
		raw := (*t.at)[s.lo:s.hi]
		f.addValue(raw, s.rule)
		if s.value != raw {
			f.addValue(s.value, s.rule)
		}
		if strings.IndexByte(raw, '\n') >= 0 { // a title has on one line what was wrapped
			f.addValue(session.OneLine(raw), s.rule)
		}
	}
}

func (f *findings) addValue(v, rule string) {
	if had, ok := f.values[v]; v != "" && (!ok || had != rule && namesBetter(rule, had)) {
		f.values[v] = rule
	}
}

// isGeneric reports whether a rule goes by what a text calls a value, and not by the value's form.
func isGeneric(rule string) bool { return strings.HasPrefix(rule, "generic") || isNamed()[rule] }

// namesBetter reports whether rule a names a value better than b: a specific rule before a broad one, then by name.
func namesBetter(a, b string) bool {
	broad := func(rule string) bool { return strings.HasPrefix(rule, "generic") || rule == "vendor-token" }
	if broad(a) != broad(b) {
		return broad(b)
	}
	return a < b
}

// prepareValues drops what the repository publishes, has the rest remembered, and says which values are replaced
// wherever they stand.
func (f *findings) prepareValues(ctx context.Context) error {
	if err := f.dropPublished(ctx); err != nil {
		return err
	}
	values := slices.Sorted(maps.Keys(f.values))
	ordinary := make([]bool, len(values))
	err := runParallel(ctx, min(runtime.GOMAXPROCS(0), 1+len(values)/1000), len(values),
		func(i int) error { ordinary[i] = Ordinary(values[i]); return nil })
	if err != nil {
		return err
	}
	found, everywhere := make([]Value, 0, len(values)), make([]string, 0, len(values))
	for i, v := range values {
		rule := f.values[v]
		if !ordinary[i] {
			everywhere, f.ruleOf = append(everywhere, v), append(f.ruleOf, rule)
		}
		if rule != KnownValue {
			found = append(found, Value{v, rule, ordinary[i]})
		}
	}
	f.everywhere, f.filter = newSearcher(everywhere, minValue), filterForValues(everywhere)
	if f.memory == nil || len(found) == 0 {
		return nil
	}
	return f.memory.Add(ctx, found)
}

// dropPublished drops the values of generic rules that the repository publishes.
func (f *findings) dropPublished(ctx context.Context) error {
	if f.public == nil {
		return nil
	}
	candidates := slices.DeleteFunc(slices.Sorted(maps.Keys(f.values)),
		func(v string) bool { return !isGeneric(f.values[v]) })
	if len(candidates) == 0 {
		return nil
	}
	known, err := f.public(ctx, candidates)
	if err != nil {
		return err
	}
	var excused []Value
	for i, v := range candidates {
		if known[i] == Unpublished || known[i] == Committed && !isNameOfCode(v) {
			continue
		}
		if known[i] == Committed {
			excused = append(excused, Value{v, f.values[v], Ordinary(v)})
		}
		f.published[v] = true
		delete(f.values, v)
	}
	if len(excused) > 0 && f.excused != nil {
		if err := f.excused(ctx, excused); err != nil {
			return err
		}
	}
	for t, spans := range f.spans {
		f.spans[t] = slices.DeleteFunc(spans, func(s span) bool {
			return isGeneric(s.rule) && (f.published[(*t.at)[s.lo:s.hi]] || f.published[s.value])
		})
	}
	return nil
}

// replace puts markers into every text that holds a found value.
func (f *findings) replace(ctx context.Context, all []*text) error {
	if len(f.values) == 0 {
		return nil
	}
	return eachText(ctx, all, func(i int) error {
		t := all[i]
		inside := markers(*t.at, window{0, len(*t.at)}, f.rules.ids)
		spans := joinSpans(f.spans[t], inside)
		more, err := f.findElsewhere(ctx, t, spans)
		if len(more) > 0 {
			spans = joinSpans(append(more, spans...), inside)
		}
		if t.changed = len(spans) > 0; t.changed {
			t.mask(spans)
		}
		return err
	})
}

// findElsewhere finds the values in a text, however they are written there, where none was found yet, and at the end of
// a title also the beginning of one.
func (f *findings) findElsewhere(ctx context.Context, t *text, found []span) (out []span, err error) {
	if len(f.everywhere.words) == 0 {
		return nil, nil
	}
	out, err = findInParts(ctx, *t.at, f.filter, func(r reading, part window) (more []span) {
		next := 0 // of found
		f.everywhere.each(r.text, part, func(w, at int) {
			p := r.toText(span{lo: at, hi: at + len(f.everywhere.words[w]), rule: f.ruleOf[w], trigger: "found elsewhere"})
			for next > 0 && found[next-1].hi > p.lo {
				next--
			}
			for next < len(found) && found[next].hi < p.hi {
				next++
			}
			if next == len(found) || p.lo < found[next].lo || found[next].rule != p.rule {
				more = append(more, p)
			}
		})
		return more
	})
	if err == nil && t.title {
		out = append(out, cutValueAtEnd(*t.at, f.everywhere.words, f.ruleOf)...)
	}
	return out, err
}

// cutValueAtEnd finds the beginning of a value that is cut off at the end of a title.
func cutValueAtEnd(title string, values, rules []string) []span {
	title = strings.TrimRight(title, ".… ")
	for at := max(0, len(title)-longestValue); at+minTail <= len(title); at++ {
		rest := title[at:]
		i, is := slices.BinarySearch(values, rest)
		if is {
			i++ // a longer one
		}
		if i < len(values) && strings.HasPrefix(values[i], rest) {
			return []span{{lo: at, hi: len(title), rule: rules[i], trigger: "found elsewhere"}}
		}
	}
	return nil
}

// joinSpans puts spans that overlap together, each named by the rule that says most, and keeps markers whole: a span
// within one is nothing new, one that reaches beyond takes it in.
func joinSpans(spans []span, markers []window) []span {
	slices.SortFunc(spans, compareSpans)
	out := make([]span, 0, len(spans))
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
		if namesBetter(p.rule, out[n].rule) {
			out[n].rule, out[n].trigger = p.rule, p.trigger
		}
		out[n].lo, out[n].hi = min(out[n].lo, p.lo), max(out[n].hi, p.hi)
	}
	return out
}

// compareSpans orders spans by where they begin, the longest first.
func compareSpans(a, b span) int {
	if a.lo != b.lo {
		return a.lo - b.lo
	}
	return cmp.Or(b.hi-a.hi, cmp.Compare(a.rule, b.rule))
}

// aroundMarkers widens p so that it cuts no marker; markers are in order. It reports false when p lies within one.
func aroundMarkers(p span, markers []window) (span, bool) {
	first, _ := slices.BinarySearchFunc(markers, p.lo, func(m window, lo int) int { return cmp.Compare(m.hi, lo+1) })
	for _, m := range markers[first:] {
		if m.lo >= p.hi {
			break
		}
		if m.lo <= p.lo && p.hi <= m.hi {
			return p, false
		}
		p.lo, p.hi = min(p.lo, m.lo), max(p.hi, m.hi)
	}
	return p, true
}

// mask puts markers in the place of spans, which are in order and apart, and moves the marks that are left.
func (t *text) mask(spans []span) {
	s, marks := *t.at, make([]span, 0, len(t.marks)+len(spans))
	var out strings.Builder
	out.Grow(len(s) + 16*len(spans))
	done := 0
	for _, p := range append(spans, span{lo: len(s), hi: len(s)}) {
		for ; len(t.marks) > 0 && t.marks[0].hi <= p.lo; t.marks = t.marks[1:] {
			if m := t.marks[0]; m.lo >= done {
				m.lo, m.hi = m.lo-done+out.Len(), m.hi-done+out.Len()
				marks = append(marks, m)
			}
		}
		out.WriteString(s[done:p.lo])
		if p.lo < p.hi {
			p.value = s[p.lo:p.hi]
			done, p.lo = p.hi, out.Len()
			out.WriteString(markerFor(p.rule))
			p.hi = out.Len()
			marks = append(marks, p)
		}
	}
	*t.at, t.marks = out.String(), marks
}

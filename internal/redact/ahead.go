package redact

import (
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// ahead is the value that a sentence names behind it: "… is the password of the server".
func (n name) ahead(t string) (int, int) {
	from := max(0, n.lo-100)
	if i := strings.LastIndexAny(t[from:n.lo], "\n;"); i >= 0 {
		from += i + 1
	}
	for hi := n.lo; hi > from; {
		hi = from + len(strings.TrimRight(t[from:hi], " \t\"'`*“”»«)(,[]."))
		lo := from + strings.LastIndexAny(t[from:hi], " \t\"'`(") + 1
		if lo >= hi || hi == n.lo {
			break
		}
		a, b := bare(t, lo)
		b = min(b, hi)
		v := t[a:b]
		between := t[b:n.lo]
		glued := b < hi // another script follows
		if strings.ContainsAny(between, "=:") && n.lo-hi < 40 || strings.HasSuffix(v, ":") || strings.HasSuffix(v, "=") || strings.Contains(between, ". ") {
			break
		}
		l := lookOf(v, false)
		isString := quoteAt(t, lo-1) && quoteAt(t, hi) && !strings.Contains(between, ",")
		if n.kind != password && !glued && !backward.MatchString(between) || !prose(between) && !isString {
			break
		}
		tie := near
		if glued || backward.MatchString(between) {
			tie = said
		}
		if !isString && !glued && (!endsWord(t, b) || tie == near && (!unsaid(v) || compound.MatchString(v) && Wordy(v))) {
			hi = lo
			continue
		}
		if l >= max(odd, least[n.kind][tie]) || tie == said && n.kind == password && (l >= marked || l == word && joined(v)) {
			return a, b
		}
		hi = lo
	}
	if m := valueFirst.FindStringSubmatchIndex(t[max(0, n.lo-120):n.lo]); m != nil {
		lo, hi := max(0, n.lo-120)+m[2], max(0, n.lo-120)+m[3]
		if lookOf(t[lo:hi], true) >= least[n.kind][given] {
			return lo, hi
		}
	}
	return 0, 0
}

// valueFirst is the value of an object whose name follows.
var valueFirst = lazy.Expr(`(?i)value["']?\s*[:=]\s*["']?([^\s"']{8,80})["']?,?\s*(?:WHERE\s+)?["']?\w*(?:name|key|type|id|label)["']?\s*[:=]\s*["']?[\w./-]*$`)

// compound is a name or a word that is put together of several.
var compound = lazy.Expr(`^[A-Za-z]+(?:\d+|[-_])?(?:[A-Z_-][A-Za-z]+){2,}$|^[\w-]*[_-][\w-]*[A-Za-z]$`)

// backward stands between a value and the name that a sentence gives it.
var backward = lazy.Expr("^[\"'`*“”»]*[,]?(?:\\s+[(\\[]|\\s*(?:←|<-)|\\s+(?:that |which |this )?(?:" + backwords + ")\\s)")

const backwords = `is|was|are|as|to|for|when|als|comme|como|come|som|jako|ca|как|sebagai|ist|war|est|es|è|é|är|er|on|jest|je|este|είναι|это|là|adalah|nicht|olarak`

// asValue is the value of a name that is itself a value: {"name": "DB_PASSWORD", "value": "…"}.
func (n name) asValue(t string) (lo, hi int) {
	rest := t[n.end:min(len(t), n.end+maxReach)]
	if !strings.Contains(rest, "alue") && !strings.Contains(rest, "VALUE") && !strings.Contains(rest, "efault") {
		return 0, 0
	}
	m := valueKey.FindStringIndex(rest)
	if m == nil || strings.Contains(rest[:m[0]], "}") || strings.Count(rest[:m[0]], "{") > 1 || strings.Contains(rest[:m[0]], "name") {
		return 0, 0
	}
	w := walk{name: n, t: t, i: n.end + m[1], tie: given, signed: true}
	for w.i < len(t) && w.t[w.i] == ' ' {
		w.i++
	}
	if t[w.i-1] == '>' {
		lo, hi, _ = w.element()
		return lo, hi
	}
	lo, hi, _ = w.step()
	return lo, hi
}

var valueKey = lazy.Expr(`(?i)(?:\b\w{0,12}(?:value|default)["']?\s*[:=]|--value|<value>|set; \} =|\bvalue (?:is )?)`)

package redact

import (
	"bytes"
	"strings"
)

// A quick look spares texts the regular expressions: they take a microsecond a byte, and
// most keywords stand in prose. What it asks for, every match of the rule has.

// quick is what each match of a rule holds beside its keyword.
type quick struct {
	assigns bool     // an operator behind the keyword; see operatorAfter
	value   bool     // and, behind that, a value as generic-api-key wants it
	follow  int      // so many letters, digits, _ or - directly behind the keyword
	needs   []string // lower case, somewhere in the text
}

func quickOf(id, regex string) quick {
	q := quick{assigns: assigns(regex) && !keywordInValue(id)}
	switch id {
	case "generic-api-key":
		q.value = true
	case "vault-service-token":
		q.follow = 24
	case "jwt":
		q.follow = 17
	case "kubernetes-secret-yaml":
		q.needs = []string{"kind:", "data:"}
	}
	return q
}

func (q quick) passes(low []byte, at window) bool {
	if q.assigns {
		op := operatorAfter(low, at.hi)
		return op > 0 && (!q.value || valueAfter(low, op))
	}
	for i := at.hi; i < at.hi+q.follow; i++ {
		if i >= len(low) || !alnumeric(low[i]) && low[i] != '_' && low[i] != '-' {
			return false
		}
	}
	for _, s := range q.needs {
		if !bytes.Contains(low, []byte(s)) {
			return false
		}
	}
	return true
}

const (
	// nameThenWord and operator are the parts of most of gitleaks' regular expressions:
	// a name that holds one of the rule's words, and what gives it a value.
	nameThenWord = `(?i)[\w.-]{0,50}?(?:`
	operator     = `)(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`
)

// assigns reports whether each match of a regular expression holds a keyword with an operator
// behind it. A test proves it of those for which it is so.
func assigns(regex string) bool {
	return strings.HasPrefix(regex, nameThenWord) && strings.Count(regex, operator) == 1 && !strings.Contains(regex, `|\b(`)
}

// keywordInValue names the rules whose keyword stands in the value. The same test finds them.
func keywordInValue(id string) bool {
	switch id {
	case "lob-api-key", "lob-pub-api-key", "new-relic-browser-api-token", "new-relic-insert-key", "new-relic-user-api-key", "typeform-api-token":
		return true
	}
	return false
}

// maxName is how far behind a keyword the operator stands at most: the rest of the rule's
// word, and 23 bytes.
const maxName = 64

// operatorAfter is where the operator behind a name stands; 0 when there is none.
func operatorAfter(low []byte, i int) int {
	for end := min(i+maxName, len(low)); i < end; i++ {
		switch c := low[i]; {
		case alnumeric(c) || strings.IndexByte("_.-'\"\t\n\f\r ", c) >= 0:
		case strings.IndexByte("=>:|?,", c) >= 0:
			return i
		default:
			return 0
		}
	}
	return 0
}

// distinct is how many different bytes it takes for more than 3.5 bits a byte.
const distinct = 12

// valueAfter reports whether a value stands behind the operator at i: twelve bytes at least, of
// as many kinds.
func valueAfter(low []byte, i int) bool {
	for end := i + 4; i < end && i < len(low) && strings.IndexByte("=>:|?,", low[i]) >= 0; i++ {
	}
	for end := i + 5; i < end && i < len(low) && strings.IndexByte("`'\" \t\n\r\f=", low[i]) >= 0; i++ {
	}
	var seen [256]bool
	from, kinds := i, 0
	for end := min(i+200, len(low)); i < end && (alnumeric(low[i]) || strings.IndexByte("_.=-+/", low[i]) >= 0); i++ {
		if !seen[low[i]] {
			seen[low[i]] = true
			kinds++
		}
	}
	return kinds >= distinct/2 && i-from >= distinct-1 // letters are folded, and one "=" may have been passed
}

package recall

import (
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// statement says which value a file, a symbol or a setting has.
type statement struct{ anchor, value string }

// statementForm is a name as code has it, or one in backticks; what says that it has a value; and the value: a text in
// quotes, a number with its unit, a word that means on or off, or another name.
var statementForm = lazy.Expr("(?:`([^`\n]{2,80})`" +
	`|\b([A-Za-z_]\w*(?:[./-]\w+)+|[A-Za-z]\w*_\w+|[A-Z][A-Z0-9]{2,}|[a-z]+[A-Z]\w*))` +
	`[ \t]*(?:=|:|\b(?:is|are|was|has|uses|must be|should be|is set to|defaults to|to)\b)[ \t]*` +
	"(?:`([^`\n]{1,80})`" + `|"([^"\n]{1,80})"|'([^'\n]{1,80})'` +
	`|([-+]?\d[\w%:/-]*(?:\.\d+)*(?:[ \t](?:ms|s|min|h|hours?|days?|seconds?|minutes?|weeks?|KB|MB|GB|%))?)` +
	`|\b(true|false|on|off|yes|no|none|null|nil|enabled|disabled)\b` +
	`|([A-Za-z_]\w*(?:[./-]\w+)+|[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*))`)

// statedBytes is how much of a text is looked into.
const statedBytes = 8 << 10

// statements are those that a text makes. It must look like code: of prose nobody could tell what it is about.
func statements(text string) (out []statement) {
	text = strings.ToValidUTF8(text[:min(len(text), statedBytes)], "")
	for _, m := range statementForm.FindAllStringSubmatch(text, -1) {
		s := statement{anchor: m[1] + m[2], value: strings.Join(m[3:], "")}
		if s.value = strings.TrimRight(s.value, ".,;:"); s.value != "" {
			out = append(out, s)
		}
	}
	return out
}

// findDiffering is the first of some statements that gives another value to what one of the others is about.
func findDiffering(said, others []statement) (statement, bool) {
	values := map[string][]string{}
	for _, s := range said {
		values[s.anchor] = append(values[s.anchor], strings.ToLower(s.value))
	}
	for _, o := range others {
		if had := values[o.anchor]; len(had) > 0 && !slices.Contains(had, strings.ToLower(o.value)) {
			return o, true
		}
	}
	return statement{}, false
}

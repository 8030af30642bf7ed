package session

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// linkScheme is before what a link names.
const linkScheme = "rekal:"

// linkForm is a link anywhere in a text: the ID of a session or memory, or the OID of a checkpoint, and perhaps a turn.
var linkForm = sync.OnceValue(func() *regexp.Regexp { //nolint:gochecknoglobals // compiled once
	return regexp.MustCompile(`(?i)(?:^|[^0-9A-Za-z-])rekal:([0-9A-Za-z]{4,64})(?:#(\d{1,9}))?`)
})

// Ref is a link: a stable name of a session, a memory or a checkpoint, which a person can put into an issue or a
// commit's message, and which is taken wherever an ID is. Turn is an index within a session; -1: the whole.
type Ref struct {
	ID   string // as it was written, perhaps its beginning only
	Turn int
}

func (l Ref) String() string {
	if l.Turn < 0 {
		return linkScheme + l.ID
	}
	return fmt.Sprintf("%s%s#%d", linkScheme, l.ID, l.Turn)
}

// FindRefs finds the links in a text, each once, in their order.
func FindRefs(text string) (out []Ref) {
	if !strings.Contains(strings.ToLower(text), linkScheme) {
		return nil
	}
	had := map[Ref]bool{}
	for _, m := range linkForm().FindAllStringSubmatch(text, -1) {
		l := Ref{m[1], -1}
		if m[2] != "" {
			l.Turn, _ = strconv.Atoi(m[2]) // nine digits fit
		}
		if !had[l] {
			had[l], out = true, append(out, l)
		}
	}
	return out
}

// address is the beginning of an ID with a turn, "01KJW4MN:8", as answers name a place. IDs of our time begin so.
var address = sync.OnceValue(func() *regexp.Regexp { //nolint:gochecknoglobals // compiled once
	return regexp.MustCompile(`^(01[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{2,24}):(\d{1,7})$`)
})

// OnlyRef is the only link or address of a turn in a text; where there is none, or several, the text is a name itself.
func OnlyRef(text string) Ref {
	if strings.HasPrefix(text, "01") {
		if m := address().FindStringSubmatch(text); m != nil {
			turn, _ := strconv.Atoi(m[2]) // seven digits
			return Ref{m[1], turn}
		}
	}
	if all := FindRefs(text); len(all) == 1 {
		return all[0]
	}
	return Ref{text, -1}
}

// What a page for who goes on with a session begins with, before its title, and ends with, each on a line of its own.
const (
	HandoffHead = "# Going on with a session: "
	HandoffEnd  = "(The recorded part ends here.)"
)

// WithoutHandoff leaves of such a page in a prompt the link to the session: its text is in a ledger already, and its
// title may be private.
func WithoutHandoff(prompt string) string {
	from := strings.Index(prompt, HandoffHead)
	if from < 0 || from > 0 && prompt[from-1] != '\n' && prompt[from-1] != '"' { // "opencode run" puts prompts into quotes
		return prompt
	}
	page, rest, ended := strings.Cut(prompt[from:], "\n"+HandoffEnd)
	refs := FindRefs(page)
	if !ended || len(refs) == 0 {
		return prompt
	}
	return prompt[:from] + fmt.Sprintf("Going on with %s", refs[0]) + rest
}

package redact

import (
	"regexp"
	"strings"
)

// argument is a way in which a command takes a password: the regular expression's first group that
// took part is the value. It is asked of the rest of the line behind the command's name.
type argument struct {
	command string // lower case, as it stands in the text
	value   *regexp.Regexp
}

// arguments are commands that take passwords in ways of their own. Quotes stand around a
// value, not within.
func arguments() []argument {
	word := `["']?([^\s"'<>|;&]+)`
	compiled := func(re string) *regexp.Regexp { return regexp.MustCompile(strings.ReplaceAll(re, "WORD", word)) }
	return []argument{
		{"openssl", compiled(`\s-(?:k|K|passin|passout|pass|passwd) (?:pass:)?WORD`)},
		{"zip ", compiled(`(?:^|\s)(?:-P|--password)[ =]?WORD`)},
		{"7z", compiled(`\s-p["']?([^\s"'<>|;&]+)`)},
		{"unrar", compiled(`\s-h?p["']?([^\s"'<>|;&]+)`)},
		{"htpasswd", compiled(`\s-[a-zA-Z]*b[a-zA-Z]*(?:\s+-\S+)*(?:\s+[^\s|;&]+){1,2}\s+WORD`)},
		{"smbclient", compiled(`\s(?:-U|--user)[ =]?["']?[\w.\\/-]+%([^\s"'<>|;&]+)`)},
		{"net use", compiled(`\s/user:\S+\s+WORD`)},
		{"vault kv put", compiled(`\s[\w.-]+=WORD`)},
		{"vault kv patch", compiled(`\s[\w.-]+=WORD`)},
		{"vault write", compiled(`\s[\w.-]+=WORD`)},
		{"chpasswd", compiled(`<<<\s*["']?[\w.-]+:([^\s"'<>|;&]+)`)},
	}
}

func argumentCommands(all []argument) []string {
	var out []string
	for _, a := range all {
		out = append(out, a.command)
	}
	return out
}

// commandArgument finds what one of the arguments says.
func commandArgument(all []argument) func(t string, at window) (int, int) {
	return func(t string, at window) (int, int) {
		line := t[at.hi:min(len(t), at.hi+400)]
		if n := strings.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
		}
		for _, a := range all {
			if !strings.EqualFold(a.command, t[at.lo:at.hi]) {
				continue
			}
			for _, m := range a.value.FindAllStringSubmatchIndex(line, -1) {
				lo, hi := group(m)
				if hi = grow(line, lo, hi, "", pieceEnd); telling(judged(line[lo:hi])) {
					return at.hi + lo, at.hi + hi
				}
			}
		}
		return 0, 0
	}
}

var (
	echoed   = regexp.MustCompile(`(?:echo|printf)\s+(?:-\w+\s+)?["']?([^\s"'|\\]+)(?:\\n)?["']?\s*\|\s*$`)
	hereText = regexp.MustCompile(`^[^\n|;&]*<<<\s*["']?([^\s"'|;&]+)`)
	hook     = regexp.MustCompile(`^\d{15,21}/([\w-]{40,100})`)
	loginAs  = regexp.MustCompile(`^(?:\s+(?:are|is|with|as))?\s*[:=]?\s*["'` + "`" + `]?[A-Za-z][\w.+-]{1,40}(?:\s+/\s+|:\s?)([^\s"'` + "`" + `]{8,80})`)
)

// sudoInput is what sudo reads as a password: echoed into it, or behind "<<<".
func sudoInput(t string, at window) (int, int) {
	from := max(0, at.lo-200)
	lo, hi := 0, 0
	if m := echoed.FindStringSubmatchIndex(t[from:at.lo]); m != nil {
		lo, hi = from+m[2], from+m[3]
	} else if m := hereText.FindStringSubmatchIndex(t[at.hi:min(len(t), at.hi+200)]); m != nil {
		lo, hi = at.hi+m[2], at.hi+m[3]
	}
	if hi-lo < 4 || placeholder(t[lo:hi]) || isWord(t[lo:hi]) {
		return 0, 0
	}
	return lo, hi
}

// discordHook is the token in the URL of a webhook: who has it can write.
func discordHook(t string, at window) (int, int) {
	m := hook.FindStringSubmatchIndex(t[at.hi:min(len(t), at.hi+128)])
	if m == nil {
		return 0, 0
	}
	return at.hi + m[2], at.hi + m[3]
}

// sharedSignature is the signature of a URL that gives access by itself, as Azure's.
func sharedSignature(t string, at window) (int, int) {
	if at.lo == 0 || strings.IndexByte("?&;\"' ", t[at.lo-1]) < 0 {
		return 0, 0
	}
	hi := at.hi
	for hi < len(t) && hi-at.hi < 512 && (encodes[t[hi]] || t[hi] == '%' || t[hi] == '=') {
		hi++
	}
	if hi-at.hi < 20 || !random(t[at.hi:hi]) {
		return 0, 0
	}
	return at.hi, hi
}

// loginName is the password behind the name to log in with.
func loginName(t string, at window) (int, int) {
	m := loginAs.FindStringSubmatchIndex(t[at.hi:min(len(t), at.hi+160)])
	if m == nil {
		return 0, 0
	}
	lo, hi := at.hi+m[2], at.hi+m[3]
	hi = lo + len(strings.TrimRight(t[lo:hi], ".,;:?)"))
	if v := t[lo:hi]; !telling(v) || !strict(v) || spoken(v) {
		return 0, 0
	}
	return lo, hi
}

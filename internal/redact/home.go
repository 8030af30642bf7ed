package redact

import (
	"strings"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// homes turns the paths of home folders into "~": one's own, wherever it is, and what
// lies where systems put those of others. A name in a path says who somebody is; what
// lies below says what was done.
type homes struct {
	path, name string // the user's, as it is and as agents make a folder's name of it; "": not known
}

const (
	// beginsPath may stand before a path. A "~" or a letter is not among them, so what was
	// replaced is not replaced again.
	beginsPath = "(^|file://|[\\s\"'`=:(,\\[<>|;&{@])"
	endsPath   = "(/|\\\\|$|[\\s\"'`:,;)\\]}<>|&*])"
	userName   = `([A-Za-z0-9_][\w.-]{0,31}?)`
)

var (
	unixHome    = lazy.Expr(beginsPath + `(?:/home|(?:/mnt)?(?:/[a-z])?/Users|/var/home|/export/home|/usr/home)/` + userName + endsPath)
	windowsHome = lazy.Expr(beginsPath + `[A-Za-z]:[\\/]{1,4}Users[\\/]{1,4}` + userName + endsPath)
)

func newHomes(own string) homes {
	own = strings.TrimRight(own, `/\`)
	if len(own) < 3 || !strings.ContainsAny(own, `/\`) {
		return homes{}
	}
	return homes{path: own, name: lazy.Expr(`[^A-Za-z0-9]`).ReplaceAllString(own, "-")}
}

func (h homes) replace(s string) string {
	if !strings.ContainsAny(s, `/\`) {
		return s
	}
	if h.path != "" {
		s = replaceAll(s, h.path, beginsOwn, endsOwn)
		s = replaceAll(s, h.name, beginsEncoded, endsEncoded)
	}
	s = peopleAround(s, "/home/", unixHome)
	s = peopleAround(s, "/Users/", unixHome)
	if strings.Contains(s, `:\`) || strings.Contains(s, ":/Users") {
		s = peopleAround(s, "Users", windowsHome)
	}
	return s
}

// peopleAround replaces people's homes around a word that each holds. The expression sees no more of
// the text than one can take up: over all of it, it would take longer than all rules.
func peopleAround(s, word string, re *lazy.Regexp) string {
	const back, ahead = 24, 48
	var out strings.Builder
	done := 0
	for i := strings.Index(s, word); i >= 0; {
		from := max(done, i-back)
		end := runeStart(s, min(len(s), i+len(word)+ahead))
		for from > done && !utf8.RuneStart(s[from]) {
			from--
		}
		next := i + len(word)
		for _, m := range re.FindAllStringSubmatchIndex(s[from:end], -1) {
			lo, hi := from+m[3], from+m[len(m)-2]
			if begins := m[2] < m[3] || from == 0; lo > i || hi < next || !begins || hi == end && end < len(s) || !isPerson(s[from+m[4]:from+m[5]]) {
				continue
			}
			out.WriteString(s[done:lo] + "~")
			done, next = hi, max(hi, next)
			break
		}
		n := strings.Index(s[next:], word)
		if n < 0 {
			break
		}
		i = next + n
	}
	if done == 0 {
		return s
	}
	return out.String() + s[done:]
}

// endsOwn may follow the user's home, as endsPath says; endsEncoded its name in a folder's name.
const (
	endsOwn     = "/\\ \t\n\f\r\"'`:,;)]}<>|&*"
	endsEncoded = "-/\"' \t\n\f\r"
)

func beginsEncoded(before string) bool { return strings.HasSuffix(before, "/") }

// beginsOwn reports whether a path may follow, as beginsPath says.
func beginsOwn(before string) bool {
	return before == "" || strings.HasSuffix(before, "file://") || strings.IndexByte(" \t\n\f\r\"'`=:(,[<>|;&{@", before[len(before)-1]) >= 0
}

// replaceAll puts "~" for each name in s that stands behind what begins takes, and at the end or before a byte of ends. A
// regular expression for it took a tenth to a fifth of redaction's time.
func replaceAll(s, name string, begins func(before string) bool, ends string) string {
	var out strings.Builder
	done := 0
	for from := 0; ; {
		n := strings.Index(s[from:], name)
		if n < 0 {
			break
		}
		lo := from + n
		hi := lo + len(name)
		if !begins(s[:lo]) || hi < len(s) && strings.IndexByte(ends, s[hi]) < 0 {
			from = lo + 1
			continue
		}
		out.WriteString(s[done:lo] + "~")
		done, from = hi, hi
	}
	if done == 0 {
		return s
	}
	return out.String() + s[done:]
}

// isPerson reports whether an account can be somebody's: those that images and systems come
// with are nobody's, and Dockerfiles are full of them.
func isPerson(name string) bool {
	switch strings.ToLower(name) {
	case "node", "runner", "ubuntu", "debian", "vscode", "app", "appuser", "www-data", "jovyan", "git", "circleci", "ec2-user", "vagrant",
		"coder", "codespace", "gitpod", "user", "users", "linuxbrew", "nonroot", "jenkins", "gitlab-runner", "postgres",
		"public", "shared", "default", "you", "me", "username", "name", "your-name", "yourname":
		return false
	}
	return true
}

package redact

import (
	"regexp"
	"strings"
)

// homes turns the paths of home folders into "~": one's own, wherever it is, and what
// lies where systems put those of others. A name in a path says who somebody is; what
// lies below says what was done.
type homes struct{ own, encoded *regexp.Regexp }

const (
	// beginsPath may stand before a path. A "~" or a letter is not among them, so what was
	// replaced is not replaced again.
	beginsPath = "(^|file://|[\\s\"'`=:(,\\[<>|;&{@])"
	endsPath   = "(/|\\\\|$|[\\s\"'`:,;)\\]}<>|&*])"
	userName   = `([A-Za-z0-9_][\w.-]{0,31}?)`
)

var (
	unixHome    = regexp.MustCompile(beginsPath + `(?:/home|(?:/mnt)?(?:/[a-z])?/Users|/var/home|/export/home|/usr/home)/` + userName + endsPath)
	windowsHome = regexp.MustCompile(beginsPath + `[A-Za-z]:[\\/]{1,4}Users[\\/]{1,4}` + userName + endsPath)
)

func newHomes(own string) homes {
	own = strings.TrimRight(own, `/\`)
	if len(own) < 3 || !strings.ContainsAny(own, `/\`) {
		return homes{}
	}
	encoded := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(own, "-")
	return homes{
		own:     regexp.MustCompile(beginsPath + regexp.QuoteMeta(own) + endsPath),
		encoded: regexp.MustCompile(`(/)` + regexp.QuoteMeta(encoded) + `(-|/|$|["'\s])`),
	}
}

func (h homes) replace(s string) string {
	if !strings.ContainsAny(s, `/\`) {
		return s
	}
	if h.own != nil {
		s = replaceAll(h.own, s, nil)
		s = replaceAll(h.encoded, s, nil)
	}
	if strings.Contains(s, "/home/") || strings.Contains(s, "Users") {
		s = replaceAll(unixHome, s, isPerson)
		s = replaceAll(windowsHome, s, isPerson)
	}
	return s
}

// replaceAll puts "~" between the first and the last group of each match. What ends one path
// may begin the next, so it looks again until nothing changes.
func replaceAll(re *regexp.Regexp, s string, accept func(string) bool) string {
	for {
		var out strings.Builder
		done := 0
		for _, m := range re.FindAllStringSubmatchIndex(s, -1) {
			if accept != nil && !accept(s[m[4]:m[5]]) {
				continue
			}
			out.WriteString(s[done:m[3]] + "~")
			done = m[len(m)-2]
		}
		if done == 0 {
			return s
		}
		s = out.String() + s[done:]
	}
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

package redact

import "strings"

// homes turns the paths of home folders into "~": one's own, wherever it is, and what
// lies where systems put those of others. A name in a path says who somebody is; what
// lies below says what was done.
type homes struct {
	path, name string // the user's, as it is and as agents make a folder's name of it; "": not known
}

func newHomes(own string) homes {
	own = strings.TrimRight(own, `/\`)
	if len(own) < 3 || !strings.ContainsAny(own, `/\`) {
		return homes{}
	}
	return homes{path: own, name: strings.Map(func(r rune) rune {
		if r < 0x80 && alnumeric(byte(r)) {
			return r
		}
		return '-'
	}, own)}
}

func (h homes) replace(s string) string {
	if !strings.ContainsAny(s, `/\`) {
		return s
	}
	s = replaceHomes(s, h.path, func(s string, lo, hi int) (int, int) {
		if beginsPath(s[:lo]) && (hi == len(s) || strings.IndexByte(endsPath, s[hi]) >= 0) {
			return lo, hi
		}
		return 0, 0
	})
	s = replaceHomes(s, h.name, func(s string, lo, hi int) (int, int) {
		if strings.HasSuffix(s[:lo], "/") && (hi == len(s) || strings.IndexByte("-/\"' \t\n\f\r", s[hi]) >= 0) {
			return lo, hi
		}
		return 0, 0
	})
	s = replaceHomes(s, "Users", func(s string, lo, hi int) (int, int) {
		const separators = `\/`
		drive := len(strings.TrimRight(s[:lo], separators)) - len("C:")
		if drive < 0 || lo-drive < 3 || lo-drive > 6 || !isLetter(s[drive]) || s[drive+1] != ':' {
			return 0, 0
		}
		name := skip(s, hi, separators)
		return person(s, drive, name, name > hi && name-hi <= 4)
	})
	for _, folder := range []string{"/home/", "/Users/"} {
		s = replaceHomes(s, folder, func(s string, lo, hi int) (int, int) {
			root := lo
			for _, r := range []string{"/var", "/export", "/usr"} {
				root = min(root, len(strings.TrimSuffix(s[:lo], r)))
			}
			if folder == "/Users/" { // in a subsystem of Windows
				if root = lo; lo > 1 && s[lo-2] == '/' && isLower(s[lo-1]) {
					root = lo - 2
				}
				root = len(strings.TrimSuffix(s[:root], "/mnt"))
			}
			if !beginsPath(s[:root]) {
				root = lo
			}
			return person(s, root, hi, beginsPath(s[:root]))
		})
	}
	return s
}

// person is the home that begins at lo, if somebody's name stands at i.
func person(s string, lo, i int, is bool) (from, to int) {
	hi := i
	for hi < len(s) && (isWordByte(s[hi]) || s[hi] == '-' || s[hi] == '.') {
		hi++
	}
	if !is || hi == i || hi-i > 32 || !isWordByte(s[i]) || !isPerson(s[i:hi]) || hi < len(s) && strings.IndexByte(endsPath, s[hi]) < 0 {
		return 0, 0
	}
	return lo, hi
}

// endsPath may follow the path of a home.
const endsPath = "/\\ \t\n\f\r\"'`:,;)]}<>|&*"

// beginsPath reports whether a path may follow. A "~" or a letter does not begin one, so what was replaced is not replaced again.
func beginsPath(before string) bool {
	return before == "" || strings.HasSuffix(before, "file://") || strings.IndexByte(" \t\n\f\r\"'`=:(,[<>|;&{@", before[len(before)-1]) >= 0
}

// replaceHomes puts "~" for what home makes of each place where a word stands; an end of 0 for nothing. Regular expressions for it took a
// tenth to a fifth of redaction's time.
func replaceHomes(s, word string, home func(s string, lo, hi int) (from, to int)) string {
	var out strings.Builder
	done := 0
	for at := 0; word != ""; {
		n := strings.Index(s[at:], word)
		if n < 0 {
			break
		}
		at += n
		from, to := home(s, at, at+len(word))
		if to == 0 || from < done {
			at++
			continue
		}
		out.WriteString(s[done:from] + "~")
		done, at = to, to
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

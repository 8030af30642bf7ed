package transcript

import (
	"path"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// A shell command may hold what it writes to a file:
//
//	cd auth && cat >jwt.go <<'EOF'
//	package auth
//	EOF

var (
	heredocMark = lazy.Expr(`(?:^|[^<])<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?(\w+))`)
	heredocFile = lazy.Expr(`^(?:cat\b.*?>>?|.*\btee(?:[ \t]+-a)?)[ \t]*('[^'\n]+'|"[^"\n]+"|[^\s;&|<>'"]+)`)
	changedDir  = lazy.Expr(`^cd[ \t]+('[^'\n]+'|"[^"\n]+"|[^\s;&|<>'"]+)$`)
)

// heredocEdits are the texts that a command writes to files, with paths as it names them. A line that the shell would
// expand is taken as it stands.
func heredocEdits(command string) (out []Edit) {
	if !strings.Contains(command, "<<") {
		return nil
	}
	dir, lines := "", strings.Split(command, "\n")
	for i := 0; i < len(lines); i++ {
		for part := range strings.SplitSeq(strings.ReplaceAll(lines[i], ";", "&&"), "&&") {
			part = strings.TrimSpace(part)
			if m := changedDir.FindStringSubmatch(part); m != nil {
				dir = inFolder(dir, m[1])
			}
			mark := heredocMark.FindStringSubmatch(part)
			if mark == nil {
				continue
			}
			end := mark[2] + mark[3] + mark[4]
			text, ok := untilEnd(lines[i+1:], end, mark[1] != "")
			if !ok {
				return out
			}
			i += len(text) + 1
			without := strings.Replace(part, strings.TrimLeft(mark[0], " "), " ", 1)
			if m := heredocFile.FindStringSubmatch(without); m != nil && !strings.ContainsAny(m[1], "$`*?~") && len(text) > 0 {
				out = append(out, Edit{
					Path: inFolder(dir, m[1]), FullContent: !strings.Contains(without, ">>") && !strings.Contains(without, "tee -a"),
					Hunks: []Hunk{{New: text}},
				})
			}
			break
		}
	}
	return out
}

// inFolder is a quoted path as seen from a folder.
func inFolder(dir, name string) string {
	if name = strings.Trim(name, `'"`); path.IsAbs(name) || dir == "" {
		return name
	}
	return path.Join(dir, name)
}

// untilEnd are the lines before one that is the end mark.
func untilEnd(lines []string, end string, tabs bool) (text []string, ok bool) {
	for _, l := range lines {
		if tabs {
			l = strings.TrimLeft(l, "\t")
		}
		if l == end {
			return text, true
		}
		text = append(text, strings.Clone(l))
	}
	return nil, false
}

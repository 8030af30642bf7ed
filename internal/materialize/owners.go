package materialize

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Whose a file of a checkpoint is, where several sessions stand behind it: theirs who edited it
// through a tool; where nobody did, theirs who read it or named it in a command (a formatter
// or a `sed -i` may have changed it); where nobody did that either, everybody's. So --file does
// not find a session by what its neighbour in the same commit touched.

// named is what the calls of a session name.
type named struct {
	loaded   bool // what the tables hold of it is here
	paths    map[string]bool
	commands []string
}

func (n *named) add(calls []session.ToolCall) {
	for _, c := range calls {
		if c.Path != "" {
			n.paths[c.Path] = true
		}
		if c.Cmd != "" {
			n.commands = append(n.commands, c.Cmd)
		}
	}
}

// names reports whether a call named a file.
func (n *named) names(file string) bool {
	return n.paths[file] || slices.ContainsFunc(n.commands, func(cmd string) bool { return mentions(cmd, path.Base(file)) })
}

// mentions reports whether a command holds a name as a whole.
func mentions(cmd, name string) bool {
	for {
		before, after, ok := strings.Cut(cmd, name)
		if !ok {
			return false
		}
		if !endsInWord(before) && !startsInWord(after) {
			return true
		}
		cmd = after
	}
}

func endsInWord(s string) bool { return s != "" && (inWord(s[len(s)-1]) || s[len(s)-1] == '.') }

func startsInWord(s string) bool {
	return s != "" && (inWord(s[0]) || s[0] == '.' && len(s) > 1 && inWord(s[1]))
}

func inWord(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}

func (b *batch) namedBy(id string) *named {
	if b.named[id] == nil {
		b.named[id] = &named{paths: map[string]bool{}}
	}
	return b.named[id]
}

// owners are those of a checkpoint's sessions whose a file is.
func (b *batch) owners(ctx context.Context, links []session.Link, f session.File) ([]session.Link, error) {
	if len(links) < 2 {
		return links, nil
	}
	var edited, touched []session.Link
	for _, l := range links {
		if b.edited[l.Session][f.Path] || b.edited[l.Session][f.OldPath] {
			edited = append(edited, l)
		}
	}
	if len(edited) > 0 {
		return edited, nil
	}
	for _, l := range links {
		n := b.namedBy(l.Session)
		if !n.loaded {
			calls, err := b.data.Named(ctx, l.Session)
			if err != nil {
				return nil, err
			}
			n.add(calls)
			n.loaded = true
		}
		if n.names(f.Path) || f.OldPath != "" && n.names(f.OldPath) {
			touched = append(touched, l)
		}
	}
	if len(touched) > 0 {
		return touched, nil
	}
	return links, nil
}

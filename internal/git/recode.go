package git

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// recode makes UTF-8 of what a commit says in another encoding (i18n.commitEncoding): encodings of one byte by a table,
// others by git, as it takes a process. What can't be read stays as it is.
func (r *Repo) recode(c *Commit, encoding string) {
	texts := []*string{&c.Message, &c.Author.Name, &c.Committer.Name}
	if table := charmapOf(encoding); table != nil {
		for _, text := range texts {
			if read, err := table.NewDecoder().String(*text); err == nil {
				*text = read
			}
		}
		return
	}
	out, err := r.Run(r.ctx, "log", "-1", "--no-show-signature", "--encoding=UTF-8", "--format=%an%x00%cn%x00%B",
		string(c.OID), "--")
	if f := strings.SplitN(out, "\x00", 3); err == nil && len(f) == 3 && utf8.ValidString(out) {
		c.Author.Name, c.Committer.Name, c.Message = f[0], f[1], strings.TrimRight(f[2], "\n")+"\n"
	}
}

// charmapOf is an encoding of one byte by the name that git has for it: "ISO-8859-1", "latin1", "CP1252"; nil for
// others.
func charmapOf(name string) *charmap.Charmap {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, strings.ToLower(s))
	}
	asked := plain(name)
	if rest, ok := strings.CutPrefix(asked, "latin"); ok {
		asked = map[string]string{"1": "iso88591", "2": "iso88592", "3": "iso88593", "4": "iso88594", "9": "iso885915"}[rest]
	}
	if rest, ok := strings.CutPrefix(asked, "cp125"); ok {
		asked = "windows125" + rest
	}
	for _, e := range charmap.All {
		if c, ok := e.(*charmap.Charmap); ok && plain(c.String()) == asked {
			return c
		}
	}
	return nil
}

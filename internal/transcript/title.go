package transcript

import "github.com/git-rekal/git-rekal/internal/session"

// title sets a title unless the part has one of a higher kind. It is not shortened here: a cut before
// redaction may leave the beginning of a secret, which no rule knows.
func (p *Part) title(kind TitleKind, s string) {
	if s = session.OneLine(session.Plain(s)); s != "" && kind >= p.TitleKind {
		p.Title, p.TitleKind = s, kind
	}
}

package doctor

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// maxTreeLeaks bounds how many files are named.
const maxTreeLeaks = 10

// tree says which committed files hold what redaction takes out although the repository publishes it: keys, vendors'
// tokens, and what this machine keeps as a secret. It looks for known values and for what was taken out here once, by
// no rule.
func (d *doctor) tree(ctx context.Context) {
	if d.CheckReady() != nil {
		return // told already
	}
	conf := d.author.Config
	known := d.Remembered(workspace.ToShow)
	var values []redact.Value
	for _, v := range d.KnownSecrets(conf) {
		values = append(values, redact.Value{Text: v, Rule: redact.KnownValue, OnlyWhereNamed: redact.Ordinary(v)})
	}
	if err := known.Add(ctx, values); err != nil {
		d.addCheck("redaction", Wrong, "", "%v", err)
		return
	}
	if n, err := known.Len(); n == 0 && err == nil {
		return // there is nothing to look for
	}
	files, allowed := 0, func(v string) bool {
		return slices.ContainsFunc(conf.Allow, func(re *regexp.Regexp) bool { return re.MatchString(v) })
	}
	err := d.Published(workspace.ToShow).Each(ctx, func(path, text string) {
		at := slices.IndexFunc(known.Find(text), func(p redact.Span) bool {
			return !strings.HasPrefix(p.Rule, "generic") && !allowed(text[p.Lo:p.Hi])
		})
		if at < 0 {
			return
		}
		if files++; files <= maxTreeLeaks {
			rule := known.Find(text)[at].Rule
			d.addCheck("redaction", Note, "change the secret, and take it out of the code",
				"%s of HEAD holds a secret (%s): who has the repository can read it", result.Printable(path), rule)
		}
	})
	switch {
	case err != nil && ctx.Err() == nil:
		d.addCheck("redaction", Wrong, "", "HEAD can't be read: %v", err)
	case files > maxTreeLeaks:
		d.addCheck("redaction", Note, "", "%d files more of HEAD do", files-maxTreeLeaks)
	case files == 0:
		d.addCheck("redaction", Well, "", "HEAD holds no secret that is known here")
	}
}

package published

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// tree is what HEAD's tree holds, as far as it was asked for.
type tree struct {
	repo     *git.Repo
	root     git.OID
	fresh    []git.Entry // files that the words do not know
	words    *words      // of an earlier tree, or of this one; nil: of none
	texts    map[git.OID]string
	authors  []string
	branches []string
}

// read finds out which files are to be looked at, and reads their words where they are many.
func (t *tree) read(ctx context.Context, dir string, hurried bool) (err error) {
	t.words = openWords(dir, t.repo.ObjectFormat().OIDSize)
	base := git.OID("")
	if t.words != nil {
		base = t.words.tree
	}
	if t.fresh, err = t.filesBeyond(ctx, base); err != nil && t.words != nil { // that tree is gone
		t.words = nil
		t.fresh, err = t.filesBeyond(ctx, "")
	}
	if err != nil || len(t.fresh) <= fewFiles || t.words != nil && hurried && len(t.fresh) <= someFiles {
		return err
	}
	all := t.fresh
	if t.words != nil {
		if all, err = t.filesBeyond(ctx, ""); err != nil {
			return err
		}
	}
	if hurried && len(all) > someFiles {
		return ErrLater
	}
	t.words, err = t.index(ctx, all)
	if err == nil {
		t.fresh = nil
	}
	return err
}

// filesBeyond lists the files that a tree has, and another one has not or has otherwise.
func (t *tree) filesBeyond(ctx context.Context, base git.OID) (out []git.Entry, err error) {
	err = t.repo.EachDifference(base, t.root, func(path string, _, after git.TreeEntry) (into bool, err error) {
		if after.IsFile() && len(out) < maxFiles {
			out = append(out, git.Entry{Path: path, OID: after.ID()})
		}
		return after.IsDir() && len(out) < maxFiles, ctx.Err()
	})
	return out, err
}

// fileHolding is the file in which a candidate stands; "" for none.
func (t *tree) fileHolding(v string) string {
	for _, f := range t.fresh {
		if t.fileHolds(f, v) {
			return f.Path
		}
	}
	if t.words == nil {
		return ""
	}
	for _, name := range t.words.filesPerhapsHolding(v) {
		f := git.Entry{Path: name, OID: t.repo.EntryAt(t.root, name).ID()}
		if f.OID != "" && t.fileHolds(f, v) {
			return name
		}
	}
	return ""
}

// text is what a file holds; "" for a binary or large one. What is read is kept while there is little of it.
func (t *tree) text(id git.OID) string {
	if text, ok := t.texts[id]; ok {
		return text
	}
	text := textOf(t.repo, id)
	if t.texts == nil {
		t.texts = map[git.OID]string{}
	}
	if len(t.texts) < someFiles && len(text) < 64<<10 {
		t.texts[id] = text
	}
	return text
}

func textOf(repo *git.Repo, id git.OID) string {
	raw, err := repo.BlobWithin(id, maxFile)
	if err != nil || bytes.IndexByte(raw[:min(len(raw), 8000)], 0) >= 0 { // as git tells a binary file
		return ""
	}
	return string(raw)
}

// tokens yields the words of a text that the cache knows: runs of letters, digits and underscores.
func tokens(text string, yield func(string)) {
	for i := 0; i < len(text); {
		if !isWordByte(text[i]) {
			i++
			continue
		}
		j := i
		for j < len(text) && isWordByte(text[j]) {
			j++
		}
		if n := j - i; n >= minToken && n <= maxToken {
			yield(text[i:j])
		}
		i = j
	}
}

// tokensOf are the different words of a candidate, the longest first.
func tokensOf(v string) (out []string) {
	tokens(v, func(token string) {
		if !slices.Contains(out, token) {
			out = append(out, token)
		}
	})
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// printable is a path that the cache can hold.
func printable(name string) bool { return !strings.ContainsAny(name, "\n\x00") }

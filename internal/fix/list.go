package fix

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/command"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/result"
)

// triedForPass is for how many of a command's failures, the latest, a pass is looked for.
const triedForPass = 5

// Failures counts what failed in a time, by command, or by the files that the errors name; the most often failed first.
// Of so many of them, 0 for all, it tells where they were mended last.
func (f Finder) Failures(ctx context.Context, byPath bool, since, until time.Time,
	mended int,
) (out result.Failures, err error) {
	out = result.Failures{Schema: result.Schema, Results: []result.Failed{}}
	all, err := f.Index.FailuresIn(ctx, since, until)
	var named map[string]string
	if err == nil && byPath {
		named, err = f.filesByBase(ctx)
	}
	if err != nil {
		return out, err
	}
	by := map[string][]db.FailureAt{}
	for _, c := range all { // the latest come first
		form := lastForm(c)
		if form == "" {
			continue
		}
		out.Total++
		for _, key := range keysOf(c, form, byPath, named) {
			by[key] = append(by[key], c)
		}
	}
	for key, calls := range by {
		row := newFailed(calls)
		if byPath {
			row.Path = key
		}
		out.Results = append(out.Results, row)
	}
	SortFailures(out.Results)
	for i := range out.Results[:cmp.Or(min(mended, len(out.Results)), len(out.Results))] {
		key := cmp.Or(out.Results[i].Path, out.Results[i].Command)
		if err := f.addMended(ctx, &out.Results[i], by[key]); err != nil {
			return out, err
		}
	}
	return out, nil
}

// SortFailures puts what failed most often first.
func SortFailures(all []result.Failed) {
	slices.SortFunc(all, func(a, b result.Failed) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Command, b.Command))
	})
}

// lastForm is a command as failures are counted by it; "" for none.
func lastForm(c db.FailureAt) string {
	form := command.Form(c.Cmd)
	if len(form) == 0 {
		return ""
	}
	return form[len(form)-1]
}

// keysOf are what a failure counts for.
func keysOf(c db.FailureAt, form string, byPath bool, named map[string]string) (keys []string) {
	if !byPath {
		return []string{form}
	}
	for _, term := range c.Terms.List() {
		if file, ok := named[term]; ok && !slices.Contains(keys, file) {
			keys = append(keys, file)
		}
	}
	return keys
}

// maxFiles is how many files of HEAD an error may name.
const maxFiles = 200_000

// filesByBase are the files that sessions touched, and those of HEAD, by the base names by which errors name them. Of
// several files of a name nobody knows which one it was: then the name stands for them.
func (f Finder) filesByBase(ctx context.Context) (map[string]string, error) {
	paths, err := f.Index.TouchedPaths(ctx)
	if err != nil {
		return nil, err
	}
	if head, err := f.Repo.Head(); err == nil && head.OID != "" {
		if c, err := f.Repo.Commit(head.OID); err == nil { // else those that sessions touched are known
			files, _ := f.Repo.Trees(1<<30).All(c.Tree, maxFiles)
			for _, e := range files {
				paths = append(paths, e.Path)
			}
		}
	}
	slices.Sort(paths)
	out := map[string]string{}
	for _, p := range slices.Compact(paths) {
		base := path.Base(p)
		if _, several := out[base]; several {
			p = base
		}
		out[base] = p
	}
	return out, nil
}

// newFailed counts failures, the latest of which comes first.
func newFailed(calls []db.FailureAt) result.Failed {
	row := result.Failed{
		Command: lastForm(calls[0]), Failed: len(calls), LastAt: result.Time(calls[0].TS), Terms: calls[0].Terms.List(),
	}
	sessions := map[string]bool{}
	for _, c := range calls {
		sessions[c.Session] = true
	}
	row.Sessions = len(sessions)
	return row
}

// addMended says where one of the latest failures was mended.
func (f Finder) addMended(ctx context.Context, row *result.Failed, calls []db.FailureAt) error {
	for _, c := range calls[:min(len(calls), triedForPass)] {
		p, err := f.passOf(ctx, candidate{session: c.Session, call: c.ToolCall}, nil)
		if err != nil {
			return err
		}
		if p != nil {
			row.Mended = fmt.Sprintf("%s:%d", p.session, max(p.call.Turn, 0))
			for _, call := range p.between {
				if file := call.EditedPath(); !slices.Contains(row.Files, file) && len(row.Files) < shownFiles {
					row.Files = append(row.Files, file)
				}
			}
			return nil
		}
	}
	return nil
}

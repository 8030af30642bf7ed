package records

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/search"
)

// Kind is the kind of a result that is a record.
const Kind = "record"

// Question is what is asked of records.
type Question struct {
	Words        string    // what to search for, without what names a time; "" for the latest
	Since, Until time.Time // Since ≤ t < Until; a zero time leaves that side open
	Timed        bool      // the question names a time
	Latest       bool      // it has no topic: what took place last, or then
	File         *regexp.Regexp
	Files        []string // those that touch one of these paths, where there are any
	Hidden       bool     // what is purged, and nothing else
	Without      []string // sessions whose commands don't count
	Limit        int      // 0: all
	Brief        bool     // those behind the first ten are but mentioned
	Snippet      int      // how many characters a snippet has, on one line; 0: whole lines, or all of an only answer

	// Embed is search.Options.Embed.
	Embed func(ctx context.Context, model, text string) []float32
}

// Answer is what records say.
type Answer struct {
	Hits       []result.Hit // the best first, or the latest
	Latest     bool         // they are the latest of their kind
	Total      int          // how many there are, before Limit
	TouchFiles bool         // each touches one of Question.Files
	Unknown    []string     // words of Question.Words that stand nowhere
}

// maxText is how much of a record's text stands in a result, in characters, unless it is the only one.
const maxText = 1200

// Ask answers a question.
func (v *View) Ask(ctx context.Context, repo *git.Repo, q Question) (Answer, error) {
	var out Answer
	passing := map[int]Record{}
	for _, r := range v.All {
		if q.passes(r) {
			passing[r.ID] = r
		}
	}
	found, err := v.rank(ctx, q, passing, &out)
	if err != nil || len(found) == 0 {
		return out, err
	}
	found, out.TouchFiles = keepTouching(found, q.Files)
	if out.Total = len(found); q.Limit > 0 && len(found) > q.Limit {
		found = found[:q.Limit]
	}
	out.Hits, err = v.hits(ctx, repo, found, q)
	return out, err
}

// FindByID are the records with some numbers, whole, in that order; what there is not is left out.
func (v *View) FindByID(ctx context.Context, repo *git.Repo, ids []int) ([]result.Hit, error) {
	var all []found
	for _, id := range ids {
		if i := slices.IndexFunc(v.All, func(r Record) bool { return r.ID == id }); i >= 0 {
			all = append(all, found{Record: v.All[i]})
		}
	}
	return v.hits(ctx, repo, all, Question{Snippet: allText})
}

// allText is a Question.Snippet that leaves nothing out.
const allText = -1

// hits shapes records as results, with a passage of their texts.
func (v *View) hits(ctx context.Context, repo *git.Repo, all []found, q Question) (out []result.Hit, err error) {
	var now *worktree.Content // nil where it can't be opened
	if repo.Layout().WorkTree != "" {
		if now, _ = worktree.Open(repo, ""); now != nil {
			defer now.Close()
		}
	}
	for i, f := range all {
		mentioned := q.Brief && i >= first
		if !mentioned || f.Command+f.Instruction == "" {
			if err := v.Load(ctx, &f.Record); err != nil {
				return nil, err
			}
		}
		hit := hitOfRecord(f)
		if !mentioned {
			hit.Freshness, hit.Matched, hit.Snippet = freshness(now, f.Record), f.matched(q.Words), f.snippet(q, len(all) == 1)
		}
		out = append(out, hit)
	}
	return out, nil
}

// snippet is what of a record answers a question.
func (f found) snippet(q Question, alone bool) string {
	asked := strings.Join(append([]string{q.Words}, f.read...), " ")
	switch {
	case q.Snippet > 0:
		return search.Snippet(f.Text, asked, q.Snippet)
	case alone || q.Snippet == allText:
		return f.Text
	}
	return search.SnippetLines(f.Text, asked, maxText)
}

// passes reports whether the filters let a record pass.
func (q Question) passes(r Record) bool {
	return r.Hidden == q.Hidden && (r.From == nil || !slices.Contains(q.Without, r.From.Session)) &&
		!r.At.Before(q.Since) && (q.Until.IsZero() || r.At.Before(q.Until)) &&
		(q.File == nil || slices.ContainsFunc(r.Paths, q.File.MatchString))
}

// found is a record with why.
type found struct {
	Record
	score   float64
	weak    bool
	reasons []string // search.Hit.Matched
	read    []string // what misspelt words of the question were read as
}

// rank finds what answers, the best first.
func (v *View) rank(ctx context.Context, q Question, passing map[int]Record, out *Answer) ([]found, error) {
	if of, ok := kindAsked(q); ok {
		if all := latestWanted(passing, of); len(all) > 0 {
			out.Latest = true
			return all, nil
		}
	}
	if q.Words == "" {
		return latestWanted(passing, anyRecord), nil
	}
	if v.db == nil {
		return nil, nil
	}
	s, err := search.Open(ctx, v.db)
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	answer, err := s.Search(ctx, q.Words, search.Options{Short: true, Embed: q.Embed, Allow: func(key string) bool {
		_, ok := passing[idOfKey(key)]
		return ok
	}})
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	var all []found
	out.Unknown = answer.Unknown
	for _, h := range answer.Hits {
		all = append(all, found{passing[idOfKey(h.Session)], h.Score, h.Weak, h.Matched, h.Read})
	}
	return latestRuns(all), nil
}

// latestRuns leaves of the runs of one command the latest, at the place of the best: the same test that failed twenty
// times is one answer. What is later comes first among what is as good.
func latestRuns(all []found) (out []found) {
	best := map[string]int{}
	for _, f := range all {
		what := f.Dir + "\x00" + f.Command + "\x00" + f.Instruction
		i, ok := best[what]
		switch {
		case !ok || f.Command == "":
			best[what] = len(out)
			out = append(out, f)
		case f.ID > out[i].ID && f.score > nearly*out[i].score:
			f.score = out[i].score
			out[i] = f
		}
	}
	slices.SortFunc(out, func(a, b found) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.ID, a.ID)) })
	return out
}

// nearly is how good a later run of the same command is, at least, beside the best.
const nearly = 0.6

// latestWanted lists what is wanted, the latest first.
func latestWanted(passing map[int]Record, wanted func(Record) bool) (out []found) {
	for _, r := range passing {
		if wanted(r) {
			out = append(out, found{Record: r})
		}
	}
	slices.SortFunc(out, func(a, b found) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) })
	return out
}

// keepTouching keeps the records that touch one of the files, if any record does.
func keepTouching(all []found, files []string) ([]found, bool) {
	var kept []found
	for _, f := range all {
		if slices.ContainsFunc(f.Paths, func(p string) bool { return Touches(p, files) }) ||
			slices.ContainsFunc(files, func(p string) bool {
				p = strings.TrimPrefix(p, "./")
				return p != "" && strings.Contains(f.Command, p)
			}) {
			kept = append(kept, f)
		}
	}
	if len(kept) == 0 {
		return all, false
	}
	return kept, true
}

// Touches reports whether a path is one of some others, lies in one, or ends with one.
func Touches(path string, files []string) bool {
	return slices.ContainsFunc(files, func(f string) bool {
		f = strings.Trim(strings.TrimPrefix(f, "./"), "/")
		return f != "" && strings.Contains("/"+path+"/", "/"+f+"/")
	})
}

// matched names the parts of a record that share a word with a question, and what else speaks for it.
func (f found) matched(words string) (out []string) {
	if words == "" || f.score == 0 {
		return nil
	}
	words = strings.Join(append([]string{words}, f.read...), " ")
	for _, part := range []struct{ name, text string }{
		{search.MatchedContent, f.Text},
		{"instruction", f.Instruction},
		{search.MatchedCommand, f.Command},
		{search.MatchedFiles, strings.Join(f.Paths, "\n")},
	} {
		if part.text != "" && search.SharesTerm(part.text, words) {
			out = append(out, part.name)
		}
	}
	for _, reason := range f.reasons {
		if reason == search.MatchedTerms || reason == search.MatchedNgram || reason == search.MatchedSemantic {
			out = append(out, reason)
		}
	}
	return out
}

// hitOfRecord is a record as a result.
func hitOfRecord(f found) result.Hit {
	r := f.Record
	hit := result.Hit{
		ID: strconv.Itoa(r.ID), Kind: Kind, Address: strconv.Itoa(r.ID), Score: math.Round(f.score*1e4) / 1e4, Weak: f.weak,
		Title: title(r), Instruction: r.Instruction, Command: r.Command, Exit: r.Exit,
		Branch: r.Branch, CapturedAt: result.Time(r.At), Files: r.Paths[:min(len(r.Paths), 5)], FilesTotal: len(r.Paths),
		Purged: r.Hidden,
	}
	if from := r.From; from != nil {
		hit.Source, hit.Session = from.Source, from.Session
		if from.Turn >= 0 {
			hit.Turn = &from.Turn
		}
	}
	return hit
}

func title(r Record) string {
	first, _, _ := strings.Cut(r.Text, "\n")
	line := []rune(cmp.Or(r.Command, r.Instruction, first))
	if len(line) > 120 {
		return string(line[:119]) + "…"
	}
	return string(line)
}

// freshness is the worst that a file of a record says: what lay there when the command had ended, beside what lies
// there now.
func freshness(tree *worktree.Content, r Record) string {
	if tree == nil {
		return result.Unknown
	}
	state := result.Unverifiable
	tree.ExpectFiles(slices.Collect(maps.Keys(r.Files))...)
	for path, then := range r.Files {
		switch now := tree.Blob(path, func(id git.OID) bool { return string(id) == then }); {
		case now == "":
			return result.StaleDeleted
		case now == worktree.Unread:
			if state != result.StaleChanged {
				state = result.Unknown
			}
		case string(now) != then:
			state = result.StaleChanged
		case state == result.Unverifiable:
			state = result.Fresh
		}
	}
	return state
}

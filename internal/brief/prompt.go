package brief

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
)

// mostAtPrompt is how many lines a prompt gets at most.
const mostAtPrompt = 2

// least is the share of the files that a session changes which another one must have changed to be told, each file
// weighed by how few sessions changed it. Chosen on half of 60 real sessions (docs/lab/agents.md).
const least = 0.2

// Prompt is what is strong for a prompt, at most two lines. Changed are the files that the running session has changed.
//
// Before the running session has changed a file, a session is strong that a recall of the prompt finds first, where the
// prompt holds a whole name of it (an identifier, path, hash or error code) and words of the paths that it touched.
// From then on the files say more than a prompt: strong is the session that changed most of the same ones. A memory is
// strong at any time, where the prompt holds a whole name of it.
func (s Source) Prompt(ctx context.Context, prompt string, changed []string) ([]result.BriefLine, error) {
	self, err := s.runningIDs(ctx)
	if err != nil {
		return nil, err
	}
	named, err := s.linesForPrompt(ctx, prompt, self, len(changed) == 0)
	if err != nil {
		return nil, err
	}
	same, err := s.sessionsThatChanged(ctx, AboutSame, changed, self, 1)
	if err != nil {
		return nil, err
	}
	out := s.withoutRepeats(append(named, same...))
	return out[:min(len(out), mostAtPrompt)], nil
}

// linesForPrompt are the lines about the files and sessions that a prompt names. A command of the agent ("/compact")
// names nothing, and neither does a question for the latest work.
func (s Source) linesForPrompt(ctx context.Context, prompt string, self []string,
	sessions bool,
) ([]result.BriefLine, error) {
	if strings.HasPrefix(prompt, "/") || strings.TrimSpace(prompt) == "" {
		return nil, nil
	}
	found, err := s.Index.Recall(ctx, ask.Question{
		Request: ask.Request{Query: prompt, Without: self, Limit: mostAtPrompt},
		Long:    true, Quick: true,
	})
	if err != nil || found.Order != "" {
		return nil, err
	}
	var out []result.BriefLine
	for i, h := range found.Results {
		whole := slices.Contains(h.Matched, ask.MatchedTerms)
		strong := whole && (h.Kind == ask.KindMemory || sessions && i == 0 && slices.Contains(h.Matched, ask.MatchedFiles))
		if !h.Weak && strong && h.Freshness != result.StaleDeleted {
			out = append(out, hitLine(h, AboutPrompt, ""))
		}
	}
	return out, nil
}

// sessionsThatChanged are lines about the sessions that changed some files: those that changed most of them first, then
// the latest. A change that is gone since does not count.
func (s Source) sessionsThatChanged(ctx context.Context, about string, files, self []string,
	most int,
) ([]result.BriefLine, error) {
	if len(files) == 0 {
		return nil, nil
	}
	by, sessions, err := s.Index.SessionsEditing(ctx, files)
	if err != nil {
		return nil, err
	}
	shares := sharesChanged(by, files, self, sessions)
	if len(shares) == 0 {
		return nil, nil
	}
	ids := slices.Collect(maps.Keys(shares))
	facets, err := s.Index.Facets(ctx, ids)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(shares[b], shares[a]), facets[b].Latest.Compare(facets[a].Latest), cmp.Compare(a, b))
	})
	found, err := s.Index.Recall(ctx, ask.Question{
		Request: ask.Request{IDs: ids[:min(len(ids), 2*most)]}, Long: true,
		Quick: true,
	})
	if err != nil {
		return nil, err
	}
	var out []result.BriefLine
	slices.SortFunc(found.Results, func(a, b result.Hit) int {
		return cmp.Compare(slices.Index(ids, a.ID),
			slices.Index(ids, b.ID))
	})
	for _, h := range found.Results {
		if h.Freshness != result.StaleDeleted && len(out) < most {
			out = append(out, hitLine(h, about, firstShared(by, files, h.ID)))
		}
	}
	return out, nil
}

// sharesChanged is how much of some files each session changed, by ID: those with the least share or more.
func sharesChanged(by map[string][]string, files, self []string, sessions int) map[string]float64 {
	all, out := 0.0, map[string]float64{}
	for _, f := range files {
		weight := math.Log(1 + float64(sessions)/float64(1+len(by[f])))
		all += weight
		for _, id := range by[f] {
			out[id] += weight
		}
	}
	for id, sum := range out {
		if out[id] = sum / all; out[id] < least || slices.Contains(self, id) {
			delete(out, id)
		}
	}
	return out
}

// firstShared names the first of some files that a session changed.
func firstShared(by map[string][]string, files []string, id string) string {
	for _, f := range files {
		if slices.Contains(by[f], id) {
			return f
		}
	}
	return ""
}

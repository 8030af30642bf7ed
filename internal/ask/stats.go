package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/result"
)

// StatsRequest asks what requests to language models took.
type StatsRequest struct {
	By    string // one of db.Groupings
	Agent string // of sessions of this agent; "" for all
	Times
	Limit int // at most so many results; 0: all
}

// errAuthors is why colleagues are not compared.
var errAuthors = errors.New(`by author shows yourself only; where the team wants all: "git config rekal.stats.authors true"`)

// Stats sums up what requests took. By author it answers for the user alone, unless the settings allow more; then its
// notice says so.
func (m *Moment) Stats(ctx context.Context, req StatsRequest) (out result.Stats, notice error, err error) {
	req.Now = m.w.Now()
	span, err := req.Span(m.w.Repo)
	if err != nil {
		return out, nil, err
	}
	filter := db.UsageFilter{Since: span.Since, Until: span.Until, Source: req.Agent}
	conf, _ := m.w.Settings() // doctor says what is wrong with them
	if filter.Email, notice, err = m.OnlyAuthor(ctx, req.By); err != nil {
		return out, nil, err
	}
	sums, err := m.DB.Usage(ctx, req.By, filter)
	if err != nil {
		return out, nil, err
	}
	out = result.Stats{Schema: result.Schema, By: req.By, Since: req.Since, Until: req.Until, Agent: req.Agent}
	if out.Uncounted, err = m.DB.CountWithoutUsage(ctx, filter); err != nil {
		return out, nil, err
	}
	switch req.By {
	case "repository":
		for i := range sums {
			sums[i].Key = cmp.Or(m.w.Repo.Layout().WorkTree, m.w.Repo.Layout().CommonDir)
		}
	case "commit":
		if err := m.keySuccessors(ctx, sums); err != nil {
			return out, nil, err
		}
	}
	out.Total, out.Results = sumUsage(sums, conf.Prices)
	LimitStats(&out, req.Limit)
	return out, notice, m.setTitles(ctx, req.By, out.Results)
}

// keySuccessors gives sums by commit the keys of what amends and rebases made of the commits.
func (m *Moment) keySuccessors(ctx context.Context, sums []db.UsageSum) error {
	var shas []string
	for _, s := range sums {
		shas = append(shas, s.Key)
	}
	slices.Sort(shas)
	became, err := commits.Successors(ctx, m.DB, m.w.Repo, m.w.Noted(), slices.Compact(shas))
	now := map[string]string{}
	for c, sha := range became { // two people may have rewritten one commit, each their own way
		if had, ok := now[c.SHA]; !ok || sha < had {
			now[c.SHA] = sha
		}
	}
	for i, s := range sums {
		sums[i].Key = cmp.Or(now[s.Key], s.Key)
	}
	return err
}

// OnlyAuthor is the address to which sums by a word are bounded, and a notice that says so; "" for all people.
func (m *Moment) OnlyAuthor(ctx context.Context, by string) (email string, notice, err error) {
	conf, _ := m.w.Settings() // doctor says what is wrong with them
	if by != "author" || conf.StatsOfAuthors {
		return "", nil, nil
	}
	me, err := m.w.Author(ctx)
	return me.Email, errAuthors, err
}

// LimitStats puts results in order, and leaves out what is beyond a limit; 0: nothing.
func LimitStats(s *result.Stats, limit int) {
	slices.SortStableFunc(s.Results, func(a, b result.Tokens) int {
		if s.By == "day" {
			return strings.Compare(b.Key, a.Key)
		}
		return cmp.Or(cmp.Compare(b.Sum(), a.Sum()), strings.Compare(a.Key, b.Key))
	})
	if n := len(s.Results); limit > 0 && n > limit {
		s.Results, s.More = s.Results[:limit], s.More+n-limit
	}
	if s.By == "day" {
		slices.Reverse(s.Results)
	}
}

// sumUsage adds up sums: all of them, and by key.
func sumUsage(sums []db.UsageSum, prices config.Prices) (all result.Tokens, keyed []result.Tokens) {
	at, sessions := map[string]int{}, map[string]bool{}
	inKey := map[[2]string]bool{}
	for _, s := range sums {
		i, ok := at[s.Key]
		if !ok {
			i, keyed = len(keyed), append(keyed, result.Tokens{Key: s.Key})
			at[s.Key] = i
		}
		price := priceOf(s, prices.Of(s.Model))
		addUsage(&all, s, price, !sessions[s.Session])
		addUsage(&keyed[i], s, price, !inKey[[2]string{s.Key, s.Session}])
		sessions[s.Session], inKey[[2]string{s.Key, s.Session}] = true, true
	}
	return all, keyed
}

// addUsage adds a sum to t; newSession says that its session is not counted in t yet.
func addUsage(t *result.Tokens, s db.UsageSum, price float64, newSession bool) {
	one := result.Tokens{
		Requests: s.Requests, Input: s.Input, Output: s.Output, CacheRead: s.CacheRead, CacheWrite: s.CacheWrite,
		Cost: s.Cost, Price: price,
	}
	if newSession {
		one.Sessions = 1
	}
	t.Add(one)
}

// priceOf is what a sum costs, at a price of a million tokens.
func priceOf(s db.UsageSum, p config.Price) float64 {
	return (float64(s.Input)*p.Input + float64(s.Output)*p.Output + float64(s.CacheRead)*p.CacheRead +
		float64(s.CacheWrite)*p.CacheWrite) / 1e6
}

// setTitles sets the titles of rows whose keys are sessions or commits.
func (m *Moment) setTitles(ctx context.Context, by string, rows []result.Tokens) error {
	for i := range rows {
		switch r := &rows[i]; {
		case r.Key == "":
		case by == "commit":
			r.Title = m.w.Subject(r.Key)
		case by == "session":
			s, err := m.DB.Session(ctx, r.Key)
			if err != nil {
				return err
			}
			r.Title = s.Title
		}
	}
	return nil
}

// Groupings are the words by which Stats can sum up.
func Groupings() []string { return db.Groupings() }

// SurvivalGroupings are the words by which lines that sessions wrote can be summed up.
func SurvivalGroupings() []string { return []string{"agent", "author", "folder", "model", "month"} }

// CheckGrouping refuses a word that is none of some by which can be summed up.
func CheckGrouping(by string, words []string) error {
	if !slices.Contains(words, by) {
		return name.WrongFilter("by", fmt.Errorf("%q is none of %s", by, strings.Join(words, ", ")))
	}
	return nil
}

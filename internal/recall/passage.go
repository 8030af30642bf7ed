package recall

import (
	"context"
	"maps"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// passage is what answers best of a session's words.
type passage struct {
	turn *int
	role string
	at   time.Time
	text string
}

func passageOf(t session.Turn) passage { return passage{&t.Index, t.Role, t.TS, t.Content} }

// snippet cuts out of a passage what a result shows beside its title.
func (p passage) snippet(query, title string, h Found) string {
	if h.Question {
		return search.Snippet(session.PurposeOfPrompt(p.text), "", h.Snippet)
	}
	text := p.text
	if query == "" && p.role == session.RoleHuman {
		text = session.PurposeOfPrompt(text)
	}
	return search.Snippet(session.TextBeyondTitle(title, text), h.correctedQuery(query), h.Snippet)
}

// passages reads what answers best of each hit.
func passages(ctx context.Context, index *db.DB, hits []Found) ([]passage, error) {
	wanted := make(map[string]int, len(hits))
	for _, h := range hits {
		switch {
		case h.isByTitleAlone():
			wanted[h.ID] = db.First
		case h.Turn != -1:
			wanted[h.ID] = h.Turn
		}
	}
	turns, err := turnsAt(ctx, index, wanted)
	if err != nil {
		return nil, err
	}
	ran, err := matchedCalls(ctx, index, hits)
	if err != nil {
		return nil, err
	}
	out := make([]passage, len(hits))
	for i, h := range hits {
		out[i].text = ran[h.ID]
		if t, ok := turns[h.ID]; ok {
			out[i] = passageOf(t)
		}
	}
	return out, nil
}

// besideTitles takes the next best turn in the place of one that has nothing of the question but what the title
// repeats.
func besideTitles(ctx context.Context, index *db.DB, hits []Found, facets map[string]db.Facet, shown []passage,
	query string,
) error {
	wanted := map[string]int{}
	for i, h := range hits {
		if h.Turn < 0 || h.next < 0 || h.next == h.Turn || shown[i].turn == nil || h.matched == nil {
			continue
		}
		title, asked := facets[h.ID].Title, h.correctedQuery(query)
		if search.SharesTerm(title, asked) && !search.SharesTerm(session.TextBeyondTitle(title, shown[i].text), asked) {
			wanted[h.ID] = h.next
		}
	}
	others, err := turnsAt(ctx, index, wanted)
	for i, h := range hits {
		if t, ok := others[h.ID]; ok {
			shown[i] = passageOf(t)
		}
	}
	return err
}

// turnsAt reads a turn of each session; in the place of one that stands for a part elsewhere, the next one.
func turnsAt(ctx context.Context, index *db.DB, wanted map[string]int) (map[string]session.Turn, error) {
	turns, err := db.ReadTurnOf(ctx, index, wanted)
	if err != nil {
		return nil, err
	}
	next := map[string]int{}
	for id, t := range turns {
		if session.IsMark(t.Content) {
			next[id] = t.Index + 1
		}
	}
	if len(next) == 0 {
		return turns, nil
	}
	behind, err := db.ReadTurnOf(ctx, index, next)
	maps.Copy(turns, behind)
	return turns, err
}

// shownSaid is how much of a prompt or an answer Said gives, in characters: as much as of a snippet.
const shownSaid = 240

// ReadExchange reads what was asked where a result stands, and what was answered to it in the end, each on one line.
func ReadExchange(ctx context.Context, index *db.DB, h result.Hit) (asked, answered string, err error) {
	if h.Turn == nil {
		return "", "", nil
	}
	asked, answered, err = index.Exchange(ctx, h.ID, *h.Turn)
	asked = session.PurposeOfPrompt(asked)
	for _, text := range []*string{&asked, &answered} {
		if session.IsMark(*text) {
			*text = ""
		}
		*text = search.Snippet(*text, "", shownSaid)
	}
	return asked, answered, err
}

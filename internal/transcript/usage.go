package transcript

import (
	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// counts says under which names an agent's record counts the tokens of one request. An empty one is not counted there.
type counts struct {
	input, output, thought, read, written, cost string
	// of all of these: whether the output includes what was thought depends on who answered
	total  string
	cached bool // input includes what was read from a cache or written to one
}

// addUsage takes what a record says that a request took: once for each request of the read, as the largest of its
// records says it. The ID is what the agent calls the request; without one nothing is counted.
func (d *decoder) addUsage(p *part, id, model string, rec gjson.Result, names counts) {
	if p.where != inside && p.where != unknown || !rec.IsObject() || id == "" {
		return
	}
	tokens := func(name string) int64 {
		if name == "" {
			return 0
		}
		return min(max(rec.Get(name).Int(), 0), session.MaxTokens)
	}
	u := session.Usage{
		Request: session.RequestID(id), Turn: len(p.Turns) - 1, Model: modelName(model),
		Input: tokens(names.input), Output: tokens(names.output) + tokens(names.thought),
		CacheRead: tokens(names.read), CacheWrite: tokens(names.written),
	}
	if all := tokens(names.total); all > 0 {
		if !names.cached {
			all -= u.CacheRead + u.CacheWrite
		}
		u.Output = min(u.Output, max(all-u.Input, tokens(names.output)))
	}
	if names.cached {
		u.Input = max(0, u.Input-u.CacheRead-u.CacheWrite)
	}
	if cost := rec.Get(names.cost).Float(); names.cost != "" && cost > 0 && cost <= session.MaxCost {
		u.Cost = cost
	}
	if !u.IsCounted() {
		return
	}
	if i, again := p.counted[u.Request]; again {
		p.Usage[i] = p.Usage[i].Max(u)
		return
	}
	p.counted[u.Request] = len(p.Usage)
	p.Usage, p.at.usage = append(p.Usage, u), append(p.at.usage, d.start)
}

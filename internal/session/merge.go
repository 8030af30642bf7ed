package session

import (
	"cmp"
	"slices"
	"time"
)

// turnKey identifies a turn within its session, together with its order among equals. It
// survives resumes that copy history, newer decoders and changed redaction rules.
type turnKey struct {
	ms   int64
	role string
}

func turnKeyOf(t Turn) turnKey { return turnKey{t.TS.UnixMilli(), t.Role} }

// View says how much of a session a read has seen.
type View int

const (
	// Whole: the read began at the session's start, so the n-th turn of a time and role is
	// the n-th that is known.
	Whole View = iota
	// Piece: the read began somewhere inside, so a turn is known only when its text is
	// known at that time, too.
	Piece
	// Continued: a Piece whose numbers go on where s ends, but which may repeat what s holds.
	Continued
)

// Absorb appends to s the turns and tool calls of part that s does not hold, numbered
// behind what it holds, and returns what it appended. Both must have been through the same
// redaction. Fields that part fills in (a title, a branch, a parent) replace those of s.
//
// A part that agrees with s in each turn and call of a number that both have goes on by
// its numbers. Otherwise (two machines, a rewritten transcript) what is known is told by
// identity.
func (s *Session) Absorb(part Session, view View) Session {
	s.TakeHead(part)
	if len(s.Turns) == 0 && len(s.ToolCalls) == 0 {
		s.FirstTurn, s.FirstTool = part.FirstTurn, part.FirstTool // a fork's numbers go on from its origin's
	}
	added := part
	added.FirstTurn, added.FirstTool = s.endTurn(), s.endTool()
	if turns, tools, ok := s.overlapWith(part, view); ok {
		s.Turns = append(s.Turns, part.Turns[turns:]...)
		s.ToolCalls = append(s.ToolCalls, part.ToolCalls[tools:]...)
		added.Usage = s.absorbUsage(part, func(turn int) int { return turn })
	} else {
		known := s.endTurn()
		at := s.absorbTurns(part, view)
		s.absorbTools(part, at, known)
		added.Usage = s.absorbUsage(part, func(turn int) int { return s.numberOfTurn(turn, part.FirstTurn, at) })
	}
	added.Turns = s.Turns[added.FirstTurn-s.FirstTurn:]
	added.ToolCalls = s.ToolCalls[added.FirstTool-s.FirstTool:]
	return added
}

func (s *Session) endTurn() int { return s.FirstTurn + len(s.Turns) }
func (s *Session) endTool() int { return s.FirstTool + len(s.ToolCalls) }

// overlapWith is how many leading turns and calls of part s holds under their numbers. It
// reports false when s ends before part begins, or holds something else there.
func (s *Session) overlapWith(part Session, view View) (turns, tools int, ok bool) {
	from, fromTool := part.FirstTurn-s.FirstTurn, part.FirstTool-s.FirstTool
	if view == Continued || from < 0 || from > len(s.Turns) || fromTool < 0 || fromTool > len(s.ToolCalls) {
		return 0, 0, false
	}
	turns = min(len(part.Turns), len(s.Turns)-from)
	for i, t := range part.Turns[:turns] {
		if held := s.Turns[from+i]; turnKeyOf(held) != turnKeyOf(t) ||
			view == Piece && !SameBeforeRedaction(held.Content, t.Content) {
			return 0, 0, false
		}
	}
	tools = min(len(part.ToolCalls), len(s.ToolCalls)-fromTool)
	for i, c := range part.ToolCalls[:tools] {
		held := s.ToolCalls[fromTool+i]
		if !isSameCall(held, c) && (!s.scrubbed(c.Turn) || held.Turn != c.Turn) {
			return 0, 0, false
		}
	}
	return turns, tools, true
}

// TakeHead takes over what part says of the session as a whole: what it fills in replaces
// what s says, but for the start.
func (s *Session) TakeHead(part Session) {
	s.ID = cmp.Or(part.ID, s.ID)
	s.Source = cmp.Or(part.Source, s.Source)
	s.NativeID = cmp.Or(part.NativeID, s.NativeID)
	s.Parent = cmp.Or(part.Parent, s.Parent)
	s.ForkedFrom = cmp.Or(part.ForkedFrom, s.ForkedFrom)
	s.ActorType = cmp.Or(part.ActorType, s.ActorType)
	s.AgentID = cmp.Or(part.AgentID, s.AgentID)
	s.Facts.Take(part.Facts)
	s.Branch = cmp.Or(part.Branch, s.Branch)
	s.Hash = cmp.Or(part.Hash, s.Hash)
	if s.Title != Scrubbed && part.Title != "" {
		s.Title, s.TitleBy = part.Title, part.TitleBy
	}
	if s.StartedAt.IsZero() {
		s.StartedAt = part.StartedAt
	}
	if part.Bytes > 0 {
		s.Bytes = part.Bytes
	}
}

// absorbTurns appends the unknown turns and returns where each turn of part now stands.
func (s *Session) absorbTurns(part Session, view View) []int {
	// of those that the part may have: s may be long, and have many parts
	known := make(map[turnKey][]int, len(part.Turns))
	for _, t := range part.Turns {
		known[turnKeyOf(t)] = nil
	}
	for i, t := range s.Turns {
		if at, ok := known[turnKeyOf(t)]; ok {
			known[turnKeyOf(t)] = append(at, i)
		}
	}
	at := make([]int, len(part.Turns))
	for i, t := range part.Turns {
		k := turnKeyOf(t)
		hit := slices.IndexFunc(known[k], func(i int) bool {
			return view == Whole ||
				SameBeforeRedaction(s.Turns[i].Content, t.Content)
		})
		if hit >= 0 {
			at[i] = s.FirstTurn + known[k][hit]
			known[k] = append(known[k][:hit:hit], known[k][hit+1:]...)
			continue
		}
		t.Index = s.endTurn()
		at[i] = t.Index
		s.Turns = append(s.Turns, t)
	}
	return at
}

// numberOfTurn is the number under which s holds a turn of a part, whose turns from first on stand at the given ones. A
// turn that came before the part keeps its number.
func (s *Session) numberOfTurn(turn, first int, at []int) int {
	if i := turn - first; i >= 0 && i < len(at) {
		return at[i]
	}
	return min(turn, s.endTurn()-1)
}

// scrubbed reports whether s holds a turn of that number, and nothing of what it said.
func (s *Session) scrubbed(turn int) bool {
	i := turn - s.FirstTurn
	return i >= 0 && i < len(s.Turns) && s.Turns[i].Content == Scrubbed
}

// absorbTools appends the unknown tool calls. A call is known when an equal one stands
// behind the same turn, or, where none does, one that other rules of redaction left; and where that
// turn was known before and was scrubbed in one of the two.
func (s *Session) absorbTools(part Session, at []int, knownTurns int) {
	if len(part.ToolCalls) == 0 {
		return
	}
	known := map[ToolCall]int{}
	for _, c := range s.ToolCalls {
		known[c.identity()]++
	}
	calls := slices.Clone(part.ToolCalls)
	fresh, scrubbed := make([]bool, len(calls)), make([]bool, len(calls))
	for n := range calls {
		c := &calls[n]
		scrubbed[n] = part.scrubbed(c.Turn)
		c.Turn = s.numberOfTurn(c.Turn, part.FirstTurn, at)
		if fresh[n] = known[c.identity()] == 0; !fresh[n] {
			known[c.identity()]--
		}
	}
	left := indexCalls(known)
	for n, c := range calls {
		if !fresh[n] || left.remove(c) {
			continue
		}
		if c.Turn < knownTurns && (scrubbed[n] || s.scrubbed(c.Turn)) {
			continue
		}
		c.Index = s.endTool()
		s.ToolCalls = append(s.ToolCalls, c)
	}
}

// SharedPrefix is how many leading turns of s are also turns of the family's sessions:
// same time, role and text. That is how a fork looks, which begins with a copy of another
// session's history. The second result is the session that holds the last of them.
func SharedPrefix(s Session, family []Session) (n int, holder string) {
	held := map[turnKey][]Turn{}
	from := map[turnKey][]string{}
	for _, f := range family {
		for _, t := range f.Turns {
			held[turnKeyOf(t)], from[turnKeyOf(t)] = append(held[turnKeyOf(t)], t), append(from[turnKeyOf(t)], f.ID)
		}
	}
	for _, t := range s.Turns {
		at := -1
		for i, h := range held[turnKeyOf(t)] {
			if SameBeforeRedaction(h.Content, t.Content) {
				at = i // the last one's, as its session is the nearest
			}
		}
		if at < 0 {
			break
		}
		n, holder = n+1, from[turnKeyOf(t)][at]
	}
	return n, holder
}

// WithoutFirstTurns cuts the first n turns, and the tool calls and counts before and behind them, off a whole
// session.
func (s Session) WithoutFirstTurns(n int) Session {
	if n == 0 {
		return s
	}
	tools := 0
	for tools < len(s.ToolCalls) && s.ToolCalls[tools].Turn < n {
		tools++
	}
	s.Turns, s.ToolCalls, s.Usage = s.Turns[n:], s.ToolCalls[tools:], usageFrom(s.Usage, n)
	s.FirstTurn += n
	s.FirstTool += tools
	return s
}

// Before is what had been said of s before a time: its leading turns, and the calls and counts behind them.
func (s Session) Before(end time.Time) Session {
	n := slices.IndexFunc(s.Turns, func(t Turn) bool { return !t.TS.Before(end) })
	if n < 0 {
		return s
	}
	last := s.FirstTurn + n - 1
	if i := slices.IndexFunc(s.ToolCalls, func(c ToolCall) bool { return c.Turn > last }); i >= 0 {
		s.ToolCalls = s.ToolCalls[:i]
	}
	s.Turns, s.Usage = s.Turns[:n], slices.DeleteFunc(slices.Clone(s.Usage), func(u Usage) bool { return u.Turn > last })
	return s
}

// Split parts what had been said of s before a time from what follows. Only the whole of s says how far its transcript
// was read.
func (s Session) Split(end time.Time) (before, rest Session) {
	before, rest = s.Before(end), s
	rest.Turns, rest.ToolCalls = s.Turns[len(before.Turns):], s.ToolCalls[len(before.ToolCalls):]
	rest.FirstTurn, rest.FirstTool = s.FirstTurn+len(before.Turns), s.FirstTool+len(before.ToolCalls)
	if len(rest.Turns) > 0 {
		rest.Usage = usageFrom(s.Usage, rest.FirstTurn)
	} else {
		rest.Usage = nil
	}
	if len(rest.Turns)+len(rest.ToolCalls) > 0 {
		before.Bytes, before.Hash, before.Cursor = 0, "", ""
		rest.Title = ""
	}
	return before, rest
}

// Join adds what another segment of the same ledger commit says: a checkpoint with very many
// files, or a long session, goes on there. Parts of one session stay apart.
func (e *Entry) Join(next Entry) {
	switch cp := next.Checkpoint; {
	case e.Checkpoint == nil:
		e.Checkpoint = cp
	case cp != nil:
		e.Checkpoint.Files = append(e.Checkpoint.Files, cp.Files...)
		e.Checkpoint.Links = append(e.Checkpoint.Links, cp.Links...)
	}
	e.Sessions = append(e.Sessions, next.Sessions...)
	e.Memories = append(e.Memories, next.Memories...)
	e.Purges = append(e.Purges, next.Purges...)
	e.Restores = append(e.Restores, next.Restores...)
	e.Rewrites = append(e.Rewrites, next.Rewrites...)
	e.Wrote = append(e.Wrote, next.Wrote...)
	e.Scrubs = append(e.Scrubs, next.Scrubs...)
	e.Removals = append(e.Removals, next.Removals...)
	e.Needs, e.Unknown = cmp.Or(e.Needs, next.Needs), e.Unknown+next.Unknown
}

// LastTS is the time of the last turn; the start when there is none.
func (s Session) LastTS() time.Time {
	last := s.StartedAt
	for _, t := range s.Turns {
		if t.TS.After(last) {
			last = t.TS
		}
	}
	return last
}

// FirstTS is the time of the first turn that s holds, but for a part elsewhere; the start when it holds none.
func (s Session) FirstTS() time.Time {
	for _, t := range s.Turns {
		if !IsMark(t.Content) {
			return t.TS
		}
	}
	return s.StartedAt
}

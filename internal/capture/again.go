package capture

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// Reredacted is what today's redaction makes of a session's transcript, where that differs from what the ledger holds.
type Reredacted struct {
	Title string                   // "": unchanged
	Turns map[int]string           // by index
	Calls map[int]session.ToolCall // by index; only path and command count
}

// Reredact reads again the transcripts, as far as they are still there, of stored sessions in which something was
// redacted. By session ID it tells what would be stored now. It pairs a turn or call with the stored one that capture
// takes for the same, if both agree around the redacted places. What was scrubbed stays scrubbed.
func (c *Capturer) Reredact(ctx context.Context) (map[string]Reredacted, error) {
	g, err := c.beginRound(ctx, newSharedByRounds(Round{}), c.MaxBehind)
	if err != nil {
		return nil, err
	}
	marked, err := g.redactedSessions(ctx)
	if err != nil || len(marked) == 0 {
		return nil, err
	}
	out := map[string]Reredacted{}
	_, err = c.eachFile(ctx, g.st, 0, func(rd reader,
		f transcript.File,
	) error {
		return g.reredactTranscript(ctx, rd, f, marked, out)
	})
	return out, err
}

// redactedSessions are the stored sessions in which something was redacted, by sessionKey.
func (g *collector) redactedSessions(ctx context.Context) (map[string]session.Session, error) {
	out := map[string]session.Session{}
	for key, k := range g.st.Sessions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		whole, err := k.readStored(g.Repo)
		if err != nil {
			return nil, fmt.Errorf("capture: read session %s back: %w", k.ID, err)
		}
		if whole.Title = k.Title; slices.ContainsFunc(textsOf(whole), session.HasMark) {
			out[key] = whole
		}
	}
	return out, nil
}

func textsOf(s session.Session) []string {
	out := []string{s.Title}
	for _, t := range s.Turns {
		out = append(out, t.Content)
	}
	for _, c := range s.ToolCalls {
		out = append(out, c.Path, c.Cmd, string(c.Terms))
	}
	return out
}

// reredactTranscript reads one transcript, and compares the sessions in it that are marked. A transcript that can't be
// read changes nothing.
func (g *collector) reredactTranscript(ctx context.Context, rd reader, f transcript.File,
	marked map[string]session.Session, out map[string]Reredacted,
) error {
	raw := map[string]session.Session{}
	err := readThrough(ctx, rd, f, nil, func(r *reading) error {
		for _, part := range r.doc.Sessions {
			key := sessionKey(r.agent, part.NativeID)
			if _, ok := marked[key]; !ok {
				continue
			}
			s := raw[key]
			next := renumber(part.Session, len(s.Turns), len(s.ToolCalls))
			s.Turns, s.ToolCalls = append(s.Turns, next.Turns...), append(s.ToolCalls, next.ToolCalls...)
			if s.Title = part.Title; part.TitleKind <= transcript.TitlePrompt && r.offset > 0 {
				s.Title = "" // made of this piece of the transcript alone
			}
			raw[key] = s
		}
		return nil
	})
	if err != nil {
		return err
	}
	for key, s := range raw {
		stored := marked[key]
		clean, err := g.asStored(ctx, s)
		if err != nil {
			return err
		}
		if f.Timeless {
			clean = withStoredTimes(clean, stored)
		}
		was, ok := out[stored.ID]
		if !ok {
			was = Reredacted{Turns: map[int]string{}, Calls: map[int]session.ToolCall{}}
		}
		was.compare(stored, clean)
		out[stored.ID] = was
	}
	return nil
}

// compare notes where the session as redacted now differs from the stored one.
func (r *Reredacted) compare(stored, now session.Session) {
	if stored.Title != session.Scrubbed && now.Title != "" && session.OtherwiseRedacted(stored.Title, now.Title) {
		r.Title = now.Title
	}
	placed := map[turnPlace]session.Turn{}
	for p, t := range turnPlaces(stored.Turns) {
		placed[p] = t
	}
	at := map[int]int{-1: stored.FirstTurn - 1} // by index of a turn in now: its index in stored
	for p, t := range turnPlaces(now.Turns) {
		is, ok := placed[p]
		if !ok {
			continue
		}
		if at[t.Index] = is.Index; is.Content != session.Scrubbed && session.OtherwiseRedacted(is.Content, t.Content) {
			r.Turns[is.Index] = t.Content
		}
	}
	calls := map[string][]session.ToolCall{}
	for _, c := range now.ToolCalls {
		if turn, ok := at[c.Turn]; ok {
			key := fmt.Sprint(turn, " ", c.Tool)
			calls[key] = append(calls[key], c)
		}
	}
	behind := map[string]int{}
	for _, c := range stored.ToolCalls {
		key := fmt.Sprint(c.Turn, " ", c.Tool)
		n := behind[key]
		behind[key]++
		if n >= len(calls[key]) || c.Path == "" && c.Cmd == "" {
			continue
		}
		if is := calls[key][n]; c.Like(is) && (session.OtherwiseRedacted(c.Path, is.Path) ||
			session.OtherwiseRedacted(c.Cmd, is.Cmd)) {
			r.Calls[c.Index] = is
		}
	}
}

// turnPlace identifies a turn: see docs/ledger-format.md.
type turnPlace struct {
	at   int64
	role string
	n    int // its order among turns of the same time and role
}

func turnPlaces(turns []session.Turn) map[turnPlace]session.Turn {
	out := map[turnPlace]session.Turn{}
	for _, t := range turns {
		p := turnPlace{at: t.TS.UnixMilli(), role: t.Role}
		for ; ; p.n++ {
			if _, taken := out[p]; !taken {
				break
			}
		}
		out[p] = t
	}
	return out
}

// Apply replaces the texts of a stored session, and counts the places that are taken out, and that are back.
func (r Reredacted) Apply(s *session.Session) (taken, back int) {
	replace := func(text *string, now string) {
		if *text != now {
			out, in := session.CountRedacted(*text, now)
			taken, back, *text = taken+out, back+in, now
		}
	}
	if r.Title != "" && s.Title != "" && session.OtherwiseRedacted(s.Title, r.Title) {
		replace(&s.Title, r.Title)
	}
	for i := range s.Turns {
		if now, ok := r.Turns[s.Turns[i].Index]; ok {
			replace(&s.Turns[i].Content, now)
		}
	}
	for i := range s.ToolCalls {
		if now, ok := r.Calls[s.ToolCalls[i].Index]; ok {
			replace(&s.ToolCalls[i].Path, now.Path)
			replace(&s.ToolCalls[i].Cmd, now.Cmd)
			s.ToolCalls[i].Terms = now.Terms
		}
	}
	return taken, back
}

package recall

import (
	"context"
	"path"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/notes"
	"github.com/git-rekal/git-rekal/internal/result"
)

// What a note says of the code holds as long as HEAD has what it names (package notes). Somebody who asks waits for
// that no longer than notePatience: what is found out of one HEAD is kept, so the next question knows more.
const (
	notePatience = 150 * time.Millisecond
	noteCommits  = 500
	noteWalk     = 5000 // commits that are looked at for the one at which a note stood
	heldName     = "held"
)

// Notes describes those memories that are sections of agents' notes, by ID. With patience 0 the bounds of package notes
// hold, and what was not looked for before is tried again; keep may be nil.
func Notes(ctx context.Context, index *db.DB, repo *git.Repo, rows []db.MemoryRow, keep history.Memory,
	patience time.Duration,
) (map[string]*result.FileNote, error) {
	out := map[string]*result.FileNote{}
	var of []db.MemoryRow
	for _, m := range rows {
		if agent, file, heading, ok := notes.Parse(m.Source); ok && m.At > 0 {
			out[m.ID], of = &result.FileNote{Agent: agent, File: file, Heading: heading}, append(of, m)
		}
	}
	if len(of) == 0 {
		return out, nil
	}
	for _, m := range of {
		n := out[m.ID]
		folder := "/memory/"
		if n.Agent == "codex" {
			folder = "/memories/"
		}
		writer, turn, err := index.WriterOf(ctx, m, n.Agent, folder+n.File)
		if err != nil {
			return nil, err
		}
		if writer != "" {
			n.Writer = result.Address(writer, &turn)
		}
	}
	return out, findStale(ctx, repo, of, out, keep, patience)
}

// findStale fills in of each note when it stood, which files that it names changed since, and what is gone.
func findStale(ctx context.Context, repo *git.Repo, of []db.MemoryRow, out map[string]*result.FileNote,
	keep history.Memory, patience time.Duration,
) error {
	code, err := notes.OpenCode(repo)
	if err != nil {
		return ctx.Err() // without code nothing is told of it
	}
	known := heldBefore(ctx, keep, code.Head())
	var named [][]notes.Thing
	var ask []db.MemoryRow
	for _, m := range of {
		things := notes.Named(m.Content)
		noteThen(repo, code, m, things, out[m.ID])
		gone, ok := known.Gone[m.ID]
		if out[m.ID].Gone = gone; !ok && patience > 0 && known.Late[m.ID] {
			out[m.ID].Unchecked, ok = true, true
		}
		if ok {
			continue
		}
		if code.Since.IsZero() || m.TS.Before(code.Since) {
			code.Since = m.TS
		}
		named, ask = append(named, things), append(ask, m)
	}
	if len(ask) == 0 {
		return nil
	}
	if patience > 0 {
		code.Patience, code.Commits = patience, noteCommits
	} else {
		code.Since = time.Time{}
	}
	gone, err := code.FindGone(ctx, named)
	if err != nil {
		return err
	}
	for i, m := range ask {
		id := m.ID
		for _, g := range gone[i] {
			if g.When.IsZero() || !g.When.Before(m.TS.Truncate(time.Second)) { // else the note may tell of what was there
				out[id].Gone = append(out[id].Gone, NoteThing(g))
			}
		}
		if out[id].Unchecked = code.Hurried; code.Hurried {
			known.Late[id] = true
		} else {
			known.Gone[id] = out[id].Gone
		}
	}
	known.store(ctx, keep)
	return nil
}

// NoteThing is what is gone, as an answer tells it.
func NoteThing(g notes.Gone) result.NoteThing {
	t := result.NoteThing{Kind: g.Kind, Name: g.Name, In: g.In, Now: g.Now}
	if g.Commit != "" {
		t.Commit, t.When = result.ShortOID(string(g.Commit)), result.Time(g.When)
	}
	return t
}

// noteThen tells at which commit a note stood, and which files that it names changed since.
func noteThen(repo *git.Repo, code *notes.Code, m db.MemoryRow, things []notes.Thing, n *result.FileNote) {
	if code.Head() == "" {
		return
	}
	looked := 0
	for c, err := range repo.FirstParents(code.Head()) {
		if looked++; err != nil || looked > noteWalk {
			return
		}
		if c.Committer.When.After(m.TS) {
			continue
		}
		n.Commit = result.ShortOID(string(c.OID))
		for _, t := range things {
			now := code.Blob(t.Name)
			if then := repo.EntryAt(c.Tree, path.Clean(t.Name)); t.Kind == notes.File && now != "" && then.IsFile() &&
				then.ID() != now {
				n.Changed = append(n.Changed, result.NoteThing{Kind: t.Kind, Name: t.Name})
			}
		}
		return
	}
}

// held is what is known to be gone of notes, as of one HEAD.
type held struct {
	Head git.OID
	Gone map[string][]result.NoteThing
	Late map[string]bool // for these a question had not the time
}

func heldBefore(ctx context.Context, keep history.Memory, head git.OID) *held {
	var h held
	if keep == nil || cbor.Unmarshal(keep.Text(ctx, heldName), &h) != nil || h.Head != head ||
		h.Gone == nil || h.Late == nil {
		return &held{head, map[string][]result.NoteThing{}, map[string]bool{}}
	}
	return &h
}

func (h *held) store(ctx context.Context, keep history.Memory) {
	if text, err := cbor.Marshal(h); err == nil && keep != nil && ctx.Err() == nil {
		keep.SetText(ctx, heldName, text)
	}
}

// noteFreshness is that of a memory, by what it names.
func noteFreshness(n *result.FileNote) string {
	switch {
	case n == nil:
		return ""
	case len(n.Gone) > 0:
		return result.StaleDeleted
	case len(n.Changed) > 0:
		return result.StaleChanged
	case n.Unchecked:
		return result.Unknown
	case n.Commit == "":
		return result.Unverifiable
	}
	return result.Fresh
}

// addNotes adds to hits what is known of those that are notes.
func addNotes(ctx context.Context, index *db.DB, repo *git.Repo, req Request, hits []result.Hit) error {
	var rows []db.MemoryRow
	for _, h := range hits {
		if _, _, _, ok := notes.Parse(h.Source); h.Kind != db.KindMemory || !ok || req.Checkpoint != "" {
			continue
		}
		m, ok, err := index.Memory(ctx, h.ID)
		if err != nil {
			return err
		}
		if ok {
			rows = append(rows, m)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	all, err := Notes(ctx, index, repo, rows, req.History, notePatience)
	if err != nil { // an answer does without
		return ctx.Err()
	}
	for i := range hits {
		if n := all[hits[i].ID]; n != nil && hits[i].Kind == db.KindMemory {
			hits[i].Note, hits[i].Freshness = n, noteFreshness(n)
		}
	}
	return err
}

// MemoryWithNote is MemoryOf with what is known of it as a note; nil is nothing.
func MemoryWithNote(row db.MemoryRow, n *result.FileNote) result.Memory {
	out := MemoryOf(row)
	out.Note, out.Freshness = n, noteFreshness(n)
	return out
}

// AddNoteTo adds to a memory that is shown what is known of it as a note.
func AddNoteTo(ctx context.Context, index *db.DB, repo *git.Repo, row db.MemoryRow, out *result.Memory) error {
	all, err := Notes(ctx, index, repo, []db.MemoryRow{row}, nil, 4*notePatience)
	if n := all[row.ID]; n != nil {
		out.Note, out.Freshness = n, noteFreshness(n)
	}
	return err
}

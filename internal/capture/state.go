package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
)

// state is what capture must know of the ledgers to add only what is new, and of the
// transcripts to read only what is new. All ledgers of this machine count: a user whose
// address has changed has two, and what one holds is not stored again in the other.
type state struct {
	Tips     map[string]git.OID        // of the ledgers on this machine, by ref
	Sessions map[string]*ledgerSession // by sessionKey
	Recorded map[uint64]bool           // code commits whose files a checkpoint holds, by their first 8 bytes
	// by new commit: the old commits that it was made of, sorted; a squash has several
	Rewrites map[uint64][]uint64
	// records of lines that sessions wrote, and who made commits, sorted; see wroteKey and linkKey
	Wrote    []uint64
	Examined []git.OID                     // commits that were compared with edits, with all their ancestors
	Memories map[string][]string           // IDs of memories, sorted, by what they say; see memoryKey
	Marks    map[string]session.Tally      // purges and restores by ID of the session or memory
	Latest   map[string]string             // session ID or key → path of the last segment that adds to it or links it
	Newest   string                        // path of the last segment of all, but for those of a clock that was wrong
	Files    map[string]stamp              // transcripts that were read to this size and time
	Others   map[string]bool               // see transcript.Options.OtherRepos
	Known    map[string][]byte             // by agent: transcript.Env.LocateState
	Reflogs  map[string]history.ReflogMark // how far reflogs were read, by path; see missed.go
	Notes    map[string]NoteFile           `cbor:",omitempty"` // files of notes, by path; see notefiles.go
	// by folder of notes: sessions whose commands name it; see noteCommands
	NoteShells map[string][]session.NativeRef `cbor:",omitempty"`

	born string                    // of the database that it was read from; see statedb.Text
	byID map[string]*ledgerSession // see sessionByID
}

// ledgerSession is one session as the ledger holds it.
type ledgerSession struct {
	_ struct{} `cbor:",toarray"` // no names in the cache, which would be half of it

	ID, Source, NativeID, Parent, ForkedFrom, ActorType string

	First    time.Time // time of the first turn, copied history included
	Last     time.Time // time of the last turn
	Scrubbed time.Time // time of the last turn that was scrubbed
	// pairs of a beginning and an end between which all turns were scrubbed; the last may have no end
	ScrubbedSpans []time.Time
	Turns         int // how many turns there are: the index of the next one
	Tools         int
	HasElsewhere  bool   // a part was left out, because it was made in another repository
	Bytes         int64  // cursor: how much of the transcript was read
	EditsKept     int64  // how many bytes of it have their edits in the store; see editStore
	Cursor        string // see session.Session
	Hash          string
	Title         string
	TitleBy       string               `cbor:",omitempty"`
	Resume        []byte               // SHA-256 state at the end of the last whole block before Bytes; nil: hash again
	Tail          []byte               // SHA-256 of the last bytes before Bytes, to see that they still stand
	Segments      []git.OID            // the blobs that hold its turns
	Pending       map[string]time.Time // files it edited, and when, that no checkpoint linked to it holds
}

// stamp tells whether a transcript has changed since it was read.
type stamp struct {
	Size    int64
	ModTime int64
}

// sessionByID is the session with an ID; nil where there is none.
func (st *state) sessionByID(id string) *ledgerSession {
	if st.byID == nil {
		st.byID = make(map[string]*ledgerSession, len(st.Sessions))
		for _, k := range st.Sessions {
			st.byID[k.ID] = k
		}
	}
	return st.byID[id]
}

func newState() *state {
	return &state{
		Sessions: map[string]*ledgerSession{}, Recorded: map[uint64]bool{}, Rewrites: map[uint64][]uint64{},
		Memories: map[string][]string{}, Marks: map[string]session.Tally{}, Latest: map[string]string{},
		Files: map[string]stamp{}, Others: map[string]bool{},
		Known: map[string][]byte{},
	}
}

func sessionKey(source, nativeID string) string { return source + "\x00" + nativeID }

// load reads the cache, and brings it to the tips of the ledgers on this machine, by ref: over most commits, if that is
// not 0.
func load(ctx context.Context, repo *git.Repo, dir string, tips map[string]git.OID, most int) (*state, error) {
	st := readCache(ctx, dir)
	if maps.Equal(st.Tips, tips) {
		return st, nil
	}
	// If the cache can't be continued, drop the stamps of files, too: turns that a lost tip held must be stored again.
	fresh := newState()
	fresh.Others, fresh.Known, fresh.born = st.Others, st.Known, st.born
	fresh.Notes, fresh.NoteShells = st.Notes, st.NoteShells
	var err error
	for _, from := range []*state{st, fresh} {
		if from.isFarBehind(ctx, repo, tips, most) {
			return nil, ErrBehind
		}
		if err = from.catchUp(ctx, repo, tips); err == nil {
			return from, nil
		}
	}
	return nil, fmt.Errorf("capture: %w", err)
}

// UpdateCache updates the cache to the ledgers on this machine. Whoever moved them much (a sync, a fetch, a scrub)
// calls it, so that the next hook need not (ErrBehind).
func UpdateCache(ctx context.Context, repo *git.Repo, dir string) error {
	tips, err := ledger.LocalTips(repo)
	if err != nil || maps.Equal(readCache(ctx, dir).Tips, tips) {
		return err
	}
	st, err := load(ctx, repo, dir, tips, 0)
	if err != nil {
		return err
	}
	return st.save(ctx, dir)
}

// isFarBehind reports whether more than most commits are to be read. An error is left to follow.
func (st *state) isFarBehind(ctx context.Context, repo *git.Repo, tips map[string]git.OID, most int) bool {
	n := 0
	for _, err := range repo.Newest(ctx, slices.Collect(maps.Values(tips)), slices.Collect(maps.Values(st.Tips))) {
		if n++; err != nil || most == 0 || n > most {
			return most > 0 && err == nil
		}
	}
	return false
}

// errStartOver says that a state can't be continued: its tips are not behind the new ones, or
// something new belongs before what it holds of a session.
var errStartOver = errors.New("not a plain continuation")

// catchUp applies the ledger commits between the state's tips and new tips. After an error,
// as when a tip is gone, the caller applies all commits to an empty state, in the order in which
// readers take the segments, with the same result.
func (st *state) catchUp(ctx context.Context, repo *git.Repo, tips map[string]git.OID) error {
	have := slices.Collect(maps.Values(st.Tips))
	for ref, old := range st.Tips {
		if ok, err := repo.IsAncestor(old, tips[ref]); tips[ref] == "" || err != nil || !ok {
			return errors.Join(errStartOver, err)
		}
	}
	var commits []ledger.Commit
	for _, ref := range slices.Sorted(maps.Keys(tips)) {
		if st.Tips[ref] == tips[ref] {
			continue
		}
		more, err := ledger.Since(ctx, repo, tips[ref], have...)
		if err != nil {
			return fmt.Errorf("read %s at %.12s: %w", ref, tips[ref], err)
		}
		have = append(have, tips[ref])
		commits = append(commits, more...)
	}
	commits = slices.DeleteFunc(commits, func(c ledger.Commit) bool { return len(c.Segments) == 0 })
	slices.SortStableFunc(commits, func(a, b ledger.Commit) int { return a.Segments[0].Compare(b.Segments[0]) })
	for _, c := range commits {
		if err := errors.Join(ctx.Err(), st.apply(repo, c)); err != nil {
			return err
		}
	}
	st.Tips = maps.Clone(tips)
	return nil
}

// apply applies one ledger commit. The order matters only within a session, so a commit of
// another machine may come late, unless one of its sessions has gone on. A segment that can't be
// parsed is skipped, and its turns are captured again; the commands that read the ledger report
// it. A segment that is not there is an error, because its turns must not be stored twice.
func (st *state) apply(repo *git.Repo, c ledger.Commit) error {
	var all session.Entry
	if last := c.Segments[0]; !c.IsAhead() && last.Compare(ledger.Segment{Path: st.Newest}) > 0 {
		st.Newest = last.Path
	}
	for _, seg := range c.Segments {
		e, err := ledger.ReadSegment(repo, seg)
		if errors.Is(err, ledger.ErrUnreadable) {
			continue
		}
		if err != nil {
			return err
		}
		if err := st.noteLatest(e, seg); err != nil {
			return err
		}
		for _, s := range e.Sessions {
			if err := st.applySession(repo, s, seg.Blob); err != nil {
				return err
			}
		}
		all.Join(e)
	}
	st.applyAllButSessions(repo, all)
	return nil
}

// applyAllButSessions applies all of an entry but its sessions.
func (st *state) applyAllButSessions(repo *git.Repo, all session.Entry) {
	for _, r := range all.Rewrites {
		now := shaKey(r.New)
		st.Rewrites[now] = insertSorted(st.Rewrites[now], shaKey(r.Old))
	}
	for _, w := range all.Wrote {
		st.Wrote = insertSorted(st.Wrote, wroteKey(w))
		st.clearWritten(repo, w)
	}
	st.applyNotes(all)
	if all.Checkpoint != nil {
		for _, l := range all.Checkpoint.Links {
			if l.Tie == session.TieMade {
				st.Wrote = insertSorted(st.Wrote, linkKey(all.Checkpoint.GitSHA, l))
			}
		}
	}
	if cp := all.Checkpoint; cp != nil && (len(cp.Files) > 0 || cp.GitBranch == session.Scrubbed) {
		st.Recorded[shaKey(cp.GitSHA)] = true
		made := cp.TS
		if code, err := repo.Commit(git.OID(cp.GitSHA)); err == nil {
			made = code.Committer.When
		}
		st.clearPending(all, made)
	}
}

// insertSorted inserts a value into a sorted list that does not hold it.
func insertSorted[T cmp.Ordered](sorted []T, v T) []T {
	if i, found := slices.BinarySearch(sorted, v); !found {
		return slices.Insert(sorted, i, v)
	}
	return sorted
}

// applyPlanned applies an entry that will be appended.
func (st *state) applyPlanned(repo *git.Repo, e session.Entry) error {
	for _, s := range e.Sessions {
		if err := st.applySession(repo, s, ""); err != nil {
			return err
		}
	}
	st.applyAllButSessions(repo, e)
	return nil
}

// clone is a copy of the state for planning; maps that planning does not change are shared.
func (st *state) clone() *state {
	out := *st
	out.Sessions, out.byID = make(map[string]*ledgerSession, len(st.Sessions)), nil
	for key, k := range st.Sessions {
		own := *k
		own.Pending, own.Segments, own.ScrubbedSpans = maps.Clone(k.Pending), slices.Clip(k.Segments),
			slices.Clip(k.ScrubbedSpans)
		out.Sessions[key] = &own
	}
	out.Recorded, out.Wrote = maps.Clone(st.Recorded), slices.Clone(st.Wrote)
	return &out
}

// noteLatest notes in Latest the sessions that a segment adds to or links, and returns errStartOver if the segment
// comes before a known one. A link to a session that is not known yet counts, too, because its effect depends on
// whether it comes before the session.
func (st *state) noteLatest(e session.Entry, seg ledger.Segment) error {
	var ids []string
	for _, s := range e.Sessions {
		ids = append(ids, s.ID, sessionKey(s.Source, s.NativeID))
	}
	if e.Checkpoint != nil {
		for _, l := range e.Checkpoint.Links {
			ids = append(ids, l.Session)
		}
	}
	for _, id := range ids {
		if last := st.Latest[id]; last != "" && seg.Compare(ledger.Segment{Path: last}) < 0 {
			return fmt.Errorf("%w: %s is before %s", errStartOver, seg.Path, last)
		}
		st.Latest[id] = seg.Path
	}
	return nil
}

func (st *state) applySession(repo *git.Repo, s session.Session, blob git.OID) error {
	id := sessionKey(s.Source, s.NativeID)
	k := st.Sessions[id]
	if k == nil {
		k = &ledgerSession{
			ID: s.ID, Source: s.Source, NativeID: s.NativeID, ActorType: s.ActorType,
			First: s.StartedAt, Turns: s.FirstTurn, Tools: s.FirstTool,
		}
		st.Sessions[id] = k
		if st.byID != nil {
			st.byID[k.ID] = k
		}
	}
	if s.Parent != "" {
		k.Parent = s.Parent
	}
	if s.Title != "" && k.Title != session.Scrubbed {
		k.Title, k.TitleBy = s.Title, s.TitleBy
	}
	if s.ForkedFrom != "" {
		k.ForkedFrom = s.ForkedFrom
	}
	k.Segments = append(k.Segments, blob)
	if s.FirstTurn == k.Turns && s.FirstTool == k.Tools {
		k.Turns += len(s.Turns)
		k.Tools += len(s.ToolCalls)
	} else {
		whole, err := k.readStored(repo)
		if err != nil {
			return err
		}
		k.Turns, k.Tools = whole.FirstTurn+len(whole.Turns), whole.FirstTool+len(whole.ToolCalls)
	}
	if last := s.LastTS(); last.After(k.Last) {
		k.Last = last
	}
	for _, t := range s.Turns {
		if t.Content == session.Scrubbed && t.TS.After(k.Scrubbed) {
			k.Scrubbed = t.TS
		}
		k.noteScrubbed(t)
		k.HasElsewhere = k.HasElsewhere || session.IsElsewhereMark(t.Content)
	}
	if s.Cursor != "" {
		k.Cursor = s.Cursor
	}
	if s.Bytes > 0 {
		k.Bytes, k.Hash = s.Bytes, s.Hash
		k.Resume, k.Tail = nil, nil
	}
	for _, c := range s.ToolCalls {
		if c.EditedPath() == "" {
			continue
		}
		if k.Pending == nil {
			k.Pending = map[string]time.Time{}
		}
		k.Pending[c.Path] = editTime(s, c)
	}
	return nil
}

// noteScrubbed updates ScrubbedSpans with a turn.
func (k *ledgerSession) noteScrubbed(t session.Turn) {
	n := len(k.ScrubbedSpans)
	switch scrubbed, open := t.Content == session.Scrubbed, n%2 == 1; {
	case scrubbed && !open && t.Index == 0: // calls before the first turn were scrubbed with it
		k.ScrubbedSpans = append(k.ScrubbedSpans, time.Time{})
	case scrubbed && !open:
		k.ScrubbedSpans = append(k.ScrubbedSpans, t.TS)
	case !scrubbed && open && t.TS.After(k.ScrubbedSpans[n-1]):
		k.ScrubbedSpans = append(k.ScrubbedSpans, t.TS)
	}
}

// wasScrubbedAt reports whether the turns of the session at a time were scrubbed.
func (k *ledgerSession) wasScrubbedAt(at time.Time) bool {
	for pair := range slices.Chunk(k.ScrubbedSpans, 2) {
		if !at.Before(pair[0]) && (len(pair) == 1 || at.Before(pair[1])) {
			return true
		}
	}
	return false
}

// editTime is the earliest time at which a tool call may have been made: that of the turn
// before it.
func editTime(s session.Session, c session.ToolCall) time.Time {
	if i := c.Turn - s.FirstTurn; i >= 0 && i < len(s.Turns) {
		return s.Turns[i].TS
	}
	return s.FirstTS()
}

// clearPending notes that sessions are tied to the code commit of a checkpoint: it removes the commit's files from
// their Pending, unless a session edited them after the commit was made.
func (st *state) clearPending(e session.Entry, made time.Time) {
	held := map[string]bool{}
	for _, f := range e.Checkpoint.Files {
		held[f.Path], held[f.OldPath] = true, true
	}
	linked := map[string]bool{}
	for _, s := range e.Sessions {
		linked[s.ID] = true
	}
	for _, l := range e.Checkpoint.Links {
		linked[l.Session] = l.Tie != session.TieTalked
	}
	for id := range linked {
		if k := st.sessionByID(id); k != nil && linked[id] {
			maps.DeleteFunc(k.Pending, func(p string, edited time.Time) bool {
				return held[p] &&
					!attribution.IsCommittedBefore(made, edited)
			})
		}
	}
}

// clearWritten notes that a commit holds lines that a session wrote: it took the edits of that file before it, though
// no checkpoint may say so.
func (st *state) clearWritten(repo *git.Repo, w session.Wrote) {
	k := st.sessionByID(w.Session)
	if k == nil || len(w.Lines) == 0 || k.Pending[w.Path].IsZero() {
		return
	}
	if c, err := repo.Commit(git.OID(w.GitSHA)); err == nil &&
		!attribution.IsCommittedBefore(c.Committer.When, k.Pending[w.Path]) {
		delete(k.Pending, w.Path)
	}
}

// readStored reads what the ledger holds of a session from its segments.
func (k *ledgerSession) readStored(repo *git.Repo) (session.Session, error) {
	var whole session.Session
	for _, blob := range slices.Compact(slices.Clone(k.Segments)) {
		parts, err := ledger.ReadSession(repo, blob, k.ID)
		if err != nil {
			return session.Session{}, err
		}
		for _, s := range parts {
			whole.Absorb(s, session.Piece)
		}
	}
	return whole, nil
}

// sessionsStartingAt are the sessions whose first turn has this time: a session and its
// forks.
func (st *state) sessionsStartingAt(first time.Time) []*ledgerSession {
	var out []*ledgerSession
	for _, k := range st.Sessions {
		if k.Parent == "" && k.First.Equal(first) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b *ledgerSession) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// unchanged reports whether a transcript has the size and time that it had when it was last read.
func (st *state) unchanged(path string, size int64, mod time.Time) bool {
	s, ok := st.Files[path]
	return ok && s.Size == size && s.ModTime == mod.UnixNano()
}

// dropStampsOfMissing drops the stamps of files that are gone, so that the cache does not grow for ever.
func (st *state) dropStampsOfMissing(seen map[string]bool) {
	for path := range st.Files {
		if !seen[path] && filepath.IsAbs(path) { // others are in git
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
				delete(st.Files, path)
			}
		}
	}
}

// shaKey is the first 8 bytes of a commit's ID.
func shaKey(sha string) uint64 {
	key, _ := strconv.ParseUint(sha[:min(16, len(sha))], 16, 64) // what is no ID is no commit's
	return key
}

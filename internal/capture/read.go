package capture

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/transcript"
)

// tailSize is how many bytes before the cursor must still stand for a cached hash state
// to be trusted. Lines of a transcript carry unique IDs and times, so a file that was
// truncated and grew past the cursor again differs there.
const tailSize = 4 << 10

// maxReaders is how many transcripts are decoded at once, at most: each may hold a piece of one (see Round).
const maxReaders = 8

// reading is what one transcript gave.
type reading struct {
	file      transcript.File
	agent     string
	doc       transcript.Document
	offset    int64  // where the read began: 0, or the cursor
	hash      string // SHA-256 of the first offset + doc.Bytes bytes
	resume    []byte
	tail      []byte
	hasMore   bool // the file goes on behind this reading
	edited    []sessionEdits
	editsLost bool // its edits could not be kept, or those of what an earlier round read
	err       error
}

// partialRead is what a round read of a transcript that is longer. Where the cursor is no further
// afterwards (a line that is longer than all of it, or no turn yet), the next one is twice as long.
type partialRead struct {
	from, size int64
	editsLost  bool // its edits could not be kept: the next round goes on, and the next capture reads it again
}

// readAll decodes transcripts side by side, and gives for each a function that waits for it, so that they
// can be taken in order while the next ones are being read. Not more than some are decoded and
// not taken. A single one is decoded when it is asked for.
func (g *collector) readAll(ctx context.Context, agent transcript.Agent, files, siblings []transcript.File,
	roots []string,
) []func() *reading {
	rd := reader{
		agent: agent, roots: roots, others: maps.Clone(g.st.Others), siblings: siblings, piece: g.bounds.Piece,
		without: g.Without, nameRepo: g.NameRepo,
	}
	out := make([]func() *reading, len(files))
	for i, f := range files {
		cursor, last := g.st.Sessions[sessionKey(agent.Name(), f.NativeID)], g.pieces[f.Path]
		out[i] = func() *reading {
			r, err := rd.read(ctx, f, cursor, last)
			if err != nil {
				r = &reading{err: err}
			}
			return r
		}
	}
	if len(files) < 2 {
		return out
	}
	return readAhead(ctx, out)
}

// readAhead starts reads before they are asked for: more at once than there are cores, as one that is done keeps its
// place until those before it are taken. It gives for each a function that waits for it, or says that it was stopped.
func readAhead(ctx context.Context, reads []func() *reading) []func() *reading {
	slots := make(chan struct{}, min(maxReaders, 2*runtime.GOMAXPROCS(0)))
	ready := make([]chan *reading, len(reads))
	out := make([]func() *reading, len(reads))
	for i := range reads {
		ready[i] = make(chan *reading, 1)
		out[i] = func() *reading {
			select {
			case r := <-ready[i]:
				<-slots
				return r
			case <-ctx.Done():
				return &reading{err: ctx.Err()}
			}
		}
	}
	go func() {
		for i, read := range reads {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			go func() { ready[i] <- read() }()
		}
	}()
	return out
}

// reader reads the transcripts of one agent.
type reader struct {
	agent    transcript.Agent
	roots    []string
	others   map[string]bool
	siblings []transcript.File
	piece    int64 // see Round
	outputs  bool  // see transcript.Options
	without  Excluded
	nameRepo func(root string) string
}

// read decodes what follows the cursor of a transcript, or all of it when it is new or
// was rewritten. A decoder that breaks on a file costs that file only.
func (rd reader) read(ctx context.Context, f transcript.File, k *ledgerSession,
	last partialRead,
) (r *reading, err error) {
	defer func() {
		if v := recover(); v != nil {
			r, err = nil, fmt.Errorf("read transcript %q: internal error: %v", f.Path, v)
		}
	}()
	if f.ReadWhole {
		return rd.readWhole(ctx, f)
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	defer file.Close()
	sum, offset, err := resumeAt(file, f.Size, k, last.editsLost)
	if err != nil {
		return nil, fmt.Errorf("read transcript %q: %w", f.Path, err)
	}
	now := last.next(offset, rd.piece)
	cut := f.Size > offset+now.size
	if cut {
		f.Size = offset + now.size
	}
	opt := transcript.Options{
		File: f, Roots: rd.roots, Inside: offset > 0, OtherRepos: rd.others, NameRepo: rd.nameRepo,
		Outputs: rd.outputs,
	}
	if k != nil {
		opt.Last, opt.HasElsewhere = k.Last, k.HasElsewhere
	} else if opt.Spawner, err = transcript.FindSpawner(ctx, f, rd.siblings); err != nil {
		return nil, err
	}
	if offset > 0 {
		if opt.Head, err = firstRecord(file, offset); err != nil {
			return nil, fmt.Errorf("read transcript %q: %w", f.Path, err)
		}
	}
	// The size of the moment when it was found bounds the read, so that what is hashed and
	// what is decoded are the same bytes.
	if r, err = rd.decode(ctx, io.NewSectionReader(file, offset, f.Size-offset), opt); err != nil {
		return nil, err
	}
	r.offset, r.hasMore, r.editsLost = offset, cut, last.editsLost
	if err := r.hashConsumed(file, sum); err != nil {
		return nil, fmt.Errorf("read transcript %q: %w", f.Path, err)
	}
	return r, nil
}

// decode reads what is new of a transcript, and leaves out what is not captured.
func (rd reader) decode(ctx context.Context, in io.Reader, opt transcript.Options) (*reading, error) {
	doc, err := rd.agent.Decode(ctx, in, opt)
	if err != nil {
		return nil, fmt.Errorf("read transcript %q: %w", opt.File.Path, err)
	}
	known := opt.Last
	if !opt.Inside {
		known = time.Time{} // it is read from the start
	}
	rd.without.remove(rd.agent.Name(), &doc, known, opt.File.ModTime)
	r := &reading{file: opt.File, agent: rd.agent.Name(), doc: doc}
	r.takeEdits()
	return r, nil
}

// readWhole decodes all that a transcript holds which is no growing file. What is known of it is told apart later.
func (rd reader) readWhole(ctx context.Context, f transcript.File) (*reading, error) {
	opener, ok := rd.agent.(transcript.Opener)
	if !ok {
		return nil, fmt.Errorf("read transcript %q: %s opens files only", f.Path, rd.agent.Name())
	}
	opt := transcript.Options{File: f, Roots: rd.roots, OtherRepos: rd.others, NameRepo: rd.nameRepo, Outputs: rd.outputs}
	in, err := opener.Open(ctx, opt)
	if err != nil {
		return nil, fmt.Errorf("read transcript %q: %w", f.Path, err)
	}
	defer in.Close()
	sum := newDigest()
	r, err := rd.decode(ctx, io.TeeReader(in, sum), opt)
	if err == nil {
		r.hash = hex.EncodeToString(sum.Sum(nil))
	}
	return r, err
}

// cursorOf says in the ledger of when a transcript was that is no growing file. One of another form is a later
// version's.
func cursorOf(f transcript.File) string {
	at := f.ModTime.UTC().Format(time.RFC3339Nano)
	if f.Rendered {
		return rendered + at
	}
	return at
}

// rendered begins the cursor of a transcript.File that is Rendered.
const rendered = "rendered "

// isOfLaterVersion reports whether only a later version knows how far a session was read.
func isOfLaterVersion(cursor string) bool {
	_, err := time.Parse(time.RFC3339Nano, cursor)
	return cursor != "" && err != nil
}

// firstRecord reads the first record of a file that was read before; nil if the record is longer than MaxLine.
func firstRecord(file io.ReaderAt, offset int64) ([]byte, error) {
	in := bufio.NewReaderSize(io.NewSectionReader(file, 0, min(offset, transcript.MaxLine)), 32<<10)
	ln, err := in.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return bytes.TrimSpace(ln), nil
}

// next is what to read from an offset on, behind what the last round read.
func (p partialRead) next(offset, usual int64) partialRead {
	if p.size > 0 && p.from == offset {
		return partialRead{from: offset, size: 2 * p.size}
	}
	return partialRead{from: offset, size: usual}
}

// digest is a SHA-256 whose state can be stored.
type digest interface {
	hash.Hash
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

func newDigest() digest {
	return sha256.New().(digest) //nolint:errcheck // crypto/sha256 promises it
}

// blockStart is where a hash begins anew. The state of one in the middle of a block holds what was
// said there, and it is stored: so all states are those of the last block's end.
func blockStart(offset int64) int64 { return offset - offset%sha256.BlockSize }

// resumeAt finds where to read on: at the cursor when the bytes before it still stand, else at the start. The hash has
// taken in the whole blocks before that place. Edits of what is before it are to be kept, or else given up.
func resumeAt(file io.ReaderAt, size int64, k *ledgerSession, unkept bool) (digest, int64, error) {
	if k == nil || k.Bytes == 0 || size < k.Bytes || k.hasScrubbedEnd() || k.EditsKept < k.Bytes && !unkept {
		return newDigest(), 0, nil
	}
	if len(k.Resume) > 0 {
		tail, err := tailSum(file, k.Bytes)
		if err != nil {
			return nil, 0, err
		}
		sum := newDigest()
		if string(tail) == string(k.Tail) && sum.UnmarshalBinary(k.Resume) == nil {
			return sum, k.Bytes, nil
		}
		return newDigest(), 0, nil
	}
	sum := newDigest()
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, blockStart(k.Bytes))); err != nil {
		return nil, 0, err
	}
	state, err := sum.MarshalBinary()
	if err != nil {
		return nil, 0, err
	}
	if _, err := io.Copy(sum, io.NewSectionReader(file, blockStart(k.Bytes), k.Bytes-blockStart(k.Bytes))); err != nil {
		return nil, 0, err
	}
	same := hex.EncodeToString(sum.Sum(nil)) == k.Hash
	if sum = newDigest(); !same || sum.UnmarshalBinary(state) != nil {
		return newDigest(), 0, nil
	}
	return sum, k.Bytes, nil
}

// hasScrubbedEnd reports whether what follows the cursor may look like what stands before it: a turn that was
// scrubbed has a time and no text, and one more of the same time would be taken for it. Who reads from
// the start can count them.
func (k *ledgerSession) hasScrubbedEnd() bool {
	return !k.Scrubbed.IsZero() && !k.Last.After(k.Scrubbed)
}

// hashConsumed hashes what was consumed, and keeps what the next read needs.
func (r *reading) hashConsumed(file io.ReaderAt, sum digest) error {
	end := r.offset + r.doc.Bytes
	from, to := blockStart(r.offset), blockStart(end)
	if _, err := io.Copy(sum, io.NewSectionReader(file, from, to-from)); err != nil {
		return err
	}
	var err error
	if r.resume, err = sum.MarshalBinary(); err != nil {
		return err
	}
	if _, err := io.Copy(sum, io.NewSectionReader(file, to, end-to)); err != nil {
		return err
	}
	r.hash = hex.EncodeToString(sum.Sum(nil))
	r.tail, err = tailSum(file, end)
	return err
}

func tailSum(file io.ReaderAt, end int64) ([]byte, error) {
	start := max(end-tailSize, 0)
	sum := newDigest()
	if _, err := io.Copy(sum, io.NewSectionReader(file, start, end-start)); err != nil {
		return nil, err
	}
	return sum.Sum(nil), nil
}

// continues reports whether a session of this reading is new by construction: it is the
// file's own, the read began at its cursor, and everything in it is later than what is
// known. The session of a subagent in its parent's file is new, too, if it has turns: its parent's
// cursor does not tell how far it was stored.
func (r *reading) continues(k *ledgerSession, s transcript.Part) bool {
	own := s.NativeID == r.file.NativeID
	if r.offset == 0 || !own && (s.ParentNative != r.file.NativeID || len(s.Turns) == 0) {
		return false
	}
	for _, t := range s.Turns {
		if !t.TS.After(k.Last) {
			return false
		}
	}
	return true
}

// rememberCursors notes how far each transcript was read. The cursor in the cache may be ahead of
// the ledger's: bytes that hold nothing to store need not be read again.
func (g *collector) rememberCursors() {
	seen := map[string]bool{}
	for _, r := range g.done {
		seen[r.file.Path] = true
		if r.hasMore {
			g.pieces[r.file.Path] = partialRead{r.offset, r.file.Size - r.offset, r.editsLost}
		}
		for _, root := range r.doc.OtherRepos {
			g.st.Others[root] = true
		}
		if r.editsLost { // the cursor waits
			delete(g.st.Files, r.file.Path)
			continue
		}
		g.st.Files[r.file.Path] = stamp{Size: r.file.Size, ModTime: r.file.ModTime.UnixNano()}
		if k := g.st.Sessions[sessionKey(r.agent, r.file.NativeID)]; k != nil && !r.file.ReadWhole && k.owns(r) {
			k.moveCursor(r)
		}
	}
	g.st.dropStampsOfMissing(seen)
	if g.examined != nil && !g.editsLost {
		g.st.Examined = g.examined
	}
	if g.reflogs != nil {
		g.st.Reflogs = g.reflogs
	}
}

// moveCursor sets the session's cursor to the end of a reading.
func (k *ledgerSession) moveCursor(r *reading) {
	k.Bytes, k.Hash = r.offset+r.doc.Bytes, r.hash
	k.Resume, k.Tail, k.EditsKept = r.resume, r.tail, k.Bytes
}

// owns reports whether a reading is of the session's own transcript.
func (k *ledgerSession) owns(r *reading) bool {
	return r.offset > 0 || slices.ContainsFunc(r.doc.Sessions,
		func(s transcript.Part) bool { return s.NativeID == k.NativeID })
}

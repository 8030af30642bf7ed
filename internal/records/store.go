package records

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/lock"
)

// Defaults of retention.
const (
	Days    = 90       // rekal.records.days
	Size    = 64 << 20 // rekal.records.size, in bytes: of all that lies in the folder
	RawDays = 7        // of outputs
)

// patience is how long a writer waits for the others, each of which takes a millisecond.
const patience = 10 * time.Second

// Store is the records of one repository.
type Store struct {
	Dir  string // see the package's doc
	Now  func() time.Time
	Days int   // 0: Days
	Size int64 // 0: Size
}

// ErrNone is an ID that no record has.
var ErrNone = errors.New("no such record")

// ErrNoRaw is a record whose output is not kept any more, or was never there.
var ErrNoRaw = errors.New("it is not kept any more")

// Add stores a record and returns it with its ID. When it fails nothing was stored.
func (s Store) Add(ctx context.Context, r Redacted) (Record, error) {
	all := []Record{r.record}
	err := s.writing(ctx, func() error {
		lines, err := s.number(all)
		if err != nil {
			return err
		}
		if len(r.packed) > 0 {
			if err := replace(s.rawPath(all[0].ID), r.packed); err != nil {
				return err
			}
		}
		if err := s.append(lines[0]); err != nil {
			return err
		}
		if fresh, err := s.fresh(); fresh || all[0].ID%retainEach == 0 || err != nil {
			_ = s.retain() // what can't be removed now can be later
		}
		return nil
	})
	if err != nil {
		return Record{}, err
	}
	return all[0], nil
}

// number gives records the next IDs, and makes their lines.
func (s Store) number(all []Record) (lines [][]byte, err error) {
	id, err := s.last()
	if err != nil {
		return nil, err
	}
	// Noted before they are given: a process that dies leaves a gap, and no ID twice.
	if err := replace(filepath.Join(s.Dir, "counter"), []byte(strconv.Itoa(id+len(all))+"\n")); err != nil {
		return nil, err
	}
	for i := range all {
		all[i].ID = id + 1 + i
		line, err := json.Marshal(all[i])
		if err != nil {
			return nil, err
		}
		lines = append(lines, append(line, '\n'))
	}
	return lines, nil
}

// retainEach is after how many records retention looks, besides when a file was begun.
const retainEach = 16

// fresh reports whether the file that is appended to was just begun.
func (s Store) fresh() (bool, error) {
	path, err := s.today()
	if err != nil {
		return false, err
	}
	info, err := os.Stat(path)
	return err != nil || info.Size() < 4096, nil //nolint:nilerr // the next one will be
}

// writing does something as the only one who writes.
func (s Store) writing(ctx context.Context, do func() error) error {
	err := os.MkdirAll(filepath.Join(s.Dir, "raw"), 0o700)
	if err == nil {
		var l *lock.Lock
		if l, err = lock.Acquire(ctx, filepath.Join(s.Dir, "lock"), lock.ToWrite, patience); err == nil {
			err = errors.Join(do(), l.Release())
		}
	}
	if err != nil {
		return fmt.Errorf("records: %w", err)
	}
	return nil
}

// last is the ID that was given last: the counter's, or where that is gone, the largest that stands anywhere.
func (s Store) last() (int, error) {
	text, err := os.ReadFile(filepath.Join(s.Dir, "counter"))
	if err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n >= 0 {
			return n, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	most := 0
	err = s.scan(func(l line) { most = max(most, l.ID) })
	return most, err
}

// replace writes a file anew, whole or not at all.
func replace(path string, data []byte) error {
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return errors.Join(err, removed(path+".new"))
	}
	return os.Rename(path+".new", path)
}

func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// append puts lines behind those of today. What a full disk left of them is taken away again.
func (s Store) append(text []byte) error {
	path, err := s.today()
	if err != nil {
		return err
	}
	return appendTo(path, text)
}

func appendTo(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil && size > 0 {
		end := make([]byte, 1)
		if _, err = f.ReadAt(end, size-1); err == nil && end[0] != '\n' { // torn by a process that died
			text = append([]byte{'\n'}, text...)
		}
	}
	if err == nil {
		if _, err = f.Write(text); err != nil {
			err = errors.Join(err, f.Truncate(size))
		}
	}
	return errors.Join(err, f.Close())
}

// today is the file that is appended to: the last one, unless that is of another day or full. Where the clock went back, the last
// one goes on: the order of files is that of IDs.
func (s Store) today() (string, error) {
	day, n := s.Now().UTC().Format(time.DateOnly), 0
	files, err := s.files("")
	if err != nil {
		return "", err
	}
	if len(files) > 0 && files[len(files)-1][:10] >= day {
		last := files[len(files)-1]
		full := cmp.Or(s.Size, Size) / 8 // what is dropped is dropped by the file
		if info, err := os.Stat(filepath.Join(s.Dir, last)); err == nil && info.Size() < full {
			return filepath.Join(s.Dir, last), nil
		}
		day, n = last[:10], number(last)+1
	}
	if n == 0 {
		return filepath.Join(s.Dir, day+".ndjson"), nil
	}
	return filepath.Join(s.Dir, fmt.Sprintf("%s.%d.ndjson", day, n)), nil
}

func (s Store) rawPath(id int) string { return filepath.Join(s.Dir, "raw", strconv.Itoa(id)+".zst") }

// line is one line of a file: a record, or a mark on one.
type line struct {
	Record
	Hide *int   `json:"hide,omitempty"` // ID that is purged from here on
	Show *int   `json:"show,omitempty"` // ID that is restored
	Of   string `json:"of,omitempty"`   // From.Call of that one, which has another ID when it is made again
	Gone string `json:"gone,omitempty"` // From.Call of what was scrubbed: it is not made again
}

// files lists the files with records of a folder, the oldest first.
func (s Store) files(folder string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".ndjson") && len(e.Name()) >= len("2026-11-23.ndjson") {
			out = append(out, e.Name())
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(strings.Compare(a[:10], b[:10]), cmp.Compare(number(a), number(b)))
	})
	return out, err
}

// number is which file of its day one is.
func number(name string) int {
	n, _ := strconv.Atoi(strings.Trim(strings.TrimSuffix(name[10:], "ndjson"), "."))
	return n
}

// all lists the files of both folders.
func (s Store) all() ([]string, error) {
	out, err := s.files("")
	if err != nil {
		return nil, err
	}
	derived, err := s.files(transcripts)
	for _, name := range derived {
		out = append(out, filepath.Join(transcripts, name))
	}
	return out, err
}

// scan reads all lines in their order, without texts: those made of transcripts come last. What can't be read is passed over.
func (s Store) scan(each func(line)) error {
	files, err := s.all()
	for _, name := range files {
		if err != nil {
			return err
		}
		var data []byte
		if data, err = os.ReadFile(filepath.Join(s.Dir, name)); errors.Is(err, fs.ErrNotExist) {
			err = nil // retention was here
		}
		from := int64(0)
		for text := range bytes.Lines(data) {
			if l, ok := head(text); ok {
				l.at = place{name, from, len(text)}
				each(l)
			}
			from += int64(len(text))
		}
	}
	return err
}

// head is a line without its text. Within a string of JSON no quote stands without a backslash, so what is looked for is the field.
func head(text []byte) (l line, ok bool) {
	if i := bytes.Index(text, []byte(`,"text":"`)); i >= 0 {
		if !bytes.HasSuffix(text, []byte("\"}\n")) {
			return l, false // torn
		}
		text = append(bytes.Clone(text[:i]), '}')
	}
	return l, len(text) > 2 && json.Unmarshal(text, &l) == nil
}

// Load reads a record's text.
func (s Store) Load(r *Record) error {
	f, err := os.Open(filepath.Join(s.Dir, r.at.file))
	if err != nil {
		return fmt.Errorf("records: %w", err)
	}
	defer f.Close()
	text := make([]byte, r.at.size)
	if _, err := f.ReadAt(text, r.at.from); err != nil {
		return fmt.Errorf("records: read %d: %w", r.ID, err)
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil || l.ID != r.ID { // scrubbed meanwhile
		return fmt.Errorf("records: %d: %w", r.ID, ErrNone)
	}
	r.Text = l.Text
	return nil
}

package records

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// All returns the records in their order, without their texts (Load); those that are purged have Hidden set.
func (s Store) All() ([]Record, error) {
	var all []Record
	hidden, of := map[int]bool{}, map[string]bool{}
	err := s.scan(func(l line) {
		switch {
		case l.Hide != nil:
			hidden[*l.Hide], of[l.Of] = true, true
		case l.Show != nil:
			delete(hidden, *l.Show)
			delete(of, l.Of)
		case l.ID > 0:
			all = append(all, l.Record)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	for i, r := range all {
		all[i].Hidden = hidden[r.ID] || r.From != nil && of[r.From.Call]
	}
	slices.SortStableFunc(all, func(a, b Record) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// Find returns a record with its text, or ErrNone.
func (s Store) Find(id int) (Record, error) {
	all, err := s.All()
	if err != nil {
		return Record{}, err
	}
	for _, r := range all {
		if r.ID == id {
			return r, s.Load(&r)
		}
	}
	return Record{}, fmt.Errorf("%d: %w", id, ErrNone)
}

// Given returns ErrNone for a number that no record ever had.
func (s Store) Given(ids []int) error {
	last, err := s.last()
	if err != nil {
		return fmt.Errorf("records: %w", err)
	}
	if i := slices.IndexFunc(ids, func(id int) bool { return id > last }); i >= 0 {
		return fmt.Errorf("%d: %w", ids[i], ErrNone)
	}
	return nil
}

// ParseID reads the number of a record, as "42" or "[42]". IDs of sessions and memories begin with a zero.
func ParseID(text string) (id int, ok bool) {
	if n := len(text); n > 2 && text[0] == '[' && text[n-1] == ']' {
		text = text[1 : n-1]
	}
	id, err := strconv.Atoi(text)
	return id, err == nil && id > 0 && len(text) < 8 && text[0] > '0'
}

// ParseIDs parts the numbers of records from other names.
func ParseIDs(names []string) (numbers []int, rest []string) {
	rest = []string{}
	for _, name := range names {
		if id, ok := ParseID(name); ok {
			numbers = append(numbers, id)
		} else {
			rest = append(rest, name)
		}
	}
	return numbers, rest
}

// Raw returns the redacted output of a record; fs.ErrNotExist where it is not kept any more.
func (s Store) Raw(id int) ([]byte, error) {
	packed, err := os.ReadFile(s.rawPath(id))
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	defer r.Close()
	raw, err := r.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("records: the output of %d is damaged: %w", id, err)
	}
	return raw, nil
}

// Hide purges records, or shows them again.
func (s Store) Hide(ctx context.Context, ids []int, hide bool) error {
	what := map[bool]string{true: "hide", false: "show"}[hide]
	return s.writing(ctx, func() error {
		calls, err := s.calls(ids)
		if err != nil {
			return err
		}
		var text []byte
		for _, id := range ids {
			text = fmt.Appendf(text, "{%q:%d,\"of\":%q}\n", what, id, calls[id])
		}
		return s.append(text)
	})
}

// Scrub takes records and their outputs out for good, and tells how many there were.
func (s Store) Scrub(ctx context.Context, ids []int) (n int, err error) {
	err = s.writing(ctx, func() error {
		if _, err := s.number(nil); err != nil { // the last ID is noted before the files say less
			return err
		}
		if err := s.forgo(ids); err != nil {
			return err
		}
		files, err := s.all()
		for _, name := range files {
			if err != nil {
				return err
			}
			var gone int
			gone, err = s.rewrite(name, ids)
			n += gone
		}
		for _, id := range ids {
			err = errors.Join(err, removed(s.rawPath(id)))
		}
		return err
	})
	return n, err
}

// rewrite leaves records out of a file.
func (s Store) rewrite(name string, ids []int) (gone int, err error) {
	path := filepath.Join(s.Dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var kept []byte
	for text := range strings.Lines(string(data)) {
		if l, ok := head([]byte(text)); ok && slices.Contains(ids, l.ID) {
			gone++
			continue
		}
		kept = append(kept, text...)
	}
	if gone == 0 {
		return 0, nil
	}
	return gone, replace(path, kept)
}

// Remove takes away everything, and the folder.
func (s Store) Remove() error {
	if err := os.RemoveAll(s.Dir); err != nil {
		return fmt.Errorf("records: %w", err)
	}
	_ = os.Remove(filepath.Dir(s.Dir)) // rekal/, when nothing else is in it
	return nil
}

// aged is a file with its size and age.
type aged struct {
	path string
	size int64
	old  time.Duration
	raw  bool
}

// retain drops what is too old, and the oldest of what is too much: outputs before records, and never the file that is
// appended to.
func (s Store) retain() error {
	files, err := s.files("")
	if err != nil || len(files) == 0 {
		return err
	}
	all, err := s.aged(files[:len(files)-1])
	if err != nil {
		return err
	}
	total := int64(0)
	if info, err := os.Stat(filepath.Join(s.Dir, files[len(files)-1])); err == nil {
		total = info.Size()
	}
	for _, f := range all {
		total += f.size
	}
	days := time.Duration(cmp.Or(s.Days, Days)) * 24 * time.Hour
	for _, f := range all {
		limit := days
		if f.raw {
			limit = RawDays * 24 * time.Hour
		}
		if f.old <= limit && total <= cmp.Or(s.Size, Size) {
			continue
		}
		if err := removed(f.path); err != nil {
			return err
		}
		total -= f.size
	}
	return nil
}

// aged lists outputs, the oldest first, then files of records.
func (s Store) aged(files []string) ([]aged, error) {
	var out []aged
	entries, err := os.ReadDir(filepath.Join(s.Dir, "raw"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			out = append(out, aged{filepath.Join(s.Dir, "raw", e.Name()), info.Size(), s.Now().Sub(info.ModTime()), true})
		}
	}
	slices.SortFunc(out, func(a, b aged) int { return cmp.Compare(b.old, a.old) })
	for _, name := range files {
		path := filepath.Join(s.Dir, name)
		day, err := time.Parse(time.DateOnly, name[:10])
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); err == nil {
			out = append(out, aged{path, info.Size(), s.Now().Sub(day) - 24*time.Hour, false})
		}
	}
	return out, nil
}

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
	"strings"
	"time"
)

// transcripts is the folder of records that were made of transcripts.
const transcripts = "transcripts"

// share is which part of the size those may take that were made of transcripts, beside the others: one of so many.
const share = 4

// Progress is the file in which it stands how far transcripts were read, within the bounds of today: within others they are read anew, because
// what was too old or too much is none. It goes when the records go that were made of them.
func (s Store) Progress() string {
	return filepath.Join(s.Dir, transcripts, fmt.Sprintf("%s-%d-%d", progress, cmp.Or(s.Days, Days), cmp.Or(s.Size, Size)))
}

// progress begins the name of such a file.
const progress = "progress"

// DropProgress removes those files but one.
func (s Store) DropProgress(but string) error {
	dir := filepath.Join(s.Dir, transcripts)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("records: %w", err)
	}
	err = nil
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), progress) && filepath.Ext(path) == "" && path != but { // one with a dot is being written
			err = errors.Join(err, removed(path))
		}
	}
	return err
}

// Since is the time before which nothing is kept.
func (s Store) Since() time.Time {
	return s.Now().AddDate(0, 0, -cmp.Or(s.Days, Days))
}

// Derive stores records that were made of transcripts, but for calls of which there is one, and what was scrubbed. It tells
// how many were new.
func (s Store) Derive(ctx context.Context, all []Redacted) (n int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	err = s.writing(ctx, func() error {
		due, err := s.due(all)
		if err != nil || len(due) == 0 {
			return err
		}
		if err := os.MkdirAll(filepath.Join(s.Dir, transcripts), 0o700); err != nil {
			return err
		}
		lines, err := s.number(due)
		if err != nil {
			return err
		}
		days := map[string][]byte{}
		for i, r := range due {
			day := r.At.UTC().Format(time.DateOnly)
			days[day] = append(days[day], lines[i]...)
		}
		for day, text := range days {
			if err := appendTo(filepath.Join(s.Dir, transcripts, day+".ndjson"), text); err != nil {
				return err
			}
		}
		n = len(due)
		return s.retainDerived()
	})
	return n, err
}

// due is what of some records is neither there nor scrubbed, nor too old, in the order of their times.
func (s Store) due(all []Redacted) (out []Record, err error) {
	had := map[string]bool{}
	err = s.scan(func(l line) {
		if l.From != nil {
			had[l.From.Call] = true
		}
		had[l.Gone] = true
	})
	for _, r := range all {
		if of := r.record.From; of != nil && !had[of.Call] && r.record.At.After(s.Since()) {
			had[of.Call] = true
			out = append(out, r.record)
		}
	}
	slices.SortStableFunc(out, func(a, b Record) int { return a.At.Compare(b.At) })
	return out, err
}

// retainDerived drops the oldest days of what is too old or too much, and never the latest.
func (s Store) retainDerived() error {
	files, err := s.files(transcripts)
	if err != nil {
		return err
	}
	left := cmp.Or(s.Size, Size) / share
	for i, name := range slices.Backward(files) {
		path := filepath.Join(s.Dir, transcripts, name)
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if left -= info.Size(); i < len(files)-1 && left < 0 || name[:10] < s.Since().UTC().Format(time.DateOnly) {
			if err := removed(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// calls are those of records that were made of transcripts, by ID.
func (s Store) calls(ids []int) (map[int]string, error) {
	out := map[int]string{}
	err := s.scan(func(l line) {
		if l.From != nil && slices.Contains(ids, l.ID) {
			out[l.ID] = l.From.Call
		}
	})
	return out, err
}

// forgo notes that some records are not to be made again.
func (s Store) forgo(ids []int) error {
	calls, err := s.calls(ids)
	if err != nil || len(calls) == 0 {
		return err
	}
	var text []byte
	for _, call := range calls {
		text = fmt.Appendf(text, "{\"gone\":%q}\n", call)
	}
	return s.append(text)
}

// Forget drops what was made of transcripts: it can be made again. Where there is nothing else, the folder goes.
func (s Store) Forget() error {
	if err := os.RemoveAll(filepath.Join(s.Dir, transcripts)); err != nil {
		return fmt.Errorf("records: %w", err)
	}
	if files, err := s.files(""); err != nil || len(files) > 0 {
		return err
	}
	return s.Remove()
}

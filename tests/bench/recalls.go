package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// recalls asks all systems the same queries, one behind the other, so that what else the machine
// does hits all of them.
func (s *scratch) recalls(ctx context.Context) error {
	s.head("recall: %d queries, %d times", len(s.queries), s.rounds)
	systems := []struct {
		name string
		ask  func(context.Context, query) (sample, error)
		took samples
	}{
		{name: "git rekal -n 10", ask: s.askRekal},
		{name: "inside", ask: s.askInside},
		{name: "git rekal, all results", ask: s.askAll},
		{name: "rg", ask: s.askRipgrep},
		{name: "sqlite3", ask: s.askSQLite},
	}
	for i := range s.rounds + 1 { // the first warms the page cache
		for _, q := range s.queries {
			for n := range systems {
				sys := &systems[n]
				if (sys.name == "rg" || sys.name == "sqlite3") && s.absent(sys.name) {
					continue
				}
				took, err := sys.ask(ctx, q)
				if err != nil {
					return err
				}
				if i > 0 {
					sys.took = append(sys.took, took)
				}
			}
		}
	}
	for _, sys := range systems {
		if len(sys.took) == 0 {
			s.row(sys.name, "skipped: there is no %s", sys.name)
			continue
		}
		s.times(sys.name, sys.took)
		if sys.name == "rg" || sys.name == "sqlite3" {
			s.ratio("git rekal : "+sys.name, systems[0].took, sys.took)
		}
	}
	s.kinds(systems[0].took)
	return nil
}

// colds asks some of the queries of files that the system has to fetch from the disk.
func (s *scratch) colds(ctx context.Context) error {
	s.head("recall with a cold page cache: %d queries", coldQueries)
	systems := []struct {
		name string
		ask  func(context.Context, query) (sample, error)
	}{{"git rekal -n 10", s.askRekal}, {"rg", s.askRipgrep}, {"sqlite3", s.askSQLite}}
	for _, sys := range systems {
		if sys.name != systems[0].name && s.absent(sys.name) {
			s.row(sys.name, "skipped: there is no %s", sys.name)
			continue
		}
		var all samples
		for _, q := range s.queries[:min(coldQueries, len(s.queries))] {
			if err := chill(s.dir); err != nil {
				return err
			}
			took, err := sys.ask(ctx, q)
			if err != nil {
				return err
			}
			all = append(all, took)
		}
		s.times(sys.name, all)
	}
	return nil
}

const coldQueries = 10

// chill has the system forget what it holds of the files below a folder.
func chill(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
	})
}

// kinds tells the kinds of queries apart.
func (s *scratch) kinds(all samples) {
	byKind := map[string]samples{}
	var names []string
	for i, x := range all {
		kind := s.queries[i%len(s.queries)].Kind
		if byKind[kind] == nil {
			names = append(names, kind)
		}
		byKind[kind] = append(byKind[kind], x)
	}
	for _, name := range names {
		s.times("git rekal -n 10: "+name, byKind[name])
	}
}

func (s *scratch) askRekal(ctx context.Context, q query) (sample, error) {
	took, _, err := process(s.rekalCommand(ctx, "-n", "10", "--", q.Text))
	return took, err
}

func (s *scratch) askAll(ctx context.Context, q query) (sample, error) {
	took, _, err := process(s.rekalCommand(ctx, "--", q.Text))
	return took, err
}

// askInside does what the command does, and tells what that took without starting a process.
func (s *scratch) askInside(ctx context.Context, q query) (sample, error) {
	return s.asChild(ctx, "recall", q.Text)
}

var words = regexp.MustCompile(`[\pL\pN_]+`)

// askRipgrep counts in each transcript the lines with one of the words: somebody who greps
// would do no less.
func (s *scratch) askRipgrep(ctx context.Context, q query) (sample, error) {
	took, _, err := process(s.command(ctx, s.bench.raw(), "rg", "-i", "-c", "--", strings.Join(words.FindAllString(q.Text, -1), "|"), "."))
	if code := new(exec.ExitError); errors.As(err, &code) && code.ExitCode() == 1 { // nothing found
		err = nil
	}
	return took, err
}

// askSQLite ranks sessions by their best turn.
func (s *scratch) askSQLite(ctx context.Context, q query) (sample, error) {
	var terms []string
	for _, w := range words.FindAllString(q.Text, -1) {
		terms = append(terms, `"`+w+`"`)
	}
	sql := fmt.Sprintf(`SELECT session, min(rank) AS r FROM t WHERE t MATCH '%s' GROUP BY session ORDER BY r LIMIT 20`, strings.Join(terms, " OR "))
	took, _, err := process(s.command(ctx, s.dir, "sqlite3", "-readonly", s.fts(), sql))
	return took, err
}

// filters compares recalls with a filter to the same ones without.
func (s *scratch) filters(ctx context.Context) error {
	s.head("recall -n 10 with a filter")
	forms := []struct {
		name  string
		value func(query) string
		took  samples
	}{
		{name: "without"},
		{name: "--file", value: func(q query) string { return q.File }},
		{name: "--author", value: func(q query) string { return q.Author }},
		{name: "--commit", value: func(q query) string { return q.Commit }},
	}
	for _, q := range s.queries {
		for n := range forms {
			f := &forms[n]
			args := []string{"-n", "10", "--", q.Text}
			if f.value != nil {
				args = append([]string{f.name, f.value(q)}, args...)
			}
			took, _, err := process(s.rekalCommand(ctx, args...))
			if err != nil {
				return err
			}
			f.took = append(f.took, took)
		}
	}
	for _, f := range forms {
		s.times(f.name, f.took)
		if f.value != nil {
			s.ratio(f.name+" : without", f.took, forms[0].took)
		}
	}
	return nil
}

package transcript

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Seen is what reading some transcripts of one version of an agent gave, so that a form that changed shows.
type Seen struct {
	Version string // "" where the records name none
	Files   int
	Silent  int // files with records that gave no turn
	Records int
	Unknown int // records, or parts of one, of a kind that nobody here knows
	Calls   int
	Bare    int // calls without a path and a command
	Ended   int // calls with a result
}

// The bounds of a survey: it looks at the latest transcripts, and at so much of each.
const (
	surveyedFiles = 8
	surveyedBytes = 4 << 20
)

// Survey reads the latest of some transcripts of an agent, and says what they gave by version, the newest first.
func Survey(ctx context.Context, agent Agent, files []File, roots []string) ([]Seen, error) {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b File) int { return b.ModTime.Compare(a.ModTime) })
	byVersion := map[string]*Seen{}
	for _, f := range files[:min(len(files), surveyedFiles)] {
		doc, err := surveyed(ctx, agent, f, roots)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("transcript: survey: %w", err)
		}
		if err != nil || len(doc.ElsewhereDirs) > 0 { // who reads it for good says so; another repository's
			continue
		}
		version, turns := "", 0
		for _, p := range doc.Sessions {
			_, v, _ := strings.Cut(p.Agent, "/")
			version, turns = cmp.Or(v, version), turns+len(p.Turns)
		}
		if byVersion[version] == nil {
			byVersion[version] = &Seen{Version: version}
		}
		byVersion[version].add(doc, turns)
	}
	var out []Seen
	for _, s := range byVersion {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Seen) int { return CompareVersions(b.Version, a.Version) })
	return out, nil
}

// surveyed reads the beginning of one transcript.
func surveyed(ctx context.Context, agent Agent, f File, roots []string) (Document, error) {
	opt := Options{File: f, Roots: roots}
	var in io.ReadCloser
	var err error
	if opener, ok := agent.(Opener); ok && f.ReadWhole {
		in, err = opener.Open(ctx, opt)
	} else {
		in, err = os.Open(f.Path)
	}
	if err != nil {
		return Document{}, err
	}
	defer in.Close()
	return agent.Decode(ctx, io.LimitReader(in, surveyedBytes), opt)
}

// silentRecords is how many records a transcript has at least that is to give a turn.
const silentRecords = 12

func (s *Seen) add(doc Document, turns int) {
	s.Files++
	if turns == 0 && doc.Records >= silentRecords {
		s.Silent++
	}
	s.Records += doc.Records
	for _, n := range doc.Skipped.Unknown {
		s.Unknown += n
	}
	for _, p := range doc.Sessions {
		s.Calls, s.Ended = s.Calls+p.Called, s.Ended+p.Ended
		for _, c := range p.ToolCalls {
			if c.Path == "" && c.Cmd == "" {
				s.Bare++
			}
		}
	}
}

// The shares from which on a form is taken to have changed, and of how many at least.
const (
	unknownShare = 0.2
	bareShare    = 0.8
	openShare    = 0.5
	surveyedMost = 10
)

// Drift says in a few words what shows that an agent writes otherwise than what is read; "" for nothing.
func (s Seen) Drift() string {
	over := func(n, of int, share float64) bool { return of >= surveyedMost && float64(n) > share*float64(of) }
	switch {
	case over(s.Bare, s.Calls, bareShare):
		return fmt.Sprintf("%d of %d calls without a command or path", s.Bare, s.Calls)
	case over(s.Calls-s.Ended, s.Calls, openShare):
		return fmt.Sprintf("%d of %d calls without a result", s.Calls-s.Ended, s.Calls)
	case over(s.Unknown, s.Records, unknownShare):
		return fmt.Sprintf("%d of %d records of an unknown kind", s.Unknown, s.Records)
	case s.Silent > 0 && 2*s.Silent > s.Files:
		return fmt.Sprintf("%d of %d transcripts gave nothing that was said", s.Silent, s.Files)
	}
	return ""
}

// CompareVersions compares versions number by number: 2.1.39 comes before 2.1.118.
func CompareVersions(a, b string) int {
	numbers := func(v string) (out []int) {
		for _, part := range strings.FieldsFunc(v, func(r rune) bool { return r < '0' || r > '9' }) {
			n := 0
			for _, digit := range part[:min(len(part), 9)] {
				n = 10*n + int(digit-'0')
			}
			out = append(out, n)
		}
		return out
	}
	return slices.Compare(numbers(a), numbers(b))
}

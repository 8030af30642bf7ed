package ledger_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

const (
	leaky    = "01M7W59H3G669C5312M9CYEVJ5"
	harmless = "01M7W59H3G669C5312M9CYEVJ6"
	secret   = "tuesdays-are-blue"
)

// talk is a record of a session with two turns from an index on, each with a call behind it; the
// second one leaks.
func talk(t *testing.T, id string, from int, ts time.Time) ledger.Record {
	t.Helper()
	s := session.Session{
		ID: id, Source: "x", NativeID: "native " + id, ActorType: session.ActorHuman, Branch: "main",
		Title: "the first turn", StartedAt: morning, FirstTurn: from, FirstTool: from,
	}
	for i, text := range []string{"the first turn of " + id, "use " + secret + " for " + id} {
		n := from + i
		s.Turns = append(s.Turns, session.Turn{
			Index: n, Role: session.RoleHuman,
			TS: morning.Add(time.Duration(n) * time.Minute), Content: text,
		})
		s.ToolCalls = append(s.ToolCalls, session.ToolCall{Index: n, Turn: n, Tool: "Bash", Cmd: "echo " + text})
	}
	cp := &session.Checkpoint{
		GitSHA: strings.Repeat("a", 40), GitBranch: "of-" + secret, UserEmail: "a@example.com", TS: ts,
		ActorType: session.ActorHuman, Via: "commit",
		Files: []session.File{{Path: secret + ".txt", Change: "A", Blob: strings.Repeat("b", 40)}},
	}
	if id == harmless {
		cp = nil
	}
	return record(t, session.Entry{Checkpoint: cp, Sessions: []session.Session{s}}, "talk about "+id, ts)
}

// target is a resolved target.
func target(t *testing.T, l *ledger.Ledger, text string) ledger.Target {
	t.Helper()
	parsed, err := ledger.ParseTarget(text)
	if err != nil {
		t.Fatal(err)
	}
	out, err := l.Resolve(t.Context(), []ledger.Target{parsed})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func scrub(t *testing.T, l *ledger.Ledger, pushed bool, texts ...string) (ledger.Scrubbed, error) {
	t.Helper()
	s := ledger.Scrub{Redactor: harness.Redactor(), Pushed: pushed}
	for _, text := range texts {
		s.Targets = append(s.Targets, target(t, l, text))
	}
	return l.Scrub(t.Context(), s)
}

// told is everything that a ledger says, a line each: session, index and text.
func told(t *testing.T, r *git.Repo, tip git.OID) []string {
	t.Helper()
	var out []string
	for _, c := range since(t, r, tip) {
		for _, s := range c.Segments {
			e, err := ledger.ReadSegment(r, s)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range e.Sessions {
				out = append(out, p.ID+" title "+p.Title)
				for _, u := range p.Turns {
					out = append(out, fmt.Sprintf("%s %d %s", p.ID, u.Index, u.Content))
				}
				for _, c := range p.ToolCalls {
					out = append(out, fmt.Sprintf("%s call %d %s %s", p.ID, c.Index, c.Tool, c.Cmd))
				}
			}
		}
	}
	return out
}

// objects is the content of every object, but for trees.
func (s *store) objects(ids string) string {
	s.T.Helper()
	var out strings.Builder
	for _, id := range strings.Fields(ids) {
		if kind := s.git("cat-file", "-t", id); kind == "blob" || kind == "commit" {
			out.WriteString(s.git("cat-file", "-p", id))
		}
	}
	return out.String()
}

func (s *store) all() string {
	return s.git("cat-file", "--batch-check=%(objectname)", "--batch-all-objects")
}

// What is scrubbed is gone from all objects; all else is what and where it was.
func TestScrub(t *testing.T) {
	const gone = session.Scrubbed
	keep := func(id string, from int) []string {
		return []string{
			id + " title the first turn",
			fmt.Sprintf("%s %d the first turn of %s", id, from, id),
			fmt.Sprintf("%s %d use %s for %s", id, from+1, secret, id),
			fmt.Sprintf("%s call %d Bash echo the first turn of %s", id, from, id),
			fmt.Sprintf("%s call %d Bash echo use %s for %s", id, from+1, secret, id),
		}
	}
	for _, tt := range []struct {
		name, text             string
		sessions, turns, calls int
		commits                int
		want                   []string // of the leaky session, in both of its parts
	}{
		{"a session", leaky, 1, 4, 4, 2, []string{
			leaky + " title " + gone, leaky + " 0 " + gone, leaky + " 1 " + gone, leaky + " call 0 Bash ",
			leaky + " call 1 Bash ",
			leaky + " title " + gone, leaky + " 2 " + gone, leaky + " 3 " + gone, leaky + " call 2 Bash ",
			leaky + " call 3 Bash ",
		}},
		{"a turn", leaky + ":3", 1, 1, 1, 1, slices.Concat(keep(leaky, 0), keep(leaky, 2)[:2],
			[]string{leaky + " 3 " + gone}, keep(leaky, 2)[3:4], []string{leaky + " call 3 Bash "})},
		{
			"a turn that the title was made of", leaky + ":0", 1, 1, 1, 1,
			slices.Concat([]string{leaky + " title " + gone, leaky + " 0 " + gone},
				keep(leaky, 0)[2:3], []string{leaky + " call 0 Bash "}, keep(leaky, 0)[4:], keep(leaky, 2)),
		},
		{"a title", leaky[:25] + "5:title", 1, 0, 0, 2, slices.Concat([]string{leaky + " title " + gone}, keep(leaky, 0)[1:],
			[]string{leaky + " title " + gone}, keep(leaky, 2)[1:])},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			l, r := s.own(), s.repo()
			tip := add(t, l, talk(t, harmless, 0, morning), talk(t, leaky, 0, morning.Add(time.Hour)),
				talk(t, harmless, 2, morning.Add(2*time.Hour)),
				talk(t, leaky, 2, morning.Add(3*time.Hour)), note(t, 7, morning.Add(4*time.Hour)))
			before := s.git("log", "--format=%an %ae %at %s", ref)
			out, err := scrub(t, l, false, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			harness.Equal(t, "done", ledger.Scrubbed{
				Old: tip, Tip: out.Tip, Former: []git.OID{tip}, Sessions: tt.sessions,
				Turns: tt.turns, Calls: tt.calls, Commits: tt.commits,
			}, out)
			want := slices.Concat(keep(harmless, 0), tt.want[:5], keep(harmless, 2), tt.want[5:])
			harness.Equal(t, "told", want, told(t, r, out.Tip))
			harness.Equal(t, "notes", []int{7}, all(t, r, out.Tip))
			harness.Equal(t, "commits", before, s.git("log", "--format=%an %ae %at %s", ref+"~1"))
			s.fsck()

			// Until the former history is discarded, it is there, and can be told from the reflog alone.
			left, err := s.own().Discard(t.Context())
			if err != nil || len(left.Refs)+left.Objects > 0 {
				t.Fatalf("left %+v, %v", left, err)
			}
			s.fsck()
			if n, most := strings.Count(s.objects(s.all()), secret+" for "+leaky),
				strings.Count(strings.Join(tt.want, ""), secret+" for "+leaky); n != most {
				t.Errorf("the text stands in %d places of all objects, want %d", n, most)
			}
			again, err := scrub(t, s.own(), false, tt.text)
			if err != nil || again.Tip != out.Tip || again.Commits != 0 {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}

// A checkpoint's own texts go, its sessions stay.
func TestScrubCheckpoint(t *testing.T) {
	s := newStore(t)
	l := s.own()
	id := add(t, l, talk(t, leaky, 0, morning))
	out, err := scrub(t, l, false, string(id[:10]))
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "subject", session.Scrubbed, s.git("log", "-1", "--format=%s", ref+"~1"))
	segment := s.git("show", "--format=", ref+"~1")
	if strings.Contains(segment, "of-"+secret) || strings.Contains(segment, secret+".txt") ||
		!strings.Contains(segment, secret+" for") {
		t.Errorf("got\n%s", segment)
	}
	if again, err := scrub(t, l, false, string(mustCommit(t, s.repo(), out.Tip).Parents[0])); err != nil ||
		again.Tip != out.Tip {
		t.Errorf("again: %+v, %v", again, err)
	}
	if root, err := scrub(t, l, false, s.git("rev-list", "--max-parents=0", ref)); err != nil || root.Tip != root.Old {
		t.Errorf("the first commit: %+v, %v", root, err)
	}
}

// What a remote holds is left alone, but for the word of the user; what is not there is named.
func TestScrubRefuses(t *testing.T) {
	_, clones := machines(t, 1)
	l := clones[0].own()
	add(t, l, talk(t, leaky, 0, morning))
	push(t, l)
	tip := add(t, l, talk(t, leaky, 2, morning.Add(time.Hour)))
	var pushed *ledger.PushedError
	if _, err := scrub(t, l, false, leaky+":1"); !errors.As(err, &pushed) ||
		!slices.Equal(pushed.Remotes, []string{"origin"}) {
		t.Errorf("pushed: %v", err)
	}
	if now := clones[0].git("rev-parse", ref); now != string(tip) {
		t.Errorf("moved to %s", now)
	}
	if _, err := scrub(t, l, false, leaky+":3"); err != nil {
		t.Errorf("the part that was not pushed: %v", err)
	}
	for _, text := range []string{harmless, leaky + ":99", "abcdef12", leaky[:3]} {
		parsed, err := ledger.ParseTarget(text)
		var none *ledger.TargetError
		if err == nil {
			var all []ledger.Target
			if all, err = l.Resolve(t.Context(), []ledger.Target{parsed}); err == nil {
				_, err = l.Scrub(t.Context(), ledger.Scrub{Targets: all, Redactor: harness.Redactor()})
			}
		}
		if !errors.As(err, &none) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", ":3", leaky + ":", leaky + ":-2", leaky + ":x", "../" + leaky, leaky + ":title:3"} {
		if _, err := ledger.ParseTarget(text); err == nil {
			t.Errorf("%q passed", text)
		}
	}
}

// What was pushed is replaced on the remote, if it is still what was seen there; another machine
// tells what only it had behind that, without force.
func TestLongScrubPushed(t *testing.T) {
	remote, clones := machines(t, 2)
	remote.git("config", "receive.denyNonFastForwards", "false")
	a, b := clones[0], clones[1]
	add(t, a.own(), talk(t, leaky, 0, morning), note(t, 1, morning.Add(time.Second)))
	push(t, a.own())
	b.git("fetch", "-q", filepath.Join(a.dir, ".git"), ref+":"+ref)
	add(t, b.own(), note(t, 2, morning.Add(time.Minute)))
	push(t, b.own()) // a has not seen this
	add(t, b.own(), note(t, 3, morning.Add(time.Hour)))

	out, err := scrub(t, a.own(), true, leaky)
	if err != nil || !slices.Equal(out.Remotes, []string{"origin"}) {
		t.Fatalf("%+v, %v", out, err)
	}
	push(t, a.own())
	remote.git("config", "receive.denyNonFastForwards", "true")
	taken, err := b.own().Push(t.Context(), "origin", false)
	if err != nil || len(taken.Scrubbed) != 1 || !taken.Scrubbed[0].Own {
		t.Errorf("the other machine: %+v, %v", taken, err)
	}
	now := remote.git("rev-parse", ref)
	harness.Equal(t, "the other's tip", now, b.git("rev-parse", ref))
	harness.Equal(t, "notes", []int{1, 2, 3}, all(t, remote.repo(), git.OID(now)))
	if strings.Contains(remote.objects(remote.git("rev-list", "--objects", "--no-object-names", "--all")), secret+" for") {
		t.Error("the remote still leads to it")
	}
	remote.fsck()
}

// Beginnings of IDs that fit several are told.
func TestResolveAmbiguous(t *testing.T) {
	l := newStore(t).own()
	add(t, l, talk(t, leaky, 0, morning), talk(t, harmless, 0, morning.Add(time.Second)))
	_, err := l.Resolve(t.Context(), []ledger.Target{{Session: leaky[:20]}})
	var ambiguous *session.AmbiguousError
	if !errors.As(err, &ambiguous) || !slices.Equal(ambiguous.IDs, []string{leaky, harmless}) {
		t.Errorf("got %v", err)
	}
	harness.Equal(t, "in lower case", leaky, target(t, l, strings.ToLower(leaky)).Session)
}

// Two machines scrub at the same time: both texts are gone, all else is there, and whoever merges
// the two makes the same history.
func TestLongScrubOnTwoMachines(t *testing.T) {
	_, clones := machines(t, 2)
	a, b := clones[0], clones[1]
	add(t, a.own(), talk(t, leaky, 0, morning), talk(t, harmless, 0, morning.Add(time.Second)),
		note(t, 1, morning.Add(time.Minute)))
	b.git("fetch", "-q", filepath.Join(a.dir, ".git"), ref+":"+ref)
	for i, id := range []string{leaky, harmless} {
		l := clones[i].own()
		if _, err := scrub(t, l, false, id); err != nil {
			t.Fatal(err)
		}
		add(t, l, note(t, 10+i, morning.Add(time.Hour)))
	}
	a.git("fetch", "-q", filepath.Join(b.dir, ".git"), ref+":"+tracking)
	b.git("fetch", "-q", filepath.Join(a.dir, ".git"), ref+":"+tracking)
	var tips []git.OID
	for _, c := range clones {
		l := c.own()
		if _, err := l.Adopt(t.Context(), "origin"); err != nil {
			t.Fatal(err)
		}
		tips = append(tips, tip(t, l))
		if text := c.objects(c.git("rev-list", "--objects", "--no-object-names", ref)); strings.Contains(text,
			secret+" for") {
			t.Error("the text can still be reached")
		}
		harness.Equal(t, "notes", []int{1, 10, 11}, all(t, c.repo(), tip(t, l)))
		c.fsck()
	}
	harness.Equal(t, "tips", tips[0], tips[1])
}

// Two machines scrub different texts of the same segment at the same time: both texts are gone from
// what they share, although each wrote the other one's anew.
func TestLongScrubOfOneSegmentOnTwoMachines(t *testing.T) {
	remote, clones := machines(t, 2)
	remote.git("config", "receive.denyNonFastForwards", "false")
	a, b := clones[0], clones[1]
	add(t, a.own(), talk(t, leaky, 0, morning), note(t, 1, morning.Add(time.Minute)))
	push(t, a.own())
	b.git("fetch", "-q", filepath.Join(a.dir, ".git"), ref+":"+ref)
	b.git("update-ref", tracking, ref)
	first := tip(t, a.own())
	for i, what := range []string{leaky + ":0", leaky + ":1"} {
		if _, err := scrub(t, clones[i].own(), true, what); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := scrub(t, b.own(), true, b.git("log", "-1", "--format=%H", "--grep=talk", ref)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		push(t, a.own())
		push(t, b.own())
	}
	held := git.OID(remote.git("rev-parse", ref))
	harness.Equal(t, "the other's tip", held, tip(t, b.own()))
	text := remote.objects(remote.git("rev-list", "--objects", "--no-object-names", ref))
	for _, said := range []string{"the first turn of", secret + " for", "of-" + secret} {
		if strings.Contains(text, said) {
			t.Errorf("%q can still be reached", said)
		}
	}
	harness.Equal(t, "notes", []int{1}, all(t, remote.repo(), held))
	if held == first {
		t.Error("nothing was sent")
	}
	remote.fsck()
}

// What one machine redacts again, or forgets, another one that goes on does not bring back: whoever merges them gets
// the same commits.
func TestScrubsReachTheOtherMachine(t *testing.T) {
	for _, tt := range []struct {
		name  string
		scrub ledger.Scrub
		gone  string // from all that is shared
		kept  []int  // turns of the leaky session
		notes []int  // marks of it
	}{
		{"redacted again", ledger.Scrub{Redactor: harness.Redactor(), Retell: func(e *session.Entry) (taken, back int) {
			for _, s := range e.Sessions {
				for i := range s.Turns {
					if s.ID == leaky && strings.Contains(s.Turns[i].Content, secret) {
						s.Turns[i].Content, taken = "use [REDACTED:other] for "+leaky, taken+1
					}
				}
			}
			return taken, 0
		}}, `"content":"use ` + secret + " for " + leaky, []int{0, 1}, []int{1, 2}},
		{
			"forgotten",
			ledger.Scrub{Targets: []ledger.Target{{Session: leaky}}, Forget: true},
			secret + " for " + leaky, nil,
			[]int{2},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			remote, clones := machines(t, 2)
			remote.git("config", "receive.denyNonFastForwards", "false")
			a, b := clones[0], clones[1]
			add(t, a.own(), talk(t, leaky, 0, morning), talk(t, harmless, 0, morning.Add(time.Second)),
				note(t, 1, morning.Add(time.Minute)))
			push(t, a.own())
			b.git("fetch", "-q", filepath.Join(a.dir, ".git"), ref+":"+ref)
			add(t, b.own(), note(t, 2, morning.Add(time.Hour)))

			tt.scrub.Pushed = true
			if out, err := a.own().Scrub(t.Context(), tt.scrub); err != nil || !slices.Equal(out.Remotes, []string{"origin"}) {
				t.Fatalf("%+v, %v", out, err)
			}
			push(t, a.own())
			push(t, b.own())
			now := remote.git("rev-parse", ref)
			harness.Equal(t, "the other's tip", now, b.git("rev-parse", ref))
			harness.Equal(t, "notes", tt.notes, all(t, remote.repo(), git.OID(now)))
			if strings.Contains(remote.objects(remote.git("rev-list", "--objects", "--no-object-names", ref)), tt.gone) {
				t.Error("the remote still leads to it")
			}
			var kept []int
			for i := range 2 {
				for _, line := range told(t, remote.repo(), git.OID(now)) {
					if strings.HasPrefix(line, fmt.Sprint(leaky, " ", i, " ")) {
						kept = append(kept, i)
					}
				}
			}
			harness.Equal(t, "turns", tt.kept, kept)
			// The commits that both had are the same commits still.
			// the first, three entries, what was removed, the other's note, the merge
			if n := remote.git("rev-list", "--count", ref); n != "7" {
				t.Errorf("%s commits", n)
			}
			remote.fsck()
		})
	}
}

// What somebody pushes to one's own ledger can put neither another file of the user's into it, nor anything anywhere
// but among its segments.
func TestRemovalsAreHostile(t *testing.T) {
	_, clones := machines(t, 2)
	a, b := clones[0], clones[1]
	base := add(t, a.own(), note(t, 1, morning))
	b.git("fetch", "-q", filepath.Join(a.dir, ".git"), ref+":"+ref)
	add(t, b.own(), note(t, 2, morning.Add(time.Hour)))
	private := string(b.blob("a file of the user's"))
	held := since(t, a.repo(), base)[1].Segments[0].Path
	outside := strings.Replace(held, "segments/", "segments/../", 1)
	add(t, a.own(), record(t, session.Entry{Removals: []session.Removal{
		{Segment: held, Blob: private, TS: morning},
		{Segment: outside, Blob: private, TS: morning},
		{Segment: outside, TS: morning},
	}}, "scrub", morning.Add(time.Minute)))
	b.git("fetch", "-q", filepath.Join(a.dir, ".git"), ref+":"+tracking)
	taken, err := b.own().Adopt(t.Context(), "origin")
	if err != nil || len(taken.Refused) > 0 {
		t.Fatalf("%+v, %v", taken, err)
	}
	harness.Equal(t, "notes", []int{1, 2}, all(t, b.repo(), taken.Own))
	if strings.Contains(b.git("rev-list", "--objects", "--no-object-names", ref), private) {
		t.Error("the ledger leads to the user's file")
	}
	b.fsck()
}

// Who appends at the same time loses nothing, and the text does not come back.
func TestLongScrubWhileOthersAppend(t *testing.T) {
	s := newStore(t)
	l := s.own()
	add(t, l, talk(t, leaky, 0, morning), talk(t, harmless, 0, morning.Add(time.Second)))
	const writers, each = 4, 5
	errs := make([]error, writers+1)
	var wg sync.WaitGroup
	for i := range writers {
		own, parts := s.own(), make([]ledger.Record, each)
		for n := range each {
			parts[n] = note(t, i*each+n, morning.Add(time.Duration(n+2)*time.Minute))
		}
		wg.Go(func() {
			for n := range each {
				for {
					now, err := own.Tip()
					if err == nil {
						_, err = own.Append(background, now, parts[n:n+1])
					}
					if errs[i] = err; !errors.Is(err, git.ErrMoved) {
						break
					}
				}
			}
		})
	}
	mine, goal := s.own(), []ledger.Target{target(t, l, leaky)}
	wg.Go(func() {
		_, errs[writers] = mine.Scrub(background, ledger.Scrub{Targets: goal, Redactor: harness.Redactor()})
	})
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if left, err := l.Discard(background); err != nil || len(left.Refs)+left.Objects > 0 {
		t.Fatalf("%+v, %v", left, err)
	}
	var want []int
	for n := range writers * each {
		want = append(want, n)
	}
	harness.Equal(t, "notes", want, all(t, s.repo(), tip(t, l)))
	if strings.Contains(s.objects(s.all()), secret+" for "+leaky) {
		t.Error("the text is still there")
	}
	s.fsck()
}

// What something else leads to is not removed, and is named; what lies in a pack is counted.
func TestDiscardLeaves(t *testing.T) {
	s := newStore(t)
	l := s.own()
	old := add(t, l, talk(t, leaky, 0, morning))
	s.git("tag", "kept", string(old))
	out, err := scrub(t, l, false, leaky)
	if err != nil {
		t.Fatal(err)
	}
	left, err := l.Discard(t.Context(), out.Old)
	if err != nil || !slices.Equal(left.Refs, []string{"refs/tags/kept"}) {
		t.Errorf("tagged: %+v, %v", left, err)
	}
	s.git("show", "kept") // whole
	s.git("gc", "--quiet")
	s.git("tag", "-d", "kept")
	left, err = l.Discard(t.Context(), out.Old)
	if err != nil || left.Objects != 2 || left.Refs != nil {
		t.Errorf("packed: %+v, %v", left, err)
	}
	s.git("gc", "--quiet", "--prune=now")
	if left, err = l.Discard(t.Context(), out.Old); err != nil || left.Objects != 0 {
		t.Errorf("in the end: %+v, %v", left, err)
	}
	if strings.Contains(s.objects(s.all()), secret+" for") {
		t.Error("the text is still there")
	}
}

// An object stays as long as anything of any worktree leads to it, and that is named. Once nothing does, it goes,
// though the commits that told of it are gone.
func TestDiscardLeavesObjects(t *testing.T) {
	const reached = "a HEAD, reflog or index of a worktree, or a tag of no commit, with "
	for _, tt := range []struct {
		name  string
		hold  func(s *store, w func(args ...string) string, tree, blob string)
		let   func(s *store, w func(args ...string) string)
		named string
	}{
		{
			"a branch with the ledger's tree",
			func(s *store, _ func(...string) string, tree, _ string) {
				s.git("branch", "copy", s.git("commit-tree", "-m", "copy", tree))
			},
			func(s *store, _ func(...string) string) { s.git("branch", "-D", "copy") }, "refs/heads/copy",
		},
		{
			"a branch that no longer has it",
			func(s *store, _ func(...string) string, tree, _ string) {
				copied := s.git("commit-tree", "-m", "copy", tree)
				s.git("branch", "later", s.git("commit-tree", "-m", "later", "-p", copied, s.git("rev-parse", "code^{tree}")))
			},
			func(s *store, _ func(...string) string) { s.git("branch", "-D", "later") }, "refs/heads/later",
		},
		{
			"a tag of a tree",
			func(s *store, _ func(...string) string, tree, _ string) { s.git("tag", "tree", tree) },
			func(s *store, _ func(...string) string) { s.git("tag", "-d", "tree") }, reached,
		},
		{
			"another worktree's index",
			func(_ *store, w func(...string) string, _, blob string) {
				w("update-index", "--add", "--cacheinfo", "100644,"+blob+",x")
			},
			func(_ *store, w func(...string) string) { w("reset", "-q", "--hard") }, reached,
		},
		{
			"another worktree's stash",
			func(_ *store, w func(...string) string, _, blob string) {
				w("update-index", "--add", "--cacheinfo", "100644,"+blob+",x")
				w("checkout", "x")
				w("stash", "-q")
			},
			func(_ *store, w func(...string) string) { w("stash", "drop", "-q") }, "refs/stash",
		},
		{
			"another worktree's reflog",
			func(s *store, w func(...string) string, tree, _ string) {
				w("checkout", "-q", "--detach", s.git("commit-tree", "-m", "copy", tree))
				w("checkout", "-q", "code")
			},
			func(_ *store, w func(...string) string) { w("reflog", "expire", "--expire=all", "HEAD") }, reached,
		},
		{
			"another worktree's bisect",
			func(s *store, w func(...string) string, tree, _ string) {
				w("update-ref", "refs/bisect/bad", s.git("commit-tree", "-m", "copy", tree))
			},
			func(_ *store, w func(...string) string) { w("update-ref", "-d", "refs/bisect/bad") }, reached,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			s.git("branch", "code", s.git("commit-tree", "-m", "code", s.git("mktree", "--missing")))
			s.git("worktree", "add", "-q", "../w", "code")
			w := func(args ...string) string { return s.Git("w", args...) }
			l := s.own()
			old := add(t, l, talk(t, leaky, 0, morning))
			blob := string(since(t, s.repo(), old)[1].Segments[0].Blob)
			tt.hold(s, w, s.git("rev-parse", string(old)+"^{tree}"), blob)
			out, err := scrub(t, l, false, leaky)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time only notes tell what is to go
				left, err := s.own().Discard(t.Context(), out.Old)
				if err != nil {
					t.Fatal(err)
				}
				for i, name := range left.Refs {
					left.Refs[i], _, _ = strings.Cut(name, blob[:12])
				}
				harness.Equal(t, "left", ledger.Leftovers{Refs: []string{tt.named}}, left)
				s.fsck()
				w("fsck", "--full", "--no-progress", "--no-dangling")
			}
			tt.let(s, w)
			if left, err := s.own().Discard(t.Context(), out.Old); err != nil || len(left.Refs)+left.Objects > 0 {
				t.Errorf("in the end: %+v, %v", left, err)
			}
			s.fsck()
			if strings.Contains(s.objects(s.all()), secret+" for") {
				t.Error("the text is still there")
			}
		})
	}
}

package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// sized is a memory of so many bytes.
func sized(t *testing.T, n, bytes int, ts time.Time) ledger.Record {
	t.Helper()
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, "line %d of text %d\n", i, n)
	}
	m := session.Memory{
		ID: session.NewMemoryID(ts, "a@example.com", "text", b.String()), Title: "text", Content: b.String()[:bytes],
		Source: "manual", TS: ts, ActorType: session.ActorHuman,
	}
	return record(t, session.Entry{Memories: []session.Memory{m}}, fmt.Sprint("note ", n), ts)
}

// segmentBytes is how many bytes the segments of a ledger have.
func segmentBytes(t *testing.T, r *git.Repo, tip git.OID) (bytes uint64) {
	t.Helper()
	commits, err := ledger.Since(t.Context(), r, tip)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commits {
		for i := range c.Segments {
			size, err := c.Segments[i].Bytes(r)
			if err != nil {
				t.Fatal(err)
			}
			bytes += size
		}
	}
	return bytes
}

// How far a ledger is read is told by the ledger, in however many steps it is read, and whatever came together in it.
func TestWithin(t *testing.T) {
	s := newStore(t)
	l := s.own()
	var tips []git.OID
	for i := range 10 {
		tips = append(tips, add(t, l, sized(t, i+1, 20_000, morning.Add(time.Duration(i)*time.Second))))
	}
	r := s.repo()
	ten, err := ledger.DefaultBounds().NewestWithin(t.Context(), r, tips[9], ledger.Cumulative{}, ledger.NoLimit)
	if err != nil || ten.OID != tips[9] || ten.Bytes != segmentBytes(t, r, tips[9]) {
		t.Fatalf("%+v, %v; %d bytes", ten, err, segmentBytes(t, r, tips[9]))
	}
	one := ten.Bytes / 10
	usual := ledger.DefaultBounds()
	for _, c := range []struct {
		name   string
		bounds ledger.Bounds
		limit  uint64
		want   int // commits
		later  bool
	}{
		{"all", usual, ledger.NoLimit, 10, false},
		{"its bytes", ledger.Bounds{Entry: 1 << 30, Ledger: 4*one + one/2}, ledger.NoLimit, 4, false},
		{"of one entry", ledger.Bounds{Entry: one / 2, Ledger: 1 << 30}, ledger.NoLimit, 0, false},
		{"a limit", usual, 7*one + one/2, 7, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.bounds.NewestWithin(t.Context(), r, tips[9], ledger.Cumulative{}, c.limit)
			over := &ledger.BoundsError{}
			if full := c.want == 10; errors.As(err, &over) == full || over.Later != c.later {
				t.Fatal(err)
			}
			if c.want > 0 && got.OID != tips[c.want-1] || c.want == 0 && got.Bytes != 0 {
				t.Errorf("%+v, want %d commits", got, c.want)
			}
			step := ledger.Cumulative{}
			for _, tip := range tips {
				step, err = c.bounds.NewestWithin(t.Context(), r, tip, step, c.limit)
				if over := (*ledger.BoundsError)(nil); err != nil && !errors.As(err, &over) {
					t.Fatal(err)
				}
			}
			harness.Equal(t, "step by step", got, step)
		})
	}
}

// Two machines of one author, of which each has much: what counts is behind the commit that is told.
func TestWithinAMerge(t *testing.T) {
	_, clones := machines(t, 2)
	for i, c := range clones {
		l := c.own()
		for n := range 5 {
			add(t, l, sized(t, 10*i+n+1, 20_000, morning.Add(time.Duration(2*n+i)*time.Second)))
		}
		push(t, l)
	}
	r := clones[1].repo()
	top := tip(t, clones[1].own())
	merge, err := r.Commit(top)
	if err != nil || len(merge.Parents) != 2 {
		t.Fatal(merge, err)
	}
	whole, err := ledger.DefaultBounds().NewestWithin(t.Context(), r, top, ledger.Cumulative{}, ledger.NoLimit)
	if err != nil || whole.Bytes != segmentBytes(t, r, top) {
		t.Fatal(whole, err)
	}
	b := ledger.Bounds{Entry: 1 << 30, Ledger: whole.Bytes / 2}
	got, err := b.NewestWithin(t.Context(), r, top, ledger.Cumulative{}, ledger.NoLimit)
	if over := (*ledger.BoundsError)(nil); !errors.As(err, &over) {
		t.Fatal(got, err)
	}
	if size := segmentBytes(t, r, got.OID); size == 0 || size > b.Ledger || size != got.Bytes {
		t.Errorf("%d bytes are behind it, %d counted, at most %d count", size, got.Bytes, b.Ledger)
	}
	for _, side := range merge.Parents {
		step, err := b.NewestWithin(t.Context(), r, side, ledger.Cumulative{}, ledger.NoLimit)
		if err == nil || errors.As(err, new(*ledger.BoundsError)) {
			step, err = b.NewestWithin(t.Context(), r, top, step, ledger.NoLimit)
		}
		if over := (*ledger.BoundsError)(nil); !errors.As(err, &over) {
			t.Fatal(err)
		}
		harness.Equal(t, "step by step", got, step)
	}
}

// What somebody adds to one's own ledger on a remote is taken in within the bounds, however often; all of it where its
// owner says so, and from then on what another machine adds to that.
func TestOwnFromElsewhere(t *testing.T) {
	remote, clones := machines(t, 2)
	one, two := clones[0].own(), clones[1].own()
	add(t, one, note(t, 1, morning))
	push(t, one)
	const large = 15 << 20
	at, files := tip(t, one), []string{}
	for _, parts := range [][]string{{""}, {"", ".1", ".2"}, {""}} { // the second entry is too large
		first := name(len(files))
		for _, part := range parts {
			blob := remote.blob(strings.Repeat(fmt.Sprint(len(files)), large))
			files = append(files, entry("blob", strings.Replace(first, ".ndjson", part+".ndjson", 1), blob))
		}
		at = remote.commit(remote.root(remote.day(files...)), at)
	}
	remote.git("update-ref", one.Ref(), string(at))
	adopt := func(c *store, l *ledger.Ledger) (over *ledger.BoundsError, bytes uint64) {
		t.Helper()
		if err := ledger.Fetch(t.Context(), c.repo(), "origin", false); err != nil {
			t.Fatal(err)
		}
		taken, err := l.Adopt(t.Context(), "origin")
		if err != nil {
			t.Fatal(err)
		}
		for _, refused := range taken.Refused {
			if !errors.As(refused, &over) || !over.Own || !errors.Is(refused, ledger.ErrRefused) {
				t.Error(refused)
			}
		}
		return over, segmentBytes(t, c.repo(), tip(t, l))
	}
	for range 3 {
		over, bytes := adopt(clones[0], one)
		if over == nil || bytes < large || bytes > 3*large {
			t.Errorf("%v, and the branch has %d bytes", over, bytes)
		}
	}
	add(t, one, note(t, 2, morning.Add(time.Second)))
	if _, err := one.Push(t.Context(), "origin", false); !errors.Is(err, ledger.ErrRefused) {
		t.Error(err)
	}
	if err := one.WhyNotSendable(t.Context(), "origin"); !errors.As(err, new(*ledger.BoundsError)) {
		t.Error(err)
	}
	for i, l := range []*ledger.Ledger{one, two} {
		if over, _ := adopt(clones[i], l); over == nil {
			t.Error("it was taken in")
		}
		l.Unbounded = true
		if over, bytes := adopt(clones[i], l); over != nil || bytes < 5*large {
			t.Errorf("%v, and the branch has %d bytes", over, bytes)
		}
		l.Unbounded = false
		push(t, l)
	}
	add(t, two, note(t, 3, morning.Add(2*time.Second)))
	push(t, two)
	if over, _ := adopt(clones[0], one); over != nil || tip(t, one) != tip(t, two) {
		t.Error(over)
	}
}

// A branch of the remote that keeps one's ledger from being sent is named, by push at once and by WhyNotSendable from
// what was fetched.
func TestInTheWayOnTheRemote(t *testing.T) {
	for _, by := range []string{"rekal", "rekal/a@example.com/x", "rekal/a@example.com/deep/er"} {
		remote, clones := machines(t, 1)
		remote.git("branch", by, string(remote.codes(1)))
		l := clones[0].own()
		add(t, l, note(t, 1, morning))
		_, err := l.Push(t.Context(), "origin", false)
		var blocked *ledger.BlockedError
		if !errors.As(err, &blocked) || blocked.By != "refs/heads/"+by || blocked.Remote != "origin" ||
			!strings.Contains(err.Error(), fmt.Sprintf("on %q the branch %q", "origin", by)) {
			t.Errorf("%s: %v", by, err)
		}
		clones[0].git("fetch", "-q", "origin")
		if err := l.WhyNotSendable(t.Context(), "origin"); !errors.As(err, &blocked) || blocked.By != "refs/heads/"+by {
			t.Errorf("%s: Barred: %v", by, err)
		}
		remote.git("branch", "-m", by, "aside")
		clones[0].git("fetch", "-q", "--prune", "origin")
		if sent := push(t, l); sent != 2 {
			t.Errorf("%s: %d sent after it was renamed", by, sent)
		}
		if err := l.WhyNotSendable(t.Context(), "origin"); err != nil {
			t.Errorf("%s: Barred afterwards: %v", by, err)
		}
	}
}

// What a remote holds of one's own ledger and nobody can read bars it: a sync can never mend that.
func TestBarredByWhatCantBeRead(t *testing.T) {
	remote, clones := machines(t, 1)
	l := clones[0].own()
	add(t, l, note(t, 1, morning))
	push(t, l)
	if err := l.WhyNotSendable(t.Context(), "origin"); err != nil {
		t.Fatal(err)
	}
	var crowd []string
	one := remote.blob(purge(1))
	for i := range 1001 {
		crowd = append(crowd, entry("blob", name(i), one))
	}
	remote.git("update-ref", l.Ref(), string(remote.commit(remote.root(remote.day(crowd...)), tip(t, l))))
	if err := ledger.Fetch(t.Context(), clones[0].repo(), "origin", false); err != nil {
		t.Fatal(err)
	}
	if err := l.WhyNotSendable(t.Context(), "origin"); !errors.Is(err, git.ErrMalformed) {
		t.Error(err)
	}
	add(t, l, note(t, 2, morning.Add(time.Second)))
	if _, err := l.Push(t.Context(), "origin", false); !errors.Is(err, ledger.ErrRefused) {
		t.Error(err)
	}
}

// Adopt leaves alone what the user does not want.
func TestAdoptIgnores(t *testing.T) {
	_, clones := machines(t, 2)
	bob := clones[0]
	bob.git("update-ref", bobs, string(bob.writes("bob@example.com", 1)))
	bob.git("push", "-q", "origin", bobs)
	alice, l := clones[1].repo(), clones[1].own()
	if err := ledger.Fetch(t.Context(), alice, "origin", false); err != nil {
		t.Fatal(err)
	}
	for _, ignore := range []ledger.Ignore{{"Bob@*"}, {held}, {"*"}, nil} {
		l.Ignore = ignore
		taken, err := l.Adopt(t.Context(), "origin")
		if err != nil || (taken.Ledgers == 1) != (ignore == nil) {
			t.Errorf("%v: %+v, %v", ignore, taken, err)
		}
	}
}

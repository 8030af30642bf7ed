package ledger_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func minute(n int) time.Time { return someone.When.Add(time.Duration(n) * time.Minute) }

// writes appends one record to an author's ledger, n minutes past the morning.
func (s *store) writes(email string, n int) git.OID {
	s.T.Helper()
	l, err := ledger.OpenOwn(s.repo(), git.Signature{Name: "S", Email: email, When: minute(n)}, rand.Reader)
	if err != nil {
		s.T.Fatal(err)
	}
	return add(s.T, l, note(s.T, n, minute(n)))
}

// codes makes a commit of code.
func (s *store) codes(n int, parents ...git.OID) git.OID {
	s.T.Helper()
	args := []string{"-c", "user.name=S", "-c", "user.email=a@example.com", "commit-tree", "-m", fmt.Sprint("code ", n)}
	for _, p := range parents {
		args = append(args, "-p", string(p))
	}
	env := s.Env
	defer func() { s.Env = env }()
	date := fmt.Sprintf("%d +0000", minute(n).Unix())
	s.Env = append(s.Env, "GIT_COMMITTER_DATE="+date, "GIT_AUTHOR_DATE="+date)
	return git.OID(s.git(append(args, s.git("mktree", "--missing"))...))
}

func tiesOf(m map[git.OID][]git.OID) ledger.Ties {
	return func(code git.OID) ([]git.OID, error) { return m[code], nil }
}

func TestMoment(t *testing.T) {
	s := newStore(t)
	own := map[int]git.OID{} // by minute
	for _, n := range []int{10, 20, 30, 40} {
		own[n] = s.writes("A@Example.com", n)
	}
	root := git.OID(s.git("rev-parse", string(own[10])+"^"))
	his := s.writes("bob@example.com", 25)
	s.git("update-ref", "refs/rekal/origin/bob@example.com", string(his))
	s.git("update-ref", "-d", "refs/heads/rekal/bob@example.com")
	first := s.codes(-100)
	tied := s.codes(15, first) // captured later than the clock says
	late := s.codes(35, tied)
	s.git("update-ref", "refs/heads/main", string(late))
	s.git("tag", "v1", string(tied))
	s.git("-c", "user.name=S", "-c", "user.email=a@example.com", "tag", "-a", "-m", "x", "v0", string(first))
	s.git("branch", "abcdef0", string(tied)) // a branch whose name could be a SHA
	old := s.codes(-40, first)
	checkpoints := map[git.OID][]git.OID{tied: {his, own[30], own[40]}}
	unix := func(n int) string { return fmt.Sprint(minute(n).Unix()) }
	at := func(n int) ledger.Moment { return ledger.Moment{Ref: ref, OID: own[n], Until: minute(n)} }
	world := func(n, until int) ledger.Moment {
		return ledger.Moment{Ref: ref, OID: own[n], Until: minute(until), Imports: true}
	}
	for _, c := range []struct {
		text string
		want ledger.Moment
	}{
		{"HEAD", at(40)},
		{"@", at(40)},
		{"HEAD~1", at(30)},
		{"HEAD^^", at(20)},
		{"@~2^", at(10)},
		{"HEAD^{/note 20}", at(20)},
		{"HEAD^{commit}", at(40)},
		{"HEAD~4", ledger.Moment{Ref: ref, OID: root, Until: minute(10)}},
		{string(own[20]), at(20)},
		{strings.ToUpper(string(own[20][:12])), at(20)},
		{string(own[20][:8]) + "~1", at(10)},
		{"rekal/a@example.com~1", at(30)},
		{":/note 30", at(30)},
		{"@{" + unix(40) + "}", world(40, 40)},
		{"HEAD@{" + unix(39) + "}", world(30, 39)},
		{"@{" + unix(30) + "}~1", at(20)},
		{"@{" + minute(29).Format("2006-01-02 15:04:05 -0700") + "}", world(20, 29)},
		{string(own[30][:8]) + "@{" + unix(25) + "}", at(20)},
		{"rekal/a@example.com@{" + unix(35) + "}", world(30, 35)},
		// Nothing of one's own was there yet.
		{"@{" + unix(5) + "}", world(0, 5)},
		// Somebody else's: when it was made.
		{string(his), ledger.Moment{Ref: ref, OID: own[20], Until: minute(25)}},
		{"refs/rekal/origin/bob@example.com", ledger.Moment{Ref: ref, OID: own[20], Until: minute(25)}},
		// Code: what captured it, or when it was made.
		{"v1", world(30, 30)},
		{"v1^{}", world(30, 30)},
		{string(tied[:10]), world(30, 30)},
		{"abcdef0", world(30, 30)},
		{"main", world(30, 35)},
		{"main~1", world(30, 30)},
		{"main@{" + unix(34) + "}", world(30, 30)},
		{string(old), world(0, -40)},
		{"v0", world(0, -100)},
	} {
		t.Run(c.text, func(t *testing.T) {
			got, err := s.own().Moment(t.Context(), c.text, minute(60), tiesOf(checkpoints))
			if err != nil {
				t.Fatal(err)
			}
			got.Until = got.Until.UTC()
			harness.Equal(t, "moment", c.want, got)
		})
	}
	for _, text := range []string{
		"", "nonsense", "HEAD~5", "HEAD^2", "~1", "^HEAD", "HEAD~1..HEAD", "--all", "ffffffff", "HEAD:format", "HEAD^{tree}",
		"@{2}", "@{-1}", "@{yesterdya}", "@{}", "@{never}", "v0@{1999-12-31}", "@{" + unix(5) + "}~1", "./", "/tmp",
		"HEAD@{now", "a b",
	} {
		t.Run("not "+text, func(t *testing.T) {
			got, err := s.own().Moment(t.Context(), text, minute(60), tiesOf(checkpoints))
			if !errors.Is(err, ledger.ErrNoMoment) {
				t.Errorf("%+v, %v, want ErrNoMoment", got, err)
			}
		})
	}
}

// Before a ledger is made there are only the others'.
func TestMomentWithoutALedger(t *testing.T) {
	s := newStore(t)
	his := s.writes("bob@example.com", 25)
	code := s.codes(30)
	for text, want := range map[string]ledger.Moment{
		string(his): {Ref: ref, Until: minute(25)}, string(code): {Ref: ref, Until: minute(30), Imports: true},
	} {
		got, err := s.own().Moment(t.Context(), text, minute(60), nil)
		if err != nil {
			t.Fatal(err)
		}
		got.Until = got.Until.UTC()
		harness.Equal(t, text, want, got)
	}
	if _, err := s.own().Moment(t.Context(), "HEAD", minute(60), nil); !errors.Is(err, ledger.ErrNoMoment) {
		t.Errorf("HEAD: %v", err)
	}
}

// What a ledger held at a time is closed: what was there by then, and what that was built on,
// whatever its clock said.
func TestAsOf(t *testing.T) {
	s := newStore(t)
	root := s.codes(0)
	a := s.codes(10, root)
	ahead := s.codes(90, a) // a clock that was wrong
	b := s.codes(20, ahead)
	c := s.codes(15, a)
	merge := s.codes(30, b, c)
	later := s.codes(40, merge)
	for _, test := range []struct {
		until int
		want  []git.OID
	}{
		{100, []git.OID{later}},
		{40, []git.OID{later}},
		{39, []git.OID{merge}},
		{29, []git.OID{c, b}},
		{19, []git.OID{c, a}},
		{10, []git.OID{a}},
		{5, []git.OID{root}},
		{-5, nil},
	} {
		t.Run(fmt.Sprint(test.until), func(t *testing.T) {
			got, err := ledger.AsOf(t.Context(), s.repo(), later, minute(test.until))
			if err != nil {
				t.Fatal(err)
			}
			harness.Equal(t, "commits", test.want, got)
		})
	}
}

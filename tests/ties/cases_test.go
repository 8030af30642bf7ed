package ties

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// Each case is a small history that is told, not drawn.

// tell begins one; git-rekal is set up at the end if late.
func tell(t *testing.T, late bool) (a, b *author) {
	t.Helper()
	t.Parallel()
	h := begin(t, rand.New(rand.NewPCG(1, 1)), late)
	return h.authors[0], h.authors[1]
}

// session opens one that was asked for something.
func (a *author) session() *talk {
	k := a.open()
	a.all, a.talks = append(a.all, k), append(a.talks, k)
	a.prompts(k, "let us see to the expiry of tokens, in session "+k.id) // a copy of another's beginning would be a fork
	return k
}

// jwt is the file that cases are about.
const jwt = "src/jwt.go"

// hand makes that file as a person wrote it, and does not commit it.
func (a *author) hand(lines string) int {
	return a.creates(jwt, strings.Split(lines, "\n"), nil, "person")
}

// adds lets a session put lines behind the one that begins so.
func (a *author) adds(k *talk, number int, behind, lines string) {
	a.T.Helper()
	c := a.after(number, behind, lines)
	a.edits(k, number, c, c, "edit")
}

func (a *author) after(number int, behind, lines string) change {
	a.T.Helper()
	at := slices.IndexFunc(a.work[number].text, func(l *line) bool { return strings.HasPrefix(l.text, behind) }) + 1
	if at == 0 {
		a.T.Fatalf("no line %q", behind)
	}
	return change{at, at, strings.Split(lines, "\n")}
}

// exactly checks that lines of the file are a session's, and exactly so; that they are so of none where it is nil.
func (a *author) exactly(k *talk, lines string) {
	a.T.Helper()
	said, want := a.why(jwt, a.natives()), strings.Split(lines, "\n")
	var wrong []mistake
	for i, l := range a.lines(jwt) {
		if l.text == "" || !slices.Contains(want, l.text) {
			continue
		}
		who := said[i+1]
		right := len(who.exact) == 0
		if k != nil {
			right = slices.Equal(who.exact, []string{k.id}) && who.all[0] == k.id
		}
		if !right {
			wrong = join(wrong, mistake{from: i + 1, to: i + 1, what: a.told(jwt, l, a.head.brought(l), who)})
		}
	}
	for _, m := range wrong {
		a.T.Error(m)
	}
}

// behind are the sessions that stand behind a commit, by the agent's IDs.
func (a *author) behind(commit string) (out []string) {
	a.T.Helper()
	native := a.natives()
	for _, r := range gjson.GetBytes(a.asks("--commit", commit), "results").Array() {
		out = append(out, native[r.Get("id").Str])
	}
	return out
}

const expiry = `func Expired(token *Token, now time.Time) bool {
	if token.ExpiresAt.IsZero() {
		return false
	}
	return now.After(token.ExpiresAt.Add(leeway))
}`

const header = "package jwt\n\nimport \"time\"\n\nconst leeway = 30 * time.Second\n"

// TestSquashOnServer: a squash on a server has no checkpoint, and only the author has the transcript.
func TestSquashOnServer(t *testing.T) {
	a, b := tell(t, false)
	a.leaves()
	was, k := a.head, a.session()
	n := a.hand(header)
	a.adds(k, n, "const leeway", "\n"+expiry)
	a.commit("Read expiry", nil)
	branch := topic{a.branch, a.head, was}
	a.git("push", "-q", "origin", a.branch)
	a.mergesThere("squash-merge", branch)
	a.home()
	a.git("rekal", "sync", "--yes")
	b.update()
	b.git("rekal", "sync", "--yes")
	a.exactly(k, expiry)
	a.exactly(nil, header)
	b.exactly(nil, expiry+"\n"+header) // which b merged, and only a's ledger tells whose it is
	if got := b.behind("HEAD"); !slices.Equal(got, []string{k.id}) {
		t.Errorf("behind the squash stand %v in b's clone, not %s", b.called(got), k.name)
	}
}

// TestLastWords: what a session says behind its commit ties it to nothing else.
func TestLastWords(t *testing.T) {
	for _, next := range []string{"a session", "a person"} {
		t.Run(next, func(t *testing.T) {
			a, _ := tell(t, false)
			k, n := a.session(), a.hand(header)
			a.adds(k, n, "const leeway", "\n"+expiry)
			a.runs(k, "git commit -am 'Read expiry'", func() {
				a.commit("Read expiry", nil, "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID="+k.id)
			})
			a.says(k, "Done. Tokens have some leeway now.")
			const more = "\n// Zone is where tokens expire.\nvar Zone = time.UTC"
			var other *talk
			if next == "a session" {
				other = a.session()
				a.adds(other, n, "const leeway", more)
			} else {
				a.types(n, a.after(n, "const leeway", more).of(a.work[n].text.lines()))
			}
			a.commit("Another thing", nil)
			want, kinds := []string(nil), `[]`
			if other != nil {
				want, kinds = []string{other.id}, `["wrote"]`
			}
			if got := a.behind("HEAD"); !slices.Equal(got, want) {
				t.Errorf("behind the next commit stand %v, not %v", a.called(got), a.called(want))
			}
			if got := gjson.GetBytes(a.asks("--commit", "HEAD"), "results.#.tie").Raw; got != kinds {
				t.Errorf("they are tied as %s, not %s", got, kinds)
			}
			a.exactly(k, expiry)
			a.exactly(other, strings.TrimPrefix(more, "\n"))
		})
	}
}

// TestEditRepeatsContext: an Edit names the lines around what it adds, and did not write them.
func TestEditRepeatsContext(t *testing.T) {
	a, _ := tell(t, false)
	k, n := a.session(), a.hand(header+"\n"+expiry)
	const added = "\tif token.Revoked {\n\t\treturn true // whatever the clock says\n\t}"
	a.adds(k, n, "func Expired", added)
	a.commit("Revoke", nil)
	a.exactly(k, "\tif token.Revoked {\n\t\treturn true // whatever the clock says")
	a.exactly(nil, "func Expired(token *Token, now time.Time) bool {\n\tif token.ExpiresAt.IsZero() {\n\t\treturn false")
}

// TestWriteOverAll: a Write repeats a whole file, and wrote what it changed of it.
func TestWriteOverAll(t *testing.T) {
	a, _ := tell(t, false)
	first, second, n := a.session(), a.session(), a.hand(header)
	a.adds(first, n, "const leeway", "\n"+expiry)
	const changed = "// leeway is how far clocks may differ.\nconst leeway = time.Minute"
	lines := strings.Split(strings.Replace(strings.TrimSuffix(a.work[n].text.String(), "\n"),
		"const leeway = 30 * time.Second", changed, 1), "\n")
	path, before := a.dir+"/"+jwt, a.work[n].text.String()
	a.calls(second, "Write", fields{"file_path": path, "content": joined(lines)}, func() (string, bool, any) {
		return "The file " + path + " has been updated.", false,
			a.writes(second, n, lines, "whole write", fields{"type": "update", "content": joined(lines), "originalFile": before})
	})
	a.commit("Expiry with more leeway", nil)
	a.exactly(first, expiry)
	a.exactly(second, changed)
	a.exactly(nil, "package jwt\nimport \"time\"")
}

// TestFailedEdits: what a person typed after an agent was not let to is the person's.
func TestFailedEdits(t *testing.T) {
	for name, why := range map[string]string{
		"refused": refusal, "failed": "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := tell(t, false)
			k, n := a.session(), a.hand(header)
			c := a.after(n, "const leeway", "\n"+expiry)
			a.fails(k, n, c, why)
			a.types(n, c.of(a.work[n].text.lines()))
			const done = "// A token without a time never expires: ask for one."
			a.adds(k, n, "package jwt", done)
			a.commit("Expiry", nil)
			a.exactly(k, done)
			a.exactly(nil, expiry)
		})
	}
}

// TestInitTiesSquash: what a server squashed is tied by init, also where only a remote-tracking branch has it.
func TestInitTiesSquash(t *testing.T) {
	a, b := tell(t, true)
	a.leaves()
	was, k := a.head, a.session()
	n := a.hand(header)
	a.adds(k, n, "const leeway", "\n"+expiry)
	a.commit("Read expiry", nil)
	branch := topic{a.branch, a.head, was}
	a.git("push", "-q", "origin", a.branch)
	a.mergesThere("squash-merge", branch)
	a.git("checkout", "-q", "main")
	a.git("branch", "-q", "-D", a.branch)
	a.git("fetch", "-q", "origin")
	a.setUp()
	if got := a.behind("origin/main"); !slices.Equal(got, []string{k.id}) {
		t.Errorf("behind the squash stand %v, not %s", a.called(got), k.name)
	}
	a.home()
	a.exactly(k, expiry)
	b.update()
	b.setUp()
	a.git("rekal", "sync", "--yes")
	b.git("rekal", "sync", "--yes")
	b.exactly(k, expiry)
}

// TestInitUnderOtherAddress: who commits under another address gets no second ledger with nothing in it.
func TestInitUnderOtherAddress(t *testing.T) {
	a, _ := tell(t, true)
	k, n := a.session(), a.hand(header)
	a.adds(k, n, "const leeway", "\n"+expiry)
	a.commit("Read expiry", nil)
	for _, email := range []string{"alice@work.example", a.email} {
		a.git("config", "user.email", email)
		a.setUp()
		a.exactly(k, expiry)
	}
	for ref := range strings.FieldsSeq(a.git("for-each-ref", "--format=%(refname)", "refs/heads/rekal/")) {
		if a.git("ls-tree", ref, "segments/") == "" {
			t.Errorf("%s holds nothing", ref)
		}
	}
}

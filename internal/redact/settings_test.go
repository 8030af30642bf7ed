package redact_test

import (
	"encoding/base64"
	hexcode "encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
)

func knowing(values ...string) *redact.Redactor {
	return redact.With(redact.Settings{Known: func() []string { return values }})
}

// TestKnownValues: each is gone from every text of an entry, in every form.
func TestKnownValues(t *testing.T) {
	values := []string{
		"hunter22x", "zebra-quartz-lantern", "correct horse battery staple", `p"w\d<&>ö1`, "12345678901", "qzxvkjhw",
		"Aa1!Aa1!Aa1!",
		"https://hooks.acme.dev/in/" + "a8Fk29sLq0Xz7Bv4Nm1P", strings.Repeat("k9", 300), "pässwörter99",
	}
	for _, v := range values {
		t.Run(v, func(t *testing.T) {
			r := knowing("other-value-1", v)
			inJSON, err := json.Marshal("say " + v)
			if err != nil {
				t.Fatal(err)
			}
			twice, err := json.Marshal(string(inJSON))
			if err != nil {
				t.Fatal(err)
			}
			forms := []string{
				v, "x" + v + "x ", "see " + v + ", then", string(inJSON), string(twice), "/p/" + url.PathEscape(v),
				base64.StdEncoding.EncodeToString([]byte(v)), base64.StdEncoding.EncodeToString([]byte("bob:" + v)),
				base64.URLEncoding.EncodeToString([]byte("me:" + v + "!")), hexcode.EncodeToString([]byte(v)),
			}
			if strings.Trim(v, "0123456789") != "" {
				forms = append(forms, "1"+v+"2")
			}
			for _, form := range forms {
				e, rep := apply(t, r, everywhere(form))
				if rep.Rules[redact.KnownValue] == 0 && len(rep.Rules) == 0 {
					t.Errorf("%q: nothing found", form)
				}
				dump, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				if got := string(dump); !strings.Contains(got, "[REDACTED:") || strings.Contains(got, v) {
					t.Errorf("%q: %s", form, got)
				}
			}
		})
	}
}

func TestOrdinaryValuesAreNotKnown(t *testing.T) {
	ordinary := []string{
		"test", "password", "production", "development", "localhost", "postgres", "PRODUCTION", "Staging", "changeme",
		"your-api-key-here",
		"/var/lib/app/secrets", "./config/dev.yml", "https://api.acme.dev/v1", "localhost:5432", "127.0.0.1", "v1.22.333",
		"2026-11-21",
		"me@example.com", "${DB_PASSWORD}", "<password>", "xxxxxxxxxxxx", "************", "administrator", "kubernetes",
		"redacted",
		"https://example.com/callback", "src/auth/token.go", "smtp.mailserver.com",
	}
	r := knowing(ordinary...)
	for _, v := range ordinary {
		in := "we say " + v + " here"
		if got := applyText(t, r, in); got != in {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func TestAllow(t *testing.T) {
	s := samples(1)[1]
	other := samples(2)[1]
	r := redact.With(redact.Settings{Allow: []*regexp.Regexp{regexp.MustCompile("^" + s.secret[:10])}})
	in := s.text + " and " + other.text
	want := s.text + " and " + strings.Replace(other.text, other.secret, "[REDACTED:github-pat]", 1)
	if diff := cmp.Diff(want, applyText(t, r, in)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHomes(t *testing.T) {
	r := redact.With(redact.Settings{Homes: []string{"/srv/people/ann", "/net/disk 2/ann"}})
	tests := []struct{ in, want string }{
		{"cd /srv/people/ann/work && ls", "cd ~/work && ls"},
		{"/srv/people/ann", "~"},
		{"cat '/net/disk 2/ann/a.go' -net-disk-2-ann", "cat '~/a.go' -net-disk-2-ann"},
		{"/srv/people/anna/x", "/srv/people/anna/x"},
		{"/backup/srv/people/ann/x", "/backup/srv/people/ann/x"},
		{"~/.claude/projects/-srv-people-ann-work/a.jsonl", "~/.claude/projects/~-work/a.jsonl"},
		{"open /home/bob/src/a.go:12", "open ~/src/a.go:12"},
		{"/Users/bob/src and /Users/eve", "~/src and ~"},
		{"PATH=/home/bob/bin:/home/bob/go/bin:/usr/bin", "PATH=~/bin:~/go/bin:/usr/bin"},
		{`C:\Users\bob\src\a.go`, `~\src\a.go`},
		{`"C:\\Users\\bob\\src"`, `"~\\src"`},
		{"file:///home/bob/x.html", "file://~/x.html"},
		{"/mnt/e/Users/bob/src and /f/Users/bob", "~/src and ~"},
		{"/var/home/bob/x", "~/x"},
		{"WORKDIR /home/node/app", "WORKDIR /home/node/app"},
		{"cd /home/coder/x", "cd ~/x"},
		{"~/.claude/projects/-Users-bob-src-x/a.jsonl", "~/.claude/projects/~-src-x/a.jsonl"},
		{"ls /home/bob/.claude/projects/-home-eve-src", "ls ~/.claude/projects/~-src"},
		{`~\.claude\projects\C--Users-bob-src`, `~\.claude\projects\~-src`},
		{"the folder -Users-bob-src, and java -home-page", "the folder ~-src, and java -home-page"},
		{"file:///Users/bob/x", "file://~/x"},
		{"https://acme.dev/home/start/x", "https://acme.dev/home/start/x"},
		{"internal/home/bob/x.go", "internal/home/bob/x.go"},
		{"git@host:/home/bob/repo.git", "git@host:~/repo.git"},
	}
	for _, tt := range tests {
		got := applyText(t, r, tt.in)
		if got != tt.want {
			t.Errorf("%q became %q, not %q", tt.in, got, tt.want)
		}
		if again := applyText(t, r, got); again != got {
			t.Errorf("%q, again: %q", got, again)
		}
	}
}

func TestExclude(t *testing.T) {
	r := redact.With(redact.Settings{Exclude: []string{
		"secrets/**", "*.pem", "config/prod.yml", "legal/", "db[0-9].sql",
		"app/[id]/x", "log.[!a-z]", "[z-a].x",
	}})
	for _, path := range []string{
		"secrets/a/b.txt", "deep/key.pem", "config/prod.yml", "legal/nda.md",
		"/abs/repo/secrets/x", "legal", "a/db7.sql", "app/[id]/x", "app/d/x", "log.1",
	} {
		for _, text := range []string{
			"look at " + path + ", please", "`" + path + "`", "cat " + path, "(" + path + ").",
			path,
		} {
			if got := applyText(t, r, text); got != redact.Excluded {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
	for _, text := range []string{
		"secrets are fine", "the pem file", "config/production.yml", "illegal/x", "mysecrets/x",
		"prod.yml", "dbx.sql", "log.a", "app/id/x",
	} {
		if got := applyText(t, r, text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	e := session.Entry{
		Checkpoint: &session.Checkpoint{Files: []session.File{
			{Path: "a.go"},
			{Path: "secrets/x"},
			{Path: "b.go", OldPath: "old.pem"},
		}},
		Sessions: []session.Session{{ToolCalls: []session.ToolCall{
			{Index: 0, Tool: "Read", Path: "secrets/x"},
			{Index: 1, Tool: "Bash", Cmd: "cat config/prod.yml"},
			{Index: 2, Tool: "Read", Path: "a.go"},
		}}},
	}
	got, rep := apply(t, r, e)
	want := session.Entry{
		Checkpoint: &session.Checkpoint{Files: []session.File{{Path: "a.go"}}},
		Sessions: []session.Session{{ToolCalls: []session.ToolCall{
			{Index: 0, Tool: "Read"}, {Index: 1, Tool: "Bash"}, {Index: 2, Tool: "Read", Path: "a.go"},
		}}},
	}
	if diff := cmp.Diff(want, got); diff != "" || rep.Excluded != 4 {
		t.Errorf("%d excluded (-want +got):\n%s", rep.Excluded, diff)
	}
}

// TestExcludedPrompt: a title that is made of a prompt goes with it, whether or not it names the path itself.
func TestExcludedPrompt(t *testing.T) {
	r := redact.With(redact.Settings{Exclude: []string{"legal/"}})
	for _, prompt := range []string{"look at legal/nda.md", strings.Repeat("the draft ", 20) + "is in legal/nda.md"} {
		e := entryOf(prompt)
		e.Sessions[0].Title = session.PromptTitle(prompt)
		got, rep := apply(t, r, e)
		if s := got.Sessions[0]; s.Title != redact.Excluded || s.Turns[0].Content != redact.Excluded || rep.Excluded != 2 {
			t.Errorf("%d excluded: title %q, turn %q", rep.Excluded, s.Title, s.Turns[0].Content)
		}
	}
}

// A machine may know many values: what is found is the same, and they take memory in proportion
// to their size.
func TestManyKnownValues(t *testing.T) {
	var values []string
	for i := range 10_000 {
		values = append(values, fmt.Sprintf("v4lue-%07d-Zq%dx", i*7919, i))
	}
	r := knowing(values...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, i := range []int{0, 1, 999, 9_999} {
		if got := applyText(t, r, "say "+values[i]+"!"); got != "say [REDACTED:known-value]!" {
			t.Errorf("got %q", got)
		}
	}
	runtime.ReadMemStats(&after)
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 200 {
		t.Errorf("%d MB were allocated", mb)
	}
	runtime.KeepAlive(r)
}

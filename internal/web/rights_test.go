package web_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/web/world"
)

// TestRights asks as a proxy does, with the name of who logged in: nobody is shown, or told of, what the command does
// not let them read.
func TestRights(t *testing.T) {
	w := world.Team(t)
	team := w.Dir
	for _, name := range []string{"shop", "client", "local"} {
		w.Dir = w.At("home/" + name)
		w.Init(w.Dir)
		if name != "local" {
			w.Git(w.Dir, "remote", "add", "origin", "https://example.com/acme/"+name)
		}
		w.Run("init")
		w.Run("save", "--title", "Carts of the "+name, "A cart is kept in Frankfurt.")
		if name != "local" { // the remote has it
			ref := strings.TrimSpace(w.Git(w.Dir, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/rekal"))
			w.Git(w.Dir, "update-ref", "refs/remotes/origin/"+ref, "refs/heads/"+ref)
		}
	}
	w.Dir = w.At("home/shop")
	command := w.At("home/may-read")
	if err := os.WriteFile(command, []byte(`#!/bin/sh
case "$1 $2" in
"alice https://example.com/acme/shop") exit 0 ;;
"carol "*) exit 0 ;;
"dave "*) exit 127 ;;
esac
exit 1
`), 0o700); err != nil {
		t.Fatal(err)
	}
	w.Git(team, "config", "--global", "rekal.group.ours", w.At("home")+"/*")
	w.Git(team, "config", "--global", "rekal.web.rights", "~/may-read")
	w.Git(w.Dir, "config", "rekal.web.rights", "true") // a repository's own settings say nothing
	for _, flags := range [][]string{{"--group"}, nil} {
		address := w.Web(flags...)
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Jar: jar}
		base, _, _ := strings.Cut(address, "?")
		for _, test := range []struct {
			name, page string
			who        []string
			status     int
			has, hasNo string
		}{
			{"who may read one", "?q=cart", []string{"alice"}, 200, "Carts of the shop", "client"},
			{"nobody", "?q=cart", nil, 403, "you may read none", "Carts"},
			{"two names", "?q=cart", []string{"alice", "carol"}, 403, "you may read none", "Carts"},
			{"no name", "sessions", []string{""}, 403, "you may read none", "Carts"},
			{"an option", "sessions", []string{"-alice"}, 403, "you may read none", "Carts"},
			{"a path", "sessions", []string{"../carol"}, 403, "you may read none", "Carts"},
			{"who may read none", "sessions", []string{"bob"}, 403, "you may read none", "Carts"},
			{"a command that fails", "sessions", []string{"dave"}, 403, "you may read none", "Carts"},
			{"another repository's page", "sessions?in=" + w.At("home/client"), []string{"alice"}, 404, "no such page", "Carts"},
			{
				"a repository without a remote", "sessions?in=" + w.At("home/local"),
				[]string{"carol"},
				404, "no such page",
				"Carts",
			},
			{"who may read all", "?q=cart", []string{"carol"}, 200, "Carts of the client", "local"},
		} {
			if flags == nil && (strings.Contains(test.page, "in=") || strings.Contains(test.has, "client")) {
				continue
			}
			t.Run(strings.Join(append(flags, test.name), " "), func(t *testing.T) {
				at := base + test.page
				if u, err := url.Parse(base); err == nil && len(jar.Cookies(u)) == 0 {
					at = address + "&" + strings.TrimPrefix(test.page, "?")
				}
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header["X-Forwarded-User"] = test.who
				answer, err := client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
				body, err := io.ReadAll(answer.Body)
				if err != nil || answer.StatusCode != test.status || !strings.Contains(string(body), test.has) ||
					strings.Contains(string(body), test.hasNo) {
					t.Errorf("%s as %q: status %d, %v\n%s", test.page, test.who, answer.StatusCode, err, body)
				}
			})
		}
	}
}

// TestVisitorSeesTheRemote: whoever is shown pages by the rights of a remote sees what that remote has, and nothing
// else of the clone that shows them.
func TestVisitorSeesTheRemote(t *testing.T) {
	const hidden = "zqhidden"
	w := world.Team(t)
	for _, name := range []string{"team.git", "fork.git"} {
		w.Git(w.At("."), "init", "-q", "--bare", name)
	}
	w.Git(w.Dir, "remote", "add", "origin", w.At("team.git"))
	w.Git(w.Dir, "remote", "add", "fork", w.At("fork.git"))
	w.Git(w.Dir, "push", "-q", "origin", "HEAD:main")
	w.Run("sync", "--yes", "origin")
	w.Git(w.Dir, "config", "rekal.remote", "origin")

	w.Run("save", "--title", "Unsent "+hidden, "Frankfurt, "+hidden)
	w.Run("run", "--", "echo", hidden+" Frankfurt")
	w.Write(w.Dir+"/unpushed.go", "package x // "+hidden+"\n")
	w.Git(w.Dir, "add", ".")
	w.Git(w.Dir, "commit", "-qm", "Unpushed "+hidden)
	unpushed := strings.TrimSpace(w.Git(w.Dir, "rev-parse", "HEAD"))
	w.Write(w.Dir+"/src/auth/jwt.go", "package auth // "+hidden+"\n")
	w.Git(w.Dir, "stash")
	stashed := strings.TrimSpace(w.Git(w.Dir, "rev-parse", "stash"))
	w.Write(w.Dir+"/src/auth/jwt.go", "package auth // "+hidden+"\n")

	w.Git(w.At("."), "config", "--global", "rekal.web.rights", "true")
	v := world.VisitAs(t, w.Web(), "alice")
	if found := v.Any("?q=Frankfurt"); !strings.Contains(found, "Fix JWT expiry") {
		t.Errorf("what the remote has is not found:\n%s", found)
	}
	for _, page := range []string{
		"?q=Frankfurt", "?kind=record", "?kind=memory", "sessions", "timeline", "files", "files?name=unpush",
		"file?path=src/auth/jwt.go",
		"file?path=unpushed.go", "activity", "lines", "failures", "failures?by=path", "commit?rev=" + unpushed, "commit?rev=" + unpushed[:7],
		"commit?rev=" + stashed, "commit?rev=stash",
		"commit?rev=HEAD", "commit?rev=:/Unpushed", "commit?rev=" + unpushed + "^!", "commit?rev=refs/stash",
	} {
		if said := v.Any(page); strings.Contains(said, hidden) {
			t.Errorf("%s shows what no remote has:\n%s", page, said)
		}
	}
	if said := v.Any("?q=" + hidden); strings.Contains(said, "Unsent") || strings.Contains(said, "echo") {
		t.Errorf("what was never sent is found:\n%s", said)
	}
	if said := v.Any("file?path=src/auth/jwt.go"); !strings.Contains(said, "ParseInLocation") {
		t.Errorf("the file as the remote has it:\n%s", said)
	}

	// what was sent and became private later is not shown, as long as it is private
	const name = "claude-code/4d1c0f5e-0003-4000-8000-000000000003" // Fix JWT expiry
	for _, how := range []string{"--add", "--unset"} {
		w.Git(w.Dir, "config", how, "rekal.private", name)
		if said := v.Any("?q=Frankfurt"); strings.Contains(said, "Fix JWT expiry") == (how == "--add") {
			t.Errorf("config %s rekal.private %s:\n%s", how, name, said)
		}
	}
}

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

// TestRights asks as a proxy does, with the name of who logged in: nobody is shown, or told of, what the command does not let them read.
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
			{"a repository without a remote", "sessions?in=" + w.At("home/local"), []string{"carol"}, 404, "no such page", "Carts"},
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
				if err != nil || answer.StatusCode != test.status || !strings.Contains(string(body), test.has) || strings.Contains(string(body), test.hasNo) {
					t.Errorf("%s as %q: status %d, %v\n%s", test.page, test.who, answer.StatusCode, err, body)
				}
			})
		}
	}
}

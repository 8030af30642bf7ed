package web_test

import (
	"crypto/rand"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/web"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// BenchmarkPages asks a server for pages of the repository in WEB_REPO, such as that of `make scale` and of the session
// WEB_SESSION (docs/lab/web.md has figures).
func BenchmarkPages(b *testing.B) {
	dir := os.Getenv("WEB_REPO")
	if dir == "" {
		b.Skip("WEB_REPO names no repository")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command does
	process := workspace.Process{
		Dir: dir, Env: append(os.Environ(), "REKAL_EMBED=off"), Home: b.TempDir(), Rand: rand.Reader, Now: time.Now,
		Warn: func(err error) { b.Log(err) },
	}
	site, err := web.New(process, "bench", func(err error) string { return err.Error() })
	if err != nil {
		b.Fatal(err)
	}
	server, err := site.Listen(0)
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = server.Serve(b.Context()) }()
	address, err := server.Address(false)
	if err != nil {
		b.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	base := get(b, client, address)
	for _, page := range []string{
		"", "?part=1&q=hook", "?part=1&q=token+expiry", "?part=1&q=why+does+the+session+start+hook+fail", "?part=1&q=chec",
		"sessions", "timeline",
		"files", "activity", "lines", "session?id=" + os.Getenv("WEB_SESSION"),
	} {
		if strings.HasSuffix(page, "=") {
			continue
		}
		b.Run(page, func(b *testing.B) {
			for b.Loop() {
				get(b, client, base+page)
			}
		})
	}
}

// get reads a page that there must be, and returns where it was found.
func get(b *testing.B, client *http.Client, address string) string {
	b.Helper()
	answer, err := client.Get(address)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s, %v", address, answer.Status, err)
	}
	return answer.Request.URL.String()
}

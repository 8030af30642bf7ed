package embed_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/embed"
)

// TestMain names a proxy, at which nothing listens, before anybody asks for one: net/http reads
// the environment once.
func TestMain(m *testing.M) {
	if err := errors.Join(os.Setenv("HTTP_PROXY", "http://127.0.0.1:9"), os.Unsetenv("NO_PROXY"),
		os.Unsetenv("no_proxy")); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

type handlers = map[string]func(http.ResponseWriter, asked)

// A URL names the server, with or without the path of a protocol.
func TestQueryAsksPath(t *testing.T) {
	for path, want := range map[string]string{
		"":                  "/v1/embeddings",
		"/":                 "/v1/embeddings",
		"/v1":               "/v1/embeddings",
		"/v1/embeddings/":   "/v1/embeddings",
		"/api/embed":        "/v1/embeddings",
		"/ai":               "/ai/v1/embeddings",
		"/ai/v1/embeddings": "/ai/v1/embeddings",
	} {
		t.Run(path, func(t *testing.T) {
			s := serve(t, handlers{want: openAI})
			got, err := client(t, s.URL+path, "m", t.TempDir(), &clock{noon}).Query(t.Context(), "why?")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]float32{4, 1}, got); diff != "" {
				t.Errorf("vector (-want +got):\n%s", diff)
			}
			if got := s.requests(); len(got) != 1 || got[0].Path != want {
				t.Errorf("asked %v, want %s", got, want)
			}
		})
	}
}

// A model of nomic's is told what a text is; another one is not.
func TestPrefixes(t *testing.T) {
	for model, want := range map[string][2]string{
		"nomic-embed-text":                     {"search_query: q", "search_document: d"},
		"text-embedding-Nomic-Embed-Text-v1.5": {"search_query: q", "search_document: d"},
		"mxbai-embed-large":                    {"q", "d"},
	} {
		t.Run(model, func(t *testing.T) {
			s := serve(t, handlers{"/v1/embeddings": openAI})
			c := client(t, s.URL, model, t.TempDir(), &clock{noon})
			_, err1 := c.Query(t.Context(), "q")
			_, err2 := c.Documents(t.Context(), []string{"d"})
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			got := s.requests()
			wants := []asked{
				{Path: "/v1/embeddings", Model: model, Input: []string{want[0]}},
				{Path: "/v1/embeddings", Model: model, Input: []string{want[1]}},
			}
			if diff := cmp.Diff(wants, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestName(t *testing.T) {
	for model, want := range map[string]string{
		"nomic-embed-text":                     "nomic-v1.5",
		"nomic-embed-text:latest":              "nomic-v1.5",
		"nomic-embed-text:v1.5":                "nomic-v1.5",
		"text-embedding-nomic-embed-text-v1.5": "nomic-v1.5",
		"nomic-embed-text-v2-moe":              "nomic-embed-text-v2-moe",
		"nomic-embed-text:137m-v1-fp16":        "nomic-embed-text:137m-v1-fp16",
		"bge-m3":                               "bge-m3",
	} {
		if got := embed.StorageName(model); got != want {
			t.Errorf("%q: %q, want %q", model, got, want)
		}
	}
}

func TestDocuments(t *testing.T) {
	s := serve(t, handlers{"/v1/embeddings": openAI})
	got, err := client(t, s.URL, "m", t.TempDir(), &clock{noon}).Documents(t.Context(), []string{"a", "bbb", "cc"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{{1, 1}, {3, 1}, {2, 1}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A server that takes few or short texts gets what it takes.
func TestDocumentsTooLong(t *testing.T) {
	picky := func(w http.ResponseWriter, a asked) {
		if len(a.Input) > 2 || len(a.Input[0]) > 10 {
			says(500, `{"error":{"message":"input is too large to process"}}`)(w, a)
			return
		}
		openAI(w, a)
	}
	s := serve(t, handlers{"/v1/embeddings": picky})
	c := client(t, s.URL+"/v1", "m", t.TempDir(), &clock{noon})
	got, err := c.Documents(t.Context(), []string{"a", "bb", "sixteen letters.", "ccc", "eee"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{{1, 1}, {2, 1}, {8, 1}, {3, 1}, {3, 1}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := c.Documents(t.Context(), []string{strings.Repeat("x", 40)}); err == nil ||
		!strings.Contains(err.Error(), `"input is too large to process"`) {
		t.Errorf("half is too much: %v", err)
	}
}

// A text that a server never takes (Ollama says NaN of some) does not keep the others from theirs.
func TestDocumentsRefused(t *testing.T) {
	picky := func(w http.ResponseWriter, a asked) {
		for _, text := range a.Input {
			if strings.HasPrefix(text, "bad") {
				says(500, `{"error":"json: unsupported value: NaN"}`)(w, a)
				return
			}
		}
		openAI(w, a)
	}
	c := client(t, serve(t, handlers{"/v1/embeddings": picky}).URL, "m", t.TempDir(), &clock{noon})
	got, err := c.Documents(t.Context(), []string{"bad text", "a", "bb"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{{0, 0}, {1, 1}, {2, 1}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := c.Documents(t.Context(), []string{"bad text", "bad one"}); err == nil ||
		!strings.Contains(err.Error(), `unsupported value: NaN`) {
		t.Errorf("all are refused: %v", err)
	}
}

// What is no answer is an error in one line that names server and cause.
func TestBadAnswers(t *testing.T) {
	huge := `{"data":[{"embedding":[` + strings.Repeat("0.1,", 1<<20) + `1]}]}`
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{
			"no such model", 404, `{"error":"model \"m\" not found, try pulling it first"}`,
			`404 Not Found: "model \"m\" not found, try pulling it first"`,
		},
		{"an error of many lines", 503, `{"error":"a\nb"}`, `503 Service Unavailable: "a\nb"`},
		{"an error without words", 502, "<html>", "502 Bad Gateway"},
		{"not JSON", 200, "hello", "the answer is no embedding"},
		{"half of it", 200, `{"data":[{"embedding":[1,2`, "the answer is no embedding"},
		{"another JSON", 200, `{"ok":true}`, "the answer is no embedding"},
		{"too few", 200, `{"data":[]}`, "not one vector for each text: 0 for 1"},
		{"too many", 200, `{"data":[{"embedding":[1]},{"embedding":[2]}]}`, "not one vector for each text: 2 for 1"},
		{"no dimensions", 200, `{"data":[{"embedding":[]}]}`, "a vector that is none"},
		{"null", 200, `{"data":[{"embedding":null}]}`, "a vector that is none"},
		{"not finite", 200, `{"data":[{"embedding":[1e39]}]}`, "the answer is no embedding"},
		{"not a number", 200, `{"data":[{"embedding":["NaN"]}]}`, "the answer is no embedding"},
		{
			"too many dimensions", 200, `{"data":[{"embedding":[` + strings.Repeat("0,", 8192) + `1]}]}`,
			"a vector that is none",
		},
		{"an index that is none", 200, `{"data":[{"index":7,"embedding":[1]}]}`, "not one vector for each text"},
		{"too large", 200, huge, "the answer is too large"},
		{"elsewhere", 307, "", "307 Temporary Redirect"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, handlers{"/v1/embeddings": says(tt.status, tt.body)})
			_, err := client(t, s.URL, "m", t.TempDir(), &clock{noon}).Documents(t.Context(), []string{"q"})
			if err == nil || !strings.HasPrefix(err.Error(), "embed: "+s.URL+": ") || !strings.Contains(err.Error(), tt.want) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
	t.Run("vectors of two lengths", func(t *testing.T) {
		s := serve(t, handlers{"/v1/embeddings": says(200, `{"data":[{"embedding":[1,2]},{"embedding":[1]}]}`)})
		_, err := client(t, s.URL, "m", t.TempDir(), &clock{noon}).Documents(t.Context(), []string{"a", "b"})
		if err == nil || !strings.Contains(err.Error(), "a vector that is none") {
			t.Errorf("error %v", err)
		}
	})
}

// A server that never answers costs one question its time; then nobody asks until it has
// rested.
func TestHangingServer(t *testing.T) {
	hang := make(chan struct{})
	s := serve(t, handlers{"/v1/embeddings": func(http.ResponseWriter, asked) { <-hang }})
	t.Cleanup(func() { close(hang) }) // before the server closes
	dir, c := t.TempDir(), &clock{noon}
	if _, err := client(t, s.URL, "m", dir, c).Query(t.Context(), "q"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("it hangs: %v", err)
	}
	info, err := os.Stat(filepath.Join(dir, "embed.json"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("state: %v, %v", info, err)
	}
	s.requests()
	c.now = c.now.Add(embed.Rest - time.Second)
	another := client(t, s.URL, "m", dir, c)
	if _, err := another.Query(t.Context(), "q"); !errors.Is(err, embed.ErrResting) {
		t.Errorf("left alone: %v", err)
	}
	if err := another.Ready(t.Context(), false); !errors.Is(err, embed.ErrResting) {
		t.Errorf("left alone: %v", err)
	}
	if got := s.requests(); len(got) > 0 {
		t.Errorf("asked while it rests: %v", got)
	}
	if err := another.Ready(t.Context(), true); err != nil {
		t.Errorf("it answers other things: %v", err)
	}
	if _, err := another.Query(t.Context(), "q"); errors.Is(err, embed.ErrResting) {
		t.Error("rests although it answered")
	}
}

// The rest is that of one server and one model, and has an end, whatever clocks do.
func TestRestEnds(t *testing.T) {
	s := serve(t, handlers{"/v1/embeddings": openAI})
	broken := serve(t, handlers{"/v1/embeddings": says(500, "")})
	for _, tt := range []struct {
		name  string
		url   string
		model string
		after time.Duration
	}{
		{"another server", s.URL, "m", 0},
		{"the time is over", broken.URL, "m", embed.Rest},
		{"another model", broken.URL, "m2", 0},
		{"the clock went back", broken.URL, "m", -time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, c := t.TempDir(), &clock{noon}
			if _, err := client(t, broken.URL, "m", dir, c).Query(t.Context(), "q"); err == nil {
				t.Fatal("no error")
			}
			c.now = c.now.Add(tt.after)
			if _, err := client(t, tt.url, tt.model, dir, c).Query(t.Context(), "q"); errors.Is(err, embed.ErrResting) {
				t.Error(err)
			}
		})
	}
	t.Run("a state that is none", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "embed.json"), []byte(`{"url":"`), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := client(t, s.URL, "m", dir, &clock{noon}).Query(t.Context(), "q"); err != nil {
			t.Error(err)
		}
	})
	t.Run("a state that can't be written", func(t *testing.T) {
		if _, err := client(t, s.URL, "m", filepath.Join(t.TempDir(), "none"), &clock{noon}).Query(t.Context(),
			"q"); err != nil {
			t.Error(err)
		}
	})
}

// Where nothing listens nothing is written down, so a server that is started is asked at once.
func TestAbsent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := fmt.Sprintf("http://%s", l.Addr())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := client(t, url, "m", dir, &clock{noon})
	_, err = c.Query(t.Context(), "q")
	if ready := c.Ready(t.Context(), false); !errors.Is(err, embed.ErrAbsent) || !errors.Is(ready, embed.ErrAbsent) {
		t.Errorf("%v; ready: %v", err, ready)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// A caller who gives up says nothing of the server.
func TestCancelled(t *testing.T) {
	hang := make(chan struct{})
	s := serve(t, handlers{"/v1/embeddings": func(http.ResponseWriter, asked) { <-hang }})
	t.Cleanup(func() { close(hang) })
	c := client(t, s.URL, "m", t.TempDir(), &clock{noon})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Query(ctx, "q"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := c.Ready(t.Context(), false); err != nil {
		t.Error(err)
	}
}

// A server that dies in the middle of an answer is an error at once.
func TestServerDies(t *testing.T) {
	s := serve(t, handlers{"/v1/embeddings": func(w http.ResponseWriter, _ asked) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, `{"data":[{"embedding":[0.1,`)
		panic(http.ErrAbortHandler)
	}})
	c := client(t, s.URL, "m", t.TempDir(), &clock{noon})
	if _, err := c.Documents(t.Context(), []string{"a"}); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// Text goes to the server that is named and nowhere else.
func TestNowhereElse(t *testing.T) {
	spy := serve(t, handlers{"/v1/embeddings": openAI})
	t.Run("redirect", func(t *testing.T) {
		away := func(w http.ResponseWriter, a asked) {
			w.Header().Set("Location", spy.URL+a.Path)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
		s := serve(t, handlers{"/": away, "/v1/embeddings": away})
		c := client(t, s.URL, "m", t.TempDir(), &clock{noon})
		if _, err := c.Query(t.Context(), "secret"); err == nil {
			t.Error("no error")
		}
		if err := c.Ready(t.Context(), true); err != nil {
			t.Error(err)
		}
	})
	t.Run("proxy", func(t *testing.T) {
		_, err := client(t, "http://embedding.invalid", "m", t.TempDir(), &clock{noon}).Query(t.Context(), "secret")
		if err == nil || errors.Is(err, embed.ErrAbsent) {
			t.Errorf("the proxy was asked: %v", err)
		}
	})
	if got := spy.requests(); len(got) > 0 {
		t.Errorf("text went elsewhere: %v", got)
	}
}

// A password of the URL is used, not shown.
func TestPassword(t *testing.T) {
	s := serve(t, handlers{"/v1/embeddings": says(401, "")})
	dir := t.TempDir()
	_, err := client(t, strings.Replace(s.URL, "//", "//me:hunter2@", 1), "m", dir, &clock{noon}).Query(t.Context(), "q")
	state, readErr := os.ReadFile(filepath.Join(dir, "embed.json"))
	if err == nil || readErr != nil || strings.Contains(err.Error()+string(state), "hunter2") {
		t.Errorf("error %v, state %s (%v)", err, state, readErr)
	}
}

// A server that hangs over documents costs what the caller is ready to wait, and then rests.
func TestPatience(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, handlers{"/v1/embeddings": func(http.ResponseWriter, asked) { <-release }})
	defer close(release)
	c, err := embed.New(embed.Options{
		URL: s.URL, Model: "m", State: filepath.Join(t.TempDir(), "embed.json"), Patience: 50 * time.Millisecond,
		Now: func() time.Time { return noon },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Documents(t.Context(), []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if _, err := c.Query(t.Context(), "q"); !errors.Is(err, embed.ErrResting) {
		t.Errorf("then: error %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := embed.New(embed.Options{URL: "http://me:hunter2@h:port"}); err == nil ||
		strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v", err)
	}
	for _, url := range []string{
		"127.0.0.1:11434", "ftp://h", "http://", "/api/embed", "http://h?q=1", "http://h#f",
		"http://h:port", "unix:///s",
	} {
		if _, err := embed.New(embed.Options{URL: url}); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("%q", url)) {
			t.Errorf("%q: error %v", url, err)
		}
	}
}

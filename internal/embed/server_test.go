package embed_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/embed"
)

// server is a real HTTP server that answers as embedding servers do, and keeps what it was
// asked.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []asked
}

type asked struct {
	Path  string   `json:"-"`
	Model string   `json:"model"`
	Input []string `json:"input"`
}

// serve starts a server with a handler for each path; others are not found, as Ollama says it.
func serve(t *testing.T, handlers map[string]func(http.ResponseWriter, asked)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := asked{Path: r.URL.Path}
		_ = json.NewDecoder(r.Body).Decode(&a) // a GET has none
		s.mu.Lock()
		s.asked = append(s.asked, a)
		s.mu.Unlock()
		if h := handlers[r.URL.Path]; h != nil {
			h(w, a)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "404 page not found")
	}))
	t.Cleanup(s.Close)
	return s
}

// requests are those that came since the last call.
func (s *server) requests() []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.asked
	s.asked = nil
	return out
}

// vectorOf is a text's vector: its length in bytes, and 1.
func vectorOf(text string) []float32 { return []float32{float32(len(text)), 1} }

// openAI answers in another order than it was asked, which the protocol allows.
func openAI(w http.ResponseWriter, a asked) {
	var data []map[string]any
	for i := len(a.Input) - 1; i >= 0; i-- {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": vectorOf(a.Input[i])})
	}
	reply(w, http.StatusOK, map[string]any{"object": "list", "data": data, "usage": map[string]int{"total_tokens": 1}})
}

func says(status int, body string) func(http.ResponseWriter, asked) {
	return func(w http.ResponseWriter, _ asked) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func reply(w http.ResponseWriter, status int, body any) {
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(err)
	}
}

// clock stands still until it is set.
type clock struct{ now time.Time }

var noon = time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)

// client is one for a server, with its state in dir.
func client(t *testing.T, url, model, dir string, c *clock) *embed.Client {
	t.Helper()
	out, err := embed.New(embed.Options{
		URL: url, Model: model, State: filepath.Join(dir, "embed.json"),
		Now: func() time.Time { return c.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Close)
	return out
}

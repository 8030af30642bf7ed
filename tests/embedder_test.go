package tests

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// embedder is an embedding server of a script: it speaks OpenAI's protocol as real ones do, and its model
// knows that some words mean the same.
type embedder struct {
	address string // of the script's server, also while it is down
	server  *httptest.Server

	mu    sync.Mutex
	mode  string
	asked []string
	gone  chan struct{} // ends what hangs
}

// serveEmbeddings MODE: from now on the script's embedding server, whose address is $EMBED, answers (up), never
// answers (hang), answers with an error (broken), or is not there (down).
func serveEmbeddings(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: embedder MODE")
	}
	e, ok := ts.Value(embedderKey{}).(*embedder)
	if !ok {
		ts.Fatalf("no embedder")
	}
	ts.Check(e.set(args[0]))
	ts.Setenv("EMBED", "http://"+e.address)
	ts.Defer(e.stop)
}

// checkAsked PATTERN: the texts that the server was asked since the last check match, one a line.
// With "!": they don't.
func checkAsked(ts *testscript.TestScript, neg bool, args []string) {
	e, ok := ts.Value(embedderKey{}).(*embedder)
	if !ok || len(args) != 1 {
		ts.Fatalf("usage: asked PATTERN")
	}
	e.mu.Lock()
	text := strings.Join(e.asked, "\n")
	e.asked = nil
	e.mu.Unlock()
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	if pattern.MatchString(text) == neg {
		ts.Fatalf("the embedding server was asked:\n%s", text)
	}
}

type embedderKey struct{}

// set keeps a server that is up: an address that is given back may be somebody else's a moment later.
func (e *embedder) set(mode string) error {
	e.mu.Lock()
	if e.gone != nil {
		close(e.gone)
	}
	e.mode, e.gone = mode, make(chan struct{})
	e.mu.Unlock()
	if mode == "down" {
		e.stop()
	}
	if e.server != nil {
		return nil
	}
	if mode == "down" && e.address != "" {
		return nil
	}
	l, err := net.Listen("tcp", cmp.Or(e.address, "127.0.0.1:0"))
	// some connection may have the port for a moment
	for tries := 0; err != nil && e.address != "" && tries < 100; tries++ {
		time.Sleep(100 * time.Millisecond)
		l, err = net.Listen("tcp", e.address)
	}
	if err != nil {
		return err
	}
	e.address = l.Addr().String()
	if mode == "down" {
		return l.Close()
	}
	e.server = httptest.NewUnstartedServer(e)
	err = e.server.Listener.Close()
	e.server.Listener = l
	e.server.Start()
	return err
}

func (e *embedder) stop() {
	if e.server == nil {
		return
	}
	e.server.CloseClientConnections()
	e.server.Close()
	e.server = nil
}

func (e *embedder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model string
		Input []string
	}
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	e.mu.Lock()
	mode, gone := e.mode, e.gone
	e.asked = append(e.asked, q.Input...)
	e.mu.Unlock()
	switch mode {
	case "hang":
		<-gone
		return
	case "broken":
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"error":"model %q not found, try pulling it first"}`, q.Model)
		return
	}
	vectors := make([][]float32, len(q.Input))
	for i, text := range q.Input {
		vectors[i] = meaningOf(text)
	}
	if r.URL.Path != "/v1/embeddings" {
		http.NotFound(w, r)
		return
	}
	data := []any{}
	for i, v := range vectors {
		data = append(data, map[string]any{"index": i, "embedding": v})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data}) // perhaps nobody listens any more
}

// meaningOf is a vector of 256 dimensions in which texts are near that share words, or words that
// mean the same; all texts are rather alike.
func meaningOf(text string) []float32 {
	same := map[string]string{"automobile": "car", "physician": "doctor"}
	v := make([]float32, 256)
	v[0] = 2
	for _, prefix := range []string{"search_query: ", "search_document: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	words := regexp.MustCompile(`[a-z]+`).FindAllString(strings.ToLower(text), -1)
	for _, w := range words {
		if s, ok := same[w]; ok {
			w = s
		}
		h := fnv.New64a()
		h.Write([]byte(w))
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range v {
			v[i] += float32(r.NormFloat64()/2) / float32(len(words))
		}
	}
	return v
}

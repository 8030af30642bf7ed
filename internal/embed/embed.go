// Package embed asks an embedding server what texts mean: text in, vectors out. The server speaks OpenAI's protocol, as
// Ollama, llama.cpp, LM Studio and vLLM do.
//
// Text goes only to the given URL, without a proxy or redirects. Hand in only redacted text and the user's own
// question.
//
// Promises: vectors are finite, and of one length within an answer; an answer is read to a bound; Query takes at most
// QueryTime. After a slow or serious failure every process leaves the server alone for Rest; a small state file notes
// it and may be deleted. Each error is one line that names the server. It never retries, stores no vector, and no hook
// calls it.
package embed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// How long is waited. A question is worth less than an answer in time; a document may have
// to wait until the server has loaded its model, which takes some seconds from a cold disk.
const (
	QueryTime = 300 * time.Millisecond
	Rest      = 5 * time.Minute

	aliveTime    = time.Second
	documentTime = 60 * time.Second
	loadTime     = 10 * time.Second
)

// Batch is how many documents go into one request.
const Batch = 16

// DefaultModel is the model that is asked for: an open one of 137 M parameters and 768 dimensions.
const DefaultModel = "nomic-embed-text"

// What a caller decides on.
var (
	ErrAbsent  = errors.New("nothing listens there")
	ErrResting = errors.New("it did not answer in time a moment ago, and is left alone")
)

// Options say which server, which model, and where the client remembers how it went.
type Options struct {
	URL   string // a server, with or without the protocol's path: "http://127.0.0.1:11434", ".../v1/embeddings"
	Model string // "": DefaultModel
	State string // path of the state file
	// Patience is how long vectors of documents may take, a batch; 0: a minute.
	Patience time.Duration
	Now      func() time.Time
}

// Client speaks to one server. It belongs to one goroutine. Close it.
type Client struct {
	base     string // without a slash at its end
	shown    string // base as errors may show it
	model    string
	memory   *memory
	now      func() time.Time
	http     *http.Client
	patience time.Duration
}

// New returns a client. It speaks to nobody yet.
func New(opt Options) (*Client, error) {
	u, err := url.Parse(opt.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" ||
		u.Fragment != "" {
		// What stands before an @ may be a password.
		return nil, fmt.Errorf("embed: %q is no http address of a server", opt.URL[strings.LastIndexByte(opt.URL, '@')+1:])
	}
	opt.Model = cmp.Or(opt.Model, DefaultModel)
	c := &Client{model: opt.Model, now: opt.Now, patience: cmp.Or(opt.Patience, documentTime)}
	u.Path = serverPath(u.Path)
	c.base, c.shown = u.String(), u.Redacted()
	c.memory = readMemory(opt.State, c.shown, opt.Model)
	c.http = &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Close closes the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// nomic is in the name of each model that wants to be told what a text is.
const nomic = "nomic-embed-text"

// Batch is how many documents go into one request.
func (c *Client) Batch() int { return Batch }

// StorageName is what the vectors are stored under: see storageName.
func (c *Client) StorageName() string { return storageName(c.model) }

// storageName is what vectors of a model are stored under: "nomic-v1.5" for nomic-embed-text, else
// what the model is called.
func storageName(model string) string {
	_, version, ok := strings.Cut(strings.ToLower(model), nomic)
	version = strings.TrimLeft(version, "-:")
	if ok && (version == "" || version == "latest" || strings.HasPrefix(version, "v1.5")) {
		return "nomic-v1.5"
	}
	return model
}

// withTaskPrefix is texts as the model wants them.
func (c *Client) withTaskPrefix(task string, texts []string) []string {
	if !strings.Contains(strings.ToLower(c.model), nomic) {
		return texts
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = task + ": " + t
	}
	return out
}

// maxQuery bounds a question in bytes, as a passage of a session is bounded.
const maxQuery = 1000

// Query returns the vector of a question, or an error within QueryTime: ErrAbsent where there
// is no server, ErrResting while it is left alone.
func (c *Client) Query(ctx context.Context, text string) ([]float32, error) {
	if c.memory.isResting(c.now()) {
		return nil, fmt.Errorf("embed: %s: %w", c.shown, ErrResting)
	}
	within, cancel := context.WithTimeout(ctx, QueryTime)
	defer cancel()
	vectors, err := c.ask(within, c.withTaskPrefix("search_query", []string{trimToBytes(text, maxQuery)}))
	if err := c.noteOutcome(ctx, err); err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// Ready finds out whether there is a server, in a second at most. Unless insist is set, one
// that is left alone is not asked.
func (c *Client) Ready(ctx context.Context, insist bool) error {
	if !insist && c.memory.isResting(c.now()) {
		return fmt.Errorf("embed: %s: %w", c.shown, ErrResting)
	}
	within, cancel := context.WithTimeout(ctx, aliveTime)
	defer cancel()
	return c.noteOutcome(ctx, c.alive(within))
}

// Alive finds out whether there is a server, as Ready does, and whether it makes vectors, for which it
// may have to load its model first; it remembers nothing of that.
func (c *Client) Alive(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, aliveTime)
	defer cancel()
	err := c.alive(within)
	if err == nil {
		within, cancel := context.WithTimeout(ctx, loadTime)
		defer cancel()
		_, err = c.ask(within, c.withTaskPrefix("search_document", []string{"hello"}))
	}
	return c.withServerName(err)
}

// Documents returns the vectors of at most Batch texts. If the server refuses them together, it is given fewer at a
// time; of a text that it refuses alone, it is given the first half. A text whose half is refused, too, gets a vector
// of zeros, which is near to nothing: else this text would keep the texts behind it from being embedded for ever.
func (c *Client) Documents(ctx context.Context, texts []string) ([][]float32, error) {
	within, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	var refused error
	vectors, err := c.embedDividing(within, c.withTaskPrefix("search_document", texts), &refused)
	if err == nil {
		err = cmp.Or(zeroRefused(vectors, refused), checkLengths(vectors))
	}
	return vectors, c.noteOutcome(ctx, err)
}

// embedDividing leaves nil for a text that the server refuses, and says in refused how.
func (c *Client) embedDividing(ctx context.Context, texts []string, refused *error) ([][]float32, error) {
	vectors, err := c.ask(ctx, texts)
	if !perhapsTooLong(err) {
		return vectors, err
	}
	if len(texts) == 1 {
		vectors, err = c.ask(ctx, []string{trimToBytes(texts[0], len(texts[0])/2)})
		if perhapsTooLong(err) {
			*refused = err
			return [][]float32{nil}, nil
		}
		return vectors, err
	}
	half := len(texts) / 2
	first, err := c.embedDividing(ctx, texts[:half], refused)
	if err != nil {
		return nil, err
	}
	second, err := c.embedDividing(ctx, texts[half:], refused)
	return append(first, second...), err
}

func perhapsTooLong(err error) bool {
	var r *refusal
	return errors.As(err, &r) && r.perhapsTooLong()
}

// zeroRefused sets the vectors of refused texts to zeros. If all texts were refused, it returns the refusal.
func zeroRefused(vectors [][]float32, refused error) error {
	given := slices.IndexFunc(vectors, func(v []float32) bool { return v != nil })
	if given < 0 {
		return refused
	}
	for i := range vectors {
		if vectors[i] == nil {
			vectors[i] = make([]float32, len(vectors[given]))
		}
	}
	return nil
}

// noteOutcome remembers how it went, and names the server in an error. A refused connection costs
// nothing, so it is no reason to stay away; nor is it when the caller gave up.
func (c *Client) noteOutcome(ctx context.Context, err error) error {
	// What can't be written down is found out again the next time.
	switch {
	case err == nil:
		_ = c.memory.noteAnswer()
		return nil
	case errors.Is(err, syscall.ECONNREFUSED):
	case ctx.Err() == nil:
		_ = c.memory.noteFailure(c.now())
	}
	return c.withServerName(err)
}

// withServerName is an error that names the server.
func (c *Client) withServerName(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = ErrAbsent
	}
	return fmt.Errorf("embed: %s: %w", c.shown, err)
}

// trimToBytes is the first n bytes of text, or less, so that no character is cut in two.
func trimToBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

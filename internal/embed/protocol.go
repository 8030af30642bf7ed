package embed

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
)

// serverPath is the path of a server, where a URL's path may also name the protocol: ".../v1/embeddings", or
// Ollama's older ".../api/embed", beside which Ollama serves the first one, too.
func serverPath(path string) string {
	path = strings.TrimRight(path, "/")
	for _, suffix := range []string{"/v1/embeddings", "/v1", "/api/embed", "/api"} {
		if base, ok := strings.CutSuffix(path, suffix); ok {
			return base
		}
	}
	return path
}

type request struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

type reply struct {
	Data []struct {
		Index     *int      `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
	Error json.RawMessage `json:"error"` // a text, or an object with a message
}

// Errors of an answer that can't be used.
var (
	errForeign = errors.New("the answer is no embedding")
	errCount   = errors.New("the answer has not one vector for each text")
	errVector  = errors.New("the answer has a vector that is none")
)

// maxDimensions bounds a vector: the largest models in use have 4,096 dimensions.
const maxDimensions = 8192

// decodeVectors reads the n vectors of an answer.
func decodeVectors(body []byte, n int) ([][]float32, error) {
	var r reply
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("%w: %w", errForeign, err)
	}
	if r.Data == nil {
		return nil, errForeign
	}
	if len(r.Data) != n {
		return nil, fmt.Errorf("%w: %d for %d", errCount, len(r.Data), n)
	}
	vectors := make([][]float32, n)
	for i, d := range r.Data {
		if d.Index != nil {
			i = *d.Index
		}
		if i < 0 || i >= n {
			return nil, errCount
		}
		vectors[i] = d.Embedding
	}
	return vectors, checkLengths(vectors)
}

// checkLengths checks that vectors have one length, and that each can be made of length 1.
func checkLengths(vectors [][]float32) error {
	for _, v := range vectors {
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if len(v) == 0 || len(v) > maxDimensions || len(v) != len(vectors[0]) || math.IsNaN(sum) || math.IsInf(sum, 0) {
			return fmt.Errorf("%w: %d dimensions, the first has %d", errVector, len(v), len(vectors[0]))
		}
	}
	return nil
}

// refusal is an answer that is an error.
type refusal struct {
	status  int
	message string // the server's own words; "" when it has none that are understood
}

func (r *refusal) Error() string {
	text := fmt.Sprintf("%d %s", r.status, http.StatusText(r.status))
	if r.message != "" {
		text += fmt.Sprintf(": %q", r.message)
	}
	return text
}

// perhapsTooLong reports whether shorter or fewer texts might be taken: servers have different
// answers to what is too long for them.
func (r *refusal) perhapsTooLong() bool {
	return slices.Contains([]int{
		http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
		http.StatusInternalServerError,
	}, r.status)
}

// maxMessage bounds what is told of a server's error, in bytes.
const maxMessage = 200

// newRefusal reads an answer with another status than 200.
func newRefusal(status int, body []byte) *refusal {
	out := &refusal{status: status}
	var r reply
	if json.Unmarshal(body, &r) != nil {
		return out
	}
	var inner struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(r.Error, &out.message) != nil && json.Unmarshal(r.Error, &inner) == nil {
		out.message = inner.Message
	}
	out.message = trimToBytes(out.message, maxMessage)
	return out
}

package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// maxFloat is how many bytes a number of an answer takes at most, with the blanks around it.
const maxFloat = 32

// ask sends texts and returns their vectors, one for each text.
func (c *Client) ask(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(request{Model: c.model, Input: texts})
	if err != nil {
		return nil, err
	}
	answer, err := c.do(ctx, http.MethodPost, "/v1/embeddings", body, 64<<10+len(texts)*maxDimensions*maxFloat)
	if err != nil {
		return nil, err
	}
	return decodeVectors(answer, len(texts))
}

// alive asks for anything: whatever the answer, somebody gives answers.
func (c *Client) alive(ctx context.Context) error {
	_, err := c.do(ctx, http.MethodGet, "/", nil, 64<<10)
	var refusal *refusal
	if errors.As(err, &refusal) || errors.Is(err, errSize) {
		return nil
	}
	return err
}

// errSize is an answer that is larger than any that is expected.
var errSize = errors.New("the answer is too large")

// do sends a request and reads the answer, up to limit bytes. One with another status than 200
// is a refusal.
func (c *Client) do(ctx context.Context, method, path string, body []byte, limit int) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "git-rekal")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, withoutURL(err)
	}
	if len(answer) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", errSize, limit)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, newRefusal(resp.StatusCode, answer)
	}
	return answer, nil
}

// withoutURL is an error without the URL, which the caller names, and which may hold a password.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errSlow
	}
	return err
}

// errSlow is a server that does not answer.
var errSlow = fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)

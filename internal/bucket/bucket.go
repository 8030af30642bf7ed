// Package bucket keeps files in a bucket of S3, or of a server that speaks its protocol.
//
// In: an address, s3://BUCKET/FOLDER, files, and the environment that names the server and the key, as AWS's own tools read it: AWS_ENDPOINT_URL_S3
// or AWS_ENDPOINT_URL, AWS_REGION or AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN. Out: bytes and paths.
//
// Promises: it speaks to that server alone, without a proxy or redirects; it stores no key and shows none; what arrives is what was sent, as the
// server compares its sum; what fails for the moment is tried three times. DuckDB's httpfs can write there, but not remove.
package bucket

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// ErrChanged says that a file is not the one that was read any more.
var ErrChanged = errors.New("somebody else wrote there meanwhile")

// Scheme begins an address.
const Scheme = "s3://"

// How often a request is made, and how long the second and third wait.
const (
	tries = 3
	pause = 500 * time.Millisecond
)

// Bucket is a folder of a bucket. Several goroutines may use it.
type Bucket struct {
	address string // as it was given
	root    url.URL
	folder  string // "" or with a slash at its end
	signer  signer
	now     func() time.Time
	http    *http.Client
}

// Open reads an address and the environment. It speaks to nobody yet.
func Open(address string, getenv func(string) string, now func() time.Time) (*Bucket, error) {
	name, folder, _ := strings.Cut(strings.TrimPrefix(address, Scheme), "/")
	if !strings.HasPrefix(address, Scheme) || name == "" || strings.ContainsAny(name, "@?#:%") {
		return nil, fmt.Errorf("%q is not s3://BUCKET/FOLDER", address)
	}
	b := &Bucket{address: strings.TrimSuffix(address, "/"), now: now, signer: signer{
		id: getenv("AWS_ACCESS_KEY_ID"), secret: getenv("AWS_SECRET_ACCESS_KEY"), token: getenv("AWS_SESSION_TOKEN"),
		region: cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), "us-east-1"),
	}}
	if folder = strings.Trim(folder, "/"); folder != "" {
		b.folder = folder + "/"
	}
	if b.signer.id == "" || b.signer.secret == "" {
		return nil, fmt.Errorf("%s: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set: \"aws configure export-credentials --format env\" prints yours", address)
	}
	endpoint := cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL"))
	if endpoint == "" {
		endpoint = "https://s3." + b.signer.region + ".amazonaws.com"
	}
	root, err := url.Parse(endpoint)
	if err != nil || root.Scheme != "http" && root.Scheme != "https" || root.Hostname() == "" || root.User != nil || root.RawQuery != "" {
		return nil, fmt.Errorf("AWS_ENDPOINT_URL is no http address of a server")
	}
	root.Path = strings.TrimSuffix(root.Path, "/") + "/" + name
	b.root = *root
	b.http = &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 16, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return b, nil
}

// String is the address.
func (b *Bucket) String() string { return b.address }

// Close closes the connections.
func (b *Bucket) Close() { b.http.CloseIdleConnections() }

// request is one to the server, about the file at a path, or about the bucket.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	body         func() (io.ReadCloser, error)
	size         int64
	sum          string // SHA-256 of the body, in hex
}

// Get reads a file. The tag changes whenever the content does; see Replace. The error is fs.ErrNotExist if there is no such file.
func (b *Bucket) Get(ctx context.Context, path string) (content []byte, tag string, err error) {
	content, header, err := b.ask(ctx, request{method: http.MethodGet, path: b.folder + path})
	return content, header.Get("ETag"), err
}

// Put writes a file that lies here, whose size and SHA-256 are known.
func (b *Bucket) Put(ctx context.Context, path, from string, size int64, sum string) error {
	_, _, err := b.ask(ctx, request{
		method: http.MethodPut, path: b.folder + path, size: size, sum: sum,
		body: func() (io.ReadCloser, error) { return os.Open(from) },
	})
	return err
}

// Replace writes a file if it is the one of this tag still; "" if there is none. The error is ErrChanged otherwise, as far as the server can tell.
func (b *Bucket) Replace(ctx context.Context, path string, content []byte, tag string) error {
	sum := sha256.Sum256(content)
	header := http.Header{"If-None-Match": {"*"}}
	if tag != "" {
		header = http.Header{"If-Match": {tag}}
	}
	_, _, err := b.ask(ctx, request{
		method: http.MethodPut, path: b.folder + path, header: header, size: int64(len(content)), sum: hex.EncodeToString(sum[:]),
		body: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
	})
	return err
}

// Remove removes a file, if it is there.
func (b *Bucket) Remove(ctx context.Context, path string) error {
	_, _, err := b.ask(ctx, request{method: http.MethodDelete, path: b.folder + path})
	return err
}

// List gives the paths that begin with prefix, sorted.
func (b *Bucket) List(ctx context.Context, prefix string) (paths []string, err error) {
	query := url.Values{"list-type": {"2"}, "prefix": {b.folder + prefix}}
	for {
		text, _, err := b.ask(ctx, request{method: http.MethodGet, query: query})
		if err != nil {
			return nil, err
		}
		var page struct {
			Contents []struct{ Key string }
			Next     string `xml:"NextContinuationToken"`
		}
		if err := xml.Unmarshal(text, &page); err != nil {
			return nil, fmt.Errorf("list the bucket: %w", err)
		}
		for _, c := range page.Contents {
			paths = append(paths, strings.TrimPrefix(c.Key, b.folder))
		}
		if page.Next == "" {
			return paths, nil
		}
		query.Set("continuation-token", page.Next)
	}
}

// ask makes a request, again where that may help.
func (b *Bucket) ask(ctx context.Context, r request) (content []byte, header http.Header, err error) {
	for try := range tries {
		var again bool
		if content, header, again, err = b.tryRequest(ctx, r); err == nil || !again || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause << try):
		}
	}
	if err != nil {
		err = fmt.Errorf("%s %s: %w", r.method, cmp.Or(r.path, "the bucket"), err)
	}
	return content, header, err
}

// tryRequest makes a request, and tells whether it may end otherwise when it is made again.
func (b *Bucket) tryRequest(ctx context.Context, r request) (content []byte, header http.Header, retry bool, err error) {
	u := b.root
	u.Path += "/" + r.path
	u.RawPath = encodePath(u.Path)
	u.RawQuery = encodeQuery(r.query)
	q, err := http.NewRequestWithContext(ctx, r.method, u.String(), nil)
	if err != nil {
		return nil, nil, false, err
	}
	if r.header != nil {
		q.Header = r.header.Clone()
	}
	if r.body != nil {
		if q.Body, err = r.body(); err != nil {
			return nil, nil, false, err
		}
		q.ContentLength = r.size
	}
	b.signer.sign(q, cmp.Or(r.sum, emptySum), b.now())
	answer, err := b.http.Do(q)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, nil, true, err
	}
	content, err = io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return nil, nil, true, err
	}
	if answer.StatusCode < 300 {
		return content, answer.Header, false, nil
	}
	return nil, nil, answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests, refusal(answer.StatusCode, content)
}

// refusal is the error that a server's answer means.
func refusal(status int, content []byte) error {
	var said struct{ Code, Message string }
	_ = xml.Unmarshal(content, &said) // another server's words are of no use
	switch {
	case status == http.StatusPreconditionFailed || status == http.StatusConflict:
		return ErrChanged
	case said.Code == "NoSuchKey":
		return fs.ErrNotExist
	case status >= 300 && status < 400:
		return fmt.Errorf("the bucket is in another region: set AWS_REGION (status %d)", status)
	case said.Code == "":
		return fmt.Errorf("status %d", status)
	}
	return fmt.Errorf("%s: %.200q", said.Code, said.Message)
}

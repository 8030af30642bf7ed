// Package bucket keeps files in a bucket of S3, or of a server that speaks its protocol, by AWS's own library.
//
// In: an address, s3://BUCKET/FOLDER, files, and the environment that names the server and the key, as AWS's own tools
// read it: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_REGION or AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN. Out: bytes and paths.
//
// Promises: it speaks to that server alone, without a proxy or redirects; it reads no other settings, stores no key and
// shows none; what arrives is what was sent, as the server compares its sum; what fails for the moment is tried three
// times. DuckDB's httpfs can write there, but not remove.
package bucket

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// ErrChanged says that a file is not the one that was read any more.
var ErrChanged = errors.New("somebody else wrote there meanwhile")

// Scheme begins an address.
const Scheme = "s3://"

// tries is how often a request is made.
const tries = 3

// Bucket is a folder of a bucket. Several goroutines may use it.
type Bucket struct {
	address string // as it was given
	name    string
	folder  string // "" or with a slash at its end
	client  *s3.Client
	http    *http.Client
}

// Open reads an address and the environment. It speaks to nobody yet.
func Open(address string, getenv func(string) string) (*Bucket, error) {
	name, folder, _ := strings.Cut(strings.TrimPrefix(address, Scheme), "/")
	if !strings.HasPrefix(address, Scheme) || name == "" || strings.ContainsAny(name, "@?#:%") {
		return nil, fmt.Errorf("%q is not s3://BUCKET/FOLDER", address)
	}
	b := &Bucket{address: strings.TrimSuffix(address, "/"), name: name}
	if folder = strings.Trim(folder, "/"); folder != "" {
		b.folder = folder + "/"
	}
	id, secret := getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY")
	if id == "" || secret == "" {
		return nil, fmt.Errorf("%s: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set: \"aws configure export-credentials --format env\" prints yours", address)
	}
	region := cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), "us-east-1")
	endpoint := cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL"), "https://s3."+region+".amazonaws.com")
	root, err := url.Parse(endpoint)
	if err != nil || root.Scheme != "http" && root.Scheme != "https" || root.Hostname() == "" || root.User != nil ||
		root.RawQuery != "" {
		return nil, fmt.Errorf("AWS_ENDPOINT_URL is no http address of a server")
	}
	b.http = &http.Client{
		Transport: &http.Transport{
			MaxIdleConnsPerHost: 16, TLSHandshakeTimeout: 10 * time.Second,
			ResponseHeaderTimeout: time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	b.client = s3.New(s3.Options{
		Region: region, BaseEndpoint: &endpoint, UsePathStyle: true, HTTPClient: b.http,
		Credentials: credentials.NewStaticCredentialsProvider(id, secret, getenv("AWS_SESSION_TOKEN")),
		Retryer:     retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = tries }),
		// Other servers know no sums but the ones that we send.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	})
	return b, nil
}

// String is the address.
func (b *Bucket) String() string { return b.address }

// Close closes the connections.
func (b *Bucket) Close() { b.http.CloseIdleConnections() }

// Get reads a file. The tag changes whenever the content does; see Replace. The error is fs.ErrNotExist if there is no
// such file.
func (b *Bucket) Get(ctx context.Context, path string) (content []byte, tag string, err error) {
	for range tries { // a body that breaks off is not tried again by the library
		var got *s3.GetObjectOutput
		if got, err = b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: b.key(path)}); err != nil {
			break
		}
		content, err = io.ReadAll(got.Body)
		if err = errors.Join(err, got.Body.Close()); err == nil {
			return content, aws.ToString(got.ETag), nil
		}
	}
	return nil, "", explain("read", path, err)
}

// Put writes a file that lies here, whose size and SHA-256 (in hexadecimal) are known.
func (b *Bucket) Put(ctx context.Context, path, from string, size int64, sum string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return b.put(ctx, path, f, size, sum, func(*s3.PutObjectInput) {})
}

// Replace writes a file if it is the one of this tag still; "" if there is none. The error is ErrChanged otherwise, as
// far as the server can tell.
func (b *Bucket) Replace(ctx context.Context, path string, content []byte, tag string) error {
	sum := sha256.Sum256(content)
	return b.put(ctx, path, bytes.NewReader(content), int64(len(content)), hex.EncodeToString(sum[:]),
		func(in *s3.PutObjectInput) {
			if in.IfMatch = &tag; tag == "" {
				in.IfMatch, in.IfNoneMatch = nil, aws.String("*")
			}
		})
}

func (b *Bucket) put(ctx context.Context, path string, body io.ReadSeeker, size int64, sum string,
	condition func(*s3.PutObjectInput),
) error {
	raw, err := hex.DecodeString(sum)
	if err != nil {
		return explain("write", path, err)
	}
	in := &s3.PutObjectInput{
		Bucket: &b.name, Key: b.key(path), Body: body, ContentLength: &size,
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(raw)),
	}
	condition(in)
	_, err = b.client.PutObject(ctx, in)
	return explain("write", path, err)
}

// Remove removes a file, if it is there.
func (b *Bucket) Remove(ctx context.Context, path string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: b.key(path)})
	return explain("remove", path, err)
}

// List gives the paths that begin with prefix, sorted.
func (b *Bucket) List(ctx context.Context, prefix string) (paths []string, err error) {
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: b.key(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, explain("list", "the bucket", err)
		}
		for _, c := range page.Contents {
			paths = append(paths, strings.TrimPrefix(aws.ToString(c.Key), b.folder))
		}
	}
	return paths, nil
}

func (b *Bucket) key(path string) *string { return aws.String(b.folder + path) }

// explain is the error that an answer of the server means, with what was done to what.
func explain(what, path string, err error) error {
	if err == nil {
		return nil
	}
	status := 0
	if answer := (*smithyhttp.ResponseError)(nil); errors.As(err, &answer) {
		status = answer.HTTPStatusCode()
	}
	said := smithy.APIError(nil)
	isSaid := errors.As(err, &said)
	switch {
	case status == http.StatusPreconditionFailed || status == http.StatusConflict:
		err = ErrChanged
	case isSaid && said.ErrorCode() == "NoSuchKey":
		err = fs.ErrNotExist
	case status >= 300 && status < 400:
		err = fmt.Errorf("the bucket is in another region: set AWS_REGION (status %d)", status)
	case isSaid:
		err = fmt.Errorf("%s: %.200q", said.ErrorCode(), said.ErrorMessage())
	case status != 0:
		err = fmt.Errorf("status %d", status)
	default:
		if failed := (*url.Error)(nil); errors.As(err, &failed) {
			err = failed.Err
		}
	}
	return fmt.Errorf("%s %s: %w", what, path, err)
}

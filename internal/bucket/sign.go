package bucket

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// emptySum is the SHA-256 of nothing.
const emptySum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// signer signs requests: AWS Signature Version 4, https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html.
type signer struct{ id, secret, token, region string }

// sign adds the headers that say who asks. All headers that a request has by now are signed.
func (s signer) sign(r *http.Request, sum string, now time.Time) {
	at := now.UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", at)
	r.Header.Set("X-Amz-Content-Sha256", sum)
	if s.token != "" {
		r.Header.Set("X-Amz-Security-Token", s.token)
	}
	signed := map[string]string{"host": r.URL.Host}
	for name, values := range r.Header {
		signed[strings.ToLower(name)] = strings.Join(values, ",")
	}
	names := slices.Sorted(maps.Keys(signed))
	var lines strings.Builder
	for _, name := range names {
		lines.WriteString(name + ":" + strings.TrimSpace(signed[name]) + "\n")
	}
	asked := strings.Join([]string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, lines.String(), strings.Join(names, ";"), sum}, "\n")
	scope := strings.Join([]string{at[:8], s.region, "s3", "aws4_request"}, "/")
	asked = strings.Join([]string{"AWS4-HMAC-SHA256", at, scope, fmt.Sprintf("%x", sha256.Sum256([]byte(asked)))}, "\n")
	key := []byte("AWS4" + s.secret)
	for _, part := range append(strings.Split(scope, "/"), asked) {
		key = hmacSHA256(key, part)
	}
	r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%s", s.id, scope, strings.Join(names, ";"), hex.EncodeToString(key)))
}

func hmacSHA256(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// encodePath and encodeQuery write a path and a query as they are signed: everything but letters, digits, and "-._~" in hex.
func encodePath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = encodePart(part)
	}
	return strings.Join(parts, "/")
}

func encodeQuery(query url.Values) string { return strings.ReplaceAll(query.Encode(), "+", "%20") }

func encodePart(part string) string { return strings.ReplaceAll(url.QueryEscape(part), "+", "%20") }

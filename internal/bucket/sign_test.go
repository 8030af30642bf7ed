package bucket

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// The requests and signatures are those of AWS's page on Signature Version 4.
func TestSign(t *testing.T) {
	s := signer{id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region: "us-east-1"}
	for _, test := range []struct {
		name, method, path string
		query              url.Values
		header             http.Header
		sum, want          string
	}{
		{
			"get", http.MethodGet, "/test.txt", nil,
			http.Header{"Range": {"bytes=0-9"}},
			emptySum,
			"f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
		},
		{
			"put", http.MethodPut, "/test$file.text", nil,
			http.Header{"Date": {"Fri, 24 May 2013 00:00:00 GMT"}, "X-Amz-Storage-Class": {"REDUCED_REDUNDANCY"}},
			"44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
		},
		{
			"list", http.MethodGet, "/",
			url.Values{"prefix": {"J"}, "max-keys": {"2"}},
			nil, emptySum,
			"34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := &url.URL{Scheme: "https", Host: "examplebucket.s3.amazonaws.com", Path: test.path, RawPath: encodePath(test.path), RawQuery: encodeQuery(test.query)}
			r, err := http.NewRequestWithContext(t.Context(), test.method, u.String(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if test.header != nil {
				r.Header = test.header
			}
			s.sign(r, test.sum, time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
			if _, got, _ := strings.Cut(r.Header.Get("Authorization"), "Signature="); got != test.want {
				t.Errorf("signature %s, want %s", got, test.want)
			}
		})
	}
}

package world

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Visitor is who has the address that web printed.
type Visitor struct {
	t      testing.TB
	Client *http.Client
	Base   string // where the pages lie
}

// Visit opens the pages as a browser does.
func Visit(t testing.TB, address string) *Visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &Visitor{t: t, Client: &http.Client{Jar: jar}}
	answer, err := v.Client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", address, answer.Status)
	}
	v.Base = answer.Request.URL.String()
	return v
}

// named is a browser behind a proxy that says who asks.
type named struct{ user string }

func (n named) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("X-Forwarded-User", n.user)
	return http.DefaultTransport.RoundTrip(r)
}

// VisitAs opens the pages as somebody whom a proxy has logged in.
func VisitAs(t testing.TB, address, user string) *Visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &Visitor{t: t, Client: &http.Client{Jar: jar, Transport: named{user}}}
	answer, err := v.Client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	v.Base = answer.Request.URL.String()
	return v
}

// Any is the text of a page, be it an error.
func (v *Visitor) Any(name string) string {
	v.t.Helper()
	answer, err := v.Client.Get(v.Base + name)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return string(body)
}

// Page reads a page that there must be.
func (v *Visitor) Page(name string) (text string, doc *html.Node) {
	v.t.Helper()
	answer, err := v.Client.Get(v.Base + name)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		v.t.Fatalf("%s: %s, %v\n%s", name, answer.Status, err, body)
	}
	if doc, err = html.Parse(strings.NewReader(string(body))); err != nil {
		v.t.Fatal(err)
	}
	return string(body), doc
}

// TextsOf is what stands in elements of a name, or with a class.
func TextsOf(doc *html.Node, element string) (out []string) {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && (n.Data == element ||
			slices.Contains(strings.Fields(Attribute(n, "class")), strings.TrimPrefix(element, "."))) {
			var b strings.Builder
			for d := range n.Descendants() {
				if d.Type == html.TextNode {
					b.WriteString(d.Data)
				}
			}
			out = append(out, strings.Join(strings.Fields(b.String()), " "))
		}
	}
	return out
}

// Attribute is the value of an attribute of an element; "" for none.
func Attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// Links are where a page leads, each once.
func Links(doc *html.Node) (out []string) {
	for n := range doc.Descendants() {
		if href := Attribute(n, "href"); n.Type == html.ElementNode && n.Data == "a" && href != "" &&
			!slices.Contains(out, href) {
			out = append(out, href)
		}
	}
	return out
}

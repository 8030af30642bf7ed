package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// codeHost answers as the API of a host of code does, for the comments of one pull request.
type codeHost struct {
	name, header string // the header that holds the token
	list, edit   string // paths of all comments and, behind a slash, of one
	method       string // of an edit
	comments     []hostComment
	calls        []string
}

type hostComment struct {
	id           int
	author, text string
}

func codeHosts() []*codeHost {
	return []*codeHost{
		{
			name: "github", header: "Bearer t0ken", list: "/repos/a/b/issues/7/comments", edit: "/repos/a/b/issues/comments/",
			method: http.MethodPatch,
		},
		{
			name: "gitea", header: "token t0ken", list: "/api/v1/repos/a/b/issues/7/comments",
			edit: "/api/v1/repos/a/b/issues/comments/", method: http.MethodPatch,
		},
		{
			name: "gitlab", header: "t0ken", list: "/api/v4/projects/3/merge_requests/7/notes",
			edit: "/api/v4/projects/3/merge_requests/7/notes/", method: http.MethodPut,
		},
		{
			name: "bitbucket", header: "Bearer t0ken", list: "/2.0/repositories/a/b/pullrequests/7/comments",
			edit: "/2.0/repositories/a/b/pullrequests/7/comments/", method: http.MethodPut,
		},
	}
}

// shape is a comment as the host writes it.
func (h *codeHost) shape(c hostComment) map[string]any {
	switch h.name {
	case "gitlab":
		return map[string]any{"id": c.id, "body": c.text, "author": map[string]any{"username": c.author}}
	case "bitbucket":
		return map[string]any{
			"id": c.id, "content": map[string]any{"raw": c.text},
			"user": map[string]any{"nickname": c.author},
		}
	}
	return map[string]any{"id": c.id, "body": c.text, "user": map[string]any{"login": c.author}}
}

// page is a part of the comments: Gitea gives all at once.
func (h *codeHost) page(r *http.Request) any {
	all, size := h.comments, 20
	if n, err := strconv.Atoi(r.FormValue("per_page") + r.FormValue("pagelen")); err == nil {
		size = min(n, 100)
	}
	if n, _ := strconv.Atoi(r.FormValue("page")); h.name != "gitea" {
		from := min(size*max(n-1, 0), len(all))
		all = all[from:min(from+size, len(all))]
	}
	shapes := []any{}
	for _, c := range all {
		shapes = append(shapes, h.shape(c))
	}
	if h.name == "bitbucket" {
		return map[string]any{"values": shapes, "pagelen": size}
	}
	return shapes
}

func (h *codeHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization")+r.Header.Get("PRIVATE-TOKEN") != h.header {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var sent struct {
		Body    string
		Content struct{ Raw string }
	}
	if r.Method != http.MethodGet {
		h.calls = append(h.calls, r.Method+" "+r.URL.Path)
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	answer := any(map[string]any{"username": "bot"})
	id, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, h.edit))
	switch {
	case h.name == "gitlab" && r.URL.Path == "/api/v4/user":
	case r.Method == http.MethodGet && r.URL.Path == h.list:
		answer = h.page(r)
	case r.Method == http.MethodPost && r.URL.Path == h.list:
		h.comments = append(h.comments, hostComment{len(h.comments) + 1, "bot", sent.Body + sent.Content.Raw})
		w.WriteHeader(http.StatusCreated)
	case r.Method == h.method && strings.HasPrefix(r.URL.Path, h.edit) && id > 0 && id <= len(h.comments):
		h.comments[id-1].text = sent.Body + sent.Content.Raw
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// TestComment: one comment of a pull request has the page, edited by each run, whatever others and other workflows
// wrote.
func TestComment(t *testing.T) {
	for _, program := range []string{"curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s here", program)
		}
	}
	for _, h := range codeHosts() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			const mark = "[git-rekal]: # (sessions)\n"
			for i := range 120 { // two pages of them
				h.comments = append(h.comments, hostComment{
					i + 1, []string{"bot", "mallory"}[i%2],
					fmt.Sprintf("coverage %d, said below %s", i, mark),
				})
			}
			h.comments[9].text = mark + "\nmine, says mallory"
			if h.comments[9].author != "mallory" {
				t.Fatal(h.comments[9])
			}
			server := httptest.NewServer(h)
			defer server.Close()
			others := fmt.Sprint(h.comments)
			for i, page := range []string{"one \"quoted\" $x\n", "two é\\n\n"} {
				run := exec.Command("sh", filepath.Join("..", "docs", "ci", "comment.sh"), writePage(t, mark+"\n"+page))
				run.Env = append(os.Environ(), "HOST="+h.name, "COMMENTS="+server.URL+h.list, "TOKEN=t0ken")
				if h.name != "gitlab" { // whose API says who the token is
					run.Env = append(run.Env, "AUTHOR=other-bot bot")
				}
				if out, err := run.CombinedOutput(); err != nil || len(out) > 0 {
					t.Fatalf("run %d: %v\n%s", i, err, out)
				}
				if len(h.comments) != 121 || h.comments[120].text != mark+"\n"+page || fmt.Sprint(h.comments[:120]) != others {
					t.Errorf("run %d: %d comments, the last %q", i, len(h.comments), h.comments[len(h.comments)-1].text)
				}
			}
			harness.Equal(t, "calls", []string{"POST " + h.list, h.method + " " + h.edit + "121"}, h.calls)
			refused := exec.Command("sh", filepath.Join("..", "docs", "ci", "comment.sh"), writePage(t, mark))
			refused.Env = append(os.Environ(), "HOST="+h.name, "COMMENTS="+server.URL+h.list, "TOKEN=wrong", "AUTHOR=bot")
			if out, err := refused.CombinedOutput(); err == nil || strings.Contains(string(out), "wrong") ||
				len(h.comments) != 121 {
				t.Errorf("with a wrong token: %v, %s", err, out)
			}
		})
	}
}

func writePage(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

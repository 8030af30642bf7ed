package web

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Server answers whoever has its address, on this machine.
//
// Every user and every page of the web that a browser here shows can reach a port of 127.0.0.1. So a request is
// answered only if it names the server as its host (a name of somebody else's may be made to lead here), if no page of
// another origin made it, and if it has the token of the address, or the cookie that the token was exchanged for.
// Browsers send a cookie of 127.0.0.1 to every port there, but to no other folder: pages lie in one that nobody else
// has.
type Server struct {
	site   *Site
	listen net.Listener
	folder string // "/0123456789abcdef/"
	cookie string // the value

	mu     sync.Mutex
	tokens map[string]bool // true: can be exchanged once
}

// cookieName is what the cookie is called.
const cookieName = "rekal"

// Listen opens a port of 127.0.0.1; 0 for a free one. Serve closes it.
func (s *Site) Listen(port int) (*Server, error) {
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	v := &Server{site: s, listen: l, tokens: map[string]bool{}}
	folder, err := s.secret(8)
	if err == nil {
		v.folder = "/" + folder + "/"
		v.cookie, err = s.secret(32)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return v, nil
}

// secret is some random bytes, in hexadecimal.
func (s *Site) secret(bytes int) (string, error) {
	b := make([]byte, bytes)
	_, err := io.ReadFull(s.process.Rand, b)
	return hex.EncodeToString(b), err
}

// Address is one that opens the pages, with a token of its own. One that works once may be told to a program: whoever
// sees its arguments comes too late.
func (v *Server) Address(once bool) (string, error) {
	token, err := v.site.secret(32)
	if err != nil {
		return "", err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tokens[token] = once
	return "http://" + v.listen.Addr().String() + v.folder + "?token=" + token, nil
}

// Serve answers until the context ends; requests that are under way end with it.
func (v *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler: v, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(v.listen); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close gives the port back where Serve was not called.
func (v *Server) Close() error { return v.listen.Close() }

// policy lets a page load its style, script and icon, ask this server, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// setHeaders sets the headers that every response has.
func setHeaders(h http.Header) {
	for _, pair := range [][2]string{
		{"Content-Security-Policy", policy},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"Cache-Control", "no-store"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"X-Frame-Options", "DENY"},
		{"Permissions-Policy", "camera=(), geolocation=(), microphone=()"},
	} {
		h.Set(pair[0], pair[1])
	}
}

// ServeHTTP implements http.Handler.
func (v *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	name, inside := strings.CutPrefix(r.URL.Path, v.folder)
	token := r.URL.Query().Get("token")
	switch {
	case !slices.Contains(v.hosts(), r.Host):
		writeRefusal(w, http.StatusMisdirectedRequest, "this is not the host that you asked for")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		writeRefusal(w, http.StatusMethodNotAllowed, "these pages only read")
	case isCrossOrigin(r):
		writeRefusal(w, http.StatusForbidden, "another page led here: type or paste the address")
	case inside && token != "" && v.redeemToken(token):
		http.SetCookie(w, &http.Cookie{
			Name: cookieName, Value: v.cookie, Path: v.folder, HttpOnly: true,
			SameSite: http.SameSiteStrictMode,
		})
		q := r.URL.Query()
		q.Del("token")
		w.Header().Set("Location", strings.TrimSuffix(r.URL.Path+"?"+q.Encode(), "?"))
		w.WriteHeader(http.StatusSeeOther)
	case !v.hasCookie(r):
		writeRefusal(w, http.StatusForbidden, `open the address that "git rekal web" printed`)
	case !inside:
		writeRefusal(w, http.StatusNotFound, "there is no such page")
	default:
		v.answer(w, r, name)
	}
}

func writeRefusal(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "git-rekal: "+why+"\n")
}

// hosts are the names that lead here, and nowhere else.
func (v *Server) hosts() []string {
	address := v.listen.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	return []string{address, "localhost:" + port}
}

// isCrossOrigin reports whether a page of another origin made a request, as far as the browser says.
func isCrossOrigin(r *http.Request) bool {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	return site != "" && site != "same-origin" && site != "none" || origin != "" && origin != "http://"+r.Host
}

// redeemToken reports whether a token is one that was given out; one that works once is used up.
func (v *Server) redeemToken(token string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for known, once := range v.tokens {
		if subtle.ConstantTimeCompare([]byte(known), []byte(token)) == 1 {
			if once {
				delete(v.tokens, known)
			}
			return true
		}
	}
	return false
}

func (v *Server) hasCookie(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(cookieName), func(c *http.Cookie) bool {
		return subtle.ConstantTimeCompare([]byte(c.Value), []byte(v.cookie)) == 1
	})
}

// answer sends a page or an asset.
func (v *Server) answer(w http.ResponseWriter, r *http.Request, name string) {
	body, kind, status := []byte(nil), "text/html; charset=utf-8", http.StatusOK
	if path.Ext(name) != "" {
		var err error
		if body, kind, err = asset(name); err != nil {
			writeRefusal(w, http.StatusNotFound, "there is no such page")
			return
		}
	} else {
		var err error
		body, err = v.site.renderPage(r.Context(), proxyUser(r.Header), name, r.URL.Query(), servedLinks())
		status = statusOf(err)
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // who went away needs none
	}
}

// asset is a file that pages need, and its type.
func asset(name string) ([]byte, string, error) {
	kinds := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
		".svg": "image/svg+xml",
	}
	kind := kinds[path.Ext(name)]
	if kind == "" {
		return nil, "", fs.ErrNotExist
	}
	body, err := assets.ReadFile("assets/" + name)
	return body, kind, err
}

// Package forge knows where well-known hosts of git repositories show a commit.
//
// In: the URL of a remote. Out: an address for a browser, without the URL's password. It asks nobody, and knows no host
// under a name of its own.
package forge

import (
	"net/url"
	"strings"
)

// Repository is one on a known host; the zero value is none.
type Repository struct{ commits string }

// Of finds the repository that a remote's URL names: ssh://, https://, git://, or USER@HOST:PATH. For an unknown host
// it is the zero Repository.
func Of(remote string) Repository {
	host, path := splitURL(remote)
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	between, known := map[string]string{
		"github.com": "/commit/", "gitlab.com": "/-/commit/", "bitbucket.org": "/commits/", "codeberg.org": "/commit/",
	}[strings.ToLower(host)]
	if !known || strings.Count(path, "/") < 1 {
		return Repository{}
	}
	page := url.URL{Scheme: "https", Host: strings.ToLower(host), Path: "/" + path + between}
	return Repository{commits: page.String()}
}

// Commit is the address of a commit, whose OID may be abbreviated; "" where the host is not known.
func (r Repository) Commit(oid string) string {
	if r.commits == "" {
		return ""
	}
	return r.commits + url.PathEscape(oid)
}

// splitURL takes a URL, or what scp takes, apart.
func splitURL(remote string) (host, path string) {
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil {
			return "", ""
		}
		return u.Hostname(), u.Path
	}
	host, path, ok := strings.Cut(remote, ":")
	if !ok || strings.Contains(host, "/") {
		return "", ""
	}
	return host[strings.LastIndexByte(host, '@')+1:], path
}

package config

import "strings"

// PlaceOf is where a remote's URL leads, without scheme and user, so that a clone over SSH and one over HTTPS are of
// one repository: "github.com/acme/shop".
func PlaceOf(url string) string {
	_, rest, scheme := strings.Cut(url, "://")
	if !scheme {
		if rest = url; !strings.HasPrefix(url, "/") {
			rest = strings.Replace(url, ":", "/", 1)
		}
	}
	host, path, _ := strings.Cut(rest, "/")
	return strings.TrimSuffix(strings.TrimSuffix(host[strings.LastIndex(host, "@")+1:]+"/"+path, "/"), ".git")
}

// PlaceName is a place as the name of a file, and as a value that every engine reads in a path: "github.com-acme-shop".
func PlaceName(place string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("._", r)) {
			return r
		}
		return '-'
	}, place)
	return strings.TrimLeft(name, "-.")
}

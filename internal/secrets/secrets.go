// Package secrets gathers values that this machine knows to be secret: environment variables with such names, .env and
// similar files of the repository, login files of tools in the home folder (~/.netrc, AWS, Docker, npm, Kubernetes …),
// and git's configuration and credential files.
//
// In: where to look. Out: values in no order, which internal/redact takes out of everything stored. They stay in
// memory. They are never written, logged, hashed or put into an error.
//
// Promises: it opens only regular files, and reads at most 1 MB of each; it skips missing and unreadable ones silently;
// the search for .env files is bounded, so that no commit waits for it (see envFiles).
package secrets

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/redact"
)

// Source says where to look.
type Source struct {
	Env   []string            // "KEY=value"
	Home  string              // the user's home folder; "" when there is none
	Roots []string            // worktrees; subfolders are looked into in the first one only
	Git   map[string][]string // git's configuration: keys to all their values
}

// Gather returns the values that are secret by what they are called or where they stand.
// Ordinary words may be among them.
func (s Source) Gather() []string {
	var c collection
	vars := map[string]string{}
	for _, kv := range s.Env {
		if name, v, ok := strings.Cut(kv, "="); ok {
			vars[name] = v
			c.addIfSecretName(name, v)
		}
	}
	bytes := 0
	for i, root := range s.Roots {
		for _, f := range envFiles(root, i == 0) {
			if bytes > maxBytes || len(c.values) > maxValues {
				break
			}
			if isSecretFile(filepath.Base(f)) {
				c.addSecretFile(f)
				continue
			}
			text := readRegular(f)
			bytes += len(text)
			for _, kv := range parseEnv(text) {
				if len(c.values) > maxValues {
					break
				}
				c.addDotenvValue(kv.key, kv.value)
			}
		}
	}
	s.addHomeFiles(&c, vars)
	for key, values := range s.Git {
		c.addURLPasswords(key) // url.<base>.insteadOf
		for _, v := range values {
			c.addGitConfig(key, v)
		}
	}
	return c.values
}

// addHomeFiles adds the secrets of the credential files that lie in the home folder, or where the environment says.
func (s Source) addHomeFiles(c *collection, vars map[string]string) {
	at := func(variable string, home ...string) string {
		if v := vars[variable]; v != "" && variable != "" {
			return v
		}
		if s.Home == "" {
			return ""
		}
		return filepath.Join(append([]string{s.Home}, home...)...)
	}
	for _, f := range []string{at("NETRC", ".netrc"), at("", "_netrc")} {
		c.addNetrc(readRegular(f))
	}
	for _, f := range []string{
		at("AWS_SHARED_CREDENTIALS_FILE", ".aws", "credentials"),
		at("AWS_CONFIG_FILE", ".aws", "config"),
	} {
		for _, kv := range parseEnv(readRegular(f)) {
			if strings.HasPrefix(kv.key, "aws_") {
				c.add(kv.value)
			}
		}
	}
	xdg := at("XDG_CONFIG_HOME", ".config")
	addCredentialFiles(c, at, xdg, vars)
	for _, f := range []string{at("", ".git-credentials"), filepath.Join(xdg, "git", "credentials")} {
		for line := range strings.Lines(readRegular(f)) {
			c.addURLPasswords(line)
		}
	}
}

// collection holds the secret values that were found so far.
type collection struct{ values []string }

// add adds a value, and each line of a value that has several.
func (c *collection) add(v string) {
	if v = strings.TrimSpace(v); v == "" {
		return
	}
	c.values = append(c.values, v)
	if !strings.Contains(v, "\n") {
		return
	}
	for line := range strings.Lines(v) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-----") && (len(line) >= 24 || !redact.Wordy(line)) {
			c.values = append(c.values, line)
		}
	}
}

// addIfSecretName adds a value if its name looks secret, and under any name the password of a URL in
// the value.
func (c *collection) addIfSecretName(name, v string) {
	if isSecretName(name) {
		c.add(v)
	}
	c.addURLPasswords(v)
}

// addDotenvValue adds a value of a .env file. Such a file is there to hold secrets: a value under
// any name counts, unless it is made of words or is a hash.
func (c *collection) addDotenvValue(name, v string) {
	c.addIfSecretName(name, v)
	if !hexOrUUID.MatchString(v) && (!redact.Wordy(v) || hasOddPart(v)) {
		c.add(v)
	}
}

// hasOddPart reports whether a part of v, between signs, is no word, nor a word and its number:
// it mixes digits with letters of both cases.
func hasOddPart(v string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(v,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), func(part string) bool {
		return len(part) > 3 && !redact.Wordy(part) && strings.ContainsFunc(part, unicode.IsDigit) &&
			strings.ContainsFunc(part, unicode.IsUpper) && strings.ContainsFunc(part, unicode.IsLower)
	})
}

// hexOrUUID matches a hash or a UUID.
var hexOrUUID = lazy.Expr(`^[0-9a-fA-F-]+$`)

// userinfo matches what stands before the host of a URL.
var userinfo = lazy.Expr(`://([^\s/"'<>]*)@`)

// addURLPasswords adds the passwords of URLs, as they stand there and decoded. A single name
// before the "@" is a user, or a token in a user's place.
func (c *collection) addURLPasswords(v string) {
	for _, m := range userinfo.FindAllStringSubmatch(v, -1) {
		user, password, both := strings.Cut(m[1], ":")
		if !both || password == "x-oauth-basic" {
			if redact.Wordy(user) {
				continue
			}
			password = user
		}
		c.add(password)
		if plain, err := url.PathUnescape(password); err == nil && plain != password {
			c.add(plain)
		}
	}
}

// addGitConfig adds the secrets of a setting of git: URLs with passwords, headers, and settings with a secret
// name.
func (c *collection) addGitConfig(key, v string) {
	name := key[strings.LastIndexByte(key, '.')+1:]
	if strings.EqualFold(name, "extraheader") {
		c.addHeader(v)
	}
	c.addIfSecretName(name, v)
}

// addHeader adds the value of an HTTP header, and the password of "Authorization: Basic".
func (c *collection) addHeader(v string) {
	_, v, _ = strings.Cut(v, ":")
	fields := strings.Fields(v)
	if len(fields) == 0 {
		return
	}
	last := fields[len(fields)-1]
	c.add(last)
	if len(fields) > 1 && strings.EqualFold(fields[0], "basic") {
		c.addBasicAuth(last)
	}
}

// addNetrc adds the words behind "password" and "account" in a .netrc.
func (c *collection) addNetrc(text string) {
	fields := strings.Fields(text)
	for i, f := range fields {
		if (f == "password" || f == "account") && i+1 < len(fields) {
			c.add(strings.Trim(fields[i+1], `"`))
			c.add(fields[i+1])
		}
	}
}

// isSecretName reports whether a name says that its value is secret.
func isSecretName(name string) bool {
	// the name of a setting, as core.hooksPath
	if name == "PWD" || name == "OLDPWD" || strings.HasPrefix(name, "GIT_CONFIG_KEY_") {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(camelBoundary.ReplaceAllString(name, "${1}_${2}")), func(r rune) bool {
		return r == '_' || r == '-' || r == '.' || r == ' '
	})
	if len(words) == 0 || redact.AboutSecret(words[len(words)-1]) {
		return false
	}
	for _, w := range words {
		switch w {
		case "pass", "pwd", "pw", "key", "pat", "dsn", "jwt", "salt", "auth", "private", "cookie", "signature", "webhook",
			"bearer", "seed", "mnemonic", "pin":
			return true
		}
		for _, part := range []string{
			"password", "passwd", "passphrase", "passcode", "secret", "token", "apikey",
			"credential", "accesskey", "privatekey",
		} {
			if strings.Contains(w, part) {
				return true
			}
		}
	}
	return false
}

var camelBoundary = lazy.Expr(`([a-z0-9])([A-Z])`)

const (
	// maxFile is how much of a file is read, in bytes.
	maxFile = 1 << 20
	// maxBytes and maxValues are how much of .env files together, the nearest to the root first:
	// a commit waits for it, and a repository may come with any.
	maxBytes  = 4 << 20
	maxValues = 10_000
)

// readRegular is the text of a regular file, also behind a symbolic link; "" for what is none, or
// can't be read. Opening does not wait, should it have become a pipe in between.
func readRegular(path string) string {
	if path == "" {
		return ""
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return ""
	}
	return string(b)
}

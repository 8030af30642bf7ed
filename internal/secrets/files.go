package secrets

import (
	"cmp"
	"encoding/base64"
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// stores are the files in the home folder in which tools keep what they log in with, and the
// variable that says where else one is.
func stores(c *collection, at func(variable string, home ...string) string, xdg string, vars map[string]string) {
	for line := range strings.Lines(readRegular(at("PGPASSFILE", ".pgpass"))) {
		c.pgpass(line)
	}
	files := []string{
		at("NPM_CONFIG_USERCONFIG", ".npmrc"), below(at("DOCKER_CONFIG", ".docker"), "config.json"),
		below(cmp.Or(vars["GH_CONFIG_DIR"], below(xdg, "gh")), "hosts.yml"),
		at("", ".my.cnf"), at("", ".pypirc"), at("", ".yarnrc.yml"), at("", ".cargo", "credentials.toml"), at("", ".gem", "credentials"),
	}
	files = append(files, filepath.SplitList(at("KUBECONFIG", ".kube", "config"))...)
	for _, f := range files {
		c.keyed(readRegular(f))
	}
}

// below is a file in a folder; "" where there is none.
func below(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// isStore reports whether a file in a repository is there to hold secrets: Rails' key, Rails'
// and others' secrets, variables of Terraform, logins of npm and of PyPI.
func isStore(name string) bool {
	switch name {
	case "master.key", "secrets.yml", "secrets.yaml", ".npmrc", ".pypirc":
		return true
	}
	return strings.HasSuffix(name, ".tfvars")
}

// store takes what such a file holds: a key alone, or values by their names.
func (c *collection) store(path string) {
	text := readRegular(path)
	if strings.HasSuffix(path, ".key") {
		c.add(text)
		return
	}
	c.keyed(text)
}

// keyedLine is a name and its value, as YAML, JSON, TOML, HCL and INI files have them in a line;
// keyedJSON is one anywhere in a line.
var (
	keyedLine = lazy.Expr(`(?m)^[ \t-]*["']?([\w./:@-]*?)["']?[ \t]*(?:=|:[ \t])[ \t]*(\S[^\n]*)$`)
	keyedJSON = lazy.Expr(`"([\w-]+)"\s*:\s*"([^"\n]+)"`)
)

// keyed takes the values whose names say that they are secret.
func (c *collection) keyed(text string) {
	for _, re := range []*lazy.Regexp{keyedLine, keyedJSON} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			name, v := m[1], unquoted(m[2])
			name = name[strings.LastIndexAny(name, ":/.")+1:]
			c.named(name, v)
			if isSecret(name) {
				c.encoded(v)
			}
		}
	}
}

// unquoted is a value without quotes, or without what stands behind it.
func unquoted(v string) string {
	v = strings.TrimRight(v, " \t\r,")
	if v != "" && (v[0] == '"' || v[0] == '\'') {
		if n := closing(v[1:], v[0]); n >= 0 {
			return v[1 : n+1]
		}
	}
	v, _, _ = strings.Cut(v, " #")
	return strings.TrimSpace(v)
}

// encoded takes the password out of the base64 of "user:password", as Docker and npm store it.
func (c *collection) encoded(v string) {
	pair, err := base64.StdEncoding.DecodeString(v)
	if err != nil {
		return
	}
	if _, password, ok := strings.Cut(string(pair), ":"); ok {
		c.add(password)
	}
}

// pgpass takes the password of a line "host:port:database:user:password", in which a backslash
// escapes colons.
func (c *collection) pgpass(line string) {
	line = strings.TrimRight(line, "\r\n")
	for range 4 {
		end := strings.IndexByte(line, ':')
		for end > 0 && line[end-1] == '\\' {
			next := strings.IndexByte(line[end+1:], ':')
			if next < 0 {
				return
			}
			end += 1 + next
		}
		if end < 0 || strings.HasPrefix(line, "#") {
			return
		}
		line = line[end+1:]
	}
	c.add(strings.NewReplacer(`\:`, ":", `\\`, `\`).Replace(line))
}

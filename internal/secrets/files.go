package secrets

import (
	"cmp"
	"encoding/base64"
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// addCredentialFiles adds the secrets in the files of the home folder in which tools keep their logins. at is the
// path of a file: what the environment variable says, else the path below home.
func addCredentialFiles(c *collection, at func(variable string, home ...string) string, xdg string,
	vars map[string]string,
) {
	for line := range strings.Lines(readRegular(at("PGPASSFILE", ".pgpass"))) {
		c.addPgpass(line)
	}
	files := []string{
		at("NPM_CONFIG_USERCONFIG", ".npmrc"), fileIn(at("DOCKER_CONFIG", ".docker"), "config.json"),
		fileIn(cmp.Or(vars["GH_CONFIG_DIR"], fileIn(xdg, "gh")), "hosts.yml"),
		at("", ".my.cnf"), at("", ".pypirc"), at("", ".yarnrc.yml"), at("", ".cargo", "credentials.toml"),
		at("", ".gem", "credentials"),
	}
	files = append(files, filepath.SplitList(at("KUBECONFIG", ".kube", "config"))...)
	for _, f := range files {
		c.addPairs(readRegular(f))
	}
}

// fileIn is the path of a file in a folder; "" if dir is "".
func fileIn(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// isSecretFile reports whether a file in a repository is there to hold secrets: Rails' key, Rails'
// and others' secrets, variables of Terraform, logins of npm and of PyPI.
func isSecretFile(name string) bool {
	switch name {
	case "master.key", "secrets.yml", "secrets.yaml", ".npmrc", ".pypirc":
		return true
	}
	return strings.HasSuffix(name, ".tfvars")
}

// addSecretFile adds what a file that isSecretFile holds: one key, or pairs of a name and a value.
func (c *collection) addSecretFile(path string) {
	text := readRegular(path)
	if strings.HasSuffix(path, ".key") {
		c.add(text)
		return
	}
	c.addPairs(text)
}

// pairLine is a line with a name and its value, as YAML, JSON, TOML, HCL and INI files have it;
// pairJSON matches a pair of JSON anywhere in a line.
var (
	pairLine = lazy.Expr(`(?m)^[ \t-]*["']?([\w./:@-]*?)["']?[ \t]*(?:=|:[ \t])[ \t]*(\S[^\n]*)$`)
	pairJSON = lazy.Expr(`"([\w-]+)"\s*:\s*"([^"\n]+)"`)
)

// addPairs adds the values of a text whose names say that they are secret.
func (c *collection) addPairs(text string) {
	for _, re := range []*lazy.Regexp{pairLine, pairJSON} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			name, v := m[1], unquoted(m[2])
			name = name[strings.LastIndexAny(name, ":/.")+1:]
			c.addIfSecretName(name, v)
			if isSecretName(name) {
				c.addBasicAuth(v)
			}
		}
	}
}

// unquoted is a value without its quotes and without a comma or comment behind it.
func unquoted(v string) string {
	v = strings.TrimRight(v, " \t\r,")
	if v != "" && (v[0] == '"' || v[0] == '\'') {
		if n := closingQuote(v[1:], v[0]); n >= 0 {
			return v[1 : n+1]
		}
	}
	v, _, _ = strings.Cut(v, " #")
	return strings.TrimSpace(v)
}

// addBasicAuth adds the password of "user:password" in base64, as Docker and npm store it.
func (c *collection) addBasicAuth(v string) {
	pair, err := base64.StdEncoding.DecodeString(v)
	if err != nil {
		return
	}
	if _, password, ok := strings.Cut(string(pair), ":"); ok {
		c.add(password)
	}
}

// addPgpass adds the password of a line "host:port:database:user:password", in which a backslash
// escapes colons.
func (c *collection) addPgpass(line string) {
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

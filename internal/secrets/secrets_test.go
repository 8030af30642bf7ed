package secrets_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/secrets"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, got []string, values ...string) {
	t.Helper()
	for _, v := range values {
		if !slices.Contains(got, v) {
			t.Errorf("%q is not among %q", v, got)
		}
	}
}

func unwanted(t *testing.T, got []string, values ...string) {
	t.Helper()
	for _, v := range values {
		if slices.Contains(got, v) {
			t.Errorf("%q is among %q", v, got)
		}
	}
}

func TestEnvironment(t *testing.T) {
	got := secrets.Source{Env: []string{
		"DB_PASSWORD=pw-one-11", "GITHUB_TOKEN=pw-two-22", "OPENAI_API_KEY=pw-three-33", "PGPASSWORD=pw-four-44",
		"clientSecret=pw-five-55",
		"DATABASE_URL=postgres://app:pw%2Dsix@db/x", "PATH=/usr/bin:/bin", "PWD=/home/x/pw-seven",
		"SSH_AUTH_SOCK=/tmp/agent.1", "TOKEN_TYPE=bearer-eight",
		"EDITOR=vim-nine", "EMPTY_TOKEN=", "NOVALUE", "GIT_CONFIG_KEY_0=core.hooksPath",
		"REPO=https://pw0ten0x7q:x-oauth-basic@h/x", "KEYBOARD=pw-eleven",
	}}.Gather()
	want(t, got, "pw-one-11", "pw-two-22", "pw-three-33", "pw-four-44", "pw-five-55", "pw%2Dsix", "pw-six", "pw0ten0x7q")
	unwanted(t, got, "/usr/bin:/bin", "/home/x/pw-seven", "/tmp/agent.1", "bearer-eight", "vim-nine", "", "pw-eleven",
		"core.hooksPath")
}

func TestEnvFiles(t *testing.T) {
	root, second := t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, ".env"),
		"# a comment\nA_SECRET=v-one-1\nexport B_TOKEN = 'v-two-2' # why\nC_KEY=\"v\\\"three\\n3\"\nPEM_KEY=\"-----BEGIN X-----\nAbCdEfGhIjKlMnOpQrStUvWx1\n-----END X-----\"\nNODE_ENV=production\nREGION=eu-central-1\nODD=Zk3xQ9vLm2Rt\nCOMMIT=3f2a91bc0d4e5f60\nD_PASS=v-four-4#x\n")
	write(t, filepath.Join(root, "apps/web/.env.local"), "E_PASSWORD=v-five-5\r\n")
	write(t, filepath.Join(root, ".envrc"), "export F_TOKEN=v-six-6\n")
	write(t, filepath.Join(root, ".env.example"), "G_TOKEN=sample-seven-7\n")
	write(t, filepath.Join(root, "node_modules/x/.env"), "H_TOKEN=dep-eight-8\n")
	write(t, filepath.Join(second, ".env"), "I_TOKEN=v-nine-9\n")
	write(t, filepath.Join(second, "sub/.env"), "J_TOKEN=deep-ten-10\n")
	shared := filepath.Join(t.TempDir(), "shared")
	write(t, shared, "K_TOKEN=v-eleven-11\n")
	if err := os.Symlink(shared, filepath.Join(root, ".env.link")); err != nil {
		t.Fatal(err)
	}
	got := secrets.Source{Roots: []string{root, second}}.Gather()
	want(t, got, "v-one-1", "v-two-2", "v\"three\n3", "AbCdEfGhIjKlMnOpQrStUvWx1", "Zk3xQ9vLm2Rt", "v-four-4#x",
		"v-five-5", "v-six-6", "v-nine-9", "v-eleven-11")
	unwanted(t, got, "production", "eu-central-1", "3f2a91bc0d4e5f60", "sample-seven-7", "dep-eight-8", "deep-ten-10")
}

func TestCredentialFiles(t *testing.T) {
	home, aws := t.TempDir(), filepath.Join(t.TempDir(), "aws")
	write(t, filepath.Join(home, ".netrc"), "machine h login me password n-one-1\ndefault login x password \"n-two-2\"\n")
	write(t, filepath.Join(home, ".aws/credentials"), "[a]\naws_secret_access_key=not-read-0\n")
	write(t, aws, "[default]\naws_access_key_id = a-one-1\naws_secret_access_key = a/two+2\naws_session_token=a-three-3\n")
	write(t, filepath.Join(home, ".git-credentials"), "https://me:g-one%21@h.dev\nhttps://me:g-two-2@h.dev\n")
	write(t, filepath.Join(home, ".config/git/credentials"), "https://me:g-three-3@h.dev\n")
	got := secrets.Source{
		Home: home, Env: []string{"AWS_SHARED_CREDENTIALS_FILE=" + aws},
		Git: map[string][]string{
			"remote.origin.url": {"https://bot:c-one-1@h.dev/x.git"}, "url.https://u:c-two-2@h.dev/.insteadof": {"gh:"},
			"http.https://h.dev/.extraheader": {"AUTHORIZATION: basic " +
				base64.StdEncoding.EncodeToString([]byte("x:c-three-3"))},
			"github.token": {"c-four-4", "c-five-5"}, "user.name": {"Ann-six-6"},
		},
	}.Gather()
	want(t, got, "n-one-1", "n-two-2", "a-one-1", "a/two+2", "a-three-3", "g-one%21", "g-one!", "g-two-2", "g-three-3",
		"c-one-1", "c-two-2", "c-three-3", "c-four-4", "c-five-5")
	unwanted(t, got, "not-read-0", "Ann-six-6")
}

// TestStores: what tools log in with, and what lies in a repository to be secret.
func TestStores(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	enc := base64.StdEncoding.EncodeToString
	write(t, filepath.Join(home, ".pgpass"),
		"# h:1:d:u:comment-0\ndb.dev:5432:*:app:p-one:1\n*:*:*:a\\:b:p\\:two-2\nshort:1:x\n\\:\n")
	write(t, filepath.Join(home, ".npmrc"),
		"registry=https://registry-zero-0.dev/\n//registry.npmjs.org/:_authToken=n-one-1\n_auth = \""+enc([]byte("me:n-two-2"))+"\"\n")
	write(t, filepath.Join(home, ".docker/config.json"),
		`{"auths": {"r.dev": {"auth": "`+enc([]byte("me:d-one-1"))+`"}, "s.dev": {"identitytoken":"d-two-2"}}, "credsStore": "desktop-0"}`)
	write(t, filepath.Join(home, ".config/gh/hosts.yml"),
		"github.com:\n    user: ann-zero-0\n    oauth_token: g-one-1\n    git_protocol: https\n")
	write(t, filepath.Join(home, ".kube/config"),
		"users:\n- name: a-zero-0\n  user:\n    client-certificate-data: c-zero-0\n    client-key-data: k-one-1\n- user:\n    token: 'k-two-2' # x\n    password: k-three-3\n")
	write(t, filepath.Join(home, ".my.cnf"), "[client]\nuser=me-zero-0\npassword=\"m-one-1\"\r\n")
	write(t, filepath.Join(home, ".pypirc"), "[pypi]\nusername = __token__\npassword = y-one-1\n")
	write(t, filepath.Join(root, "config/master.key"), "0f1e2d3c4b5a69788796a5b4c3d2e1f0\n")
	write(t, filepath.Join(root, "infra/prod.tfvars"), "region = \"eu-zero-0\"\ndb_password = \"t-one-1\"\n")
	write(t, filepath.Join(root, "config/secrets.yml"), "production:\n  secret_key_base: s-one-1\n  host: s-zero-0\n")
	write(t, filepath.Join(root, ".env"),
		"ODD=hq3V-odd77-Ple\nIMAGE=postgres15-alpine\nCLUSTER=MyK8sCluster\nTWO=\"Kq7-first-x8Zp\nRw9-second-y4Tn\"\n")
	got := secrets.Source{Home: home, Roots: []string{root}}.Gather()
	want(t, got, "p-one:1", "p:two-2", "n-one-1", "n-two-2", "d-one-1", "d-two-2", "g-one-1", "k-one-1", "k-two-2",
		"k-three-3", "m-one-1", "y-one-1",
		"0f1e2d3c4b5a69788796a5b4c3d2e1f0", "t-one-1", "s-one-1", "hq3V-odd77-Ple", "Kq7-first-x8Zp\nRw9-second-y4Tn")
	unwanted(t, got, "comment-0", "desktop-0", "ann-zero-0", "a-zero-0", "c-zero-0", "me-zero-0", "eu-zero-0", "s-zero-0",
		"postgres15-alpine", "MyK8sCluster", "")
}

// What is no file to read is passed over: a pipe that nobody writes to, a folder, a link that
// leads nowhere or in a circle, what may not be read, and what is endless.
func TestOddFiles(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, ".env"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(home, ".netrc"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		".env.none": "nowhere", ".env.circle": ".env.circle", ".env.zero": "/dev/zero",
		".env.dir": root,
	} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(root, ".env.huge"), "A_TOKEN=v-one-1\n"+strings.Repeat("# much\n", 1<<20))
	write(t, filepath.Join(root, ".env.closed"), "B_TOKEN=v-two-2\n")
	if err := os.Chmod(filepath.Join(root, ".env.closed"), 0); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, ".env.bytes"), "C_TOKEN=\xff\xfe\x00v-three\n=\n\"\n'\nD_TOKEN=\"open\n")
	done := make(chan []string, 1)
	go func() { done <- secrets.Source{Roots: []string{root, "/nowhere"}, Home: home}.Gather() }()
	select {
	case got := <-done:
		want(t, got, "v-one-1")
	case <-time.After(30 * time.Second):
		t.Fatal("it hangs")
	}
}

// BenchmarkLargeRepository searches 50,000 files in 5,000 folders.
func BenchmarkLargeRepository(b *testing.B) {
	root := b.TempDir()
	for d := range 5000 {
		dir := filepath.Join(root, fmt.Sprint(d%50), fmt.Sprint(d%7), fmt.Sprint(d))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			b.Fatal(err)
		}
		for f := range 10 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(f, ".go")), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		secrets.Source{Roots: []string{root}}.Gather()
	}
}

// A file of many quotes is read in time that grows with its size: no commit waits for it.
func TestManyQuotes(t *testing.T) {
	dir := t.TempDir()
	text := "TOKEN=\"zebra-quartz-77\"\n" + strings.Repeat("A=\"\n", 200_000)
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var values []string
	perRun := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			values = secrets.Source{Roots: []string{dir}}.Gather()
		}
	}).AllocedBytesPerOp()
	if perRun > 100<<20 {
		t.Errorf("%d bytes allocated", perRun)
	}
	if !slices.Contains(values, "zebra-quartz-77") {
		t.Error("the value was not read")
	}
}

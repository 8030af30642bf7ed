package tests

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestLicenses: what packages carry of licences has each module of go.mod that the programs are made of, and what is
// beside modules.
func TestLicenses(t *testing.T) {
	root, bin := harness.Root(t), harness.Binary(t)
	list := exec.Command("go", "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./git-rekal", "./git-rekal/full")
	list.Dir = root
	modules, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	tool := exec.Command("go", "run", ".ci/sbom.go", "-licenses", "", filepath.Join(bin, "git-rekal"),
		filepath.Join(bin, "git-rekal-full"))
	tool.Dir = root
	out, err := tool.CombinedOutput()
	if err != nil && strings.Contains(string(out), "is not in the module cache") {
		t.Skip(string(out))
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	version, err := exec.Command(filepath.Join(bin, "git-rekal-full"), "version", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	within := "DuckDB@" + strings.TrimPrefix(gjson.GetBytes(version, "duckdb").Str, "v")
	parts := append(strings.Fields(strings.ReplaceAll(string(modules), " ", "@")), "Go", "SQLite", "git-rekal",
		"the@model", within, within+"@re2", within+"@zstd", within+"@icu/third_party/icu")
	if len(parts) < 50 {
		t.Fatalf("the programs are made of %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(string(out), "\n"+strings.ReplaceAll(part, "@", " ")) {
			t.Errorf("no licence of %s", part)
		}
	}
}

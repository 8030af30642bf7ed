//go:build ignore

// Sbom prints the bill of materials of a git-rekal binary, as CycloneDX 1.6: the Go modules that it says it was made
// of, and the C libraries that are linked into it, which no tool finds in a binary.
//
//	go run .ci/sbom.go BINARY NAME=VERSION…
//
// Or, with -licenses, the licence texts of all that, each text once. FOLDER is where .ci/libgit2.sh put libgit2, ""
// without one.
//
//	go run .ci/sbom.go -licenses FOLDER BINARY…
//
// DuckDB comes as a library without its source, so .ci/duckdb-licenses.txt has the texts of what is within it. That
// file is made of DuckDB's source as PyPI has it:
//
//	pip download --no-deps --no-binary :all: duckdb==VERSION
//	go run .ci/sbom.go -duckdb duckdb-VERSION.tar.gz >.ci/duckdb-licenses.txt
package main

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Purl    string `json:"purl,omitempty"`
}

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: go run .ci/sbom.go BINARY NAME=VERSION…"))
	}
	switch {
	case os.Args[1] == "-licenses" && len(os.Args) > 3:
		fail(licenses(os.Args[2], os.Args[3:]))
		return
	case os.Args[1] == "-duckdb" && len(os.Args) > 2:
		fail(duckdbLicenses(os.Args[2]))
		return
	}
	info, err := buildinfo.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	parts := []component{{"library", "go", strings.TrimPrefix(info.GoVersion, "go"), ""}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, component{"library", m.Path, m.Version, "pkg:golang/" + m.Path + "@" + m.Version})
	}
	for _, arg := range os.Args[2:] {
		name, version, _ := strings.Cut(arg, "=")
		parts = append(parts, component{"library", name, cmp.Or(version, "unknown"), ""})
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", " ")
	fail(out.Encode(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": parts,
		"metadata": map[string]any{"component": component{
			"application", "git-rekal", os.Getenv("VERSION"),
			"pkg:golang/" + info.Main.Path,
		}},
	}))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// texts are licence texts, each with the parts that are under it.
type texts struct {
	order []string
	parts map[string][]string
}

func (t *texts) add(part, text string) {
	text = strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if t.parts[text] == nil {
		t.order = append(t.order, text)
	}
	t.parts[text] = append(t.parts[text], part)
}

func (t *texts) addFile(part, path string) error {
	text, err := os.ReadFile(path)
	if err == nil && len(strings.TrimSpace(string(text))) == 0 {
		err = errors.New("is empty")
	}
	if err != nil {
		return fmt.Errorf("no licence of %s: %w", part, err)
	}
	t.add(part, string(text))
	return nil
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-.]\w+)?(\.txt|\.md)?$`)

// addFolder adds what lies anywhere in a module: some have a folder that others wrote.
func (t *texts) addFolder(part, dir string) error {
	found := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != dir && (entry.Name() == "testdata" || entry.Name()[0] == '.') {
			return fs.SkipDir
		}
		if !entry.Type().IsRegular() || !licenceFile.MatchString(entry.Name()) || filepath.Ext(path) == ".go" {
			return nil
		}
		found++
		name, _ := filepath.Rel(dir, path)
		return t.addFile(part+" "+filepath.ToSlash(name), path)
	})
	if err == nil && found == 0 {
		err = fmt.Errorf("%s has no licence file", part)
	}
	return err
}

const sqlite = `The author disclaims copyright to this source code.  In place of a legal notice, here is a blessing:

   May you do good and not evil.
   May you find forgiveness for yourself and forgive others.
   May you share freely, never taking more than you give.`

func licenses(libgit2 string, binaries []string) error {
	t := &texts{parts: map[string][]string{}}
	for _, part := range []string{"git-rekal", "the model all-MiniLM-L6-v2, by sentence-transformers (minilm.bin)"} {
		if err := t.addFile(part, "LICENSE"); err != nil {
			return err
		}
	}
	t.add("SQLite (public domain)", sqlite)
	if err := t.addArchives(libgit2); err != nil {
		return err
	}
	if err := t.addModules(binaries); err != nil {
		return err
	}
	within, err := os.ReadFile(".ci/duckdb-licenses.txt")
	if err != nil {
		return err
	}
	fmt.Println("What git-rekal and git-rekal-full are made of: each licence text below the parts that are under it.")
	t.print()
	fmt.Printf("\n%s", within)
	return nil
}

func (t *texts) print() {
	for _, text := range t.order {
		fmt.Printf("\n%[1]s\n%[2]s\n%[1]s\n\n%[3]s\n", strings.Repeat("=", 80), strings.Join(t.parts[text], "\n"), text)
	}
}

// inDuckDB is a licence in the part of DuckDB's source that becomes its library.
var inDuckDB = regexp.MustCompile(`^duckdb-([\d.]+)/external/duckdb/(?:(?:src|third_party|extension)/(.*)/)?([^/]+)$`)

// duckdbLicenses prints the licence texts within an archive of DuckDB's source.
func duckdbLicenses(archive string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	t, version, in := &texts{parts: map[string][]string{}}, "", tar.NewReader(unzipped)
	for {
		entry, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		m := inDuckDB.FindStringSubmatch(entry.Name)
		if m == nil || !licenceFile.MatchString(m[3]) && m[3] != "NOTICES" {
			continue
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		version = m[1]
		t.add(strings.TrimSpace("DuckDB "+m[1]+" "+m[2]), string(text))
	}
	if len(t.order) < 20 {
		return fmt.Errorf("%s holds %d licence texts: is it the source of DuckDB?", archive, len(t.order))
	}
	fmt.Println("What is within DuckDB " + version + ":")
	t.print()
	return nil
}

// addArchives adds the C and C++ libraries: beside each archive there is a text.
func (t *texts) addArchives(libgit2 string) error {
	if libgit2 == "" {
		return nil
	}
	archives, err := filepath.Glob(filepath.Join(libgit2, "*", "*.a"))
	if err == nil && len(archives) == 0 {
		err = fmt.Errorf("no libraries in %s", libgit2)
	}
	for _, archive := range archives {
		if name := filepath.Base(archive); filepath.Base(filepath.Dir(archive)) != "licenses" {
			err = cmp.Or(err, t.addFile(strings.TrimSuffix(name, ".a"), filepath.Join(libgit2, "licenses", name)))
		}
	}
	return err
}

// addModules adds Go, and the modules that binaries say they were made of.
func (t *texts) addModules(binaries []string) error {
	versions := map[string]string{}
	list := []string{"list", "-m", "-f", "{{.Path}}\t{{.Version}}\t{{.Dir}}"}
	for _, binary := range binaries {
		info, err := buildinfo.ReadFile(binary)
		if err != nil {
			return err
		}
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	for path := range versions {
		list = append(list, path)
	}
	slices.Sort(list[4:])
	root, err := run("env", "GOROOT")
	if err == nil {
		err = t.addFile("Go", filepath.Join(root, "LICENSE"))
	}
	if err != nil {
		return err
	}
	lines, err := run(list...)
	for line := range strings.Lines(lines) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case field[1] != versions[field[0]]:
			return fmt.Errorf("%s is %s in the binary, %s in go.mod", field[0], versions[field[0]], field[1])
		case field[2] == "":
			return fmt.Errorf("%s is not in the module cache: go mod download", field[0])
		}
		err = cmp.Or(err, t.addFolder(field[0]+" "+field[1], field[2]))
	}
	return err
}

func run(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.TrimSuffix(string(out), "\n"), err
}

//go:build ignore

// Sbom prints the bill of materials of a git-rekal binary, as CycloneDX 1.6: the Go modules that it says it was made of, and the C
// libraries that are linked into it, which no tool finds in a binary.
//
//	go run .ci/sbom.go BINARY NAME=VERSION…
package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
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
		"metadata": map[string]any{"component": component{"application", "git-rekal", os.Getenv("VERSION"), "pkg:golang/" + info.Main.Path}},
	}))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

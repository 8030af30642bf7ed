package transcript

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeredocEdits(t *testing.T) {
	edit := func(path string, full bool, lines ...string) Edit {
		return Edit{Path: path, FullContent: full, Hunks: []Hunk{{New: lines}}}
	}
	for name, c := range map[string]struct {
		command string
		want    []Edit
	}{
		"nothing":            {"go test ./... 2>&1 | tail", nil},
		"before":             {"cat <<EOF >a.txt\none\ntwo\nEOF", []Edit{edit("a.txt", true, "one", "two")}},
		"behind":             {"cat > 'a b.txt' <<'EOF'\none\nEOF\ngo vet", []Edit{edit("a b.txt", true, "one")}},
		"appended":           {"cat >> a.txt << \"END\"\none\nEND", []Edit{edit("a.txt", false, "one")}},
		"tabs":               {"cat >a <<-EOF\n\t\tone\n\tEOF", []Edit{edit("a", true, "one")}},
		"tee":                {"tee a.txt <<EOF >/dev/null\none\nEOF", []Edit{edit("a.txt", true, "one")}},
		"tee behind a pipe":  {"cat <<EOF | tee -a a.txt\none\nEOF", []Edit{edit("a.txt", false, "one")}},
		"in a folder":        {"cd web && mkdir -p x; cat >x/a.js <<EOF\none\nEOF", []Edit{edit("web/x/a.js", true, "one")}},
		"an absolute one":    {"cd web && cat >/src/a.js <<EOF\none\nEOF", []Edit{edit("/src/a.js", true, "one")}},
		"two":                {"cat >a <<EOF\none\nEOF\ncat >b <<EOF\ntwo\nEOF", []Edit{edit("a", true, "one"), edit("b", true, "two")}},
		"one of a program":   {"python3 - <<EOF >a.txt\nprint(1)\nEOF", nil},
		"a word":             {"grep x <<< \"cat > a\"", nil},
		"no end":             {"cat >a <<EOF\none", nil},
		"nobody knows where": {"cat >$FILE <<EOF\none\nEOF", nil},
		"a message":          {"git commit -F - <<EOF\ncat > a\nEOF", nil},
		"a patch":            {"apply_patch <<'EOF'\n*** Begin Patch\nEOF", nil},
	} {
		if diff := cmp.Diff(c.want, heredocEdits(c.command)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	for _, text := range []string{"<<", "cat<<a>b\n\n", strings.Repeat("cat >a <<EOF\n", 1000)} {
		heredocEdits(text) // ends
	}
}

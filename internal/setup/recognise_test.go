package setup

import (
	"strings"
	"testing"
)

func TestNamesItself(t *testing.T) {
	for text, want := range map[string]bool{
		`name=$(basename "$0")`:                        true,
		`name=$(basename -- "$0")`:                     true,
		`hook=${0##*/}`:                                true,
		`hook_type = File.basename($0)`:                true,
		`name = os.path.basename(sys.argv[0])`:         true,
		`for f in "$0".d/*; do "$f"; done`:             true,
		`run-parts "$0.d"`:                             true,
		`. "$(dirname "$0")/common.sh"`:                false,
		`repo=$(basename "$(pwd)")`:                    false,
		`awk '{print $0}' file`:                        false,
		`"${0%/*}/helper"`:                             false,
		`git lfs post-commit "$@"`:                     false,
		`exec pre-commit hook-impl --hook-dir "$HERE"`: false,
	} {
		if got := dependsOnName(text); got != want {
			t.Errorf("namesItself(%q) = %v", text, got)
		}
	}
}

// What versions before 0.2 added to info/exclude, Remove takes out to the byte.
func FuzzExclude(f *testing.F) {
	const block = blockBegin + "\n.rekal/\n.claude/skills/rekal/\n" + blockEnd + "\n"
	for _, s := range []string{
		"", "*.log", "*.log\n", "\ufeffx\r\n", blockBegin, blockBegin + "\nmine\n", block,
		"a\n" + block + "b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if rest := cutBlock(text, isOurLine); rest != text {
			if !strings.Contains(text, blockBegin) {
				t.Fatalf("no block, but %q became %q", text, rest)
			}
			return
		}
		with := block + text
		if rest, marked := strings.CutPrefix(text, bom); marked {
			with = bom + block + rest
		}
		if again := cutBlock(with, isOurLine); again != text {
			t.Fatalf("%q came back as %q", text, again)
		}
	})
}

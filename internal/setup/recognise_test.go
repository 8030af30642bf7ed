package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/hooks"
)

// Until there are former texts, this is the one way to test that they are recognised.
func TestFormerTexts(t *testing.T) {
	const old = "#!/bin/sh\n" + hooks.BinaryPrefix + hooks.BinaryMarker + "\nold\n"
	sum := sha256.Sum256([]byte(old))
	former := []string{hex.EncodeToString(sum[:])}
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"current":         {render("post-commit", "/bin/x"), true},
		"another's":       {render("post-merge", "/bin/x"), false},
		"former":          {strings.Replace(old, hooks.BinaryMarker, "'/it'\\''s/x'", 1), true},
		"former, edited":  {strings.Replace(old, "old", "new", 1), false},
		"foreign":         {"#!/bin/sh\n", false},
		"cut off":         {"#!/bin/sh\n" + hooks.BinaryPrefix, false},
		"empty":           {"", false},
		"current, edited": {render("post-commit", "/bin/x") + "\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ourScript(c.text, "post-commit", former)); diff != "" {
				t.Errorf("ourScript (-want +got):\n%s", diff)
			}
		})
	}
	if !known(old, "current", former) || known(old+"x", "current", former) {
		t.Error("known does not go by the sum")
	}
}

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
		if got := namesItself(text); got != want {
			t.Errorf("namesItself(%q) = %v", text, got)
		}
	}
}

// What Install adds to info/exclude, Remove takes out to the byte.
func FuzzExclude(f *testing.F) {
	for _, s := range []string{"", "*.log", "*.log\n", "\ufeffx\r\n", blockBegin, blockBegin + "\nmine\n", block(), "a\n" + block() + "b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest, found := cutBlock(text)
		if !found && rest != text {
			t.Fatalf("no block, but %q became %q", text, rest)
		}
		if found {
			return
		}
		again, found := cutBlock(addBlock(text))
		if !found || again != text {
			t.Fatalf("%q came back as %q", text, again)
		}
	})
}

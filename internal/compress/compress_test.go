package compress_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/compress"
	"github.com/git-rekal/git-rekal/internal/tokens"
)

// output is what a real tool printed (testdata/record.py), and what of it must be kept.
type output struct {
	name, text string
	Command    string
	Exit       int
	Want       []string
}

func outputs(t testing.TB, group string) (all []output) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", group, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no outputs", err)
	}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		o := output{name: group + "/" + strings.TrimSuffix(filepath.Base(p), ".json")}
		if err := json.Unmarshal(raw, &o); err != nil {
			t.Fatal(err)
		}
		o.text = unzip(t, strings.TrimSuffix(p, ".json")+".txt.gz")
		all = append(all, o)
	}
	return all
}

func unzip(t testing.TB, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestKept holds real outputs: every failing test, error and total of theirs is kept, within 2,000 tokens, and half of
// them come out at a tenth of their bytes or less.
func TestKept(t *testing.T) {
	for _, group := range []string{"seen", "held"} {
		var ratios []float64
		kept, wanted := 0, 0
		for _, o := range outputs(t, group) {
			r := compress.Text(o.text, compress.Options{})
			for _, w := range o.Want {
				wanted++
				if keeps(r.Text, w) {
					kept++
				} else {
					t.Errorf("%s: %q is lost in\n%s", o.name, w, r.Text)
				}
			}
			if n := tokens.Count(r.Text); n > compress.Budget {
				t.Errorf("%s: %d tokens", o.name, n)
			}
			honest(t, o.name, o.text, r.Text)
			ratio := float64(len(r.Text)) / float64(len(o.text))
			ratios = append(ratios, ratio)
			t.Logf("%-20s %7d bytes, %5.1f %%, %4d tokens", o.name, len(o.text), 100*ratio, tokens.Count(r.Text))
		}
		slices.Sort(ratios)
		median := ratios[len(ratios)/2]
		t.Logf("%s: %d outputs, %d of %d kept, %.1f %% of bytes at the median", group, len(ratios), kept, wanted, 100*median)
		if median > 0.1 {
			t.Errorf("%s: the median output is %.1f %% of its bytes", group, 100*median)
		}
	}
}

// keeps reports whether a text has what is wanted: as it stands, or folded: the words that differ in a mark, and the
// others in the lines above it.
func keeps(text, want string) bool {
	if strings.Contains(text, want) {
		return true
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if !strings.Contains(l, "like it: ") {
			continue
		}
		above := strings.Join(lines[max(0, i-60):i], "\n")
		for _, item := range items(l) {
			lost, own := false, false
			for w := range strings.FieldsSeq(want) {
				in := strings.Contains(item, w)
				own = own || in
				lost = lost || !in && !strings.Contains(above, w)
			}
			if own && !lost {
				return true
			}
		}
	}
	return false
}

// items are what a mark folds, one by one.
func items(mark string) []string {
	_, list, _ := strings.Cut(mark, "like it: ")
	head, rest, ok := strings.Cut(list, "{")
	middle, tail, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return strings.Split(list, "; ")
	}
	out := strings.Split(middle, ", ")
	for i := range out {
		out[i] = head + out[i] + tail
	}
	return out
}

var escapes = regexp.MustCompile("\x1b(\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|.)")

// honest checks that each line is one of the input or a mark, with control sequences out by other code than ours.
func honest(t *testing.T, name, input, text string) {
	t.Helper()
	had := map[string]bool{}
	var begins []string
	add := func(l string) {
		l = strings.TrimRight(escapes.ReplaceAllString(strings.ToValidUTF8(l, "\uFFFD"), ""), " \t\r")
		had[l] = true
		if len(l) > 160 {
			begins = append(begins, l)
		}
	}
	for l := range strings.SplitSeq(input, "\n") {
		for part := range strings.SplitSeq(l, "\r") {
			add(part)
		}
		var event struct{ Output string }
		if json.Unmarshal([]byte(l), &event) == nil {
			add(strings.TrimRight(event.Output, "\n"))
		}
	}
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		cut, isCut := strings.CutSuffix(l, "…")
		ok := had[l] || strings.HasPrefix(l, "… ") || l == "" ||
			isCut && slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(b, cut) })
		if !ok {
			t.Errorf("%s: %q is no line of the input and no mark", name, l)
		}
	}
}

func TestSmallStaysWhole(t *testing.T) {
	for _, text := range []string{"", "ok\n", "one\ntwo\n\nthree\n"} {
		if got := compress.Text(text, compress.Options{}).Text; got != text {
			t.Errorf("Text(%q) = %q", text, got)
		}
	}
}

func TestControl(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"colours", "\x1b[31mred\x1b[0m\n", "red\n"},
		{"a progress bar", "10%\r50%\r100%\ndone\n", "100%\ndone\n"},
		{"a bar that clears itself", "working\r       \rdone\n", "done\n"},
		{"line ends of Windows", "a\r\nb\r\n", "a\nb\n"},
		{"a title", "\x1b]0;title\x07text\n", "text\n"},
		{"bytes that are no UTF-8", "a\xffb\n", "a\uFFFDb\n"},
		{"NUL", "a\x00b\n", "ab\n"},
		{"no line end", "last", "last\n"},
		{"a long progress bar", strings.Repeat("\rloading #####", 5000) + "\rloaded\nnext\n", "loaded\nnext\n"},
	} {
		if got := compress.Text(tt.in, compress.Options{}).Text; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestFolds shows what is left of lines that differ in numbers only.
func TestFolds(t *testing.T) {
	var b strings.Builder
	for i := range 1300 {
		fmt.Fprintf(&b, "Downloading part-%d of 1300\n", i)
	}
	b.WriteString("installed\n")
	r := compress.Text(b.String(), compress.Options{})
	if !strings.Contains(r.Text, `… 1,286 lines like "Downloading …"`) || !strings.Contains(r.Text, "installed") {
		t.Errorf("got\n%s", r.Text)
	}
	if r.Lines != 1301 || r.Bytes != int64(b.Len()) {
		t.Errorf("%d lines, %d bytes", r.Lines, r.Bytes)
	}
}

// TestTight names the place of each error where the lines do not fit: of each kind one line is whole, and one mark
// counts all that is left out.
func TestTight(t *testing.T) {
	kinds := []string{
		"Parameter 'p%d' implicitly has an 'any' type, because its declaration names none and nothing else tells it.",
		"Type 'string | T%d' is not assignable to type 'number' in this position of the list that is given here.",
		"Property 'q%d' does not exist on type 'Order', and neither on any of the types that it is made of.",
	}
	var b strings.Builder
	var want []string
	for i := range 40 {
		for j, kind := range kinds {
			place := fmt.Sprintf("src/m%d.ts(%d,%d):", j, 10*i+j, i)
			want = append(want, place)
			fmt.Fprintf(&b, "%s error TS%d: "+kind+"\n  what explains it\n", place, 2300+j, i)
		}
	}
	r := compress.Text(b.String(), compress.Options{})
	for _, w := range want {
		if !keeps(r.Text, w) {
			t.Errorf("%q is lost", w)
		}
	}
	whole, gaps := 0, 0
	for line := range strings.Lines(r.Text) {
		switch {
		case strings.HasPrefix(line, "src/"):
			whole++
		case !strings.Contains(line, "like it: ") && strings.HasPrefix(line, "… "):
			gaps++
		}
	}
	if n := tokens.Count(r.Text); whole != len(kinds) || gaps != 1 || n > compress.Budget {
		t.Errorf("%d whole lines, %d marks, %d tokens in\n%s", whole, gaps, n, r.Text)
	}
	honest(t, "tight", b.String(), r.Text)
}

// TestShort keeps a short output that failed, and of the chatter of one that did not its beginning and end.
func TestShort(t *testing.T) {
	const line = "[ 10%] Building C object src/CMakeFiles/shop.dir/a.o\n"
	chatter := strings.Repeat(line, 17)
	if failed := chatter[:15*len(line)] + "\ncc: error: no input files\n"; compress.Text(failed,
		compress.Options{}).Text != failed {
		t.Errorf("got\n%s", compress.Text(failed, compress.Options{}).Text)
	}
	if got := compress.Text(chatter, compress.Options{}).Text; len(got) > 320 {
		t.Errorf("got\n%s", got)
	}
}

// TestPieces gives the same whatever the pieces in which an output comes.
func TestPieces(t *testing.T) {
	long := strings.Repeat("drawn\r", 3000) + strings.Repeat("x", 17_000) + "\rdrawn anew\n" +
		strings.Repeat("y", 17_000) + "\nlast"
	for _, o := range outputs(t, "seen")[:3] {
		want := compress.Text(o.text+long, compress.Options{})
		for _, size := range []int{1, 7, 4096} {
			c := compress.New(compress.Options{})
			for part := range slices.Chunk([]byte(o.text+long), size) {
				_, _ = c.Write(part)
			}
			if diff := cmp.Diff(want, c.Close()); diff != "" {
				t.Errorf("%s in pieces of %d (-want +got):\n%s", o.name, size, diff)
			}
		}
	}
}

func TestInstruction(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "row %d of the table\n", i)
		if i == 900 {
			b.WriteString("the migration took 14 s\n")
		}
	}
	if r := compress.Text(b.String(),
		compress.Options{Instruction: "how long did the migration take"}); !strings.Contains(r.Text, "migration took 14 s") {
		t.Errorf("got\n%s", r.Text)
	}
}

// TestSaysNothing shows what is left out of what explains an error: lines of signs, without a mark of their own, what
// was said before, and of makes that ran each other all but the first and the last.
func TestSaysNothing(t *testing.T) {
	text := strings.Repeat("[ 10%] Building C object a.o\n", 60) + `a.c:1:2: error: no member named 'x'
    1 | y.x = 1;
      |   ^
a.h:9:1: note: declared here

b.c:4:6: error: no member named 'z'
    4 | y.z = 1;
      |   ^~~~~
a.h:9:1: note: declared here
make[2]: *** [build.make:9: a.o] Error 1
make[1]: *** [Makefile2:8: all] Error 2
make: *** [Makefile:7: all] Error 2
make: Target 'all' not remade because of errors.
`
	want := `… 60 lines
a.c:1:2: error: no member named 'x'
    1 | y.x = 1;
a.h:9:1: note: declared here
b.c:4:6: error: no member named 'z'
    4 | y.z = 1;
… 2 lines
make[2]: *** [build.make:9: a.o] Error 1
… 1 line
make: *** [Makefile:7: all] Error 2
make: Target 'all' not remade because of errors.
`
	if diff := cmp.Diff(want, compress.Text(text, compress.Options{}).Text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBudget holds for any budget, and for what is nothing but errors.
func TestBudget(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "src/m%d.ts(%d,7): error TS2322: Type 's%c' is not assignable.\n", i, i, 'a'+i%26)
	}
	for _, budget := range []int{100, 500, 2000, 8000} {
		r := compress.Text(b.String(), compress.Options{Budget: budget})
		if n := tokens.Count(r.Text); n > budget || n < budget/3 {
			t.Errorf("%d tokens for a budget of %d", n, budget)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		text         string
		paths, terms []string
	}{
		{
			"FAILED tests/test_auth.py::test_login - TypeError: x",
			[]string{"tests/test_auth.py"},
			[]string{"tests/test_auth.py::test_login", "TypeError"},
		},
		{
			"src/a.ts(3,4): error TS2322: no fmt.Printf\n  at main.go:12",
			[]string{"src/a.ts", "main.go"},
			[]string{"TS2322", "fmt.Printf"},
		},
		{
			"tests/test_a.py::TestX::test_y[param] PASSED [ 12%]",
			[]string{"tests/test_a.py"},
			[]string{"tests/test_a.py::TestX::test_y[param]"},
		},
		{"ERROR [tests/test_a.py::test_y[two words]]", []string{"tests/test_a.py"}, []string{"tests/test_a.py::test_y"}},
		{"error[E0308]: mismatched types\n  --> src/main.rs:2:5", []string{"src/main.rs"}, []string{"E0308"}},
		{"warning[unused_mut] in [INFO] test_z[a-1]", nil, []string{"unused_mut", "test_z", "a-1"}},
		{"TOKEN=[REDACTED:github-pat] and x[REDACTED:aws-key-2]y", nil, nil},
	} {
		r := compress.Text(tt.text+"\n", compress.Options{})
		if diff := cmp.Diff(tt.paths, r.Paths); diff != "" {
			t.Errorf("%q: paths (-want +got):\n%s", tt.text, diff)
		}
		if diff := cmp.Diff(tt.terms, r.Terms); diff != "" {
			t.Errorf("%q: terms (-want +got):\n%s", tt.text, diff)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("--- FAIL: TestX (0.00s)\n    x_test.go:3: no\nFAIL\n", "why")
	f.Add("a\rb\x1b[0m\n\xff…\n", "")
	f.Add("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n", "key")
	f.Fuzz(func(t *testing.T, text, instruction string) {
		text = strings.Repeat(text, 1+len(text)%40)
		opt := compress.Options{Instruction: instruction}
		r := compress.Text(text, opt)
		if n := tokens.Count(r.Text); n > compress.Budget {
			t.Errorf("%d tokens", n)
		}
		if diff := cmp.Diff(r, compress.Text(text, opt)); diff != "" {
			t.Errorf("twice (-first +second):\n%s", diff)
		}
	})
}

func BenchmarkText(b *testing.B) {
	for _, o := range outputs(b, "seen") {
		text := bytes.Repeat([]byte(o.text), 1+(4<<20)/len(o.text))
		b.Run(o.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			before, n := processor(), 0
			for b.Loop() {
				n++
				c := compress.New(compress.Options{})
				_, _ = c.Write(text)
				c.Close()
			}
			b.ReportMetric(float64(n*len(text))/1e6/(processor()-before).Seconds(), "MB/cpu-s")
		})
	}
}

// processor is the time that this process has worked: on a busy machine the clock says little.
func processor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestRunners keeps which tests failed, where and why, and the sums, whatever ran them.
func TestRunners(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"mocha": {
			"  cart\n" + strings.Repeat("    ✓ adds an item\n", 80) +
				"    1) empties\n\n  80 passing (2s)\n  1 failing\n\n  1) cart\n       empties:\n     AssertionError: expected 3 to equal 0\n      at Context.<anonymous> (test/cart.js:41:12)\n",
			[]string{
				"80 passing", "1 failing", "  1) cart", "empties:", "AssertionError: expected 3 to equal 0",
				"test/cart.js:41:12",
			},
		},
		"phpunit": {
			"PHPUnit 9.6.7\n\n" + strings.Repeat("...............  15 / 900 (  1%)\n", 60) +
				"\nThere was 1 failure:\n\n1) Shop\\CartTest::testTotal\nFailed asserting that 3 matches expected 4.\n\n/app/tests/CartTest.php:17\n\nFAILURES!\nTests: 900, Assertions: 1200, Failures: 1.\n",
			[]string{
				"1) Shop\\CartTest::testTotal", "Failed asserting that 3 matches expected 4.", "/app/tests/CartTest.php:17",
				"Tests: 900, Assertions: 1200, Failures: 1.",
			},
		},
		"rspec": {
			"Money\n" + strings.Repeat("  keeps cents\n", 90) +
				"\nFailures:\n\n  1) Money adds\n     Failure/Error: it { expect(a + b).to eq 5 }\n\n       expected: 5\n            got: -1\n     # ./spec/money_spec.rb:3:in `block'\n\n91 examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/money_spec.rb:3 # Money adds\n\nRandomized with seed 9\n",
			[]string{
				"rspec ./spec/money_spec.rb:3 # Money adds", "  1) Money adds",
				"Failure/Error: it { expect(a + b).to eq 5 }", "./spec/money_spec.rb:3", "91 examples, 1 failure",
			},
		},
		"minitest": {
			strings.Repeat("...\n", 300) + "Finished in 0.006824s, 7620.0178 runs/s.\n\n  1) Error:\nTestQueue#test_nil:\nNoMethodError: undefined method `size'\n    t.rb:54:in `test_nil'\n\n52 runs, 51 assertions, 0 failures, 1 errors, 0 skips\n",
			[]string{"TestQueue#test_nil:", "NoMethodError: undefined method", "t.rb:54", "52 runs, 51 assertions"},
		},
		"unittest": {
			strings.Repeat("test_ok (tests.A) ... ok\n", 90) +
				"\n======\nFAIL: test_total (tests.test_cart.Cart)\n------\nTraceback (most recent call last):\n  File \"tests/test_cart.py\", line 9, in test_total\n    self.assertEqual(3, 4)\nAssertionError: 3 != 4\n\n------\nRan 91 tests in 0.010s\n\nFAILED (failures=1)\n",
			[]string{
				"FAIL: test_total (tests.test_cart.Cart)", "tests/test_cart.py\", line 9", "AssertionError: 3 != 4",
				"Ran 91 tests", "FAILED (failures=1)",
			},
		},
		"TAP": {
			"1..99\n" + strings.Repeat("ok 7 lists files\n", 98) +
				"not ok 99 empties the cart\n# (in test file t.bats, line 12)\n#   `[ 1 -eq 2 ]' failed\n",
			[]string{"not ok 99 empties the cart", "t.bats, line 12"},
		},
	} {
		r := compress.Text(tt.text, compress.Options{})
		for _, want := range tt.want {
			if !strings.Contains(r.Text, want) {
				t.Errorf("%s: %q is lost in\n%s", name, want, r.Text)
			}
		}
		if r.Failed != 1 || len(r.Text) > 700 {
			t.Errorf("%s: %d failed, %d bytes are left of\n%s", name, r.Failed, len(r.Text), r.Text)
		}
		honest(t, name, tt.text, r.Text)
	}
}

// TestFoldsUnderHeadings names the file of what is folded once, and of each finding its place.
func TestFoldsUnderHeadings(t *testing.T) {
	var b strings.Builder
	for _, file := range []string{"a.css", "b.css"} {
		b.WriteString(file + "\n")
		for i := range 9 {
			fmt.Fprintf(&b, "  %d:9  ✖  Duplicate property\n", i+1)
		}
		b.WriteString("\n")
	}
	got := compress.Text(b.String(), compress.Options{}).Text
	if want := "… 12 lines like it: 7:9; 8:9; 9:9; b.css 1:9; 2:9; 3:9; 4:9; 5:9; 6:9; 7:9; 8:9; 9:9\n"; !strings.Contains(got, want) {
		t.Errorf("got\n%s", got)
	}
}

// TestForms holds what tools print that could not be run here, in the forms that their documentation and issues show.
func TestForms(t *testing.T) {
	filler := func(format string) string {
		var b strings.Builder
		for i := range 400 {
			fmt.Fprintf(&b, format+"\n", i)
		}
		return b.String()
	}
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"docker, plain": {
			filler("#9 %d.2 fetching layer") +
				"#12 [build 3/4] RUN make\n#12 4.1 main.c:7:3: error: expected ';'\n#12 ERROR: process \"/bin/sh -c make\" did not complete successfully: exit code: 2\n------\n > [build 3/4] RUN make:\n" +
				"4.1 main.c:7:3: error: expected ';'\n------\nDockerfile:9\n--------------------\n   8 |     COPY . .\n   9 | >>> RUN make\n--------------------\nERROR: failed to solve: process \"/bin/sh -c make\" did not complete successfully: exit code: 2\n",
			[]string{
				"main.c:7:3: error: expected ';'", "#12 ERROR: process", "> [build 3/4] RUN make:", "Dockerfile:9",
				"   9 | >>> RUN make", "ERROR: failed to solve",
			},
		},
		"docker, in lines": {
			filler(" => => transferring context: %d kB") +
				" => ERROR [2/3] RUN npm ci                  3.1s\nfailed to solve: process \"/bin/sh -c npm ci\" did not complete successfully: exit code: 1\n",
			[]string{" => ERROR [2/3] RUN npm ci", "failed to solve: process"},
		},
		"yarn": {
			"➤ YN0000: ┌ Resolution step\n➤ YN0061: │ request@npm:2.88.2 is deprecated\n" +
				filler("➤ YN0013: │ left-pad@npm:1.%d can't be found in the cache") +
				"➤ YN0009: │ node-gyp@npm:1.0.0 couldn't be built successfully (exit code 1)\n➤ YN0000: └ Completed in 0s 644ms\n➤ YN0000: Failed with errors in 0s 700ms\n",
			[]string{
				"request@npm:2.88.2 is deprecated", "node-gyp@npm:1.0.0 couldn't be built",
				"➤ YN0000: Failed with errors in 0s 700ms",
			},
		},
		"pnpm": {
			filler("Progress: resolved %d, reused 0, downloaded 0, added 0") +
				" WARN  deprecated glob@7.2.3\n ERR_PNPM_NO_MATCHING_VERSION  No matching version found for left-pad@9\n",
			[]string{"deprecated glob@7.2.3", "ERR_PNPM_NO_MATCHING_VERSION  No matching version found for left-pad@9"},
		},
		"a sanitizer": {
			filler("row %d") + "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60\nREAD of size 4 at 0x60 thread T0\n    #0 0x55 in get /src/a.c:3\n    #1 0x56 in main /src/a.c:4\n\nSUMMARY: AddressSanitizer: heap-buffer-overflow /src/a.c:3 in get\n" + filler("  shadow %d"),
			[]string{"ERROR: AddressSanitizer: heap-buffer-overflow", "#0 0x55 in get /src/a.c:3", "SUMMARY: AddressSanitizer"},
		},
		"jshint and a shell": {
			filler("file %d is read") + "lib/a.js: line 12, col 3, Missing semicolon.\ndeploy.sh: line 4: rsyn: command not found\n" + filler("file %d is read"),
			[]string{"lib/a.js: line 12, col 3, Missing semicolon.", "deploy.sh: line 4: rsyn: command not found"},
		},
		"esbuild": {
			filler("asset %d.js") + "✘ [ERROR] Could not resolve \"left-pad\"\n\n    src/main.js:2:14:\n      2 │ import x from 'left-pad';\n\n" + filler("asset %d.js"),
			[]string{"✘ [ERROR] Could not resolve", "    src/main.js:2:14:"},
		},
		"a panic of Rust": {
			filler("row %d is read") + "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds: the len is 3 but the index is 9\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
			[]string{"thread 'main' panicked at src/main.rs:4:5:", "index out of bounds: the len is 3"},
		},
	} {
		r := compress.Text(tt.text, compress.Options{})
		for _, want := range tt.want {
			if !strings.Contains(r.Text, want) {
				t.Errorf("%s: %q is lost in\n%s", name, want, r.Text)
			}
		}
		if len(r.Text) > 2500 {
			t.Errorf("%s: %d bytes are left", name, len(r.Text))
		}
		honest(t, name, tt.text, r.Text)
	}
}

// Both sides of an assertion are shown, however far behind the name of the test they stand.
func TestValuesOfAssertions(t *testing.T) {
	padding := strings.Repeat("  at work on something that matters little to anybody\n", 30)
	for name, text := range map[string]string{
		"jest": "  ● basket › weighs\n\n    expect(received).toEqual(expected) // deep equality\n\n    - Expected  - 1\n    + Received  + 1\n\n" +
			"      Basket {\n        \"pears\": 3,\n        \"plums\": 4,\n    -   \"grams\": 512,\n    +   \"grams\": 640,\n      }\n\n" +
			"      at Object.toEqual (src/basket.test.js:12:21)\n" + padding + "Test Suites: 1 failed, 1 total\n",
		"pytest": "____ test_weighs ____\n\n>       assert basket() == wanted\nE       AssertionError: assert a == b\nE         Omitting 3 identical items\n" +
			"E         Full diff:\nE           {\nE               'pears': 3,\nE               'plums': 4,\nE         -     'grams': 512,\n" +
			"E         +     'grams': 640,\nE           }\n\nbasket_test.py:12: AssertionError\n" + padding +
			"=== 1 failed in 0.05s ===\n",
	} {
		got := compress.Text(text, compress.Options{}).Text
		if !strings.Contains(got, "512") || !strings.Contains(got, "640") {
			t.Errorf("%s: a value is missing:\n%s", name, got)
		}
	}
}

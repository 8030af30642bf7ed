package torture

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// most is how much memory a command may take, in bytes, whatever it is given.
const most = 300 << 20

// TestLongSizes gives git-rekal transcripts and questions that are larger than any, in the long form a
// gigabyte, ten million lines, a line of 200 MB, 100,000 tool calls: there is a result, or one line that
// says what to do, within bounds.
func TestLongSizes(t *testing.T) {
	part := 100 // of the numbers
	if atFull() {
		part = 1
	}
	for _, c := range []struct {
		name  string
		write func(line func(format string, args ...any)) (long int)
		calls int
	}{
		{"a gigabyte of results", func(line func(string, ...any)) int {
			text := strings.Repeat("what the tool said ", 5500)
			for i := range 10000 / part {
				line(`"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"step %d"}]}`, i)
				line(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":%q}]}`,
					text)
			}
			return 0
		}, 0},
		{"ten million lines", func(line func(string, ...any)) int {
			for range 10_000_000 / part {
				line("")
			}
			return 0
		}, 0},
		{"a line of 200 MB", func(func(string, ...any)) int { return 200_000_000 / part }, 0},
		{"100,000 tool calls", func(line func(string, ...any)) int {
			for i := range 100_000 / part {
				line(`"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Edit","input":{"file_path":"src/f%d.go"}}]}`, i, i%5000)
			}
			return 0
		}, 100_000 / part},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.patience *= 5
			m := w.machine("home", "alice@example.com")
			r := m.repo()
			r.large(c.write)
			r.write("a.go", "package a\n")
			r.bounded("git", "commit", "-q", "-m", "in a hook")
			r.bounded("git", "rekal", "checkpoint")
			if out := r.bounded("git", "rekal", "what was the beginning"); !strings.Contains(out, `"total":1`) {
				t.Errorf("recall says %.300s", out)
			}
			if out := r.bounded("git", "rekal", "query",
				"SELECT count(*) AS n FROM tool_calls"); out != fmt.Sprintf("{\"n\":%d}\n", c.calls) {
				t.Errorf("%s tool calls, want %d", out, c.calls)
			}
		})
	}
}

// TestLongLargeQuestion asks with nearly all the words that a question may have, then with a megabyte, which
// is refused in one line that says what to do: both within bounds.
func TestLongLargeQuestion(t *testing.T) {
	w := newWorld(t, 1)
	r := w.machine("home", "alice@example.com").repo()
	r.large(func(func(string, ...any)) int { return 0 })
	r.bounded("git", "rekal", "checkpoint")
	args := []string{filepath.Join(w.bin, "git-rekal")}
	for i := range 10 { // one argument holds 128 KB
		args = append(args, strings.Repeat(fmt.Sprintf("beginning%d why ", i), 7000)[:100_000])
	}
	large := []string{args[0], args[1], args[2], args[3][:250<<10-200_002]} // 250 KB, with the spaces between them
	r.bounded(large...)
	r.refused(2, "the question has 976 KB, and at most 256 KB are searched: give the words that matter", args...)
	r.refused(1, "give one SELECT", append([]string{args[0], "query"}, large[1:]...)...)
	r.refused(2, "the statement has 1000009 bytes; at most 262144 are allowed",
		append([]string{args[0], "query"}, args[1:]...)...)
}

// refused runs a command that must end with a status, say why in one line, and not take more memory than it may.
func (c *clone) refused(code int, says string, args ...string) {
	c.t.Helper()
	res, err := c.run(args...)
	c.fatal(err)
	c.t.Logf("%.60s: %v, %d MB: %.200s", strings.Join(args, " "), res.took, res.memory>>20, res.stderr)
	if res.code != code || res.out != "" || strings.Count(res.stderr, "\n") != 1 || !strings.Contains(res.stderr, says) ||
		res.memory > most {
		c.t.Errorf("want %d, %q, in %d MB: %v", code, says, res.memory>>20, res)
	}
}

// large writes a transcript that begins with a prompt and ends with one, and between them what write
// writes and one line as long as it says. It takes no memory itself: a process begins with what the one
// that started it had at its peak.
func (c *clone) large(write func(line func(format string, args ...any)) (long int)) {
	c.t.Helper()
	const id = "11111111-2222-3333-4444-555555555555"
	path := harness.Transcript(c.home, c.dir, id)
	c.fatal(os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.Create(path)
	c.fatal(err)
	out, n := bufio.NewWriterSize(f, 1<<20), 0
	line := func(format string, args ...any) {
		n++
		if format == "" {
			fmt.Fprintf(out, "{\"type\":\"progress\",\"n\":%d}\n", n)
			return
		}
		fmt.Fprintf(out, `{"cwd":%q,"sessionId":%q,"version":"2.1.39","uuid":"u%d","timestamp":"2026-03-04T%02d:%02d:%02d.%03dZ",`,
			c.dir, id, n, n/3_600_000, n/60_000%60, n/1000%60, n%1000)
		fmt.Fprintf(out, format+"}\n", args...)
	}
	line(`"type":"user","message":{"role":"user","content":"this is the beginning"}`)
	if long := write(line); long > 0 {
		out.WriteString(`{"type":"assistant","message":{"role":"assistant","content":"`) //nolint:errcheck // Flush tells
		for range long / 100 {
			out.WriteString(strings.Repeat("x", 100)) //nolint:errcheck // Flush tells
		}
		out.WriteString("\"}}\n") //nolint:errcheck // Flush tells
	}
	line(`"type":"user","message":{"role":"user","content":"this is the end"}`)
	c.fatal(out.Flush())
	c.fatal(f.Close())
}

// bounded runs a command that must end well, and not take more memory than it may.
func (c *clone) bounded(args ...string) string {
	c.t.Helper()
	res, err := c.run(args...)
	c.fatal(err)
	c.t.Logf("%.60s: %v, %d MB", strings.Join(args, " "), res.took, res.memory>>20)
	if res.code != 0 || res.memory > most {
		c.t.Errorf("%v, %d MB", res, res.memory>>20)
	}
	return res.out
}

package torture

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLongForgetKilled kills `git rekal forget` at moments all over the time that it takes: what others said is there
// as it was, and the same command again ends it, so that nothing of the session is left in objects, caches and records.
func TestLongForgetKilled(t *testing.T) {
	w := newWorld(t, seed(t))
	c := w.machine("home", "alice@example.com").repo()
	w.fatal(c.grow(w, 6, 20))
	usual, killed := time.Duration(0), 0
	for n := range 1 + pick(12, 100) {
		w.fatal(c.grow(w, 2, 6))
		secret := c.talk()
		w.fatal(secret.say(5))
		w.fatal(secret.add(secret.fails()))
		c.must("git", "rekal", "checkpoint")
		c.must("git", "rekal", "parser") // makes the index, and records of what shells printed
		id := strings.Split(c.must("git", "rekal", "query", "SELECT id FROM sessions WHERE native_id = '"+secret.id+"'"),
			`"`)[3]
		forget := []string{"git", "rekal", "forget", id}
		if n == 0 {
			res, err := c.clean(forget...)
			w.fatal(err)
			usual = res.took
		} else {
			moment := usual * time.Duration(n) / time.Duration(pick(12, 100))
			res, err := c.killAfter(moment, forget...)
			w.fatal(err)
			w.fatal(c.dropGitsLocks())
			if res.code == -1 {
				killed++
			}
			res, err = c.run(forget...)
			if w.fatal(err); res.code != 0 && !strings.Contains(res.stderr, "holds no") {
				t.Fatalf("again, after a kill at %v: %v", moment, res)
			}
		}
		c.talks = slices.DeleteFunc(c.talks, func(t *talk) bool { return t == secret })
		c.must("git", "rekal", "checkpoint")
		got, err := c.stored("refs/heads/rekal/" + c.email)
		w.fatal(err)
		w.fatal(compare("the ledger", c.held(), got))
		rows, err := c.tabled()
		w.fatal(err)
		w.fatal(checkTables(c.held(), rows))
		w.fatal(c.fsck())
		if err := c.nowhere(append(secret.words, "output"+secret.id)); err != nil {
			t.Fatalf("round %d: %v", n, err)
		}
	}
	t.Logf("forget usually takes %v: %d were killed", usual.Round(time.Millisecond), killed)
	if killed == 0 {
		t.Error("nothing was killed")
	}
}

// fails is a command that failed, with its output: a record is made of it.
func (t *talk) fails() []byte {
	id := "toolu_fails_" + t.id
	call := t.answer(map[string]any{
		"type": "tool_use", "id": id, "name": "Bash",
		"input": map[string]any{"command": "make"},
	})
	return append(call, t.line("user", map[string]any{"role": "user", "content": []any{
		map[string]any{
			"tool_use_id": id, "type": "tool_result", "is_error": true,
			"content": "Exit code 1\nerror: output" + t.id,
		},
	}})...)
}

// nowhere reports words that an object of the repository or a file of the caches holds.
func (c *clone) nowhere(words []string) error {
	objects, err := c.feed(nil, "cat-file", "--batch", "--batch-all-objects", "--unordered")
	if err != nil {
		return err
	}
	texts := map[string][]byte{"objects": objects}
	err = filepath.WalkDir(c.rekal(), func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			texts[path], err = os.ReadFile(path)
		}
		return err
	})
	for where, text := range texts {
		for _, word := range words {
			if bytes.Contains(text, []byte(word)) {
				err = fmt.Errorf("%s holds %q still", where, word)
			}
		}
	}
	return err
}

package ties

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// talk is one session of Claude Code, or where it has a dialect of another agent, and the transcript that grows with
// it.
type talk struct {
	id, cwd, path string
	name          string // how a report calls it
	rng           *rand.Rand
	last          string // ID of the record before
	records       int
	edited        bool // since it last said something final
	dialect       *dialect
}

// open starts a session in a clone; its transcript begins with the first record.
func (a *author) open() *talk {
	a.talked++
	id := uuid(a.rng)
	return &talk{
		id: id, cwd: a.dir, name: fmt.Sprintf("%s%d", a.name, a.talked), rng: a.rng,
		path: harness.Transcript(a.Home(), a.dir, id),
	}
}

func uuid(rng *rand.Rand) string {
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", rng.Uint32(), rng.IntN(1<<16), rng.IntN(1<<12), rng.IntN(1<<12),
		rng.Uint64()>>16)
}

type fields map[string]any

// record adds one line to the transcript, and returns its ID.
func (k *talk) record(at time.Time, branch, kind string, message, more fields) (string, error) {
	k.records++
	rec := fields{
		"parentUuid": nil, "isSidechain": false, "userType": "external", "cwd": k.cwd, "sessionId": k.id, "version": "2.1.37",
		"gitBranch": branch, "slug": "quiet-wandering-otter", "type": kind, "message": message, "uuid": uuid(k.rng),
		"timestamp": at.UTC().Format("2006-01-02T15:04:05.000Z"),
	}
	if k.last != "" {
		rec["parentUuid"] = k.last
	}
	for key, v := range more {
		rec[key] = v
	}
	id, _ := rec["uuid"].(string)
	k.last = id
	return id, k.write(rec, at)
}

func (k *talk) write(rec fields, at time.Time) error {
	b, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(k.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(k.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	return errors.Join(err, f.Close(), os.Chtimes(k.path, at, at))
}

// prompts is what a person says to a session.
func (a *author) prompts(k *talk, words string) {
	a.T.Helper()
	if k.dialect != nil {
		a.next(k)
		a.must(k.writes(a, k.dialect.turn(k, "user", words)))
		return
	}
	a.tick()
	_, err := k.record(a.now, a.branch, "user", fields{"role": "user", "content": words},
		fields{"permissionMode": "default"})
	a.must(err)
}

// says is what a session says.
func (a *author) says(k *talk, words string) {
	a.T.Helper()
	if k.dialect != nil {
		a.next(k)
		a.must(k.writes(a, k.dialect.turn(k, "assistant", words)))
		return
	}
	a.answers(k, fields{"type": "text", "text": words})
}

// answers writes one block of the agent's message, and returns the record's ID.
func (a *author) answers(k *talk, block fields) string {
	a.T.Helper()
	a.tick()
	id, err := k.record(a.now, a.branch, "assistant", fields{
		"model": "claude-opus-4-6", "id": fmt.Sprintf("msg_%s_%d", k.id[:8], k.records), "type": "message",
		"role":    "assistant",
		"content": []any{block}, "stop_reason": nil, "stop_sequence": nil,
		"usage": fields{"input_tokens": 1, "output_tokens": 7},
	}, fields{"requestId": fmt.Sprintf("req_%s_%d", k.id[:8], k.records)})
	a.must(err)
	return id
}

// calls writes a call of a tool, lets it happen, and writes its result: an error where said is one.
func (a *author) calls(k *talk, tool string, input fields, do func() (said string, failed bool, result any)) {
	a.T.Helper()
	if k.dialect != nil {
		a.does(k, input, do)
		return
	}
	id := fmt.Sprintf("toolu_%s%04d", strings.ReplaceAll(k.id[:13], "-", ""), k.records)
	from := a.answers(k, fields{"type": "tool_use", "id": id, "name": tool, "input": input})
	said, failed, result := do()
	block := fields{"tool_use_id": id, "type": "tool_result", "content": said}
	if failed {
		block["is_error"] = true
	}
	a.tick()
	_, err := k.record(a.now, a.branch, "user", fields{"role": "user", "content": []any{block}},
		fields{"toolUseResult": result, "sourceToolAssistantUUID": from})
	a.must(err)
}

// runs is a call of the shell.
func (a *author) runs(k *talk, command string, do func()) {
	a.T.Helper()
	a.calls(k, "Bash", fields{"command": command, "description": "Run it"}, func() (string, bool, any) {
		do()
		return "", false, fields{"stdout": "", "stderr": "", "interrupted": false, "isImage": false}
	})
}

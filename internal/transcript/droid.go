package transcript

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Droid reads the sessions of Factory's Droid, version 0.225:
//
//	~/.factory/sessions/<folder>/<session ID>.jsonl
//	~/.factory/sessions/<folder>/<session ID>.settings.json   what the whole session took
//
// A subagent's session has a file of its own, which names the one that called it.
type Droid struct{}

// Name is the source of the sessions.
func (Droid) Name() string { return "droid" }

// Locate lists the sessions that were started in the repository.
func (Droid) Locate(ctx context.Context, env Env) (Found, error) {
	return folderLayout{
		file: func(dir, entry string) File {
			if id, ok := strings.CutSuffix(entry, ".jsonl"); ok {
				return File{Path: filepath.Join(dir, entry), NativeID: ledgerName(id)}
			}
			return File{}
		},
		made: func(head []byte) string { return validText(gjson.GetBytes(head, "cwd").Str) },
	}.locate(ctx, newFinder(env, Droid{}, droidTools), filepath.Join(env.homeFolder("", ".factory"), "sessions"))
}

// droidDecoder is one call of Decode.
type droidDecoder struct {
	decoder
	settings gjson.Result
}

// droidCounts are the token counts of a session, as those of one request that grows.
//
//nolint:gochecknoglobals // a table
var droidCounts = counts{
	input: "inputTokens", output: "outputTokens", thought: "thinkingTokens", read: "cacheReadTokens",
	written: "cacheCreationTokens",
}

// Decode reads the records of one session.
func (a Droid) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	d := droidDecoder{decoder: newFileDecoder(a.Name(), opt)}
	if stem, ok := strings.CutSuffix(opt.File.Path, ".jsonl"); ok {
		raw, _ := readBounded(stem+".settings.json", maxDocument) // where there is none, nothing is counted
		d.settings = gjson.ParseBytes(raw)
	}
	return d.readObjects(ctx, r, d.record)
}

func (d *droidDecoder) record(rec gjson.Result) {
	kind := rec.Get("type").Str
	if d.start < 0 && kind != "session_start" {
		return
	}
	d.setTime(parseTime([]byte(rec.Get("timestamp").Raw)))
	switch kind {
	case "session_start":
		d.enterFolder(d.part, validText(rec.Get("cwd").Str))
		if d.part.ParentNative = ledgerNameOf(rec.Get("callingSessionId")); d.part.ParentNative != "" {
			d.part.sub = true
		}
		if rec.Get("isSessionTitleManuallySet").Bool() {
			d.part.setSessionTitle(TitleUser, validText(rec.Get("title").Str))
		}
	case "message":
		d.message(rec.Get("message"))
	case "agent_turn_outcome", "compaction_state", "todo_state", "session_end":
	default:
		d.skipped.unknown(kind)
	}
}

func (d *droidDecoder) message(m gjson.Result) {
	d.model = strings.TrimPrefix(m.Get("modelId").Str, "custom:")
	role := m.Get("role").Str
	typed := d.readBlocks(role, m.Get("content"), d.tool, d.result)
	typed = session.TypedByPerson(d.source, typed)
	if role == "assistant" {
		d.addUsage(d.part, "session", strings.TrimPrefix(d.settings.Get("model").Str, "custom:"),
			d.settings.Get("tokenUsage"), droidCounts)
	}
	if role == "user" && m.Get("visibility").Str != "llm_only" && strings.TrimSpace(typed) != "" {
		d.stopWaiting()
		d.addPrompt(d.part, typed)
	}
}

// droidTools are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var droidTools = toolForms{
	acts: map[string]string{
		"Edit": session.ActEdit, "MultiEdit": session.ActEdit, "Create": session.ActEdit, "ApplyPatch": session.ActEdit,
		"Read": session.ActRead, "Grep": session.ActRead, "Glob": session.ActRead, "LS": session.ActRead,
		"Execute": session.ActRun,
	},
	paths:   []string{"file_path", "path", "folder", "directory_path"},
	content: "content", old: "old_str", now: "new_str",
	editNeedsResult: true,
}

func (d *droidDecoder) tool(b gjson.Result) {
	d.addCall(d.part, droidTools.parse(b.Get("id").Str, b.Get("name").Str, b.Get("input")))
}

// droidEnd is the line behind an output, and droidFailed the one before that of a command that failed.
var (
	droidEnd    = lazy.Expr(`(?s)(?:\n\n)?\n?\[Process exited with code (-?\d{1,10})\]\s*$`)
	droidFailed = lazy.Expr(`^Error: Command failed \(exit code: (-?\d{1,10})\)(?:\n|$)`)
)

// droidSigns are what stands before the lines of a diff in a list of lines.
//
//nolint:gochecknoglobals // a table
var droidSigns = map[string]string{"unchanged": " ", "added": "+", "removed": "-"}

func (d *droidDecoder) result(b gjson.Result) {
	id, text, failed := b.Get("tool_use_id").Str, joinTexts(b.Get("content")), b.Get("is_error").Bool()
	if len(d.part.asked[id]) == 1 && strings.HasPrefix(text, "{") && gjson.Valid(text) {
		var lines []string
		gjson.Get(text, "diffLines").ForEach(func(_, l gjson.Result) bool {
			if sign := droidSigns[l.Get("type").Str]; sign != "" {
				lines = append(lines, sign+validText(l.Get("content").Str))
			} else {
				lines = append(lines, "@@")
			}
			return true
		})
		d.part.setHunks(id, hunksOf(lines))
	}
	exit, text := extractStatus(text, droidEnd)
	if exit == nil && failed {
		exit, text = extractStatus(text, droidFailed)
	}
	d.endCall(d.part, id, text, exit, failed)
}

func (Droid) recognises(rec gjson.Result) (File, bool) {
	id := ledgerNameOf(rec.Get("id"))
	return File{NativeID: id}, id != "" && rec.Get("type").Str == "session_start"
}

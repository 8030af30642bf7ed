package ties

import (
	"fmt"
	"slices"
	"strings"
)

// change is what somebody wants of a file: lines from and up to another become new ones.
type change struct {
	from, to int
	lines    []string
}

func (c change) of(lines []string) []string {
	return slices.Concat(lines[:c.from], c.lines, lines[c.to:])
}

// some is a file of the author's folder.
func (a *author) some() (int, file) {
	numbers := a.work.numbers()
	n := numbers[a.rng.IntN(len(numbers))]
	return n, a.work[n]
}

// idea is a change of a file: a function more, a few statements more or in another's place.
func (a *author) idea(f file) change {
	t := tongueOf(f.path)
	at := a.place(f.text)
	if a.rng.IntN(3) == 0 {
		for at < len(f.text) && f.text[at].text != "" { // functions begin behind an empty line
			at++
		}
		at = min(at+1, len(f.text))
		return change{at, at, t.function(a.rng)}
	}
	var lines []string
	for range 1 + a.rng.IntN(2) {
		lines = append(lines, t.indented(t.statement(a.rng), 1)...)
	}
	to := at
	if a.rng.IntN(2) == 0 {
		to = min(len(f.text), at+1+a.rng.IntN(3))
	}
	return change{at, to, lines}
}

// place is a line in the body of a function, mostly.
func (a *author) place(t text) int {
	for range 20 {
		at := a.rng.IntN(len(t) + 1)
		if at > 0 && at < len(t) && strings.HasPrefix(t[at].text, " ") || at < len(t) && strings.HasPrefix(t[at].text, "\t") {
			return at
		}
	}
	return len(t)
}

// tells are the old and the new text of an Edit: the change with lines around it, as many as make it unique.
func (a *author) tells(lines []string, c change) (old, now string) {
	all := strings.Join(lines, "\n")
	from, to := max(0, c.from-1-a.rng.IntN(3)), min(len(lines), c.to+a.rng.IntN(3))
	for {
		old = strings.Join(lines[from:to], "\n")
		if old != "" && strings.Count(all, old) == 1 || from == 0 && to == len(lines) {
			return old, strings.Join(slices.Concat(lines[from:c.from], c.lines, lines[c.to:to]), "\n")
		}
		from, to = max(0, from-1), min(len(lines), to+1)
	}
}

// writes lets a session change a file to new lines; result is what the tool says of it besides.
func (a *author) writes(k *talk, number int, lines []string, how string, result fields) fields {
	a.T.Helper()
	f := a.work[number]
	now := f.text.become(lines, func(s string) *line { return written(s, k, how+" of "+k.name) })
	a.puts(number, file{f.path, now})
	result["filePath"], result["structuredPatch"] = a.dir+"/"+f.path, patch(f.text, now)
	k.edited = true
	a.notes(number, "%s of %s in %s: %d lines", how, k.name, f.path, len(lines)-len(f.text))
	return result
}

// edits is a call of Edit that succeeds. A person may have changed what the agent proposed.
func (a *author) edits(k *talk, number int, proposed, done change, how string) {
	a.T.Helper()
	f := a.work[number]
	before := f.text.lines()
	old, now := a.tells(before, proposed)
	input := fields{"replace_all": false, "file_path": a.dir + "/" + f.path, "old_string": old, "new_string": now}
	a.calls(k, "Edit", input, func() (string, bool, any) {
		modified := !slices.Equal(proposed.lines, done.lines)
		if modified {
			now = strings.Replace(now, strings.Join(proposed.lines, "\n"), strings.Join(done.lines, "\n"), 1)
		}
		return "The file " + a.dir + "/" + f.path + " has been updated successfully.", false,
			a.writes(k, number, done.of(before), how, fields{
				"oldString": old, "newString": now, "originalFile": f.text.String(), "userModified": modified, "replaceAll": false,
			})
	})
}

func (a *author) edit(k *talk) {
	n, f := a.some()
	c := a.idea(f)
	a.edits(k, n, c, c, "edit")
}

// corrected is an edit of which the person changes a line before it is written.
func (a *author) corrected(k *talk) {
	n, f := a.some()
	proposed := a.idea(f)
	done := change{proposed.from, proposed.to, slices.Clone(proposed.lines)}
	done.lines[0] = tongueOf(f.path).indented(tongueOf(f.path).statement(a.rng)[:1], 1)[0]
	a.edits(k, n, proposed, done, "corrected edit")
}

// undone is an edit that the session takes back: nothing came of it.
func (a *author) undone(k *talk) {
	n, f := a.some()
	c := a.idea(f)
	a.edits(k, n, c, c, "undone edit")
	back := change{c.from, c.from + len(c.lines), f.text.lines()[c.from:c.to]}
	a.says(k, "That was wrong, I take it back.")
	a.edits(k, n, back, back, "undoing edit")
	a.puts(n, f)
}

// multi is a call of MultiEdit.
func (a *author) multi(k *talk) {
	n, f := a.some()
	lines, path := f.text.lines(), a.dir+"/"+f.path
	var list []fields
	for range 2 + a.rng.IntN(2) {
		now := file{f.path, f.text.become(lines, func(s string) *line { return written(s, k, "") })}
		c := a.idea(now)
		old, new := a.tells(lines, c)
		list = append(list, fields{"old_string": old, "new_string": new, "replace_all": false})
		lines = c.of(lines)
	}
	a.calls(k, "MultiEdit", fields{"file_path": path, "edits": list}, func() (string, bool, any) {
		return fmt.Sprintf("Applied %d edits to %s", len(list), path), false, a.writes(k, n, lines, "multi-edit", fields{
			"edits": list, "originalFileContents": f.text.String(), "userModified": false,
		})
	})
}

// fresh is a Write of a new file.
func (a *author) fresh(k *talk) {
	ext := tongues[a.rng.IntN(len(tongues))].ext
	path := fmt.Sprintf("src/part%d%s", a.files, ext)
	lines := tongueOf(path).beginning(a.rng, 1+a.rng.IntN(3))
	full := a.dir + "/" + path
	a.calls(k, "Write", fields{"file_path": full, "content": joined(lines)}, func() (string, bool, any) {
		n := a.creates(path, lines, k, "write of "+k.name)
		a.notes(n, "write of %s makes %s", k.name, path)
		k.edited = true
		return "File created successfully at: " + full, false, fields{
			"type": "create", "filePath": full, "content": joined(lines), "structuredPatch": []hunk{}, "originalFile": nil,
		}
	})
}

// whole is a Write over a file of which it changes a few lines.
func (a *author) whole(k *talk) {
	n, f := a.some()
	lines := f.text.lines()
	for range 1 + a.rng.IntN(3) {
		lines = a.idea(f).within(len(lines)).of(lines)
	}
	path := a.dir + "/" + f.path
	a.calls(k, "Write", fields{"file_path": path, "content": joined(lines)}, func() (string, bool, any) {
		return "The file " + path + " has been updated.", false, a.writes(k, n, lines, "whole write", fields{
			"type": "update", "content": joined(lines), "originalFile": f.text.String(),
		})
	})
}

func (c change) within(n int) change { return change{min(c.from, n), min(c.to, n), c.lines} }

// everywhere is an Edit that replaces all places.
func (a *author) everywhere(k *talk) {
	n, f := a.some()
	from, to := a.words()
	before := f.text.String()
	path := a.dir + "/" + f.path
	if !strings.Contains(before, from) {
		a.fails(k, n, a.idea(f), "<tool_use_error>String to replace not found in file.\nString: "+from+"</tool_use_error>")
		return
	}
	a.calls(k, "Edit", fields{"replace_all": true, "file_path": path, "old_string": from, "new_string": to},
		func() (string, bool, any) {
			lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(before, from, to), "\n"), "\n")
			return "The file " + path + " has been updated. All occurrences were successfully replaced.", false,
				a.writes(k, n, lines, "replace-all", fields{
					"oldString": from, "newString": to, "originalFile": before, "userModified": false, "replaceAll": true,
				})
		})
}

func (a *author) words() (from, to string) {
	return nouns[a.rng.IntN(len(nouns))], nouns[a.rng.IntN(len(nouns))]
}

// fails is an Edit that changes nothing.
func (a *author) fails(k *talk, number int, c change, why string) {
	f := a.work[number]
	old, now := a.tells(f.text.lines(), c)
	input := fields{"replace_all": false, "file_path": a.dir + "/" + f.path, "old_string": old, "new_string": now}
	a.calls(k, "Edit", input, func() (string, bool, any) {
		plain := strings.TrimSuffix(strings.TrimPrefix(why, "<tool_use_error>"), "</tool_use_error>")
		return why, true, "Error: " + plain
	})
	a.notes(number, "failed edit of %s in %s", k.name, f.path)
}

const refusal = `The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:
I do this myself.`

// refused is an Edit that fails, or that the person did not want; who may then type the very lines.
func (a *author) refused(k *talk) {
	n, f := a.some()
	c := a.idea(f)
	if a.rng.IntN(2) == 0 {
		a.fails(k, n, c, "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>")
		return
	}
	a.fails(k, n, c, refusal)
	if a.rng.IntN(2) == 0 {
		a.types(n, c.of(f.text.lines()))
	}
}

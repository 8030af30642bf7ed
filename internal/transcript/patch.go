package transcript

import "strings"

// A patch in the form of OpenAI's models, which Codex, Copilot and OpenCode take:
//
//	*** Begin Patch
//	*** Update File: auth/jwt.go
//	*** Move to: auth/token.go
//	@@ func Expired
//	-	return now.After(t)
//	+	return now.After(t.Add(leeway))
//	*** Add File: notes.md
//	+one line
//	*** Delete File: old.go
//	*** End Patch

// maxPatched is how many files of one patch are looked at.
const maxPatched = 1000

// patchedFiles are the files that a patch changes, in its order, and the edits in it. A moved file is listed under both
// names, and its edits under the new one. A deleted file has no edit, because a patch does not say what the file held.
func patchedFiles(patch string) (paths []string, edits []Edit) {
	var lines []string // of the last file
	done := func() {
		if last := len(edits) - 1; last >= 0 {
			edits[last].Hunks = hunksOf(lines)
		}
		lines = nil
	}
	for line := range strings.SplitSeq(patch, "\n") {
		line = strings.TrimSuffix(line, "\r")
		path, op := patchHeader(line)
		if op != "" && len(paths) >= maxPatched {
			break
		}
		switch {
		case op == "":
			lines = append(lines, line)
		case op == "Move to" && len(edits) > 0:
			paths, edits[len(edits)-1].Path = append(paths, path), path
		default:
			done()
			paths, edits = append(paths, path), append(edits, Edit{Path: path})
		}
	}
	done()
	return paths, edits
}

// patchHeader takes apart a line that names a file; op is empty for another line.
func patchHeader(line string) (path, op string) {
	rest, ok := strings.CutPrefix(line, "*** ")
	if !ok {
		return "", ""
	}
	op, path, ok = strings.Cut(rest, ": ")
	switch op {
	case "Add File", "Update File", "Delete File", "Move to":
		if path = strings.TrimSpace(path); ok && path != "" {
			return path, op
		}
	}
	return "", ""
}

// shellPatch is the patch that a command hands to apply_patch: some models call it in the shell.
func shellPatch(cmd string) (patch string, ok bool) {
	at := strings.Index(cmd, "*** Begin Patch")
	return cmd[max(at, 0):], at >= 0 && strings.Contains(cmd[:at], "apply_patch")
}

// diffHunks takes the hunks out of a unified diff of one file.
func diffHunks(diff string) []Hunk {
	var lines []string
	inside := false
	for line := range strings.SplitSeq(strings.TrimSuffix(diff, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			inside = true
		case strings.HasPrefix(line, "diff --git ") || strings.HasPrefix(line, "Index: "):
			inside = false // the next file's
		case line == "":
			line = " " // some write an empty line of context without its mark
		}
		if inside {
			lines = append(lines, line)
		}
	}
	return hunksOf(lines)
}

// setDiff gives edits of a call the hunks of a diff that its result shows, which has whole lines and the context that
// the call may lack. A file that the diff does not name keeps what was asked for.
func (p *part) setDiff(id, diff string) {
	edits := p.asked[id]
	if len(edits) == 0 || !strings.Contains(diff, "\n@@") {
		return
	}
	for _, one := range strings.Split("\n"+validText(diff), "\n+++ ")[1:] {
		path, hunks, _ := strings.Cut(one, "\n")
		path, _, _ = strings.Cut(path, "\t")
		for i := range edits {
			if h := diffHunks(hunks); isFile(strings.TrimSpace(path), edits[i].Path) && len(h) > 0 {
				edits[i].Hunks, edits[i].FullContent = h, false
			}
		}
	}
}

// isFile reports whether a diff's path, absolute and maybe without its first slash, ends in one from the repository's
// root.
func isFile(path, rel string) bool {
	rest, ok := strings.CutSuffix(strings.ReplaceAll(path, "\\", "/"), rel)
	return ok && rel != "" && (rest == "" || strings.HasSuffix(rest, "/"))
}

package compress

import "strings"

// docker knows "docker build": the plain form of BuildKit, and the steps of the classic builder.
type docker struct {
	failed bool // in the output of the step that failed
	shown  bool // behind its place in the Dockerfile
}

func (*docker) looks() looks { return looks{first: "EfTDS-#[R", inner: ">=-"} }

func (d *docker) waits() bool { return d.failed || d.shown }

func (d *docker) line(text string, s scanned, _ *keeper) (kind, bool) {
	switch {
	case strings.HasPrefix(text, "ERROR: failed to "), strings.HasPrefix(text, "The command '"), strings.HasPrefix(text, "failed to solve"):
		return fault, true
	case strings.HasPrefix(text, "Dockerfile:") && digits(text[11:]) > 0:
		d.shown = true
		return fault, true
	case strings.HasPrefix(text, " > [") && strings.HasSuffix(text, ":"):
		d.failed = true
		return fault, true
	case strings.HasPrefix(text, " => ERROR "):
		return fault, true
	case starts(text, " => ", "[+] Building "):
		return noise, true
	case d.shown && strings.Contains(text, " | "):
		return detail, true
	case text == "------" || text == "--------------------":
		d.failed = false
		return noise, true
	case d.failed:
		return detail, true
	case starts(text, "Successfully tagged "):
		return total, true
	case strings.HasPrefix(text, "Step ") && strings.Contains(text, " : "), strings.HasPrefix(text, " ---> "), strings.HasPrefix(text, "Removing intermediate container"):
		return noise, true
	}
	if text == "" || text[0] != '#' {
		d.shown = false
		return plain, false
	}
	rest, ok := step(text)
	switch {
	case !ok:
		return plain, false
	case starts(rest, "ERROR"):
		return fault, true
	case starts(rest, "DONE", "CACHED", "sha256:", "extracting ", "transferring ", "resolve ", "exporting ", "["):
		return noise, true
	case s.says&saysError != 0 && s.says&saysZero == 0:
		return trivial, true
	}
	return plain, true
}

// step is a line of BuildKit without the number of its step: "#12 3.41 text".
func step(text string) (rest string, ok bool) {
	if !strings.HasPrefix(text, "#") {
		return "", false
	}
	n := digits(text[1:])
	if n == 0 || len(text) < n+3 || text[n+1] != ' ' {
		return "", false
	}
	return text[n+2:], true
}

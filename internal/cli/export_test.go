package cli

import "github.com/git-rekal/git-rekal/internal/manual"

// Manuals are the manual pages by file name.
func Manuals() map[string]string {
	out := map[string]string{"git-rekal.1": manual.Roff(gitRekal())}
	for _, e := range explained() {
		out["git-rekal-"+e.name+".1"] = manual.Roff(e.page())
	}
	return out
}

// Shorts are what the overview says of each command.
func Shorts() (out []string) {
	for _, e := range listed() {
		out = append(out, e.short)
	}
	return out
}

package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/agent"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// checkForms tells of an agent whose transcripts changed: what is read of them says little, or its version is newer
// than what was tried.
func (d *doctor) checkForms(ctx context.Context, reader transcript.Agent, files []transcript.File, roots []string) {
	seen, err := transcript.Survey(ctx, reader, files, roots)
	if err != nil {
		return
	}
	known, _ := agent.Named(reader.Name())
	for i, s := range seen {
		name := strings.TrimSpace(reader.Name() + " " + s.Version)
		switch drift := s.Drift(); {
		case drift != "":
			d.addCheck("transcripts", Wrong, "a newer git-rekal may read it; else report it, with the agent's version", "%s",
				fmt.Sprintf("%s: %s", name, drift))
		case i == 0 && known.Tried != "" && transcript.CompareVersions(s.Version, known.Tried) > 0:
			d.addCheck("transcripts", Note, "", "%s is newer than %s, the newest that was tried", name, known.Tried)
		}
	}
}

package world

import (
	"embed"
	"encoding/json"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

//go:embed testdata/team
var teamFiles embed.FS

// Team is the repository of three people that testdata/team/team.json tells: four sessions, each with its steps (who,
// text, more, old) and the files of the commit behind it. A text "@NAME" is what that file beside it holds.
func Team(t testing.TB) *World {
	read := func(text string) string {
		if !strings.HasPrefix(text, "@") {
			return text
		}
		file, err := teamFiles.ReadFile("testdata/team/" + text[1:])
		if err != nil {
			t.Fatal(err)
		}
		return string(file)
	}
	var all []struct {
		ID, At, Name, Email, Branch, Message string
		Files                                map[string]string
		Steps                                [][]string
	}
	if err := json.Unmarshal([]byte(read("@team.json")), &all); err != nil {
		t.Fatal(err)
	}
	w := create(t, "gateway")
	for _, s := range all {
		k := work{id: s.ID, at: s.At, name: s.Name, email: s.Email, branch: s.Branch, message: s.Message, files: s.Files}
		for path, text := range k.files {
			k.files[path] = read(text)
		}
		for _, said := range s.Steps {
			said = append(said, "", "")
			k.said = append(k.said, harness.Said{Who: said[0], Text: read(said[1]), New: read(said[2]), Old: read(said[3])})
		}
		w.do(k)
	}
	w.at("2026-03-05T09:00:00Z")
	w.as("Carla Costa", "carla@example.com")
	w.Run("save", "--title", "Leeway of tokens",
		"Tokens have 30 s of leeway, because the clocks of two servers differ by up to 12 s.")
	w.at("2026-03-06T12:00:00Z")
	w.as("Alice Adler", "alice@example.com")
	return w
}

package transcript_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestHostileTexts puts 64 KB of what is costly to take apart in the place of each text that an agent writes, one after
// the other: none costs a second.
func TestHostileTexts(t *testing.T) {
	units := []string{"/*", "`${a}", "*** Update File: a\n"}
	for _, agent := range transcript.Agents() {
		t.Run(agent.Name(), func(t *testing.T) {
			t.Parallel()
			sample := samples()[agent.Name()]
			opt := sample.opt
			opt.Roots, opt.Outputs = []string{root}, true
			lines := bytes.Split(sample.text(), []byte("\n"))
			for i, line := range lines {
				for _, at := range textsOf(line) {
					for _, unit := range units {
						quoted, err := json.Marshal(strings.Repeat(unit, 65536/len(unit)))
						if err != nil {
							t.Fatal(err)
						}
						lines[i] = bytes.Join([][]byte{line[:at[0]], quoted, line[at[1]:]}, nil)
						took := harness.Worked(func() {
							_, err = agent.Decode(context.Background(), bytes.NewReader(bytes.Join(lines, []byte("\n"))), opt)
						})
						if err != nil {
							t.Fatal(err)
						}
						if took > time.Second {
							t.Errorf("%.60q for %s took %v", unit, line[at[0]:at[1]], took)
						}
					}
				}
				lines[i] = line
			}
		})
	}
}

// textsOf are the places of all texts in a record that are no names of fields.
func textsOf(line []byte) (at [][2]int) {
	if !gjson.ValidBytes(line) {
		return nil
	}
	var add func(_, v gjson.Result) bool
	add = func(_, v gjson.Result) bool {
		if v.IsObject() || v.IsArray() {
			v.ForEach(add)
		} else if v.Type == gjson.String {
			at = append(at, [2]int{v.Index, v.Index + len(v.Raw)})
		}
		return true
	}
	add(gjson.Result{}, gjson.ParseBytes(line))
	return at
}

package memory

import (
	"fmt"
	"testing"

	"github.com/git-rekal/git-rekal/internal/notes"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// Of many pairs some are told, and the others counted.
func TestManyContradictions(t *testing.T) {
	var all []checked
	for i := range 30 {
		text := fmt.Sprintf("The limit `maxRetries` = %d here.\n", i)
		all = append(all, checked{
			Section: notes.Section{Source: fmt.Sprint(i), Text: text}, where: "notes",
			things: notes.Named(text),
		})
	}
	told, more := contradictions(all)
	harness.Equal(t, "told and counted", []int{maxPairs, 30*29/2 - maxPairs}, []int{len(told), more})
}

package web

import (
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
)

// failuresShown is how many commands, and how much of what was dropped, a page has.
const failuresShown = 50

// failuresPage is the page of what fails most, and of what was tried and dropped.
type failuresPage struct {
	result.Failures
	Rows []failedRow
}

// failedRow is a command or file, and where it was mended; "" for nowhere.
type failedRow struct {
	result.Failed
	Mended string
}

func makeFailures(r *request) (page, error) {
	p := page{Template: "failures", Title: "What fails", Here: "activity"}
	by := "command"
	if r.query.Get("by") == "path" {
		by = "path"
	}
	found, err := r.at.Failures(r, ask.StatsRequest{By: by, Limit: failuresShown})
	if err != nil {
		return p, err
	}
	ask.LimitFailures(&found, failuresShown)
	out := failuresPage{Failures: found}
	for _, f := range found.Results {
		row := failedRow{Failed: f}
		if id, turn, ok := strings.Cut(f.Mended, ":"); ok {
			if n, err := strconv.Atoi(turn); err == nil {
				row.Mended = r.Turn(id, n)
			}
		}
		out.Rows = append(out.Rows, row)
	}
	p.Body = out
	return p, nil
}

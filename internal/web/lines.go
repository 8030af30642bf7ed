package web

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
)

// linesPage is the page of who wrote the lines of a folder.
type linesPage struct {
	Path, Above string // Above is the folder that it lies in
	Total       linesRow
	Left        int // files that are not counted
	Rows        []linesRow
}

// linesRow is a file or a folder with its lines, and where it leads; "" for nowhere.
type linesRow struct {
	result.Lines
	Name, Href string
}

func makeLines(r *request) (page, error) {
	path := strings.Trim(r.query.Get("path"), "/")
	p := page{Template: "lines", Title: cmp.Or(path, "Who wrote the lines"), Here: "activity"}
	counted, err := r.at.Standing(r, path, ask.Counting{Cached: r.query.Get("count") == ""})
	if errors.Is(err, ask.ErrNoCommit) && path == "" {
		err = nil
	}
	if err != nil {
		return p, err
	}
	out := linesPage{Path: path, Left: counted.Left}
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		out.Above = path[:i]
	}
	total, rows := counted.Below(path)
	out.Total.Lines = total
	for _, l := range rows {
		row := linesRow{Lines: l, Name: strings.TrimPrefix(strings.TrimPrefix(l.Key, path), "/")}
		if folder, ok := strings.CutSuffix(l.Key, "/"); !ok {
			row.Href = r.To("file", "path", l.Key)
		} else if !r.Static || path == "" { // an export has the upper two of each
			row.Href = r.To("lines", "path", folder)
		}
		out.Rows = append(out.Rows, row)
	}
	slices.SortStableFunc(out.Rows, func(a, b linesRow) int { return cmp.Compare(b.Unknown, a.Unknown) })
	p.Body = out
	return p, nil
}

// Shares are the percentages of the lines that a session wrote, that others did, and of which nobody knows. They add up
// to 100: what rounding leaves goes to the parts that it cut most.
func (l linesRow) Shares() [3]int {
	parts := [3]int{l.Wrote, l.NoSession, l.Unknown}
	var out [3]int
	left, all := 100, max(l.Lines.Lines, 1)
	for i, n := range parts {
		out[i] = 100 * n / all
		left -= out[i]
	}
	order := []int{0, 1, 2}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(100*parts[b]%all, 100*parts[a]%all) })
	for _, i := range order[:max(0, min(left, 3))] {
		out[i]++
	}
	return out
}

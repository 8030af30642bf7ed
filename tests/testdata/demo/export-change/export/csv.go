// Package export writes a tenant's rows as CSV.
package export

import (
	"encoding/csv"
	"io"
	"iter"
)

// flushEvery is after how many rows the reader sees them.
const flushEvery = 500

// Stream writes each row as it arrives.
func Stream(w io.Writer, rows iter.Seq[[]string]) error {
	out, n := csv.NewWriter(w), 0
	for row := range rows {
		if err := out.Write(row); err != nil {
			return err
		}
		if n++; n%flushEvery == 0 {
			out.Flush()
		}
	}
	out.Flush()
	return out.Error()
}

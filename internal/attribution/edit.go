package attribution

import "time"

// Edit is what one tool call of a session did to a file.
type Edit struct {
	Session     string
	At          time.Time // when it was done, to the millisecond
	FullContent bool      // Lines are all lines of the file after the edit; which of them are new is not known
	Lines       []Line
	Commits     []string // that took lines of it, as far as that is known
}

// Line is a line of an edit.
type Line struct {
	Print Print
	Kind  byte // Kept, Added, Removed or Gap
}

// What an edit did to a line: it kept, added or removed it. A Gap is no line: the next line stands elsewhere in the
// file.
const (
	Kept    byte = ' '
	Added   byte = '+'
	Removed byte = '-'
	Gap     byte = '@'
)

// Replace are the lines of an edit that replaced old by new.
func Replace(old, new []Print) []Line {
	var out []Line
	for len(old) > 0 && len(new) > 0 && old[0] == new[0] {
		out = append(out, Line{old[0], Kept})
		old, new = old[1:], new[1:]
	}
	n := 0
	for n < min(len(old), len(new)) && old[len(old)-1-n] == new[len(new)-1-n] {
		n++
	}
	out = append(out, lcsLines(old[:len(old)-n], new[:len(new)-n])...)
	for _, p := range old[len(old)-n:] {
		out = append(out, Line{p, Kept})
	}
	return out
}

// maxTable bounds len(old)·len(new) for lcsTable; above it the texts count as having no line in common.
const maxTable = 1 << 20

// lcsLines are the lines of the edit from old to new that keeps their longest common subsequence.
func lcsLines(old, new []Print) (out []Line) {
	common := lcsTable(old, new)
	for i, j := 0, 0; i < len(old) || j < len(new); {
		switch {
		case i < len(old) && j < len(new) && common != nil && old[i] == new[j]:
			out = append(out, Line{old[i], Kept})
			i, j = i+1, j+1
		case i < len(old) && (j == len(new) || common == nil || common[i+1][j] >= common[i][j+1]):
			out = append(out, Line{old[i], Removed})
			i++
		default:
			out = append(out, Line{new[j], Added})
			j++
		}
	}
	return out
}

// lcsTable is the usual table of the longest common subsequence: at [i][j] its length for old[i:] and new[j:]. It is
// nil above maxTable.
func lcsTable(old, new []Print) [][]int32 {
	if len(old)*len(new) > maxTable {
		return nil
	}
	common := make([][]int32, len(old)+1)
	for i := len(old); i >= 0; i-- {
		common[i] = make([]int32, len(new)+1)
		for j := len(new) - 1; i < len(old) && j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if old[i] == new[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	return common
}

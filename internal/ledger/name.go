package ledger

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/oklog/ulid/v2"
)

// Where a reader must put segments in order, it goes by the checkpoint's time and then by name; the time stands in the
// name. A session's captured_at is the time of its first checkpoint, or of its first segment when it was imported.

// segmentName names the files of one commit: segments/2026/11/20/<ULID>.ndjson, and
// <ULID>.1.ndjson and so on where one file would be too large. A day a folder keeps the
// trees small: 1,200 checkpoints write 2.2 MB of loose objects, against 31 MB with a
// month a folder.
type segmentName struct {
	ID string
	TS time.Time
}

func (n segmentName) path(part int) string {
	file := n.ID + ".ndjson"
	if part > 0 {
		file = fmt.Sprintf("%s.%d.ndjson", n.ID, part)
	}
	return segmentDir + n.TS.Format("2006/01/02/") + file
}

// segmentPath is what segmentName.path makes, and so is isSegment; nothing else below segments/
// is read.
var segmentPath = lazy.Expr(`^segments/(\d{4}/\d\d/\d\d)/([0-7][0-9A-HJKMNP-TV-Z]{25})(\.\d{1,6})?\.ndjson$`)

// isSegment reports whether a path is a segment's: its folder is the day in its name.
func isSegment(path string) bool {
	m := segmentPath.FindStringSubmatch(path)
	return m != nil && Segment{Path: path}.Time().Format("2006/01/02") == m[1]
}

// comparePaths orders segments by name, then by part: "X.ndjson" comes before
// "X.1.ndjson", and that before "X.10.ndjson".
func comparePaths(a, b string) int {
	ida, na := splitName(a)
	idb, nb := splitName(b)
	if c := strings.Compare(ida, idb); c != 0 {
		return c
	}
	return na - nb
}

func splitName(p string) (id string, part int) {
	id, n, ok := strings.Cut(strings.TrimSuffix(path.Base(p), ".ndjson"), ".")
	if !ok {
		return id, 0
	}
	part, err := strconv.Atoi(n)
	if err != nil {
		return id, 0
	}
	return id, part
}

// Time is the time in a segment's name: its checkpoint's, where it has one. The zero time
// when the name holds none.
func (s Segment) Time() time.Time {
	name, _ := splitName(s.Path)
	id, err := ulid.ParseStrict(name)
	if err != nil {
		return time.Time{}
	}
	return ulid.Time(id.Time()).UTC()
}

// entryID is the part of a name that the segments of one entry share.
func (s Segment) entryID() string {
	id, _ := splitName(s.Path)
	return id
}

// Compare orders segments as a reader must take them: by the checkpoint's time, which
// stands in the name, and then by the rest of the name.
func (s Segment) Compare(t Segment) int { return comparePaths(s.Path, t.Path) }

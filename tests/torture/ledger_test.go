package torture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// What follows reads ledgers from git alone and shares no code with git-rekal, so that both
// can't be wrong in the same way.

// stored reads every turn of a ledger, segment by segment, in the order of their names. It
// fails when a commit did anything but add segments, or a name is earlier than that of its
// parent.
func (c *clone) stored(ref string) ([]turn, error) {
	blobs, err := c.segments(ref)
	if err != nil {
		return nil, err
	}
	var ask bytes.Buffer
	for _, b := range blobs {
		fmt.Fprintln(&ask, b)
	}
	out, err := c.feed(&ask, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	var turns []turn
	in := bufio.NewReader(bytes.NewReader(out))
	for _, want := range blobs {
		var oid, kind string
		var size int64
		if _, err := fmt.Fscanf(in, "%s %s %d\n", &oid, &kind, &size); err != nil || oid != want || kind != "blob" {
			return nil, fmt.Errorf("%s: segment %s is %s %q: %w", ref, want, oid, kind, err)
		}
		data := make([]byte, size+1)
		if _, err := io.ReadFull(in, data); err != nil {
			return nil, err
		}
		part, err := turnsOf(data[:size])
		if err != nil {
			return nil, fmt.Errorf("%s: segment %s: %w", ref, want, err)
		}
		turns = append(turns, part...)
	}
	return turns, nil
}

// segments lists the blobs of a ledger's segments, by name, and sees to it that each commit
// that is no merge only added some.
func (c *clone) segments(ref string) ([]string, error) {
	out, err := c.feed(nil, "log", "--reverse", "--topo-order", "--format=", "--raw", "--no-abbrev", "-r", "--root",
		"--no-renames", ref)
	if err != nil {
		return nil, err
	}
	added := map[string]string{}
	for line := range strings.Lines(string(out)) {
		meta, name, ok := strings.Cut(strings.TrimSpace(line), "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 5 {
			continue
		}
		if f[4] != "A" {
			return nil, fmt.Errorf("%s: a commit changed %s: %s", ref, name, meta)
		}
		if strings.HasPrefix(name, "segments/") {
			added[name] = f[3]
		}
	}
	out, err = c.feed(nil, "ls-tree", "-r", "--name-only", ref, "segments/")
	if err != nil {
		return nil, err
	}
	names := strings.Fields(string(out))
	if len(names) != len(added) {
		return nil, fmt.Errorf("%s: %d segments at the tip, %d added by its commits", ref, len(names), len(added))
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(path.Base(a), path.Base(b)) })
	blobs := make([]string, len(names))
	for i, name := range names {
		if blobs[i] = added[name]; blobs[i] == "" {
			return nil, fmt.Errorf("%s: no commit added %s", ref, name)
		}
	}
	return blobs, nil
}

// turnsOf reads the turns of one segment.
func turnsOf(data []byte) ([]turn, error) {
	var out []turn
	var native string
	for line := range bytes.Lines(data) {
		var rec struct {
			T, Role, Content string
			NativeID         string `json:"native_id"`
			TS               time.Time
		}
		var kind struct{ T string }
		if err := json.Unmarshal(line, &kind); err != nil {
			return nil, fmt.Errorf("%.80q: %w", line, err)
		}
		if kind.T != "session" && kind.T != "turn" {
			continue
		}
		if err := json.Unmarshal(line, &rec); err != nil {
			return nil, fmt.Errorf("%.80q: %w", line, err)
		}
		if rec.T == "session" {
			native = rec.NativeID
			continue
		}
		out = append(out, turn{native, rec.TS.UnixMilli(), rec.Role, rec.Content})
	}
	return out, nil
}

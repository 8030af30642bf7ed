package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// claudeMeta is what Claude Code notes beside a subagent's transcript.
type claudeMeta struct {
	ToolUseID     string `json:"toolUseId"`
	SpawnDepth    int    `json:"spawnDepth"`    // 1: by the session itself
	ParentAgentID string `json:"parentAgentId"` // newer versions only
}

// FindSpawner is the agent ID of the subagent that spawned the subagent of f; empty when
// the session itself did, or when that can't be told. Versions that do not name the
// parent are searched for the tool call that made f, in siblings: the files of the same
// session. It is meant to be asked once, when a subagent is new.
func FindSpawner(ctx context.Context, f File, siblings []File) (string, error) {
	if f.Meta == "" {
		return "", nil
	}
	raw, err := os.ReadFile(f.Meta)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("transcript: read subagent's description: %w", err)
	}
	var meta claudeMeta
	if json.Unmarshal(raw, &meta) != nil { // half-written or of another version: as good as absent
		return "", nil
	}
	if meta.ParentAgentID != "" || meta.SpawnDepth < 2 || meta.ToolUseID == "" {
		return ledgerName(meta.ParentAgentID), nil
	}
	for _, s := range siblings {
		if s.AgentID == "" || s.AgentID == f.AgentID || s.Parent != f.Parent {
			continue
		}
		made, err := holdsCall(ctx, s.Path, meta.ToolUseID)
		if err != nil {
			return "", err
		}
		if made {
			return s.AgentID, nil
		}
	}
	return "", nil
}

// holdsCall reports whether a transcript holds the tool call with an ID.
func holdsCall(ctx context.Context, path, id string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("transcript: open sibling: %w", err)
	}
	defer f.Close()
	made, want := false, []byte(`"id":"`+id+`"`)
	_, err = eachRecord(ctx, f, &Counts{}, func(ln line) bool {
		made = made || bytes.Contains(ln.text, want)
		return true
	})
	if err != nil {
		return false, fmt.Errorf("transcript: search %q: %w", path, err)
	}
	return made, nil
}

package transcript

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
)

// FilesOnDisk are the transcripts that an agent still has on this machine, by the ID that it gave their sessions;
// without those of subagents, which no agent can resume.
func FilesOnDisk(ctx context.Context, source string, env Env) (map[string]File, error) {
	i := slices.IndexFunc(Agents(), func(a Agent) bool { return a.Name() == source })
	if i < 0 {
		return nil, nil
	}
	found, err := Agents()[i].Locate(ctx, env)
	out := map[string]File{}
	for _, f := range found.Files {
		if f.AgentID == "" && !f.Rendered {
			out[f.NativeID] = f
		}
	}
	return out, err
}

// StartFolder is the folder in which the session of a transcript began; "" if the transcript does not say.
func StartFolder(ctx context.Context, source string, f File, roots []string) (string, error) {
	i := slices.IndexFunc(Agents(), func(a Agent) bool { return a.Name() == source })
	if i < 0 {
		return "", nil
	}
	agent, opt := Agents()[i], Options{File: f, Roots: roots}
	var text io.ReadCloser
	var err error
	if opener, ok := agent.(Opener); ok && f.ReadWhole {
		text, err = opener.Open(ctx, opt)
	} else {
		text, err = os.Open(f.Path)
	}
	if err != nil {
		return "", fmt.Errorf("transcript: %w", err)
	}
	defer text.Close()
	doc, err := agent.Decode(ctx, text, opt)
	return cmp.Or(doc.Dirs[f.NativeID], f.Cwd), err
}

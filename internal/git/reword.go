package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Reword makes a commit anew with another message and other parents, as an amend would: its author and tree stay, its
// committer is who runs it. It is signed if git is told to sign commits.
func (r *Repo) Reword(ctx context.Context, id OID, parents []OID, message string) (OID, error) {
	utf8 := []string{"-c", "i18n.commitEncoding=UTF-8", "-c", "i18n.logOutputEncoding=UTF-8"} // as the message is
	told, err := r.Run(ctx, append(utf8, "log", "-1", "--no-show-signature", "--date=raw", "--format=%T%x00%an%x00%ae%x00%ad",
		string(id))...)
	fields := strings.Split(strings.TrimSuffix(told, "\n"), "\x00")
	if err != nil || len(fields) != 4 {
		return "", fmt.Errorf("git: read commit %s: %w", id, err)
	}
	args := append(slices.Clone(utf8), "commit-tree", "-F", "-")
	if signs, err := r.Run(ctx, "config", "--type=bool", "--get", "commit.gpgSign"); err == nil &&
		strings.TrimSpace(signs) == "true" {
		args = append(args, "-S")
	}
	for _, p := range parents {
		args = append(args, "-p", string(p))
	}
	cmd := r.Command(ctx, append(args, fields[0])...)
	cmd.Env = append(cmd.Env, "GIT_AUTHOR_NAME="+fields[1], "GIT_AUTHOR_EMAIL="+fields[2], "GIT_AUTHOR_DATE="+fields[3])
	cmd.Stdin = strings.NewReader(message)
	out, err := runGit(ctx, cmd, lastLine)
	if err != nil {
		return "", fmt.Errorf("git: make commit %s anew: %w", id, err)
	}
	return OID(strings.TrimSpace(out)), nil
}

package git

import (
	"context"
	"fmt"
	"strings"
)

// Reword makes a commit anew with another message and other parents, as an amend would: its author and tree stay, its
// committer is who runs it. It is signed if git is told to sign commits.
func (r *Repo) Reword(ctx context.Context, id OID, parents []OID, message string) (OID, error) {
	c, err := r.Commit(id)
	if err != nil {
		return "", err
	}
	args := []string{"-c", "i18n.commitEncoding=UTF-8", "commit-tree", "-F", "-"} // as the message is
	if signs, err := r.Run(ctx, "config", "--type=bool", "--get", "commit.gpgSign"); err == nil &&
		strings.TrimSpace(signs) == "true" {
		args = append(args, "-S")
	}
	for _, p := range parents {
		args = append(args, "-p", string(p))
	}
	cmd := r.Command(ctx, append(args, string(c.Tree))...)
	cmd.Env = append(cmd.Env, "GIT_AUTHOR_NAME="+c.Author.Name, "GIT_AUTHOR_EMAIL="+c.Author.Email,
		fmt.Sprintf("GIT_AUTHOR_DATE=@%d %s", c.Author.When.Unix(), c.Author.When.Format("-0700")))
	cmd.Stdin = strings.NewReader(message)
	out, err := runGit(ctx, cmd, lastLine)
	if err != nil {
		return "", fmt.Errorf("git: make commit %s anew: %w", id, err)
	}
	return OID(strings.TrimSpace(out)), nil
}

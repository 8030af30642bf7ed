package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	git2 "github.com/libgit2/git2go/v34"
)

// HooksOffFile is the name of a file that git's configuration includes where conditions hold, some of which libgit2
// does not know: nothing in it matters to who reads a configuration.
const HooksOffFile = "hooks-off.gitconfig"

// configByLibrary reads the configuration through libgit2, which saves a process of 3 ms; ok is whether git itself
// would read the same. It would not where the environment or the command line sets something, where an include depends
// on something, where a worktree has settings of its own, or where git is not the system's and may have its own place
// for those of all users.
func (r *Repo) configByLibrary() (conf map[string][]string, ok bool) {
	if !isDistributionGit(r.env) || slices.ContainsFunc(r.env, setsConfig) ||
		envValue(r.env, "HOME") != os.Getenv("HOME") ||
		envValue(r.env, "XDG_CONFIG_HOME") != os.Getenv("XDG_CONFIG_HOME") {
		return nil, false
	}
	withoutSystem := envValue(r.env, "GIT_CONFIG_NOSYSTEM") == "1"
	all, err := r.r.Config()
	if err != nil {
		return nil, false
	}
	defer all.Free()
	entries, err := all.NewIterator()
	if err != nil {
		return nil, false
	}
	defer entries.Free()
	conf = map[string][]string{}
	for {
		e, err := entries.Next()
		if git2.IsErrorCode(err, git2.ErrorCodeIterOver) {
			return conf, true
		}
		if err == nil && withoutSystem && e.Level == git2.ConfigLevelSystem {
			continue
		}
		if err != nil || strings.HasPrefix(e.Name, "includeif.") && e.Value != HooksOffFile ||
			e.Name == "extensions.worktreeconfig" || isAmbiguous(e) {
			return nil, false
		}
		conf[e.Name] = append(conf[e.Name], e.Value)
	}
}

// isAmbiguous reports whether an entry may be one without a value, which git reads as true: libgit2 calls both empty. A
// credential helper has a value: an empty one forgets those before, and "gh auth setup-git" writes it for all.
func isAmbiguous(e *git2.ConfigEntry) bool {
	return e.Value == "" && !strings.HasPrefix(e.Name, "credential.")
}

// Setting is one value of the configuration as libgit2 reads it, which is not all that git reads; "" where it is not
// set.
func (r *Repo) Setting(key string) string {
	conf, err := r.r.Config()
	if err != nil {
		return ""
	}
	defer conf.Free()
	value, _ := conf.LookupString(key) // an error is no value
	return value
}

// hasSetting reports whether the configuration, as libgit2 reads it, has a key that an expression matches.
func (r *Repo) hasSetting(expr string) bool {
	conf, err := r.r.Config()
	if err != nil {
		return false
	}
	defer conf.Free()
	it, err := conf.NewIteratorGlob(expr)
	if err != nil {
		return false
	}
	defer it.Free()
	_, err = it.Next()
	return err == nil
}

// OwnSettings are the values of the keys that an expression matches in the user's and the system's configuration, and
// what these include: nothing of a repository's or of a command line's. Values are paths, of which ~ is expanded. dir
// need not lie in a repository.
func OwnSettings(ctx context.Context, dir string, env []string, expr string) (map[string][]string, error) {
	cmd := exec.CommandContext(ctx, "git", "config", "--show-scope", "-z", "--type=path", "--get-regexp", expr)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(slices.Clone(env), "LC_ALL=C"), stopGrace
	out, err := runGit(ctx, cmd, lastLine)
	var none *exec.ExitError
	if errors.As(err, &none) && none.ExitCode() == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("git: read the user's configuration: %w", err)
	}
	conf := map[string][]string{}
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if key, value, ok := strings.Cut(fields[i+1], "\n"); ok && (fields[i] == "global" || fields[i] == "system") {
			conf[key] = append(conf[key], value)
		}
	}
	return conf, nil
}

// WithoutRepositoryVariables is an environment without what binds git to one repository.
func WithoutRepositoryVariables(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(bound, name)
	})
}

// bound are the variables that "git rev-parse --local-env-vars" lists, but for those that hold configuration.
var bound = []string{ //nolint:gochecknoglobals // a table
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE",
	"GIT_GRAFT_FILE", "GIT_INDEX_FILE",
	"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_CONFIG",
	"GIT_NAMESPACE",
}

// identityByLibrary is the committer where the configuration alone says who that is; see configByLibrary.
func (r *Repo) identityByLibrary() (sig Signature, ok bool) {
	conf, ok := r.configByLibrary()
	if !ok || slices.ContainsFunc(r.env, setsCommitter) || envValue(r.env, "TZ") != os.Getenv("TZ") {
		return sig, false
	}
	for key, to := range map[string]*string{"name": &sig.Name, "email": &sig.Email} {
		said := conf["user."+key]
		if len(said) == 0 || conf["committer."+key] != nil || !isUnaltered(said[len(said)-1]) {
			return sig, false
		}
		*to = said[len(said)-1]
	}
	sig.When = time.Now()
	return sig, true
}

// isUnaltered reports whether a name or an address is one that git takes as it is. Of others git strips signs from both
// ends.
func isUnaltered(name string) bool {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	return isWord(first) && isWord(last) && !strings.ContainsFunc(name,
		func(r rune) bool { return r < ' ' || r == '<' || r == '>' })
}

func setsCommitter(variable string) bool {
	return strings.HasPrefix(variable, "GIT_COMMITTER_") || strings.HasPrefix(variable, "EMAIL=")
}

func setsConfig(variable string) bool {
	return strings.HasPrefix(variable, "GIT_CONFIG") && variable != "GIT_CONFIG_NOSYSTEM=1"
}

// isDistributionGit reports whether git is the one that a Linux distribution installs.
func isDistributionGit(env []string) bool {
	if runtime.GOOS != "linux" {
		return false
	}
	for _, dir := range filepath.SplitList(envValue(env, "PATH")) {
		switch dir {
		case "/usr/bin", "/bin", "/usr/lib/git-core", "/usr/libexec/git-core": // the latter are in front for what git starts
			return true
		}
		if _, err := os.Stat(filepath.Join(dir, "git")); err == nil {
			return false
		}
	}
	return false
}

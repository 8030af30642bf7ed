package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/hooks"
)

// Since 2.54 git runs hooks that its configuration names, beside files and whatever core.hooksPath says. Ours stand at
// the head of the repository's configuration, so that every other byte comes back.

// configNamePrefix is before the event in the name of a hook.
const configNamePrefix = "git-rekal-"

// ConfigName is what our hook for an event is called in git's configuration.
func ConfigName(event string) string { return configNamePrefix + event }

// ConfigHooks are the lines of git's configuration that have it run our hooks. As there, a binary is fallen back to
// where PATH holds none; a missing one is silent. extra goes to `git-rekal hook`, and more to each section.
func ConfigHooks(binary, extra, more string) string {
	return configHooks(hooks.Names(), binary, extra, more)
}

func configHooks(names []string, binary, extra, more string) string {
	var b strings.Builder
	quoted := quoteForShell(binary)
	for _, event := range names {
		call := `hook --by $PPID ` + extra + event + ` "$@"`
		command := `rekal() { [ "${REKAL_SKIP:-0}" = 0 ] || return 0; if command -v git-rekal >/dev/null; then git-rekal ` +
			call +
			`; elif [ -x ` + quoted + ` ]; then ` + quoted + ` ` + call + `; fi; :; }; rekal`
		fmt.Fprintf(&b, "[hook \"%s\"]\n\tevent = %s\n\tcommand = %s\n%s", ConfigName(event), event, QuoteForConfig(command),
			more)
	}
	return b.String()
}

// ConfigHooksOff are lines that switch them off, wherever they are.
func ConfigHooksOff() string {
	var b strings.Builder
	for _, event := range hooks.Names() {
		fmt.Fprintf(&b, "[hook \"%s\"]\n\tenabled = false\n", ConfigName(event))
	}
	return b.String()
}

// QuoteForConfig makes a text a value, or the name of a subsection, of git's configuration.
func QuoteForConfig(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// ConfigBlock are lines for the head of a file of git's configuration, between marks by which CutConfigBlock finds
// them, and the command that takes them out.
func ConfigBlock(lines, command string) string {
	return fmt.Sprintf("%s (`%s` removes these lines)\n%s%s\n", blockBegin, command, lines, blockEnd)
}

// WithConfigBlock is a configuration with a block at its head, instead of one that it has.
func WithConfigBlock(text, block string) string {
	if strings.Contains(text, block) {
		return text
	}
	text = CutConfigBlock(text)
	if rest, marked := strings.CutPrefix(text, bom); marked {
		return bom + block + rest
	}
	return block + text
}

// CutConfigBlock is a configuration without what is between our marks, and without sections of our hooks wherever they
// are: git moves none, but other programs write configurations anew, without comments.
func CutConfigBlock(text string) string {
	var kept strings.Builder
	inHook := false
	hasEnd := strings.Contains(text, blockEnd)
	for line := range strings.Lines(cutBlock(text, func(string) bool { return hasEnd })) {
		if header := strings.TrimSpace(strings.TrimPrefix(line, bom)); strings.HasPrefix(header, "[") {
			inHook = strings.HasPrefix(header, `[hook "`+configNamePrefix)
		}
		if !inHook {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// EditConfig gives a file of git's configuration another text at once, while git changes nothing there. Links to it and
// its mode stay.
func EditConfig(file string, edit func(text string) string) error {
	file = followLinks(file)
	lock, err := os.OpenFile(file+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // the lock that git takes
	if err == nil {
		text, unread := readIfThere(file)
		if err = unread; err == nil {
			if edited := edit(string(text)); edited != string(text) {
				err = writeFile(file, []byte(edited), 0o666)
			}
		}
		err = errors.Join(err, lock.Close(), os.Remove(lock.Name()))
	}
	if err != nil {
		return fmt.Errorf("setup: change git's configuration: %w", err)
	}
	return nil
}

// configFile is the repository's configuration.
func (l Layout) configFile() string { return filepath.Join(l.CommonDir, "config") }

// installConfigHooks has git run our hooks, which no other program takes away. Where the machine's configuration does
// so, there is nothing to do.
func installConfigHooks(l Layout, r *Report) error {
	if l.ByMachine {
		return nil
	}
	block := ConfigBlock(configHooks(l.hookNames(), l.Binary, "", "\tenabled = true\n"), "git rekal clean")
	text, err := readIfThere(l.configFile())
	if err != nil || strings.Contains(string(text), block) {
		return err
	}
	if err := EditConfig(l.configFile(), func(text string) string { return WithConfigBlock(text, block) }); err != nil {
		return err
	}
	r.addDone("hooks %s in %s", strings.Join(l.hookNames(), ", "), l.pathForUser(l.configFile()))
	if l.simpleGitHooksHint() != "" {
		r.addHint("simple-git-hooks deletes hooks that are files; git-rekal's stand in git's configuration, and stay")
	}
	return nil
}

// removeConfigHooks takes them out, whichever git is in use now.
func removeConfigHooks(l Layout, r *Report) error {
	text, err := readIfThere(l.configFile())
	if err != nil || CutConfigBlock(string(text)) == string(text) {
		return err
	}
	if err := EditConfig(l.configFile(), CutConfigBlock); err != nil {
		return err
	}
	r.addDone("hooks %s in %s", strings.Join(hooks.Names(), ", "), l.pathForUser(l.configFile()))
	return nil
}

package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// usageError is a command line that can't be run.
type usageError struct {
	err     error
	command string
	meant   string // the command that a search was rather meant as
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// extraError is an argument too many: often words that were meant as a search.
type extraError struct{ arg string }

func (e *extraError) Error() string { return fmt.Sprintf("unexpected argument %q", e.arg) }

// Hint is where to read more, and what may have been meant.
func (e *usageError) Hint() string {
	var extra *extraError
	var unknown *pflag.NotExistError
	switch {
	case e.meant != "":
		return fmt.Sprintf(`see "git rekal help recall"; to run a command: "git rekal %s"`, e.meant)
	case e.command == recallName:
		if errors.As(e.err, &unknown) {
			return `see "git rekal help recall"; to search for words that begin with "-", write them behind "--"`
		}
		return `see "git rekal help recall"`
	case errors.As(e.err, &unknown) && gitFlagEquivalent(e.command, unknown) != "":
		return gitFlagEquivalent(e.command, unknown)
	case errors.As(e.err, &extra):
		return fmt.Sprintf(`see "git rekal %s -h"; to search for words, write "git rekal -- %s …"`, e.command, e.command)
	}
	return fmt.Sprintf(`see "git rekal %s -h"`, e.command)
}

// gitFlagEquivalent names the flag of ours that does what a flag of "git log" or "git show" does; "" for other flags.
func gitFlagEquivalent(command string, unknown *pflag.NotExistError) string {
	if command != "log" && command != "show" && command != "why" {
		return ""
	}
	for flags, hint := range map[string]string{
		"p patch u stat shortstat numstat name-only name-status diff": `"git rekal show A..B" shows what commits changed and what was said, "git rekal show --stat A..B" the files`,
		"grep S G i":         `"git rekal WORDS" searches what was said`,
		"L":                  `"git rekal why PATH:FIRST,LAST" shows the sessions behind lines`,
		"format pretty date": `"git rekal ` + command + ` --json" has every field`,
		"committer":          `"--author TEXT" chooses by who captured`,
		"all branches remotes tags graph decorate follow reverse first-parent merges no-merges": `"git rekal log" lists the checkpoints of all branches and people, the newest first; REV, A..B, -- PATH and --author choose`,
	} {
		if slices.Contains(strings.Fields(flags), unknown.GetSpecifiedName()) {
			return hint
		}
	}
	return ""
}

// explainFlagError says what is wrong with a flag, and names it as the user typed it.
func explainFlagError(err error) error {
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("%s needs a value", flagName(missing.GetFlag()))
	case errors.As(err, &invalid):
		f, why := invalid.GetFlag(), invalid.Unwrap()
		switch f.Value.Type() {
		case "int":
			why = errors.New("not a valid number")
		case "bool":
			why = errors.New("neither true nor false")
		case "duration":
			why = errors.New("not a duration such as 10s or 2m")
		}
		return fmt.Errorf("%s %s: %w", flagName(f), strconv.Quote(invalid.GetValue()), why)
	}
	return err
}

func flagName(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}

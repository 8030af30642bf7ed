package segment

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// What a field may hold. What capture writes is far inside the lengths, which are in bytes:
// they are there so that a hostile segment can't bring a novel where a name belongs.
const (
	maxWord   = 32
	maxName   = 8 << 10  // an address, a branch, an ID, a tool
	maxLine   = 16 << 10 // a path, a title, a command
	maxText   = 2 * session.MaxTurn
	maxCursor = 4 << 10
	maxIndex  = 1 << 28 // numbers of turns and tool calls
)

var (
	sha    = lazy.Expr(`^[0-9a-f]{40}([0-9a-f]{24})?$`) // SHA-1 or SHA-256
	change = lazy.Expr(`^[A-Z]$`)                       // git's status letter: A, M, D

	request = lazy.Expr(`^[0-9a-f]{8}$`)
)

// field is a value with its key.
type field struct{ key, value string }

// checkNames refuses control characters, with which a terminal can be made to say anything,
// and what is too long.
func checkNames(fields ...field) error {
	for _, f := range fields {
		if len(f.value) > maxName {
			return fmt.Errorf("%s of %d bytes", f.key, len(f.value))
		}
		if strings.ContainsFunc(f.value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return fmt.Errorf("%s %.100q holds control characters", f.key, f.value)
		}
	}
	return nil
}

// checkText refuses NUL, which no text of an agent holds, and what is too long.
func checkText(key, value string, limit int) error {
	if len(value) > limit {
		return fmt.Errorf("%s of %d bytes", key, len(value))
	}
	if strings.Contains(value, "\x00") {
		return fmt.Errorf("%s holds NUL", key)
	}
	return nil
}

// checkPath takes a path from the repository's root.
func checkPath(path string) error {
	if !session.IsPathInTree(path) {
		return fmt.Errorf("path %.100q", path)
	}
	return checkText("path", path, maxLine)
}

// checkToolPath takes a path from the repository's root, an absolute one outside, or none.
func checkToolPath(path string) error {
	if path == "" || path[0] == '/' {
		return checkText("path", path, maxLine)
	}
	return checkPath(path)
}

// checkOID takes the ID of a git object.
func checkOID(key, id string) error {
	if !sha.MatchString(id) {
		return fmt.Errorf("%s %.100q", key, id)
	}
	return nil
}

// checkBlob takes the ID of a file's content, or none for a file that is gone.
func checkBlob(id string) error {
	if id == "" {
		return nil
	}
	return checkOID("blob", id)
}

// checkTime refuses the zero time.
func checkTime(t time.Time) error {
	if t.IsZero() {
		return errors.New("no time")
	}
	return nil
}

// isIndex reports whether i can be the index of a turn or tool call.
func isIndex(i int) bool { return i >= 0 && i <= maxIndex }

func checkID(id string) error {
	if _, err := ulid.ParseStrict(id); err != nil {
		return fmt.Errorf("ID %.100q: %w", id, err)
	}
	return nil
}

// checkOptionalID is checkID where there is one.
func checkOptionalID(id string) error {
	if id == "" {
		return nil
	}
	return checkID(id)
}

// isEnumWord takes a word of an enumeration, of which a later version may know more; one that is not known does no
// harm.
func isEnumWord(s string) bool {
	return s != "" && len(s) <= maxWord && s[0] != '-' &&
		!strings.ContainsFunc(s, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') })
}

func checkActor(a string) error {
	if !isEnumWord(a) {
		return fmt.Errorf("actor_type %.100q", a)
	}
	return nil
}

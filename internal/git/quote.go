package git

import (
	"strconv"
	"strings"
)

// quotedIf is a path as git prints it in a line: quoted where it has other characters than ASCII's.
func quotedIf(path string) string {
	if strings.IndexFunc(path, isOdd) < 0 {
		return path
	}
	return quoted(path)
}

func isOdd(c rune) bool { return c < ' ' || c == '"' || c == '\\' || c > '~' }

// quoted is a path in quotes, as C has them.
func quoted(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		c := path[i]
		switch letter := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); {
		case letter >= 0:
			b.WriteString(`\` + `abtnvfr"\`[letter:letter+1])
		case isOdd(rune(c)):
			b.WriteString(`\` + strconv.FormatUint(uint64(c)+0o1000, 8)[1:])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

package git

import (
	"strconv"
	"strings"
)

func needsQuoting(c rune) bool { return c < ' ' || c == '"' || c == '\\' || c > '~' }

// Quote is a path as git prints and reads it in a line: in quotes, as C has them, where it has other characters than
// ASCII's.
func Quote(path string) string {
	if strings.IndexFunc(path, needsQuoting) < 0 {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		c := path[i]
		switch letter := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); {
		case letter >= 0:
			b.WriteString(`\` + `abtnvfr"\`[letter:letter+1])
		case needsQuoting(rune(c)):
			b.WriteString(`\` + strconv.FormatUint(uint64(c)+0o1000, 8)[1:])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

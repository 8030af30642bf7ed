package segment

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Nine of ten lines are turns and tool calls. As Encode writes them, their keys in their order, they are read without
// encoding/json, which takes five times as long. Every other line is left to it; a test compares the two.

// plainTurn reads a turn; ok says that it is plain.
func plainTurn(b []byte) (l turnLine, ok bool) {
	p := plain{rest: b}
	if !p.has(`{"t":"turn","i":`) {
		return l, false
	}
	l = turnLine{T: "turn", I: p.number(), Role: p.text(`,"role":`), TS: p.optional(`,"ts":`), Content: p.text(`,"content":`)}
	return l, p.end()
}

// plainTool reads a tool call; ok says that it is plain.
func plainTool(b []byte) (l toolLine, ok bool) {
	p := plain{rest: b}
	if !p.has(`{"t":"tool","i":`) {
		return l, false
	}
	l = toolLine{T: "tool", I: p.number()}
	p.bad = !p.has(`,"turn":`)
	l.Turn, l.Tool = p.number(), p.text(`,"tool":`)
	l.Act, l.Path, l.Cmd = p.optional(`,"act":`), p.optional(`,"path":`), p.optional(`,"cmd":`)
	l.Failed = p.has(`,"failed":true`)
	if p.has(`,"exit":`) {
		l.Exit = p.number()
	}
	return l, p.end()
}

// plain is what is left of a line.
type plain struct {
	rest []byte
	bad  bool // it is not plain
}

// has takes a text off the front, if it stands there.
func (p *plain) has(text string) bool {
	if len(p.rest) < len(text) || string(p.rest[:len(text)]) != text {
		return false
	}
	p.rest = p.rest[len(text):]
	return true
}

func (p *plain) end() bool { return !p.bad && string(p.rest) == "}" }

func (p *plain) number() int {
	n := 0
	for n < len(p.rest) && (p.rest[n] == '-' || '0' <= p.rest[n] && p.rest[n] <= '9') {
		n++
	}
	digits := string(p.rest[:n])
	i, err := strconv.Atoi(digits)
	p.bad = p.bad || err != nil || strconv.Itoa(i) != digits // JSON has no 007
	p.rest = p.rest[n:]
	return i
}

// optional is text where the key may be missing.
func (p *plain) optional(key string) string {
	if len(p.rest) < len(key) || string(p.rest[:len(key)]) != key {
		return ""
	}
	return p.text(key)
}

// text takes a key and its string.
func (p *plain) text(key string) string {
	if p.bad || !p.has(key) || !p.has(`"`) {
		p.bad = true
		return ""
	}
	escapes := 0
	for i := 0; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			s := p.rest[:i]
			p.rest = p.rest[i+1:]
			if escapes == 0 {
				return string(s)
			}
			return p.unescape(s, escapes)
		case c == '\\':
			escapes++
			i++
		case c < ' ':
			p.bad = true
			return ""
		}
	}
	p.bad = true
	return ""
}

// unescape is what a string with escapes means.
func (p *plain) unescape(s []byte, escapes int) string {
	out := make([]byte, 0, len(s)-escapes)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			i++ // there is one: else the string would not have ended
			switch c = s[i]; c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case '"', '\\', '/':
			default: // \u, whose rules are not repeated here
				var all string
				p.bad = p.bad || json.Unmarshal(slices.Concat([]byte(`"`), s, []byte(`"`)), &all) != nil
				return all
			}
		}
		out = append(out, c)
	}
	return string(out)
}

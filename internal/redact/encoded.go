package redact

import "strings"

const (
	// minEncoded is the shortest base64 in which the rules look for secrets, and minEncodedValue the one in which known values are
	// looked for, in bytes.
	minEncoded      = 24
	minEncodedValue = 11
)

// readable wants text that can be read: the rules look for nothing else.
func readable(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return len(b) >= minEncoded/4*3
}

// anything wants all that a text encodes: values are looked for wherever they begin.
func anything([]byte) bool { return true }

// decode is what runs of base64 and of hexadecimal digits in a reading stand for, one behind the other. A run may begin with what is no part
// of the encoding, such as a path. So it is decoded from each of its first four places on, and what is wanted of that is kept.
func decode(of reading, wanted func([]byte) bool) reading {
	t := of.text
	out := make([]byte, 0, len(t)/2)
	r := reading{done: of.done, runs: []window{}}
	keep := func(from int, run window) {
		if from == len(out) {
			return
		}
		if !wanted(out[from:]) {
			out = out[:from]
			return
		}
		out = append(out, '\n')
		r.runs, r.ends = append(r.runs, run), append(r.ends, len(out))
	}
	for i := 0; i < len(t); i++ {
		if sextets[t[i]] < 0 {
			continue
		}
		run := window{i, i}
		onlyHex := true
		for ; i < len(t) && sextets[t[i]] >= 0; i++ {
			onlyHex = onlyHex && nibble(t[i]) >= 0
		}
		if run.hi = i; run.hi-run.lo < minEncodedValue {
			continue
		}
		for shift := range 4 {
			from := len(out)
			out = appendBase64(out, t[run.lo+shift:run.hi])
			keep(from, run)
		}
		for shift := 0; shift < 2 && onlyHex; shift++ {
			from := len(out)
			for j := run.lo + shift; j+1 < run.hi; j += 2 {
				out = append(out, byte(nibble(t[j])<<4|nibble(t[j+1])))
			}
			keep(from, run)
		}
	}
	r.text = string(out)
	return r
}

// appendBase64 decodes either alphabet.
func appendBase64(out []byte, v string) []byte {
	for ; len(v) >= 4; v = v[4:] {
		n := uint32(sextets[v[0]])<<18 | uint32(sextets[v[1]])<<12 | uint32(sextets[v[2]])<<6 | uint32(sextets[v[3]])
		out = append(out, byte(n>>16), byte(n>>8), byte(n))
	}
	if len(v) > 1 {
		out = append(out, byte(sextets[v[0]])<<2|byte(sextets[v[1]])>>4)
	}
	if len(v) > 2 {
		out = append(out, byte(sextets[v[1]])<<4|byte(sextets[v[2]])>>2)
	}
	return out
}

// sextets are what the letters of base64 stand for; -1 for other bytes.
var sextets = func() (out [256]int8) { //nolint:gochecknoglobals // read-only
	for c := range out {
		out[c] = int8(strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", byte(c)))
	}
	out['-'], out['_'] = 62, 63
	return out
}()

// nibble is what a hexadecimal digit stands for; -1 for other letters of base64.
func nibble(c byte) int { return strings.IndexByte("0123456789abcdef", c|0x20) }

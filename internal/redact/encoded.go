package redact

import (
	"encoding/base64"
	"strings"
)

// minEncoded is the shortest base64 that is looked into, in bytes.
const minEncoded = 24

// scanEncoded looks at runs of what base64 is written in. It finds tokens with a prefix, and base64 of
// texts that hold a secret, of which it takes the whole.
func (s *ruleset) scanEncoded(t string) []span {
	var out []span
	for i := 0; i < len(t); {
		if !encodes[t[i]] {
			i++
			continue
		}
		j := i
		for j < len(t) && encodes[t[j]] {
			j++
		}
		for k := i; j-i > minHinted && k < j; k++ {
			if t[k] != '_' && t[k] != '-' {
				continue
			}
			if lo, hi := prefixed(t, window{k, k + 1}); lo < hi {
				out = append(out, span{lo: lo, hi: hi, rule: "vendor-token"})
			}
		}
		if j-i >= minEncoded {
			if rule := s.within(t[i:j]); rule != "" {
				out = append(out, span{lo: i, hi: j, rule: rule})
			}
		}
		i = j
	}
	return out
}

// encodes are the bytes of both alphabets.
var encodes = bytesOf("+/-_") //nolint:gochecknoglobals // read-only

// within names the rule that finds something in the text that v encodes; "" when it encodes
// no text, or nothing is found.
func (s *ruleset) within(v string) string {
	enc := base64.RawStdEncoding
	if strings.ContainsAny(v, "-_") {
		enc = base64.RawURLEncoding
	}
	var head [minEncoded / 4 * 3]byte
	if n, err := enc.Decode(head[:], []byte(v[:minEncoded])); err != nil || !readable(head[:n]) {
		return ""
	}
	if strings.HasPrefix(string(head[:]), pemBegin) {
		if text, _ := enc.DecodeString(v[:min(len(v), 64)/4*4]); strings.Contains(string(text), "PRIVATE KEY") {
			return "private-key"
		}
	}
	v = v[:len(v)/4*4+[]int{0, 0, 2, 3}[len(v)%4]]
	text, err := enc.DecodeString(v)
	if err != nil || !readable(text) {
		return ""
	}
	found, err := s.scan(string(text), everywhere)
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[0].rule
}

func readable(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// minEncoded is the shortest base64 that is looked into, in bytes.
const minEncoded = 24

// scanEncoded looks at runs of what base64 is written in. It finds tokens with a prefix, and base64 of
// texts that hold a secret, of which it takes the whole.
func (s *ruleset) scanEncoded(t string) []span {
	var out []span
	for i := 0; i < len(t); {
		if passwordSigns[t[i]] && i > 0 {
			if lo, hi := madeUpAt(t, i); lo < hi {
				out = append(out, span{lo: lo, hi: hi, rule: "generic-secret"})
			}
		}
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
	if plain, err := hex.DecodeString(v); err == nil && readable(plain) {
		return s.in(plain)
	}
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
	return s.in(text)
}

// in names the rule that finds something in a decoded text; "" for none.
func (s *ruleset) in(text []byte) string {
	found := s.scan(string(text))
	if len(found) == 0 {
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

// passwordSigns are those that stand in passwords, and within words of nothing else.
var passwordSigns = bytesIn("!#%&^~$@?+") //nolint:gochecknoglobals // read-only

// maxMadeUp is the longest password that is known by its looks, in bytes.
const maxMadeUp = 32

// madeUpAt is a password that nothing names, around the sign at i: words with capitals, a digit and such a sign
// within ("Nutmeg&Clove2"). Nothing else is written so, but for sums, versions, anchors and addresses.
func madeUpAt(t string, i int) (lo, hi int) {
	if !alnumeric(t[i-1]) || i+1 == len(t) || !alnumeric(t[i+1]) {
		return 0, 0
	}
	part := func(c byte) bool { return alnumeric(c) || passwordSigns[c] || c == '-' || c == '.' || c == '_' }
	for lo = i; lo > 0 && i-lo <= maxMadeUp && part(t[lo-1]); lo-- {
	}
	for hi = i; hi < len(t) && hi-i <= maxMadeUp && part(t[hi]); hi++ {
	}
	v := strings.TrimRight(t[lo:hi], ".?")
	hi = lo + len(v)
	if strings.ContainsAny(v[:1], "-.%") || strings.Contains(v, "%") || len(v) < minValue || len(v) > maxMadeUp || !mixed(v) || placeholder(v) || random(v) && turns(v) > 5 || strings.Contains(v, "&") && (lo > 0 && t[lo-1] == '=' || hi < len(t) && t[hi] == ';') || notMadeUp.MatchString(v) ||
		lo > 0 && strings.IndexByte(" \t\n\"'`:=,>", t[lo-1]) < 0 || operand.MatchString(t[hi:min(len(t), hi+3)]) || !endsWord(t, hi) && strings.IndexByte("\"'`,;)<", t[hi]) < 0 {
		return 0, 0
	}
	return lo, hi
}

// operand stands behind a part of an expression.
var operand = lazy.Expr(`^ [=!>|&+*?%^/{]`)

// notMadeUp is arithmetic, a version, an address, an anchor, an escape, a variable, code.
var notMadeUp = lazy.Expr(`[+*$#@^&~]\pL?\d+(?:\D|$)|#[\da-f]{6}|#[a-z]+-\d|\.\pL{2,5}#|(?:^|\D)\d+[+*^]|@v?\d|@[A-Za-z-]+\.[A-Za-z]|%[\dA-Fa-f]{2}|%\d*[a-z]|[!?&+]{2}|\?\.|[!?]\.|#(?:define|if|else|end|undef|include|pragma)|(?i:utf-?8|^rfc|^https?)|^[$@#&!?]|\.[a-z]+\?|&[a-z]+=|[!?]\d$`)

package git

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/pem"
	"strings"
)

// splitSigned takes a commit apart into what is signed, and the signature in the header of a format; n is how many
// headers hold signatures, of that and any other format.
func (h ObjectFormat) splitSigned(raw string) (payload, signature string, n int) {
	head, message, _ := strings.Cut(raw, "\n\n")
	var rest, armor strings.Builder
	own, within := h.signatureHeader()+" ", false
	for line := range strings.Lines(head + "\n") {
		text, begins := strings.CutPrefix(line, own)
		switch {
		case strings.HasPrefix(line, "gpgsig"):
			within, n = true, n+1
			if begins {
				armor.WriteString(text)
			}
		case within && strings.HasPrefix(line, " "):
			armor.WriteString(line[1:])
		default:
			within = false
			rest.WriteString(line)
		}
	}
	return rest.String() + "\n" + message, armor.String(), n
}

// Unsigned is what a commit would be called without its signature.
func (r *Repo) Unsigned(id OID) (OID, error) {
	raw, err := r.read(id, kindCommit)
	if err != nil {
		return "", err
	}
	payload, _, _ := r.format.splitSigned(string(raw))
	return r.format.objectID(kindCommit, []byte(payload)), nil
}

// sshKey is the Ed25519 key, as ssh writes it, of an armored signature that fits what is signed (openssh's
// PROTOCOL.sshsig); "" where that is of another kind, or anything is out of the ordinary.
func sshKey(payload, armored string) string {
	const magic, kind = "SSHSIG", "ssh-ed25519"
	block, rest := pem.Decode([]byte(armored))
	if block == nil || block.Type != "SSH SIGNATURE" || len(block.Headers)+len(rest) > 0 ||
		!strings.HasPrefix(armored, "-----BEGIN ") {
		return ""
	}
	fields, ok := strings.CutPrefix(string(block.Bytes), magic+"\x00\x00\x00\x01")
	parts := sshStrings(fields)
	if !ok || len(parts) != 5 {
		return ""
	}
	public, namespace, reserved, hash, signed := parts[0], parts[1], parts[2], parts[3], parts[4]
	key, sig := sshStrings(public), sshStrings(signed)
	if namespace != "git" || len(key) != 2 || key[0] != kind || len(key[1]) != ed25519.PublicKeySize || len(sig) != 2 ||
		sig[0] != kind {
		return ""
	}
	var sum []byte
	switch hash {
	case "sha256":
		s := sha256.Sum256([]byte(payload))
		sum = s[:]
	case "sha512":
		s := sha512.Sum512([]byte(payload))
		sum = s[:]
	}
	text := []byte(magic)
	for _, s := range []string{namespace, reserved, hash, string(sum)} {
		text = append(binary.BigEndian.AppendUint32(text, uint32(len(s))), s...) //nolint:gosec // a few bytes
	}
	if sum == nil || !ed25519.Verify(ed25519.PublicKey(key[1]), text, []byte(sig[1])) {
		return ""
	}
	return public
}

// sshStrings splits texts that each stand behind their length; nil where that is not all.
func sshStrings(b string) (out []string) {
	for b != "" {
		if len(b) < 4 {
			return nil
		}
		n := uint64(binary.BigEndian.Uint32([]byte(b)))
		if b = b[4:]; n > uint64(len(b)) {
			return nil
		}
		out, b = append(out, b[:n]), b[n:]
	}
	return out
}

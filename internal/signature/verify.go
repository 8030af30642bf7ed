package signature

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrUnknownKey is a signature that fits, of a key that is not known.
var ErrUnknownKey = errors.New("signature: it fits, and nobody is known to have its key")

// errBadSignature is one that does not fit.
var errBadSignature = errors.New("signature: it does not fit what it is to have signed")

// Verify tells who signed some bytes by Sign, by the keys that git knows: gpg.ssh.allowedSignersFile, or gpg's. It
// returns ErrUnknownKey for a good signature of a key that is not among them.
func Verify(ctx context.Context, conf map[string][]string, home string, env []string, payload,
	armored []byte,
) (who string, err error) {
	s := NewSigner(conf, true, "", home, env)
	dir, err := os.MkdirTemp("", "git-rekal-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "sig")
	if err := os.WriteFile(file, armored, 0o600); err != nil {
		return "", err
	}
	if !strings.HasPrefix(string(armored), "-----BEGIN SSH") {
		return s.verifyGPG(ctx, payload, file)
	}
	s.program = "ssh-keygen"
	if own := conf["gpg.ssh.program"]; len(own) > 0 {
		s.program = own[len(own)-1]
	}
	if _, err := s.run(ctx, payload, s.program, "-Y", "check-novalidate", "-n", "git", "-s", file); err != nil {
		return "", errBadSignature
	}
	signers := conf["gpg.ssh.allowedsignersfile"]
	if len(signers) == 0 {
		return "", ErrUnknownKey
	}
	known := signers[len(signers)-1]
	if rest, ok := strings.CutPrefix(known, "~/"); ok {
		known = filepath.Join(home, rest)
	}
	found, err := s.run(ctx, nil, s.program, "-Y", "find-principals", "-f", known, "-s", file)
	if err != nil {
		return "", ErrUnknownKey
	}
	who, _, _ = strings.Cut(strings.TrimSpace(string(found)), "\n")
	if _, err := s.run(ctx, payload, s.program, "-Y", "verify", "-n", "git", "-f", known, "-I", who, "-s",
		file); err != nil {
		return "", ErrUnknownKey
	}
	return who, nil
}

func (s *Signer) verifyGPG(ctx context.Context, payload []byte, file string) (string, error) {
	if s.format == "ssh" {
		s.program = "gpg"
	}
	said, err := s.run(ctx, payload, s.program, "--batch", "--status-fd=1", "--verify", file, "-")
	for line := range strings.Lines(string(said)) {
		if rest, ok := strings.CutPrefix(line, "[GNUPG:] GOODSIG "); ok && err == nil {
			_, who, _ := strings.Cut(strings.TrimSpace(rest), " ")
			return who, nil
		}
	}
	if err != nil && strings.Contains(err.Error(), "No public key") {
		return "", fmt.Errorf("%w: %w", ErrUnknownKey, err)
	}
	return "", errBadSignature
}

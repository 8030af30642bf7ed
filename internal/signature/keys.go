package signature

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// KeysFingerprint is a sum of what decides which signatures are good: the files of allowed and revoked signers, and
// when a keyring was last changed. A verdict holds as long as it is the same. sameForKey says that of each ssh key all
// signatures are worth the same: ssh-keygen judges them, and none holds for a time only. Relative paths begin at dir.
func KeysFingerprint(conf map[string][]string, dir, home string, env []string) (fingerprint string, sameForKey bool) {
	sum := sha256.New()
	sameForKey = len(conf["gpg.ssh.program"]) == 0
	for _, key := range []string{"gpg.ssh.allowedsignersfile", "gpg.ssh.revocationfile"} {
		if all := conf[key]; len(all) > 0 {
			file := all[len(all)-1]
			path := filepath.Join(dir, file)
			if rest, ok := strings.CutPrefix(file, "~/"); ok {
				path = filepath.Join(home, rest)
			} else if filepath.IsAbs(file) {
				path = file
			}
			text, err := os.ReadFile(path) // without one, nobody's key is known
			sameForKey = sameForKey && err == nil && !bytes.Contains(bytes.ToLower(text), []byte("valid-"))
			fmt.Fprintf(sum, "%s %s %d\n%s\n", key, file, len(text), text)
		}
	}
	ring := filepath.Join(home, ".gnupg")
	for _, v := range env {
		if dir, ok := strings.CutPrefix(v, "GNUPGHOME="); ok {
			ring = cmp.Or(dir, ring)
		}
	}
	for _, name := range []string{
		"pubring.kbx", "pubring.gpg", "public-keys.d/pubring.db", "trustdb.gpg",
		"trustlist.txt",
	} {
		if info, err := os.Stat(filepath.Join(ring, name)); err == nil {
			fmt.Fprintln(sum, name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), sameForKey
}

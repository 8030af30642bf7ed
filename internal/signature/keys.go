package signature

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Keys is a sum of what decides which signatures are good: the files of allowed and revoked signers, and when a keyring was last changed. A verdict holds as
// long as it is the same.
func Keys(conf map[string][]string, home string, env []string) string {
	sum := sha256.New()
	for _, key := range []string{"gpg.ssh.allowedsignersfile", "gpg.ssh.revocationfile"} {
		if all := conf[key]; len(all) > 0 {
			file := all[len(all)-1]
			if rest, ok := strings.CutPrefix(file, "~/"); ok {
				file = filepath.Join(home, rest)
			}
			text, _ := os.ReadFile(file) // without one, nobody's key is known
			fmt.Fprintf(sum, "%s %s %d\n%s\n", key, file, len(text), text)
		}
	}
	ring := filepath.Join(home, ".gnupg")
	for _, v := range env {
		if dir, ok := strings.CutPrefix(v, "GNUPGHOME="); ok {
			ring = cmp.Or(dir, ring)
		}
	}
	for _, name := range []string{"pubring.kbx", "pubring.gpg", "trustdb.gpg"} {
		if info, err := os.Stat(filepath.Join(ring, name)); err == nil {
			fmt.Fprintln(sum, name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

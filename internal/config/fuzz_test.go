package config

import (
	"slices"
	"strings"
	"testing"
)

// FuzzParse: whatever git's configuration and the environment say, settings are what is allowed,
// or an error names the key; and a remote that is chosen is one of git's.
func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, conf, env, asked, branch string) {
		pairs := map[string]string{}
		for line := range strings.Lines(conf) {
			k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			pairs[k] = v
		}
		vars := strings.Split(env, "\n")
		c, err := parse(pairs, vars)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "config: rekal.") || c.Enabled {
				t.Fatalf("%v, %+v", err, c)
			}
			return
		}
		if !slices.Contains([]string{"", "human", "agent"}, c.Actor) || !slices.IsSorted(c.Remotes) ||
			slices.Contains(c.Remotes, "") {
			t.Fatalf("%+v", c)
		}
		remote, err := c.RemoteFor(asked, branch)
		if (err == nil) != slices.Contains(c.Remotes, remote) {
			t.Fatalf("%q of %q, %v", remote, c.Remotes, err)
		}
		if c.Agreed(remote) && c.Remote != remote {
			t.Fatalf("nobody agreed to %q: %+v", remote, c)
		}
		IsOff(vars)
	})
}

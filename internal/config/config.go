// Package config turns git-rekal's settings into one typed struct. A setting is a
// `git config` key below "rekal." or, before it, an environment variable: rekal.actor is
// also REKAL_ACTOR. It reads what git resolves, writes nothing, and knows no setting that
// has no effect.
package config

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Config holds the settings of one repository.
type Config struct {
	Enabled bool   // rekal.enabled: whether the hooks capture; default true
	Actor   string // rekal.actor: "human" or "agent" for every session; "" lets the transcript and CI decide
	Skip    bool   // REKAL_SKIP: let this one command pass by
	CI      bool   // CI is set in the environment: nobody sits at the keyboard
}

// Read resolves the settings; env holds "KEY=value" pairs. A value that is not one of
// those allowed is an error that names the key.
func Read(ctx context.Context, repo *git.Repo, env []string) (Config, error) {
	conf, err := repo.Config(ctx)
	if err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	return parse(conf, env)
}

// Off reports whether the environment alone says that hooks do nothing, so that git need not
// be asked. Values that are none are left to Read.
func Off(env []string) bool {
	c, err := parse(nil, env)
	return err == nil && (c.Skip || !c.Enabled)
}

func parse(conf map[string]string, env []string) (Config, error) {
	vars := map[string]string{}
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok {
			vars[k] = v
		}
	}
	value := func(key string) (string, bool) {
		if v, ok := vars["REKAL_"+strings.ToUpper(key)]; ok {
			return v, true
		}
		v, ok := conf["rekal."+key]
		return v, ok
	}
	c := Config{Enabled: true, CI: vars["CI"] != "" && vars["CI"] != "false"}
	if v, ok := value("enabled"); ok {
		b, err := parseBool(v)
		if err != nil {
			return Config{}, fmt.Errorf("config: rekal.enabled: %w", err)
		}
		c.Enabled = b
	}
	if v, ok := value("actor"); ok {
		if v != "human" && v != "agent" {
			return Config{}, fmt.Errorf(`config: rekal.actor: %q is neither "human" nor "agent"`, v)
		}
		c.Actor = v
	}
	c.Skip = vars["REKAL_SKIP"] != "" && vars["REKAL_SKIP"] != "0"
	return c, nil
}

// parseBool takes what git takes for a boolean.
func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0", "":
		return false, nil
	}
	return false, fmt.Errorf("%q is not a boolean", s)
}

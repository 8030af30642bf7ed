// Package config turns git-rekal's settings into one typed struct. A setting is a
// `git config` key below "rekal." or, before it, an environment variable: rekal.actor is
// also REKAL_ACTOR. It reads what git resolves, writes nothing, and knows no setting that
// has no effect.
package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Config holds the settings of one repository.
type Config struct {
	Enabled  bool   // rekal.enabled: whether the hooks capture; default true
	Actor    string // rekal.actor: "human" or "agent" for every session; "" lets the transcript and CI decide
	Remote   string // rekal.remote: where the user agreed to send the ledger; "" for nowhere yet
	Place    string // rekal.url: what Remote stood for when the user agreed; "" when that is not known
	Autopush bool   // rekal.autopush: whether a push of code sends the ledger to Remote; default true
	Skip     bool   // REKAL_SKIP: let this one command pass by
	CI       bool   // CI is set in the environment: nobody sits at the keyboard
	Embed    Embed  // the embedding server

	Allow   []*regexp.Regexp // rekal.redact.allow: findings of redaction that are none
	Exclude []string         // rekal.exclude: globs of paths of which nothing is stored
	Faults  error            // values of both that are no regular expressions or globs, or match too much, and do not count

	Git      map[string][]string // all of git's configuration: it may hold credentials
	Remotes  []string            // the names of git's remotes, sorted
	Places   map[string]string   // remote → the URL that a push goes to, as it is configured
	Upstream map[string]string   // short branch name → the remote of its upstream
}

// Embed says which embedding server to ask.
type Embed struct {
	URL   string // rekal.embed.url: "" where nobody said, "off" for none
	Model string // rekal.embed.model: "" where nobody said
}

// Errors of RemoteFor.
var (
	ErrNoRemote      = errors.New("no remote to share the ledger with")
	ErrUnknownRemote = errors.New("no such remote")
)

// Agreed reports whether the user agreed to send the ledger to what a remote's name stands for
// now: names can be given to other places.
func (c Config) Agreed(remote string) bool {
	return remote == c.Remote && (c.Place == "" || c.Place == c.Places[remote])
}

// RemoteFor chooses the remote to share with: the one that is asked for, else rekal.remote,
// else that of the branch's upstream, else origin. It returns ErrUnknownRemote for a name
// that is none of git's remotes, and ErrNoRemote where nothing can be chosen.
func (c Config) RemoteFor(asked, branch string) (string, error) {
	for _, name := range []string{asked, c.Remote} {
		if name == "" {
			continue
		}
		if !slices.Contains(c.Remotes, name) {
			return "", fmt.Errorf("config: %w: %q", ErrUnknownRemote, name)
		}
		return name, nil
	}
	for _, name := range []string{c.Upstream[branch], "origin"} {
		if slices.Contains(c.Remotes, name) {
			return name, nil
		}
	}
	return "", fmt.Errorf("config: %w", ErrNoRemote)
}

// Read resolves the settings; env holds "KEY=value" pairs. A value that is not one of
// those allowed is an error that names the key.
func Read(ctx context.Context, repo *git.Repo, env []string) (Config, error) {
	all, err := repo.Config(ctx)
	if err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	conf := make(map[string]string, len(all))
	for key, values := range all {
		conf[key] = values[len(values)-1]
	}
	c, err := parse(conf, env)
	if err != nil {
		return Config{}, err
	}
	c.Git = all
	c.exclude(several(all, env, "exclude"))
	c.allow(several(all, env, "redact.allow"))
	return c, nil
}

// several are the values of a key that may be there more than once; the environment's comes
// on top.
func several(all map[string][]string, env []string, key string) []string {
	out := slices.Clone(all["rekal."+key])
	name := variable(key) + "="
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name); ok {
			out = append(out, v)
		}
	}
	return out
}

func variable(key string) string {
	return "REKAL_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// allow compiles what may pass redaction. A value that is no regular expression, or that
// lets most secrets pass, allows nothing.
func (c *Config) allow(patterns []string) {
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			c.Faults = errors.Join(c.Faults, fmt.Errorf("config: rekal.redact.allow: %q: %w", p, err))
			continue
		}
		if re.MatchString("") || matchesMost(re) {
			c.Faults = errors.Join(c.Faults, fmt.Errorf("config: rekal.redact.allow: %q matches nearly everything", p))
			continue
		}
		c.Allow = append(c.Allow, re)
	}
}

// matchesMost reports whether a regular expression would let most secrets pass, whatever they
// are: it matches three of five that have nothing in common but to be drawn by lot.
func matchesMost(re *regexp.Regexp) bool {
	n := 0
	for _, s := range []string{
		"7c0e4b92f1d85a3690be27d4c8f1a3650d9e42b7", // hexadecimal
		"wJq+3nTz/8KfYb0RvXc5Lm/HsUo2Dg+EiPa6QrMx", // base64
		"Vt4nQz8Wc1KpYh6Xs0Lm3Rd9Bf2Gj7Ua5Eo",      // letters and digits
		"BKZQ7WVN2XTRM4HJLC5D",                     // capitals and digits
		"tR8%wq-Lz3!v",                             // what a person makes up
	} {
		if re.MatchString(s) {
			n++
		}
	}
	return n >= 3
}

// exclude takes globs. One that is none, or that names every path, excludes nothing.
func (c *Config) exclude(globs []string) {
	for _, g := range globs {
		_, err := path.Match(g, "")
		if err == nil && strings.Trim(g, "*/. ") == "" {
			err = errors.New("names every path or none")
		}
		if err != nil {
			c.Faults = errors.Join(c.Faults, fmt.Errorf("config: rekal.exclude: %q: %w", g, err))
			continue
		}
		c.Exclude = append(c.Exclude, g)
	}
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
		if v, ok := vars[variable(key)]; ok {
			return v, true
		}
		v, ok := conf["rekal."+key]
		return v, ok
	}
	c := Config{Enabled: true, Autopush: true, CI: vars["CI"] != "" && vars["CI"] != "false"}
	for _, b := range []struct {
		key  string
		into *bool
	}{{"enabled", &c.Enabled}, {"autopush", &c.Autopush}} {
		v, ok := value(b.key)
		if !ok {
			continue
		}
		var err error
		if *b.into, err = parseBool(v); err != nil {
			return Config{}, fmt.Errorf("config: rekal.%s: %w", b.key, err)
		}
	}
	if v, ok := value("actor"); ok {
		if v != "human" && v != "agent" {
			return Config{}, fmt.Errorf(`config: rekal.actor: %q is neither "human" nor "agent"`, v)
		}
		c.Actor = v
	}
	c.Remote, _ = value("remote")
	c.Place = conf["rekal.url"]
	c.Embed.URL = embedURL(value("embed.url"))
	c.Embed.Model, _ = value("embed.model")
	c.Skip = vars["REKAL_SKIP"] != "" && vars["REKAL_SKIP"] != "0"
	c.remotes(conf)
	return c, nil
}

// embedURL is a URL, or "off" for what says that there is none.
func embedURL(v string, said bool) string {
	if on, err := parseBool(v); said && err == nil {
		if on {
			return ""
		}
		return "off"
	}
	return v
}

// remotes finds git's remotes, where they are, and which of them each branch follows. Names
// may hold dots.
func (c *Config) remotes(conf map[string]string) {
	for key, v := range conf {
		if name, ok := middle(key, "remote.", ".url"); ok {
			c.Remotes = append(c.Remotes, name)
			c.Places = with(c.Places, name, cmp.Or(conf["remote."+name+".pushurl"], v))
		}
		if branch, ok := middle(key, "branch.", ".remote"); ok {
			c.Upstream = with(c.Upstream, branch, v)
		}
	}
	slices.Sort(c.Remotes)
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

func middle(key, before, after string) (string, bool) {
	rest, ok := strings.CutPrefix(key, before)
	name, end := strings.CutSuffix(rest, after)
	return name, ok && end && name != ""
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

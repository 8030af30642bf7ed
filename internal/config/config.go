// Package config turns git-rekal's settings into one typed struct.
//
// In: `git config` keys below "rekal.", and environment variables, which win: rekal.actor is also REKAL_ACTOR. Out: a
// Config, with faults for bad values. It reads what git resolves and writes nothing.
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
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/lazy"
)

// Config holds the settings of one repository.
type Config struct {
	Enabled        bool   // rekal.enabled: whether the hooks capture; default true
	Actor          string // rekal.actor: "human" or "agent" for every session; "" lets the transcript and CI decide
	Remote         string // rekal.remote: where the user agreed to send the ledger; "" for nowhere yet
	Loud           bool   // rekal.url is there with a user or password, which Addresses lack
	Autopush       bool   // rekal.autopush: whether a push of code sends the ledger to Remote; default true
	Skip           bool   // REKAL_SKIP: let this one command pass by
	CI             bool   // CI is set in the environment: nobody sits at the keyboard
	Embed          Embed  // what makes vectors of meaning
	Records        Records
	Prices         Prices
	BriefErrorsOff bool // rekal.brief.errors is false: no hook answers a command that failed

	MCPReads bool // rekal.mcp.write is false: the MCP server only reads

	// rekal.memoryFiles: what agents noted in files is sent with the ledger; false: it is not even captured. Where nobody
	// said, it is captured and stays in this clone.
	NotesSent, NotesOff bool

	Sign           bool // rekal.sign, else commit.gpgSign: whether commits of the ledger are signed
	OnlyVerified   bool // rekal.require is "verified": agents are told nothing else
	StatsOfAuthors bool // rekal.stats.authors: stats may compare people; default false

	// PausedNotes are sums of sections of notes that were written in a pause (rekal.pause.notes).
	PausedNotes []string

	// Addresses are those to which Remote led when the user agreed, plain (rekal.url); none when that is not known.
	Addresses []string

	Allow   []*regexp.Regexp // rekal.redact.allow: findings of redaction that are none
	Exclude []string         // rekal.exclude: globs of paths of which nothing is stored
	Ignore  []string         // rekal.ignore: globs of refs and addresses of ledgers that are not read
	Pauses  []Pause          // rekal.pause: when this clone captured nothing
	Agents  []string         // rekal.agent: programs that list and print sessions, git-rekal-agent-NAME
	Private []string         // rekal.private: sessions that are never sent, as "agent/ID"
	Forgot  []string         // rekal.forgot: sessions that are not captured again, as "agent/ID"
	Trailer string           // rekal.trailer: how commits name agents; "" where nobody said
	Check   []string         // rekal.check: rules of "git rekal check"

	// rekal.trailers: whether commits are given trailers as they are made: TrailersAdd, TrailersReplace or ""
	Trailers string
	Faults   []*Fault // values of these that say nothing sensible, and do not count
	Wrong    []*Fault // the same of settings with one value, which Read returns as its error, too

	Git      map[string][]string // all of git's configuration: it may hold credentials
	Remotes  []string            // the names of git's remotes, sorted
	Places   map[string]string   // remote → its URL as it is set, plain
	Upstream map[string]string   // short branch name → the remote of its upstream
}

// Embed says what makes vectors of meaning.
type Embed struct {
	URL   string // rekal.embed: a server, "off" for nothing, "" for the model that is built in
	Model string // rekal.embed.model: the server's; "" where nobody said
}

// off is a URL for nothing.
const off = "off"

// IsOff reports whether nothing makes vectors.
func (e Embed) IsOff() bool { return e.URL == off }

// IsBuiltIn reports whether the model that is built in makes them.
func (e Embed) IsBuiltIn() bool { return e.URL == "" }

// Errors of RemoteFor.
var (
	ErrNoRemote = advice.New("no remote to share the ledger with",
		`add one with "git remote add origin URL", or name one`)
	ErrUnknownRemote = advice.New("no such remote", `"git remote" lists them, "git config rekal.remote NAME" chooses one`)
)

// Agreed reports whether the user agreed to exchange ledgers with the addresses to which a remote's name leads now:
// names can be given to others.
func (c Config) Agreed(remote string, addresses ...string) bool {
	return remote == c.Remote && (len(c.Addresses) == 0 ||
		!slices.ContainsFunc(addresses, func(a string) bool { return !slices.Contains(c.Addresses, a) }))
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

// What becomes of trailers of a commit that is made.
const (
	TrailersAdd     = "add"     // those that are true are added
	TrailersReplace = "replace" // and lines that name agents otherwise go
)

// trailers is what rekal.trailers says; a boolean does, too.
func (r *reader) trailers() string {
	v, ok := r.value("trailers")
	on, isBool := parseBool(v)
	switch {
	case !ok || isBool && !on:
		return ""
	case isBool || v == TrailersAdd:
		return TrailersAdd
	case v != TrailersReplace:
		r.addFault("trailers", v, `is neither "add" nor "replace"`)
	}
	return TrailersReplace
}

// Fault is a value that is not one of those allowed.
type Fault struct {
	Key   string // rekal.enabled
	Value string
	Env   bool   // the environment says so
	What  string // is wrong with it
}

func (f *Fault) Error() string { return fmt.Sprintf("config: %s: %q %s", f.Key, f.Value, f.What) }

// Hint is the command that takes the value away.
func (f *Fault) Hint() string {
	if f.Env {
		return "unset " + envVariable(strings.TrimPrefix(f.Key, "rekal."))
	}
	return fmt.Sprintf(`git config --unset-all %s (where it is: "git config --show-origin --get-all %s")`, f.Key, f.Key)
}

// Fault is all that is wrong with what has several values; nil where nothing is.
func (c Config) Fault() error { return joinFaults(c.Faults) }

func joinFaults(faults []*Fault) error {
	var errs []error
	for _, f := range faults {
		errs = append(errs, f)
	}
	return errors.Join(errs...)
}

// Read resolves the settings; env holds "KEY=value" pairs. A value that is not allowed becomes the Config's Fault: the
// other settings still count, but nothing is captured.
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
	c.Git = all
	for _, url := range all["rekal.url"] {
		c.Addresses = append(c.Addresses, WithoutCredentials(url))
		c.Loud = c.Loud || WithoutCredentials(url) != url
	}
	c.readPrices(conf)
	c.readValues(all, env, "redact.allow", c.addAllowed)
	c.readValues(all, env, "exclude", c.addExcluded)
	c.readValues(all, env, "ignore", c.addIgnored)
	c.readValues(all, nil, "agent", c.addAgent)
	c.readValues(all, env, "check", func(v string) string { c.Check = append(c.Check, v); return "" })
	c.readValues(all, nil, "pause", c.setPause)
	c.readValues(all, nil, "pause.notes", func(v string) string {
		c.PausedNotes = append(c.PausedNotes, strings.Fields(v)...)
		return ""
	})
	c.readValues(all, nil, "forgot", func(v string) string { return appendSession(v, &c.Forgot) })
	c.readValues(all, nil, "private", func(v string) string { return appendSession(v, &c.Private) })
	return c, err
}

// readValues takes the values of a key that may be there more than once; the environment's comes
// on top. take says what is wrong with one.
func (c *Config) readValues(all map[string][]string, env []string, key string, take func(string) string) {
	each := func(v string, fromEnv bool) {
		if what := take(v); what != "" {
			c.Faults = append(c.Faults, &Fault{Key: "rekal." + key, Value: v, Env: fromEnv, What: what})
		}
	}
	for _, v := range all["rekal."+key] {
		each(v, false)
	}
	name := envVariable(key) + "="
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name); ok {
			each(v, true)
		}
	}
}

func envVariable(key string) string {
	return "REKAL_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// addAllowed compiles what may pass redaction. A value that is no regular expression, or that lets most
// secrets pass, allows nothing.
func (c *Config) addAllowed(pattern string) (wrong string) {
	re, err := regexp.Compile(pattern)
	switch {
	case err != nil:
		return "is no regular expression: " + err.Error()
	case re.MatchString("") || matchesMostSecrets(re):
		return "matches nearly everything"
	}
	c.Allow = append(c.Allow, re)
	return ""
}

// addExcluded takes a glob. Redaction makes nothing of one that is none or fits every path, so it is not let
// pass as if it did.
func (c *Config) addExcluded(glob string) (wrong string) {
	rest := strings.Trim(strings.TrimPrefix(strings.TrimSpace(glob), "./"), "/")
	for strings.HasPrefix(rest, "**/") {
		rest = rest[len("**/"):]
	}
	switch {
	case isBadGlob(glob):
		return "is no glob"
	case !utf8.ValidString(glob):
		return "is not UTF-8"
	case rest == "" || rest == "*" || rest == "**":
		return "fits every path: to capture nothing, set rekal.enabled to false"
	}
	c.Exclude = append(c.Exclude, glob)
	return ""
}

// addIgnored takes a glob of ledgers. A glob that fits every ledger is allowed: the user's own ledger is never ignored.
func (c *Config) addIgnored(glob string) (wrong string) {
	switch {
	case isBadGlob(glob):
		return "is no glob"
	case glob == "":
		return "fits no ledger"
	}
	c.Ignore = append(c.Ignore, glob)
	return ""
}

func isBadGlob(glob string) bool {
	_, err := path.Match(glob, "")
	return err != nil
}

// matchesMostSecrets reports whether a regular expression would let most secrets pass, whatever they
// are: it matches three of five that have nothing in common but to be drawn by lot.
func matchesMostSecrets(re *regexp.Regexp) bool {
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

// IsOff reports whether the environment alone says that hooks do nothing, so that git need not
// be asked. Values that are none are left to Read.
func IsOff(env []string) bool {
	c, err := parse(nil, env)
	return err == nil && (c.Skip || !c.Enabled)
}

func parse(conf map[string]string, env []string) (Config, error) {
	r := reader{conf: conf, vars: map[string]string{}}
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok {
			r.vars[k] = v
		}
	}
	c := Config{
		Enabled: r.boolOrTrue("enabled"), Autopush: r.boolOrTrue("autopush"), Records: r.readRecords(),
		MCPReads: !r.boolOrTrue("mcp.write"), BriefErrorsOff: !r.boolOrTrue("brief.errors"),
		StatsOfAuthors: r.boolOr("stats.authors", false), Sign: r.boolOr("sign", isSigningOn(conf["commit.gpgsign"])),
		CI: r.vars["CI"] != "" && r.vars["CI"] != "false", Skip: r.vars["REKAL_SKIP"] != "" && r.vars["REKAL_SKIP"] != "0",
	}
	if v, ok := r.value("actor"); ok {
		if v == "human" || v == "agent" {
			c.Actor = v
		} else {
			r.addFault("actor", v, `is neither "human" nor "agent"`)
		}
	}
	if v, ok := r.value("require"); ok {
		if c.OnlyVerified = v == "verified"; !c.OnlyVerified {
			r.addFault("require", v, `is not "verified"`)
		}
	}
	if _, ok := r.value("memoryfiles"); ok {
		c.NotesSent = r.boolOr("memoryfiles", false)
		c.NotesOff = !c.NotesSent
	}
	c.Remote, _ = r.value("remote")
	c.Trailer, _ = r.value("trailer")
	c.Trailers = r.trailers()
	c.Embed.URL = embedURL(r.value("embed"))
	c.Embed.Model, _ = r.value("embed.model")
	c.readRemotes(conf)
	c.Enabled, c.Wrong = c.Enabled && r.wrong == nil, r.wrong
	return c, joinFaults(r.wrong)
}

// reader reads settings that have one value, and notes what says nothing sensible.
type reader struct {
	conf, vars map[string]string // of git, and of the environment
	wrong      []*Fault
}

func (r *reader) value(key string) (string, bool) {
	if v, ok := r.vars[envVariable(key)]; ok {
		return v, true
	}
	v, ok := r.conf["rekal."+key]
	return v, ok
}

func (r *reader) addFault(key, v, problem string) {
	_, fromEnv := r.vars[envVariable(key)]
	r.wrong = append(r.wrong, &Fault{Key: "rekal." + key, Value: v, Env: fromEnv, What: problem})
}

// boolOrTrue is a boolean that is true where nobody said.
func (r *reader) boolOrTrue(key string) bool { return r.boolOr(key, true) }

// boolOr is the value of a boolean key; unsaid if the key is not set.
func (r *reader) boolOr(key string, unsaid bool) bool {
	v, ok := r.value(key)
	if !ok {
		return unsaid
	}
	on, ok := parseBool(v)
	if !ok {
		r.addFault(key, v, "is not a boolean")
	}
	return on
}

// isSigningOn reports whether commit.gpgSign says so. What is no boolean is git's own business.
func isSigningOn(v string) bool {
	on, ok := parseBool(v)
	return on && ok && v != ""
}

// embedURL is a URL, "off" for what says that nothing makes vectors, or "" for what says nothing else.
func embedURL(v string, isSet bool) string {
	if on, ok := parseBool(v); isSet && ok && !on {
		return off
	} else if ok || v == "builtin" {
		return ""
	}
	return v
}

// readRemotes finds git's remotes, where they are, and which of them each branch follows. Names
// may hold dots.
func (c *Config) readRemotes(conf map[string]string) {
	for key, v := range conf {
		if name, ok := cutMiddle(key, "remote.", ".url"); ok {
			c.Remotes = append(c.Remotes, name)
			c.Places = withEntry(c.Places, name, WithoutCredentials(cmp.Or(conf["remote."+name+".pushurl"], v)))
		}
		if branch, ok := cutMiddle(key, "branch.", ".remote"); ok {
			c.Upstream = withEntry(c.Upstream, branch, v)
		}
	}
	slices.Sort(c.Remotes)
}

// credentials finds what stands before the host of a URL: a user, perhaps with a password.
var credentials = lazy.Expr(`^([A-Za-z][A-Za-z0-9+.-]*://)([^/]*)@`)

// RemoteURLs are the URLs of all remotes, those of pushes, too, without credentials.
func (c Config) RemoteURLs() (all []string) {
	for _, name := range c.Remotes {
		for _, url := range slices.Concat(c.Git["remote."+name+".url"], c.Git["remote."+name+".pushurl"]) {
			all = append(all, WithoutCredentials(url))
		}
	}
	return all
}

// WithoutCredentials is a URL without credentials, so that no second copy of them is written down. Over HTTP the
// user goes, too: it may be a token, and says nothing of the place.
func WithoutCredentials(url string) string {
	m := credentials.FindStringSubmatch(url)
	if m == nil {
		return url
	}
	user, _, _ := strings.Cut(m[2], ":")
	if scheme := strings.ToLower(m[1]); user != "" && !strings.HasPrefix(scheme, "http") {
		user += "@"
	} else {
		user = ""
	}
	return m[1] + user + url[len(m[0]):]
}

func withEntry(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

func cutMiddle(key, before, after string) (string, bool) {
	rest, ok := strings.CutPrefix(key, before)
	name, end := strings.CutSuffix(rest, after)
	return name, ok && end && name != ""
}

// parseBool takes what git takes for a boolean.
func parseBool(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0", "":
		return false, true
	}
	return false, false
}

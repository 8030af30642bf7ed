package config_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// repo is an empty repository with the given text in its configuration, and the environment
// for it, without anything of the machine's.
func repo(t *testing.T, text string) (*git.Repo, []string) {
	t.Helper()
	p := harness.New(t)
	p.Init("repo")
	// no setting of rekal's
	dir, env := p.At("repo"), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.Home(), "GIT_CONFIG_NOSYSTEM=1"}
	f, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	return open(t, dir, env), env
}

func open(t *testing.T, dir string, env []string) *git.Repo {
	t.Helper()
	r, err := git.Open(t.Context(), dir, env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name string
		conf string // git configuration
		env  []string
		want config.Config
		err  string
	}{
		{name: "nothing said", want: config.Config{Enabled: true, Autopush: true}},
		{name: "records", conf: "[rekal]\nrecords = off\n[rekal \"records\"]\ndays = 7\nsize = 1m\n", want: config.Config{
			Enabled: true, Autopush: true, Records: config.Records{Off: true, Days: 7, Size: 1 << 20},
		}},
		{
			name: "no number of days", conf: "[rekal \"records\"]\ndays = many\n",
			err: `config: rekal.records.days: "many" is no number of days`,
		},
		{name: "off", conf: "[rekal]\nenabled = no\n", want: config.Config{Autopush: true}},
		{name: "off, in other letters", conf: "[Rekal]\nEnabled = OFF\n", want: config.Config{Autopush: true}},
		{name: "off, by an empty value", conf: "[rekal]\nenabled =\n", want: config.Config{Autopush: true}},
		{name: "on, by a bare key", conf: "[rekal]\nenabled\n", want: config.Config{Enabled: true, Autopush: true}},
		{
			name: "agents only read", conf: "[rekal \"mcp\"]\n\twrite = false\n",
			want: config.Config{Enabled: true, Autopush: true, MCPReads: true},
		},
		{
			name: "agents may write again", conf: "[rekal \"mcp\"]\n\twrite = false\n", env: []string{"REKAL_MCP_WRITE=1"},
			want: config.Config{Enabled: true, Autopush: true},
		},
		{
			name: "the last value counts", conf: "[rekal]\nenabled = 0\nenabled = 1\n",
			want: config.Config{Enabled: true, Autopush: true},
		},
		{name: "not a boolean", conf: "[rekal]\nenabled = maybe\n", err: `config: rekal.enabled: "maybe" is not a boolean`},
		{
			name: "an actor", conf: "[rekal]\nactor = agent\n",
			want: config.Config{Enabled: true, Autopush: true, Actor: "agent"},
		},
		{
			name: "an actor that is none", conf: "[rekal]\nactor = Robot\n",
			err: `config: rekal.actor: "Robot" is neither "human" nor "agent"`,
		},
		{
			name: "the environment goes first", conf: "[rekal]\nactor = agent\nenabled = true\n",
			env: []string{"REKAL_ACTOR=human", "REKAL_ENABLED=0"}, want: config.Config{Autopush: true, Actor: "human"},
		},
		{
			name: "the environment repairs a bad value", conf: "[rekal]\nactor = x\n", env: []string{"REKAL_ACTOR=human"},
			want: config.Config{Enabled: true, Autopush: true, Actor: "human"},
		},
		{
			name: "a bad value in the environment", env: []string{"REKAL_ENABLED=2"},
			err: `config: rekal.enabled: "2" is not a boolean`,
		},
		{
			name: "the last of a variable counts", env: []string{"REKAL_ACTOR=human", "REKAL_ACTOR=agent"},
			want: config.Config{Enabled: true, Autopush: true, Actor: "agent"},
		},
		{name: "no variable", env: []string{"REKAL_SKIP"}, want: config.Config{Enabled: true, Autopush: true}},
		{name: "skip", env: []string{"REKAL_SKIP=1"}, want: config.Config{Enabled: true, Autopush: true, Skip: true}},
		{name: "skip not", env: []string{"REKAL_SKIP=0"}, want: config.Config{Enabled: true, Autopush: true}},
		{
			name: "skip is not configuration", conf: "[rekal]\nskip = true\n",
			want: config.Config{Enabled: true, Autopush: true},
		},
		{name: "CI", env: []string{"CI=true"}, want: config.Config{Enabled: true, Autopush: true, CI: true}},
		{name: "CI, as some write it", env: []string{"CI=1"}, want: config.Config{Enabled: true, Autopush: true, CI: true}},
		{name: "no CI", env: []string{"CI=false"}, want: config.Config{Enabled: true, Autopush: true}},
		{name: "an empty CI", env: []string{"CI="}, want: config.Config{Enabled: true, Autopush: true}},
		{
			name: "sharing", conf: "[rekal]\nremote = team\nautopush = false\n",
			want: config.Config{Enabled: true, Remote: "team"},
		},
		{
			name: "where it was agreed to share",
			conf: "[rekal]\nremote = team\nurl = u\n[remote \"team\"]\nurl = u\npushurl = p\n",
			want: config.Config{
				Enabled: true, Autopush: true, Remote: "team", Addresses: []string{"u"},
				Remotes: []string{"team"}, Places: map[string]string{"team": "p"},
			},
		},
		{
			name: "sharing, in the environment", conf: "[rekal]\nremote = team\n",
			env: []string{"REKAL_REMOTE=other", "REKAL_AUTOPUSH=no"}, want: config.Config{Enabled: true, Remote: "other"},
		},
		{
			name: "autopush is not a boolean", conf: "[rekal]\nautopush = sometimes\n",
			err: `config: rekal.autopush: "sometimes" is not a boolean`,
		},
		{
			name: "remotes and upstreams", conf: "[remote \"origin\"]\nurl = x\n[remote \"a.b/c\"]\nurl = y\nurl = z\n[remote \"only-push\"]\npushurl = p\n[remote]\npushDefault = q\n[branch \"feature/v1.2\"]\nremote = a.b/c\n",
			want: config.Config{
				Enabled: true, Autopush: true, Remotes: []string{"a.b/c", "origin"},
				Places: map[string]string{"a.b/c": "z", "origin": "x"}, Upstream: map[string]string{"feature/v1.2": "a.b/c"},
			},
		},
		{
			name: "an embedding server", conf: "[rekal]\nembed = http://h:1\n[rekal \"embed\"]\nmodel = m\n",
			want: config.Config{Enabled: true, Autopush: true, Embed: config.Embed{URL: "http://h:1", Model: "m"}},
		},
		{
			name: "an embedding server, in the environment", conf: "[rekal]\nembed = http://h:1\n",
			env:  []string{"REKAL_EMBED=http://h:2", "REKAL_EMBED_MODEL=m"},
			want: config.Config{Enabled: true, Autopush: true, Embed: config.Embed{URL: "http://h:2", Model: "m"}},
		},
		{
			name: "no vectors", conf: "[rekal]\nembed = off\n",
			want: config.Config{Enabled: true, Autopush: true, Embed: config.Embed{URL: "off"}},
		},
		{
			name: "no vectors, by an empty value", conf: "[rekal]\nembed = http://h:1\n", env: []string{"REKAL_EMBED="},
			want: config.Config{Enabled: true, Autopush: true, Embed: config.Embed{URL: "off"}},
		},
		{
			name: "the model that is built in", conf: "[rekal]\nembed = http://h:1\n", env: []string{"REKAL_EMBED=builtin"},
			want: config.Config{Enabled: true, Autopush: true},
		},
		{
			name: "prices", conf: "[rekal \"price.claude-*\"]\ninput = 5\ncacheRead = .5\n[rekal \"price.gpt-5.4\"]\noutput = 10\n",
			want: config.Config{
				Enabled: true, Autopush: true,
				Prices: config.Prices{"claude-*": {Input: 5, CacheRead: .5}, "gpt-5.4": {Output: 10}},
			},
		},
		{
			name: "prices that are none stop nothing",
			conf: "[rekal \"price.m\"]\ninput = five\nsum = 5\n[rekal \"price\"]\ninput = 5\n",
			want: config.Config{Enabled: true, Autopush: true, Prices: config.Prices{}, Faults: []*config.Fault{
				{Key: "rekal.price.input", Value: "5", What: "is for no model: rekal.price.MODEL.input, where MODEL may be a glob"},
				{Key: "rekal.price.m.input", Value: "five", What: "is no price of a million tokens, such as 15 or 0.3"},
				{Key: "rekal.price.m.sum", Value: "5", What: `is for "sum", which is none of input, output, cacheRead, cacheWrite`},
			}},
		},
		{
			name: "other keys", conf: "[rekal \"x\"]\nenabled = no\n[rekalx]\nenabled = no\n",
			want: config.Config{Enabled: true, Autopush: true},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, env := repo(t, tt.conf)
			got, err := config.Read(context.Background(), r, append(env, tt.env...))
			if tt.err != "" {
				if err == nil || err.Error() != tt.err || got.Enabled {
					t.Errorf("error %v, want %s; enabled: %v", err, tt.err, got.Enabled)
				}
				return
			} else if err != nil {
				t.Fatal(err)
			}
			got.Git = nil // all of the above; see TestRedaction
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What the environment alone turns off needs no repository.
func TestOff(t *testing.T) {
	for _, tt := range []struct {
		env  string
		want bool
	}{
		{"", false},
		{"REKAL_SKIP=1", true},
		{"REKAL_SKIP=0", false},
		{"REKAL_ENABLED=false", true},
		{"REKAL_ENABLED=true", false},
		{"REKAL_ENABLED=maybe", false}, // Read says what is wrong with it
	} {
		if got := config.IsOff([]string{tt.env}); got != tt.want {
			t.Errorf("%q: off %v, want %v", tt.env, got, tt.want)
		}
	}
}

func TestReadWhereGitFails(t *testing.T) {
	plain, env := repo(t, "")
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("[rekal\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env = append(env, "GIT_CONFIG_GLOBAL="+broken)
	r := open(t, plain.Layout().WorkTree, env)
	if _, err := config.Read(context.Background(), r, env); err == nil ||
		!strings.HasPrefix(err.Error(), "config: git: read configuration: ") {
		t.Errorf("error %v", err)
	}
}

func TestRemoteFor(t *testing.T) {
	remotes := []string{"fork", "origin", "team"}
	follow := map[string]string{"main": "team", "local": ".", "stray": "gone"}
	for _, tt := range []struct {
		name          string
		conf          config.Config
		asked, branch string
		want          string
		err           error
	}{
		{"what is asked for goes first", config.Config{Remotes: remotes, Remote: "team"}, "fork", "main", "fork", nil},
		{"then the setting", config.Config{Remotes: remotes, Remote: "fork", Upstream: follow}, "", "main", "fork", nil},
		{"then the upstream's", config.Config{Remotes: remotes, Upstream: follow}, "", "main", "team", nil},
		{
			"an upstream here counts for nothing",
			config.Config{Remotes: remotes, Upstream: follow},
			"", "local", "origin",
			nil,
		},
		{"nor does one that is gone", config.Config{Remotes: remotes, Upstream: follow}, "", "stray", "origin", nil},
		{"then origin", config.Config{Remotes: remotes}, "", "HEAD", "origin", nil},
		{"none of them", config.Config{Remotes: []string{"fork"}}, "", "main", "", config.ErrNoRemote},
		{"no remotes", config.Config{}, "", "main", "", config.ErrNoRemote},
		{"a name that is none", config.Config{Remotes: remotes}, "nowhere", "main", "", config.ErrUnknownRemote},
		{"a setting that is none", config.Config{Remotes: remotes, Remote: "old"}, "", "main", "", config.ErrUnknownRemote},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.conf.RemoteFor(tt.asked, tt.branch)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("%q, %v; want %q, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestAgreed(t *testing.T) {
	for _, tt := range []struct {
		name          string
		agreed, leads []string
		want          bool
	}{
		{"the same place", []string{"u"}, []string{"u"}, true},
		{"the name went to another place", []string{"u"}, []string{"v"}, false},
		{"one more place", []string{"u"}, []string{"u", "v"}, false},
		{"one place less", []string{"u", "v"}, []string{"v"}, true},
		{"agreed by the name alone", nil, []string{"u"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := config.Config{Remote: "team", Addresses: tt.agreed}
			if got := c.Agreed("team", tt.leads...); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
			if c.Agreed("other", tt.leads...) {
				t.Error("another remote")
			}
		})
	}
}

// TestReadOn: what is wrong with one value does not keep the others from being read.
func TestReadOn(t *testing.T) {
	r, env := repo(t, "[rekal]\nenabled = maybe\nactor = robot\nremote = team\nexclude = x\n")
	got, err := config.Read(context.Background(), r, env)
	var fault *config.Fault
	if !errors.As(err, &fault) || fault.Key != "rekal.enabled" || !strings.Contains(err.Error(), "rekal.actor") {
		t.Errorf("error %v", err)
	}
	if got.Remote != "team" || got.Enabled || got.Actor != "" || len(got.Exclude) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestPlain: no second copy of a password is written down, and a place is the same with another one.
func TestPlain(t *testing.T) {
	for url, want := range map[string]string{
		"https://alice:secret@example.com/a.git": "https://example.com/a.git",
		"https://token@example.com/a.git":        "https://example.com/a.git",
		"HTTPS://a:p@ss@example.com/a@b.git":     "HTTPS://example.com/a@b.git",
		"https://example.com/a@b.git":            "https://example.com/a@b.git",
		"ssh://git:pw@example.com:22/a.git":      "ssh://git@example.com:22/a.git",
		"ssh://git@example.com/a.git":            "ssh://git@example.com/a.git",
		"git@example.com:a/b.git":                "git@example.com:a/b.git",
		"../team.git":                            "../team.git",
		"/srv/a:b@c":                             "/srv/a:b@c",
		"":                                       "",
	} {
		if got := config.WithoutCredentials(url); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
	r, env := repo(t, "[rekal]\nremote = o\nurl = https://a:old@h/r\n[remote \"o\"]\nurl = https://a:new@h/r\n")
	got, err := config.Read(context.Background(), r, env)
	if err != nil || !got.Agreed("o", got.Places["o"]) || !got.Loud ||
		!slices.Equal(got.Addresses, []string{"https://h/r"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestIgnore: ledgers that are not read.
func TestIgnore(t *testing.T) {
	r, env := repo(t, "[rekal]\nignore = bob@*\nignore = [\nignore =\nignore = refs/rekal/*/eve@example.com\n")
	got, err := config.Read(context.Background(), r, append(env, "REKAL_IGNORE=*"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"bob@*", "refs/rekal/*/eve@example.com", "*"}, got.Ignore); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(got.Faults) != 2 || got.Faults[0].Key != "rekal.ignore" {
		t.Errorf("faults %v", got.Faults)
	}
}

// TestRedaction: keys that may be there several times add up, with the environment's on top; a
// value that is no regular expression is named and left out, and so is one that lets all pass.
func TestRedaction(t *testing.T) {
	r, env := repo(t, "[rekal]\nexclude = secrets/**\nexclude = *.pem\nexclude = [\nexclude = **/*\nexclude = .*\n[rekal \"redact\"]\nallow = ^AKIA\nallow = a(b\nallow = x*\nallow = .\nallow = [a-z]\nallow = [0-9]\nallow = \\\\w+\nallow = ^[0-9a-f]{40}$\n")
	got, err := config.Read(context.Background(), r,
		append(env, "REKAL_EXCLUDE=legal/", "REKAL_EXCLUDE=./", "REKAL_REDACT_ALLOW=one"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"secrets/**", "*.pem", ".*", "legal/"}, got.Exclude); diff != "" {
		t.Errorf("exclude (-want +got):\n%s", diff)
	}
	var allow []string
	for _, re := range got.Allow {
		allow = append(allow, re.String())
	}
	if diff := cmp.Diff([]string{"^AKIA", "^[0-9a-f]{40}$", "one"}, allow); diff != "" {
		t.Errorf("allow (-want +got):\n%s", diff)
	}
	var wrong, mend []string
	for _, f := range got.Faults {
		wrong, mend = append(wrong, f.Key+" "+f.Value), append(mend, f.Hint())
	}
	if diff := cmp.Diff([]string{
		"rekal.redact.allow a(b", "rekal.redact.allow x*", "rekal.redact.allow .",
		"rekal.redact.allow [a-z]", "rekal.redact.allow [0-9]", `rekal.redact.allow \w+`, "rekal.exclude [",
		"rekal.exclude **/*", "rekal.exclude ./",
	}, wrong); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(mend[0], "git config --unset-all rekal.redact.allow ") ||
		mend[len(mend)-1] != "unset REKAL_EXCLUDE" {
		t.Errorf("what mends them: %q", mend)
	}
	if err := got.Fault(); err == nil || !strings.Contains(err.Error(),
		`config: rekal.redact.allow: "x*" matches nearly everything`) {
		t.Errorf("error %v", err)
	}
	if len(got.Git["rekal.exclude"]) != 5 {
		t.Errorf("%v", got.Git)
	}
}

package doctor

import "testing"

// TestHookSwitches: which settings of an agent keep our hooks from running, and where; the last file that sets a key
// counts.
func TestHookSwitches(t *testing.T) {
	const user, local, managed = "/h/.claude/settings.json", ".claude/settings.local.json",
		"/etc/claude-code/managed-settings.json"
	for _, tt := range []struct {
		name, agent string
		files       map[string]string
		want        string
	}{
		{"nothing is set", "claude-code", nil, ""},
		{"by the user", "claude-code", map[string]string{user: `{"disableAllHooks": true}`}, "disableAllHooks " + user},
		{"and taken back here", "claude-code", map[string]string{
			user:  `{"disableAllHooks": true}`,
			local: `{"hooks": {}, "disableAllHooks": false}`,
		}, ""},
		{"by who manages the machine", "claude-code", map[string]string{
			local:   `{"disableAllHooks": false}`,
			managed: `{"disableAllHooks": true}`,
		}, "disableAllHooks " + managed},
		{
			"managed hooks only", "claude-code",
			map[string]string{managed: `{"allowManagedHooksOnly": true}`},
			"allowManagedHooksOnly " + managed,
		},
		{"said where it has no effect", "claude-code", map[string]string{user: `{"allowManagedHooksOnly": true}`}, ""},
		{"no boolean", "claude-code", map[string]string{user: `{"disableAllHooks": "true"}`}, ""},
		{"a file that is none", "claude-code", map[string]string{user: `{`}, ""},
		{"codex, in a table", "codex", map[string]string{"/h/.codex/config.toml": "model = \"x\"\n[ features ]\nhooks = false # mine\n"}, "features.hooks /h/.codex/config.toml"},
		{
			"codex, in another table", "codex",
			map[string]string{"/h/.codex/config.toml": "[features]\nx = true\n[other]\nhooks = false\n"},
			"",
		},
		{
			"codex, dotted", "codex",
			map[string]string{".codex/config.toml": "features.codex_hooks=false\n"},
			"features.codex_hooks .codex/config.toml",
		},
		{
			"codex, managed", "codex",
			map[string]string{"/etc/codex/requirements.toml": "allow_managed_hooks_only = true\n"},
			"allow_managed_hooks_only /etc/codex/requirements.toml",
		},
		{
			"gemini", "gemini-cli",
			map[string]string{".gemini/settings.json": `{"hooksConfig": {"enabled": false}}`},
			"hooksConfig.enabled .gemini/settings.json",
		},
		{
			"gemini, by the system", "gemini-cli",
			map[string]string{
				".gemini/settings.json": `{"hooksConfig": {"enabled": true}}`,
				"/sys.json":             `{"hooksConfig": {"enabled": false}}`,
			},
			"hooksConfig.enabled /sys.json",
		},
		{
			"copilot", "copilot-cli",
			map[string]string{"/h/.copilot/settings.json": `{"disableAllHooks": true}`},
			"disableAllHooks /h/.copilot/settings.json",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := map[string]string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH": "/sys.json"}
			got := ""
			for _, s := range hookSwitches(tt.agent, "/h", func(key string) string { return env[key] }) {
				if file := s.switchedOffIn(func(path string) string { return tt.files[path] }); file != "" {
					got += s.key + " " + file
				}
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

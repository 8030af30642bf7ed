package doctor

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/setup"
)

// agentHooks tells of agents that were asked to get a brief (git rekal init --brief) and run no hooks: by the settings
// of the user, of the project, or of who manages the machine, as of November 2026. Settings on a server or in macOS's
// preferences are not looked at.
func (d *doctor) agentHooks(context.Context) {
	if d.CheckReady() != nil {
		return
	}
	for _, agent := range setup.BriefedAgents(d.Repo.Layout().WorkTree) {
		for _, s := range hookSwitches(agent, d.Home, d.Getenv) {
			if file := s.switchedOffIn(func(path string) string {
				return strings.Join(settingsOf(d.Workspace, path),
					"")
			}); file != "" {
				d.addCheck("hooks", Note, "mend "+file+", or ask who manages it",
					"%s runs no hooks, so it gets no brief: %s is %t in %s", agent, s.key, s.when, file)
			}
		}
	}
}

// hookSwitch is a setting that keeps an agent from running the hooks of a project.
type hookSwitch struct {
	key   string
	when  bool     // with which value it does
	files []string // where it may be set; the last one that sets it counts
}

// hookSwitches are the settings that switch an agent's hooks off.
func hookSwitches(agent, home string, getenv func(string) string) []hookSwitch {
	below := func(variable, folder, file string) string {
		return filepath.Join(cmp.Or(getenv(variable), filepath.Join(home, folder)), file)
	}
	switch agent {
	case "claude-code":
		managed := []string{
			"/etc/claude-code/managed-settings.json",
			"/Library/Application Support/ClaudeCode/managed-settings.json",
		}
		own := []string{
			below("CLAUDE_CONFIG_DIR", ".claude", "settings.json"), ".claude/settings.json",
			".claude/settings.local.json",
		}
		return []hookSwitch{{"disableAllHooks", true, slices.Concat(own, managed)}, {"allowManagedHooksOnly", true, managed}}
	case "codex":
		managed := "/etc/codex/requirements.toml"
		all := []string{below("CODEX_HOME", ".codex", "config.toml"), ".codex/config.toml", managed}
		return []hookSwitch{
			{"features.hooks", false, all},
			{"features.codex_hooks", false, all},
			{"allow_managed_hooks_only", true, []string{managed}},
		}
	case "gemini-cli":
		system := []string{"/etc/gemini-cli/settings.json", "/Library/Application Support/GeminiCli/settings.json"}
		if path := getenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH"); path != "" {
			system = []string{path}
		}
		own := []string{
			filepath.Join(cmp.Or(getenv("GEMINI_CLI_HOME"), home), ".gemini", "settings.json"),
			".gemini/settings.json",
		}
		return []hookSwitch{{"hooksConfig.enabled", false, append(own, system...)}}
	case "copilot-cli":
		return []hookSwitch{{"disableAllHooks", true, []string{
			below("COPILOT_HOME", ".copilot", "settings.json"), ".github/copilot/settings.json",
			".github/copilot/settings.local.json", ".github/hooks/git-rekal.json",
		}}}
	}
	return nil
}

// switchedOffIn names the file that switches hooks off; "" for none.
func (s hookSwitch) switchedOffIn(read func(path string) string) (file string) {
	for _, path := range s.files {
		var value any
		if text := read(path); strings.HasSuffix(path, ".toml") {
			value = tomlValue(text, s.key)
		} else {
			value = gjson.Get(text, s.key).Value()
		}
		switch on, isBool := value.(bool); {
		case isBool && on == s.when:
			file = path
		case isBool:
			file = ""
		}
	}
	return file
}

// tomlValue is the value at a dotted key of a text in TOML; nil where there is none, or the text can't be read: then
// the agent can't either.
func tomlValue(text, key string) (value any) {
	var doc map[string]any
	if toml.Unmarshal([]byte(text), &doc) != nil {
		return nil
	}
	value = doc
	for name := range strings.SplitSeq(key, ".") {
		table, _ := value.(map[string]any)
		value = table[name]
	}
	return value
}

package main

import (
	"fmt"
	"path/filepath"
)

// program is an agent as it comes from npm.
type program struct {
	name   string // as a source
	bin    string
	folder string // in the worktree: `git rekal init --mcp` takes it for a sign that the agent is used
	speak  dialect
	env    func(url string) []string
	files  func(h home, url string) map[string]string // of the home folder
	run    func(prompt string) []string
	resume func(prompt string) []string // the last session of this folder; nil: it does so in a terminal alone
	more   func(prompt string) []string // behind what `git rekal resume` runs, to answer one prompt and end; nil: by is another command, which does
	by     func(id, prompt string) []string
	hooks  bool // the git that it runs runs hooks, which find its session
	told   bool // a hook tells it of what was before
	starts bool // but only as it starts
	shell  bool // it knows no MCP servers: it asks in its shell
	late   bool // it writes a session when its turn is over: behind the hook, which makes no checkpoint then
}

// home is where an agent runs.
type home struct{ dir, repo, linked string }

func programs() []program {
	return []program{
		{
			name: "claude-code", bin: "claude", folder: ".claude", speak: claudeTools, hooks: true, told: true,
			env: func(url string) []string {
				return []string{
					"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=none", "IS_SANDBOX=1",
					"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
				}
			},
			files: func(home, string) map[string]string {
				return map[string]string{".claude/settings.json": `{"enableAllProjectMcpServers": true}`}
			},
			run:    func(p string) []string { return []string{"--dangerously-skip-permissions", "-p", p} },
			resume: func(p string) []string { return []string{"--dangerously-skip-permissions", "--continue", "-p", p} },
			more:   func(p string) []string { return []string{"--dangerously-skip-permissions", "-p", p} },
		},
		{
			name: "codex", bin: "codex", folder: ".codex", speak: codexTools, hooks: true, told: true,
			env: func(string) []string { return []string{"LOCAL_KEY=none"} },
			files: func(h home, url string) map[string]string {
				text := fmt.Sprintf("model = \"gpt-5.5\"\nmodel_provider = \"local\"\ncheck_for_update_on_startup = false\n\n"+
					"[model_providers.local]\nname = \"local\"\nbase_url = %q\nwire_api = \"responses\"\nenv_key = \"LOCAL_KEY\"\n", url+"/v1")
				for _, dir := range []string{h.repo, h.linked, filepath.Join(h.repo, "sub")} {
					text += fmt.Sprintf("\n[projects.%q]\ntrust_level = \"trusted\"\n", dir)
				}
				return map[string]string{".codex/config.toml": text}
			},
			run: func(p string) []string {
				return []string{"exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", p}
			},
			resume: func(p string) []string {
				return []string{"exec", "--dangerously-bypass-approvals-and-sandbox", "resume", "--last", p}
			},
			by: func(id, p string) []string {
				return []string{"exec", "--dangerously-bypass-approvals-and-sandbox", "resume", id, p}
			},
		},
		{
			name: "gemini-cli", bin: "gemini", folder: ".gemini", speak: geminiTools, told: true,
			env: func(url string) []string {
				return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_TRUST_WORKSPACE=true", "NO_COLOR=1"}
			},
			files: func(home, string) map[string]string {
				return map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}},
					"privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false}}`}
			},
			run:    func(p string) []string { return []string{"-y", "-m", "gemini-2.5-flash", "-p", p} },
			resume: func(p string) []string { return []string{"-y", "-m", "gemini-2.5-flash", "-r", "latest", "-p", p} },
			more:   func(p string) []string { return []string{"-y", "-m", "gemini-2.5-flash", "-p", p} },
		},
		{
			name: "opencode", bin: "opencode", folder: ".opencode", speak: opencodeTools, hooks: true,
			env: func(string) []string {
				return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
			},
			files: func(_ home, url string) map[string]string {
				return map[string]string{".config/opencode/opencode.json": fmt.Sprintf(`{"model": "local/scripted", "small_model": "local/scripted",
					"permission": "allow", "autoupdate": false, "share": "disabled", "provider": {"local": {"npm": "@ai-sdk/openai-compatible",
					"options": {"baseURL": %q, "apiKey": "none"}, "models": {"scripted": {"tool_call": true}}}}}`, url+"/v1")}
			},
			run:    func(p string) []string { return []string{"run", p} },
			resume: func(p string) []string { return []string{"run", "--continue", p} },
			by:     func(id, p string) []string { return []string{"run", "--session", id, p} },
		},
		{
			name: "copilot-cli", bin: "copilot", folder: ".github/hooks", speak: copilotTools, hooks: true, told: true,
			env: func(url string) []string {
				return []string{
					"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_API_KEY=none",
					"COPILOT_MODEL=scripted", "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=100000", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS=4000",
					"COPILOT_ALLOW_ALL=true", // also trusts the folder, whose hooks run only then
				}
			},
			files:  func(home, string) map[string]string { return nil },
			run:    func(p string) []string { return []string{"--allow-all", "-p", p} },
			resume: func(p string) []string { return []string{"--allow-all", "--continue", "-p", p} },
			more:   func(p string) []string { return []string{"--allow-all", "-p", p} },
		},
		{
			name: "kilo", bin: "kilo", folder: ".kilo", speak: opencodeTools, hooks: true,
			env: func(string) []string {
				return []string{"KILO_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
			},
			files: func(_ home, url string) map[string]string {
				return map[string]string{".config/kilo/kilo.json": fmt.Sprintf(`{"model": "local/scripted", "small_model": "local/scripted",
					"permission": "allow", "autoupdate": false, "share": "disabled", "provider": {"local": {"npm": "@ai-sdk/openai-compatible",
					"options": {"baseURL": %q, "apiKey": "none"}, "models": {"scripted": {"tool_call": true}}}}}`, url+"/v1")}
			},
			run:    func(p string) []string { return []string{"run", "--auto", p} },
			resume: func(p string) []string { return []string{"run", "--auto", "--continue", p} },
			by:     func(id, p string) []string { return []string{"run", "--auto", "--session", id, p} },
		},
		{
			name: "droid", bin: "droid", folder: ".factory", speak: droidTools, hooks: true, told: true, starts: true,
			env: func(string) []string {
				return []string{"FACTORY_API_KEY=fk-none", "FACTORY_DROID_AUTO_UPDATE_ENABLED=false", "NO_COLOR=1"}
			},
			files: func(_ home, url string) map[string]string {
				return map[string]string{".factory/settings.json": fmt.Sprintf(`{"enableDroidShield": false, "customModels": [{"model": "scripted", "id": "custom:scripted",
					"displayName": "scripted", "baseUrl": %q, "apiKey": "none", "provider": "generic-chat-completion-api", "maxOutputTokens": 4000}]}`, url+"/v1")}
			},
			run: func(p string) []string { return []string{"exec", "--auto", "high", "-m", "custom:scripted", p} },
		},
		{
			name: "continue", bin: "cn", folder: ".continue", speak: continueTools, shell: true, late: true,
			env: func(string) []string { return []string{"CONTINUE_TELEMETRY_ENABLED=0", "NO_COLOR=1", "CI=1"} },
			files: func(_ home, url string) map[string]string {
				return map[string]string{".continue/config.yaml": fmt.Sprintf("name: local\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: scripted\n    provider: openai\n"+
					"    model: scripted\n    apiBase: %s/v1\n    apiKey: none\n    roles: [chat]\n    capabilities: [tool_use]\n", url)}
			},
			run:    func(p string) []string { return []string{"--auto", "-p", p} },
			resume: func(p string) []string { return []string{"--auto", "--resume", "-p", p} },
		},
		{
			name: "qwen-code", bin: "qwen", folder: ".qwen", speak: qwenTools, hooks: true, told: true,
			env: func(url string) []string {
				return []string{"OPENAI_API_KEY=none", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=scripted", "NO_COLOR=1"}
			},
			files: func(home, string) map[string]string {
				return map[string]string{".qwen/settings.json": `{"security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": false}},
					"privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false, "disableAutoUpdate": true}}`}
			},
			run:    func(p string) []string { return []string{"-y", "-p", p} },
			resume: func(p string) []string { return []string{"-y", "--continue", "-p", p} },
			more:   func(p string) []string { return []string{"-y", "-p", p} },
		},
		{
			name: "pi", bin: "pi", folder: ".pi", speak: piTools, hooks: true, shell: true,
			env: func(string) []string { return []string{"PI_OFFLINE=1", "NO_COLOR=1"} },
			files: func(_ home, url string) map[string]string {
				return map[string]string{".pi/agent/models.json": fmt.Sprintf(`{"providers": {"local": {"baseUrl": %q, "api": "openai-completions", "apiKey": "none",
					"models": [{"id": "scripted"}]}}}`, url+"/v1")}
			},
			run: func(p string) []string { return []string{"--provider", "local", "--model", "scripted", "-p", p} },
			resume: func(p string) []string {
				return []string{"--provider", "local", "--model", "scripted", "--continue", "-p", p}
			},
			more: func(p string) []string { return []string{"--provider", "local", "--model", "scripted", "-p", p} },
		},
		{
			name: "cline", bin: "cline", folder: ".cline", speak: clineTools, hooks: true, shell: true,
			env: func(string) []string { return []string{"NO_COLOR=1", "CLINE_NO_AUTO_UPDATE=1"} },
			files: func(_ home, url string) map[string]string {
				return map[string]string{".cline/data/settings/providers.json": fmt.Sprintf(`{"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {
					"openai-compatible": {"settings": {"provider": "openai-compatible", "apiKey": "none", "model": "scripted", "baseUrl": %q},
					"updatedAt": "2026-11-24T00:00:00.000Z", "tokenSource": "manual"}}}`, url+"/v1")}
			},
			run: func(p string) []string { return []string{"--json", p} }, // it goes on with a session in a terminal alone
		},
	}
}

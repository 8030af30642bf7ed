// Package agent holds what is known of each coding agent beside its transcripts: how it is started, how a hook tells
// that git runs in its shell, which version was tried last.
//
// Whoever adds an agent fills one Agent; the compiler names what is missing. It touches nothing, and imports nothing of
// the project.
package agent

import "slices"

// Agent is one.
type Agent struct {
	Source string // the name of its sessions' source
	Tried  string // the newest version whose transcripts were tried; "" where they name none
	Launch Launch
	Shell  Shell
}

// Launch says how one is started. The options are those of the versions that `make agents` runs; Cursor's, Droid's,
// Kimi's, Grok's and Antigravity's are those of their documentation.
type Launch struct {
	Program string
	Resume  string // the option that the ID of a session stands behind; with "=" at its end right behind it
	Command string // or the subcommand
	Prompt  string // the option that the first prompt of a conversation stands behind; "" where it stands alone
	// NoPromptOnResume says that it takes no prompt with a session to go on with.
	NoPromptOnResume bool
}

// Shell says what one sets in the environment of the shells in which it runs commands.
type Shell struct {
	Sessions []string // variables with the native ID of the session
	Mark     string   // a variable that is set
}

// All are those that are known; one that was made of another, whose variables it sets as well, stands before that one.
// Each member has a value here on purpose, also an empty one.
func All() []Agent {
	none := Shell{nil, ""}
	return []Agent{
		{
			"claude-code", "2.1.332",
			Launch{"claude", "--resume", "", "", false},
			Shell{[]string{"CLAUDE_CODE_SESSION_ID"}, "CLAUDECODE"},
		},
		{
			"codex", "0.171.0",
			Launch{"codex", "", "resume", "", false},
			Shell{[]string{"CODEX_THREAD_ID", "CODEX_SESSION_ID"}, ""},
		},
		{
			"copilot-cli", "1.0.102",
			Launch{"copilot", "--resume=", "", "-i", false},
			Shell{[]string{CopilotSession}, "COPILOT_CLI"},
		},
		{"gemini-cli", "", Launch{"gemini", "--resume", "", "-i", false}, Shell{nil, "GEMINI_CLI"}},
		{"kilo", "7.7.9", Launch{"kilo", "--session", "", "--prompt", false}, Shell{nil, "KILO"}},
		{"opencode", "2.0.21", Launch{"opencode", "--session", "", "--prompt", false}, Shell{nil, "OPENCODE"}},
		{"cursor", "", Launch{"cursor-agent", "--resume=", "", "", false}, none},
		{"pi", "", Launch{"pi", "--session", "", "", false}, Shell{[]string{"PI_SESSION_ID"}, "PI_CODING_AGENT"}},
		{"qwen-code", "0.24.4", Launch{"qwen", "--resume", "", "-i", false}, Shell{[]string{"QWEN_CODE_SESSION_ID"}, ""}},
		{"droid", "", Launch{"droid", "--resume", "", "", false}, none},
		{"cline", "", Launch{"cline", "--id", "", "-i", true}, none},
		{"continue", "", Launch{"cn", "--fork", "", "", false}, none},
		{"kimi-code", "", Launch{"kimi", "--session", "", "--prompt", true}, none},
		{"grok", "", Launch{"grok", "--resume", "", "-p", false}, none},
		{"antigravity", "", Launch{"agy", "--conversation", "", "-i", false}, none},
	}
}

// CopilotSession is the variable of Copilot CLI's shells.
const CopilotSession = "COPILOT_AGENT_SESSION_ID"

// Named is the agent with a source or a program of that name; ok is false for none.
func Named(name string) (a Agent, ok bool) {
	all := All()
	i := slices.IndexFunc(all, func(a Agent) bool { return a.Source == name || a.Launch.Program == name })
	if i < 0 {
		return Agent{}, false
	}
	return all[i], true
}

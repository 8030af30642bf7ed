package doctor

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Keeping is how long an agent keeps a transcript.
type Keeping struct {
	Agent   string
	Days    int    // after it was last written; 0: for good
	Setting string // what says so
}

// AgentRetention tells how long agents keep transcripts, of those that delete them by themselves: as of November 2026
// Claude Code (30 days unless told) and Gemini CLI (from 0.61 on, 30 days). Codex, Copilot CLI, OpenCode and Cursor
// have no setting of the kind.
func AgentRetention(w *workspace.Workspace) []Keeping {
	const claude, gemini = "cleanupPeriodDays", "general.sessionRetention"
	user := cmp.Or(w.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(w.Home, ".claude"))
	out := []Keeping{{"claude-code", 30, claude}, {"gemini-cli", 30, gemini + ".maxAge"}}
	for _, text := range settingsOf(w, filepath.Join(user, "settings.json"), ".claude/settings.json",
		".claude/settings.local.json") {
		if days := gjson.Get(text, claude); days.Type == gjson.Number {
			out[0].Days = int(days.Num)
		}
	}
	home := cmp.Or(w.Getenv("GEMINI_CLI_HOME"), w.Home)
	for _, text := range settingsOf(w, filepath.Join(home, ".gemini", "settings.json"), ".gemini/settings.json") {
		if n, ok := parseAge(gjson.Get(text, gemini+".maxAge").Str); ok {
			out[1].Days = n
		}
		if gjson.Get(text, gemini+".enabled").Type == gjson.False {
			out[1].Days = 0
		}
	}
	return out
}

// settingsOf reads settings, those of the worktree by their paths below it; what can't be read says nothing.
func settingsOf(w *workspace.Workspace, paths ...string) (texts []string) {
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(w.Repo.Layout().WorkTree, p)
		}
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			text, _ := os.ReadFile(p)
			texts = append(texts, string(text))
		}
	}
	return texts
}

// parseAge reads an age as Gemini CLI writes it: "30d", "1w", "24h", "2m" (months).
func parseAge(age string) (n int, ok bool) {
	if age == "" {
		return 0, false
	}
	hours := map[byte]int{'h': 1, 'd': 24, 'w': 7 * 24, 'm': 30 * 24}[age[len(age)-1]]
	n, err := strconv.Atoi(age[:len(age)-1])
	return (n*hours + 23) / 24, err == nil && n > 0 && hours > 0
}

// vanishingSoon is the time before its deletion in which a transcript counts as about to go.
const vanishingSoon = 7 * 24 * time.Hour

// checkRetention tells of agents that delete their transcripts, and what of this repository is not captured yet and
// about to go.
func (d *doctor) checkRetention(ctx context.Context) {
	if !d.known || d.CheckReady() != nil {
		return // told already
	}
	var new map[session.NativeRef]bool
	for _, k := range AgentRetention(d.Workspace) {
		if len(d.found[k.Agent]) == 0 || k.Days == 0 {
			continue
		}
		if new == nil {
			var err error
			if new, err = d.uncapturedSessions(ctx); err != nil {
				d.addCheck("transcripts", Wrong, "", "can't tell what is not captured: %v", err)
				return
			}
		}
		d.reportVanishing(k, d.found[k.Agent], new)
	}
}

// reportVanishing tells which transcripts of one agent are about to be deleted.
func (d *doctor) reportVanishing(k Keeping, files []transcript.File, new map[session.NativeRef]bool) {
	first, n := time.Time{}, 0
	for _, f := range files {
		goes := f.ModTime.AddDate(0, 0, k.Days)
		if new[session.NativeRef{Source: k.Agent, NativeID: f.NativeID}] && goes.Sub(d.Now()) < vanishingSoon {
			if n++; first.IsZero() || goes.Before(first) {
				first = goes
			}
		}
	}
	if n == 0 {
		d.addCheck("transcripts", Well, "",
			"%s deletes one %d days after it was last written (%s); nothing uncaptured is about to go", k.Agent, k.Days,
			k.Setting)
		return
	}
	d.addCheck("transcripts", Note, "git rekal checkpoint",
		"%s deletes one %d days after it was last written (%s): %s not captured, the first goes on %s",
		k.Agent, k.Days, k.Setting, session.CountNoun(n, "session"), first.Format(time.DateOnly))
}

// uncapturedSessions are the sessions of which something is not in the ledger yet.
func (d *doctor) uncapturedSessions(ctx context.Context) (map[session.NativeRef]bool, error) {
	preview, err := d.Previewer(d.author).Preview(ctx, session.ViaManual)
	out := map[session.NativeRef]bool{}
	for _, p := range preview.Parts {
		out[session.NativeRef{Source: p.Source, NativeID: p.NativeID}] = true
	}
	return out, err
}

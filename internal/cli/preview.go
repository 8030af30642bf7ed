package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/doctor"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// preview says what a checkpoint would store, and what is taken out of it; it stores nothing.
func (c *checkpointOptions) preview(ctx context.Context, app *App, w *workspace.Workspace,
	author workspace.Author,
) error {
	capturer := w.Previewer(author)
	far := app.meter(capture.Reading)
	capturer.Progress = far.setStage
	p, err := capturer.Preview(ctx, session.ViaManual)
	far.end()
	if err != nil {
		return err
	}
	for _, warning := range p.Warnings {
		app.Warn(warning)
	}
	kept, err := curate.CountRecords(ctx, w)
	if err != nil {
		return err
	}
	out := previewOf(p)
	if out.Records = kept; c.json {
		return result.Write(app.Stdout, out)
	}
	shown := previewText(p, out.Findings, c.show)
	if kept > 0 {
		shown += fmt.Sprintf("%s of what commands printed: kept in this clone, and never shared\n",
			session.CountNoun(kept, "record"))
	}
	_, err = io.WriteString(app.Stdout, shown)
	return err
}

func previewOf(p capture.Preview) result.Preview {
	out := result.Preview{
		Schema: result.Schema, Sessions: p.Sessions, Turns: p.Turns, Tools: p.ToolCalls, Files: p.Files, Links: p.Links,
		Bytes: p.Bytes, Skipped: p.Skipped, Store: []result.PreviewSession{}, Redacted: map[string]int{},
		Findings: []result.Finding{},
	}
	for _, s := range p.Parts {
		out.Store = append(out.Store, result.PreviewSession{
			ID: s.ID, Source: s.Source, Title: s.Title, Goes: s.Continues,
			Turns: s.Turns, Tools: s.ToolCalls, Private: s.Private,
		})
	}
	for _, n := range p.Notes {
		out.Notes = append(out.Notes, result.PreviewNote(n))
	}
	for _, f := range p.Findings {
		out.Redacted[f.Rule]++
		out.Findings = append(out.Findings, doctor.FindingOf(f))
	}
	return out
}

// shownSessions is how many sessions are listed for a person, so that what was redacted is seen.
const shownSessions = 30

func previewText(p capture.Preview, findings []result.Finding, values bool) string {
	var b strings.Builder
	isNew := func(n capture.NoteKept) bool { return n.New }
	if len(p.Parts) == 0 && p.Links == 0 && !slices.ContainsFunc(p.Notes, isNew) {
		b.WriteString("nothing new to store\n")
		writeNotes(&b, p.Notes)
		return b.String()
	}
	fmt.Fprintf(&b, "would store %s, %s; %s of text\n", captureCounts(p.Outcome), session.CountNoun(p.Files, "file"),
		formatSize(p.Bytes))
	if p.Links > 0 {
		fmt.Fprintf(&b, "would tie to a commit, without new turns: %s\n", session.CountNoun(p.Links, "session"))
	}
	if p.Skipped > 0 {
		fmt.Fprintf(&b, "would skip %s that can't be read\n", session.CountNoun(p.Skipped, "line"))
	}
	short, sources := namesOf(p.Parts, func(p capture.Part) string { return p.ID }),
		groupBy(p.Parts, func(p capture.Part) string { return p.Source })
	for _, source := range slices.Sorted(maps.Keys(sources)) {
		writeSource(&b, source, sources[source], short)
	}
	writeNotes(&b, p.Notes)
	if len(findings) == 0 {
		b.WriteString("\nnothing to redact\n")
		return b.String()
	}
	fmt.Fprintf(&b, "\nwould redact %s\n", session.CountNoun(len(findings), "place"))
	writeFindings(&b, findings, short, values)
	b.WriteString("\nTo store a text that is no secret: git config --add rekal.redact.allow REGEX\nTo leave out more of what you type: put it between <private> and </private>\n")
	return b.String()
}

// writeNotes lists what agents noted in files, and whether it is sent.
func writeNotes(b *strings.Builder, all []capture.NoteKept) {
	stay := slices.ContainsFunc(all, func(n capture.NoteKept) bool { return n.Private })
	if len(all) > 0 {
		fmt.Fprintf(b, "\nagents noted %s:\n", session.CountNoun(len(all), "section"))
	}
	for _, n := range all {
		note := ""
		if n.New {
			note = ", new"
		}
		if n.Private {
			note += ", stays in this clone"
		}
		fmt.Fprintf(b, "    %s%s\n", printable(n.Source), note)
	}
	if stay {
		b.WriteString("    " + notesStay + "\n")
	}
}

// notesStay says how notes are sent, or left alone.
const notesStay = `"git config rekal.memoryFiles true" has notes sent with the ledger; with false none are read`

func groupBy[T any](all []T, by func(T) string) map[string][]T {
	out := map[string][]T{}
	for _, one := range all {
		out[by(one)] = append(out[by(one)], one)
	}
	return out
}

func writeSource(b *strings.Builder, source string, parts []capture.Part, short session.Names) {
	var sum capture.Outcome
	for _, p := range parts {
		sum.Sessions, sum.Turns, sum.ToolCalls = sum.Sessions+1, sum.Turns+p.Turns, sum.ToolCalls+p.ToolCalls
	}
	fmt.Fprintf(b, "\n%s: %s\n", printable(source), captureCounts(sum))
	for i, p := range parts {
		if i == shownSessions {
			fmt.Fprintf(b, "    and %d more (--json lists all)\n", len(parts)-i)
			return
		}
		note := ""
		if p.Continues {
			note = ", goes on"
		}
		if p.Private {
			note += ", private"
		}
		fmt.Fprintf(b, "    %s  %s\n        %s, %s%s\n", short.Short(p.ID), printable(p.Title),
			session.CountNoun(p.Turns, "turn"), session.CountNoun(p.ToolCalls, "tool call"), note)
	}
}

// namesOf shortens the IDs of what is listed.
func namesOf[T any](all []T, id func(T) string) session.Names {
	ids := map[string]string{}
	for _, one := range all {
		ids[id(one)] = ""
	}
	return session.NewNames(ids)
}

// writeFindings lists findings by rule, the most frequent first; with values, also what stands there.
func writeFindings(b *strings.Builder, all []result.Finding, short session.Names, values bool) {
	rules := groupBy(all, func(f result.Finding) string { return f.Rule })
	order := slices.SortedFunc(maps.Keys(rules), func(x, y string) int {
		return cmp.Or(len(rules[y])-len(rules[x]), strings.Compare(x, y))
	})
	for _, rule := range order {
		fmt.Fprintf(b, "\n  %s: %d\n", printable(rule), len(rules[rule]))
		for _, f := range rules[rule] {
			f.Session = short.Short(f.Session)
			fmt.Fprintf(b, "    %s%s: %s\n", text.FindingPlace(f), printable(text.FindingCause(f)), printable(f.Around))
			if values && f.Value != "" {
				fmt.Fprintf(b, "      = %s\n", printable(f.Value))
			}
		}
	}
}

func formatSize(bytes int) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(bytes)/(1<<10))
	}
	return session.CountNoun(bytes, "byte")
}

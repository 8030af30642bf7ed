package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/run"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// errDeclined is a person's answer to what would be sent.
var errDeclined = errors.New("nothing was sent, because you did not agree")

// unagreedError is a remote that nobody agreed to, where nobody can be asked.
type unagreedError struct{ act, place, agrees string }

func (e *unagreedError) Error() string {
	return fmt.Sprintf("nothing was %s %s: nobody agreed to that, and nobody can be asked here", e.act, printable(e.place))
}

// Hint is how to agree.
func (e *unagreedError) Hint() string {
	return fmt.Sprintf(`run it on a terminal, or agree with %q`, printable(e.agrees))
}

// confirmFirstSend shows a person what would go to a remote that they did not agree to yet, and asks. Where nobody can
// be asked, nothing is to be sent: that is an unagreedError if there is something; agrees is the command that would
// agree.
func (app *App) confirmFirstSend(ctx context.Context, author workspace.Author, remote string, to workspace.Route,
	agrees string,
) (send bool, err error) {
	if !app.canAsk() {
		out, err := author.Ledger.Outgoing(ctx, remote)
		if err == nil && len(out.Sessions)+out.Memories > 0 {
			err = &unagreedError{"sent to", strings.Join(to.Push, " and "), agrees}
		}
		return false, err
	}
	shown, err := outgoingText(ctx, author, remote, to)
	if err != nil {
		return false, err
	}
	fmt.Fprint(app.Stderr, shown)
	app.notify(fmt.Sprintf(`everybody who can read %s can read this then; from then on "git push" sends what is new, too`,
		printable(strings.Join(to.Push, " or "))))
	return app.ask(ctx, "send it?")
}

// confirmFetch has the user agree before ledgers come from another address than the one agreed to. Where nobody can be
// asked, that is an unagreedError.
func (app *App) confirmFetch(ctx context.Context, remote string, to workspace.Route,
	agrees string,
) (fetch bool, err error) {
	if !app.canAsk() {
		return false, &unagreedError{"fetched from", to.Fetch, agrees}
	}
	app.notify(fmt.Sprintf(`%s leads to another place than you agreed to: ledgers come from %s then, and yours goes to %s`,
		remote, printable(to.Fetch), printable(strings.Join(to.Push, " and "))))
	return app.ask(ctx, "go on?")
}

// canAsk reports whether a person sits at a terminal.
func (app *App) canAsk() bool {
	stdin, ok := app.Stdin.(*os.File)
	return app.Terminal && ok && run.IsTerminal(stdin) && !capture.InAgent(app.Getenv)
}

// ask asks a person on a terminal. No is errDeclined.
func (app *App) ask(ctx context.Context, question string) (yes bool, err error) {
	said, err := app.readAnswer(ctx, stderrPrefix+question+" [y/N] ")
	if said = strings.ToLower(said); err == nil && said != "y" && said != "yes" {
		err = errDeclined
	}
	return err == nil, err
}

// readAnswer asks a person on a terminal for a line; "" is no answer.
func (app *App) readAnswer(ctx context.Context, question string) (string, error) {
	fmt.Fprint(app.Stderr, question)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(app.Stdin).ReadString('\n')
		answer <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case said := <-answer:
		return said, nil
	}
}

// routeText names a remote, and the addresses to which it leads.
func routeText(remote string, addresses ...string) string {
	return printable(fmt.Sprintf("%s (%s)", remote, strings.Join(addresses, ", ")))
}

// printOutgoing prints what a push would send where.
func (app *App) printOutgoing(ctx context.Context, author workspace.Author, remote string, to workspace.Route) error {
	shown, err := outgoingText(ctx, author, remote, to)
	if err != nil {
		return err
	}
	if !author.Config.Agreed(remote, to.All()...) {
		shown += fmt.Sprintf("you have not agreed to send anything to %s yet\n", printable(remote))
	}
	_, err = fmt.Fprint(app.Stdout, shown)
	return err
}

// outgoingText lists what a push would send to a remote: sessions with their first prompts and sizes.
func outgoingText(ctx context.Context, author workspace.Author, remote string, route workspace.Route) (string, error) {
	out, err := author.Ledger.Outgoing(ctx, remote)
	if err != nil {
		return "", err
	}
	to := routeText(remote, route.Push...)
	if out.Commits == 0 {
		return fmt.Sprintf("nothing of the ledger would go to %s that it does not have\n", to), nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "would send to %s: %s of %s, %s\n", to, session.CountNoun(out.Commits, "commit"),
		printable(shortRef(author.Ledger.Ref())), formatSize(int(out.Bytes)))
	fmt.Fprintf(&b, "%s, %s\n", session.CountNoun(len(out.Sessions), "session"),
		session.CountNoun(out.Memories, "saved note"))
	writeParts(&b, out.Sessions)
	return b.String(), nil
}

func writeParts(b *strings.Builder, parts []ledger.Part) {
	short := namesOf(parts, func(p ledger.Part) string { return p.ID })
	for i, p := range parts {
		if i == shownSessions {
			fmt.Fprintf(b, "    and %d more\n", len(parts)-i)
			return
		}
		fmt.Fprintf(b, "    %s  %s\n        %s: %s, %s, %s\n", short.Short(p.ID), printable(cmp.Or(p.Prompt, "(no prompt)")),
			printable(p.Source),
			session.CountNoun(p.Turns, "turn"), session.CountNoun(p.ToolCalls, "tool call"), formatSize(p.Bytes))
	}
}

// Command git-rekal is a git subcommand: `git rekal "JWT expiry"` finds the AI coding
// sessions behind the code. Everything that it does is in internal/cli.
package main

import (
	"os"

	"github.com/git-rekal/git-rekal/internal/cli"
)

func main() {
	ctx, app := process()
	os.Exit(cli.Main(ctx, app, os.Args[1:]))
}

// Command git-rekal is a git subcommand: `git rekal "JWT expiry"` finds the AI coding
// sessions behind the code. Everything that it does is in internal/cli.
//
// Every commit and every question starts it, so it is small: what needs heavy libraries is in git-rekal-full, which it
// starts.
package main

import (
	"os"

	"github.com/git-rekal/git-rekal/internal/cli"
)

var version = "dev" // set by the linker

func main() { os.Exit(cli.Start(version, nil)) }

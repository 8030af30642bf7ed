// Command git-rekal-full is git-rekal with what needs heavy libraries: SQL, Parquet, pages, servers, a list on the
// whole screen. git-rekal starts it where a command needs that; nobody else has to.
package main

import (
	"os"

	"github.com/git-rekal/git-rekal/internal/cli"
	"github.com/git-rekal/git-rekal/internal/full"
)

var version = "dev" // set by the linker

func main() { os.Exit(cli.Start(version, full.Parts())) }

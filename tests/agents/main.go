// Command agents runs coding agents as they come from npm, without a network, against a scripted model on this machine, and
// looks at what git-rekal makes of them: of a session that edits and commits, of the same one resumed, of another one that finds it
// through the MCP tool, of one in a linked worktree and one in a subdirectory. `make agents` installs and runs them; it is no
// part of `make test`.
//
//	agents [-v] [-latency 1s] -bin FOLDER-OF-GIT-REKAL -npm FOLDER-OF-NODE_MODULES [AGENT…]
//
// It exits with 1 where something is not as it should be.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	bin := flag.String("bin", "bin", "the folder of git-rekal")
	npm := flag.String("npm", ".build/agents/node_modules", "where the agents are installed")
	latency := flag.Duration("latency", 0, "how long the model takes for each answer")
	verbose := flag.Bool("v", false, "print what the agents print, and keep the folders")
	flag.Parse()
	ok, err := run(*bin, *npm, *latency, *verbose, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(bin, npm string, latency time.Duration, verbose bool, only []string) (ok bool, err error) {
	work, err := os.MkdirTemp("", "rekal-agents")
	if err != nil {
		return false, err
	}
	if verbose {
		fmt.Fprintln(os.Stderr, "agents: in", work)
	} else {
		defer func() { _ = os.RemoveAll(work) }()
	}
	log, err := os.Create(filepath.Join(work, "requests"))
	if err != nil {
		return false, err
	}
	defer log.Close()
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return false, err
	}
	defer on.Close()
	m := &model{log: log, latency: latency}
	server := &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(on) }()
	var rows []row
	var stages []*stage
	all, err := programs()
	if err != nil {
		return false, err
	}
	for _, p := range all {
		if len(only) > 0 && !slices.Contains(only, p.Name) {
			continue
		}
		s := &stage{program: p, model: m, url: "http://" + on.Addr().String(), root: filepath.Join(work, p.Name), verbose: verbose}
		if s.bin, err = filepath.Abs(bin); err != nil {
			return false, err
		}
		if s.npm, err = filepath.Abs(npm); err != nil {
			return false, err
		}
		rows, stages = append(rows, s.play()), append(stages, s)
	}
	return table(rows) && across(stages), nil
}

// across hands each agent's session over to each other agent.
func across(stages []*stage) bool {
	ok := true
	for _, to := range stages {
		for _, from := range stages {
			if from == to || from.page == "" {
				continue
			}
			saw, err := to.takes(from.page)
			if err != nil {
				saw, ok = "FAILED: "+err.Error(), false
			}
			fmt.Printf("from %s to %s: %s\n", from.Name, to.Name, saw)
		}
	}
	return ok
}

// row is what came of an agent's scenes, by their names; "" is as it should be.
type row struct {
	agent, version string
	scenes         []string
	faults         map[string]string
}

// table prints the rows, and reports whether all is as it should be.
func table(rows []row) bool {
	ok := len(rows) > 0
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	for i, r := range rows {
		if i == 0 {
			fmt.Fprintf(w, "\nagent\tversion\t%s\n", strings.Join(r.scenes, "\t"))
		}
		fmt.Fprintf(w, "%s\t%s", r.agent, r.version)
		for _, name := range r.scenes {
			is := "ok"
			if r.faults[name] != "" {
				is, ok = "FAILED", false
			}
			fmt.Fprintf(w, "\t%s", is)
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
	return ok
}

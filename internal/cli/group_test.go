package cli_test

import (
	"strings"
	"testing"
)

// TestGroupForPeople checks that a person at a terminal may ask all repositories and any group, and that an agent on a
// terminal may not.
func TestGroupForPeople(t *testing.T) {
	d := ready(t)
	d.Init(d.At("home/other"))
	here := d.dir
	d.dir = d.At("home/other")
	d.must("init")
	d.must("save", "--title", "Drift", "Clocks drift by 30 s a year.")
	d.dir = here
	d.Git(here, "config", "--global", "rekal.group.others", d.At("home/other"))
	for _, args := range [][]string{{"--all", "drift"}, {"--group", "others", "drift"}, {"log", "--all"}} {
		d.person, d.Env = true, nil
		d.must(args...)
		if args[0] != "log" && !strings.Contains(d.stdout, `"repo":"`+d.At("home/other")+`"`) {
			t.Errorf("%q: %s", args, d.stdout)
		}
		for _, env := range []string{"CLAUDECODE=1", ""} {
			d.person, d.Env = env != "", []string{env}
			if status := d.run(args...); status != 2 || d.stdout != "" ||
				!strings.Contains(strings.ReplaceAll(d.stderr, "\ngit-rekal: ", " "), "only a person at a terminal may ask") {
				t.Errorf("%q with %q: status %d, %s%s", args, env, status, d.stdout, d.stderr)
			}
		}
	}
}

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What kept sessions out of the ledger keeps them out of the next one, too; the folder of others' ledgers goes.
func TestCleanKeepsWhatWasDecided(t *testing.T) {
	d := ready(t)
	d.must("pause")
	d.must("resume")
	d.Git(d.dir, "config", "rekal.forgot", "claude-code/two")
	d.Git(d.dir, "update-ref", "refs/rekal/origin/bob@example.com", "refs/heads/rekal/alice@example.com")
	d.run("clean")
	if strings.Contains(d.stdout, "rekal.pause") || d.Git(d.dir, "config", "rekal.forgot") == "" ||
		d.Git(d.dir, "config", "rekal.pause") == "" {
		t.Errorf("clean says %q", d.stdout)
	}
	d.run("clean", "--ledger")
	for _, key := range []string{"rekal.pause", "rekal.forgot"} {
		if !strings.Contains(d.stdout, "left: "+key) || d.Git(d.dir, "config", key) == "" {
			t.Errorf("clean --ledger says %q, and nothing of %s", d.stdout, key)
		}
	}
	if _, err := os.Stat(filepath.Join(d.dir, ".git", "refs", "rekal")); !os.IsNotExist(err) {
		t.Errorf("refs/rekal is there: %v", err)
	}
}

// A repository that people push to holds everybody's ledgers: clean neither removes them nor advises to.
func TestCleanSparesABareRepository(t *testing.T) {
	d := ready(t)
	d.Git(d.dir, "clone", "-q", "--bare", ".", "../team.git")
	d.dir = d.At("home/team.git")
	before := d.Git(d.dir, "for-each-ref")
	d.fails(1, `"git branch -D rekal/EMAIL"`, "clean", "--ledger")
	d.run("clean")
	if !strings.Contains(d.stdout, "left: the ledger rekal/alice@example.com\n") ||
		strings.Contains(d.stdout+d.stderr, "--ledger") {
		t.Errorf("clean says %q and %q", d.stdout, d.stderr)
	}
	if after := d.Git(d.dir, "for-each-ref"); after != before {
		t.Errorf("refs were %s and are %s", before, after)
	}
}

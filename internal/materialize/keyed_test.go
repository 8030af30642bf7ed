package materialize_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestLongKeyedQuestions asks on random ledgers what recall, why and log ask of the index by a key, and compares it
// with SQL on the tables of the schema page, which say it without keys.
func TestLongKeyedQuestions(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t)
			for _, c := range w.team(rand.New(rand.NewPCG(seed, 9))) {
				if len(c.commits) > 0 {
					w.point(c.ref, c.tip())
				}
			}
			m := w.materializer()
			w.catchUp(m)
			w.keyed(m)
		})
	}
}

// keyed compares each question at each key; both sides are sets.
func (w *world) keyed(m *materialize.Materializer) {
	t, ctx := w.t, w.t.Context()
	r, err := m.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ask := func(question string, want map[string][]string, of func(key string) ([]string, error)) {
		t.Helper()
		want["nowhere"] = nil
		for _, key := range slices.Sorted(maps.Keys(want)) {
			got, err := of(key)
			if err != nil {
				t.Fatal(err)
			}
			harness.Equal(t, question+" "+key, set(want[key]), set(got))
		}
		t.Logf("%s: %d keys", question, len(want))
		if len(want) < 3 {
			t.Errorf("%s: asked of too little", question)
		}
	}
	paths := join(w.pairs(m, materialize.DataDB,
		`SELECT path, session_id FROM tool_calls WHERE path IS NOT NULL AND NOT failed`),
		w.pairs(m, materialize.IndexDB, `SELECT file_path, session_id FROM files_index`))
	ask("sessions of a path", paths, func(path string) ([]string, error) {
		return r.MatchingIDs(ctx, db.Filter{Paths: []db.Paths{{Match: "^" + regexp.QuoteMeta(path) + "$"}}, Purged: db.With})
	})
	ask("code commits of a path", w.pairs(m, materialize.DataDB,
		`SELECT file_path, git_sha FROM checkpoints c JOIN files_touched f ON f.checkpoint_id = c.id WHERE git_sha NOT SIMILAR TO '0*'`),
		func(path string) (out []string, err error) {
			commits, err := r.CodeCommits(ctx, db.CodeQuery{Files: map[string]db.Key{path: 0}, Until: later(1e6), Limit: 1e6})
			for _, c := range commits {
				out = append(out, c.SHA)
			}
			return out, err
		})
	ask("sessions behind a commit", w.pairs(m, materialize.IndexDB,
		`SELECT git_sha, concat(session_id, checkpoint_id, ' ', tie, ' ', inferred, ' ', turn, ' ', lines) FROM session_commits WHERE tie <> 'talked'`),
		func(sha string) (out []string, err error) {
			ties, err := r.TiesOfCommits(ctx, []string{sha})
			for _, tie := range ties[sha] {
				out = append(out, fmt.Sprint(tie.Session, tie.Checkpoint, " ", tie.Kind, " ", tie.Kind.IsWeak(), " ", tie.Turn, " ",
					tie.Lines))
			}
			return out, err
		})
	ask("sessions that talked before a commit", w.pairs(m, materialize.IndexDB,
		`SELECT git_sha, session_id FROM session_commits WHERE tie = 'talked'`),
		func(sha string) ([]string, error) {
			talked, err := r.TalkedAt(ctx, []string{sha})
			return talked[sha], err
		})
	ask("commits behind which a session stands", w.pairs(m, materialize.IndexDB,
		`SELECT session_id, git_sha FROM session_commits WHERE tie <> 'talked'`),
		func(id string) ([]string, error) {
			ties, err := r.TiesOfSessions(ctx, []string{id})
			return commitsOf(ties[id]), err
		})
	ask("commits of a session", w.pairs(m, materialize.IndexDB, `SELECT session_id, git_sha FROM session_commits`),
		func(id string) ([]string, error) {
			ties, err := r.AllTies(ctx, id)
			return commitsOf(ties), err
		})
	ask("owners at a checkpoint", w.pairs(m, materialize.IndexDB,
		`SELECT checkpoint_id, concat(session_id, file_path, ' ', inferred) FROM files_index`),
		func(id string) (out []string, err error) {
			owners, err := r.FileOwners(ctx, []string{id})
			for f, kind := range owners {
				out = append(out, fmt.Sprint(f.Session, f.Path, " ", kind.IsWeak()))
			}
			return out, err
		})
	ask("children of a session", w.pairs(m, materialize.DataDB, `SELECT coalesce(parent_session_id, 'none'), id FROM sessions WHERE parent_session_id IS NOT NULL AND id NOT IN (SELECT id FROM purged)
			UNION ALL SELECT id, NULL FROM sessions`),
		func(id string) ([]string, error) { return r.Children(ctx, id) })
	ask("sessions of a time", w.pairs(m, materialize.DataDB,
		`SELECT date_trunc('minute', ts), session_id FROM turns UNION ALL SELECT date_trunc('minute', ts), id FROM memories`),
		func(minute string) ([]string, error) {
			since, err := time.Parse("2006-01-02T15:04:05Z", minute)
			if err != nil {
				return nil, nil //nolint:nilerr // nowhere
			}
			return r.MatchingIDs(ctx, db.Filter{Period: db.Period{Since: since, Until: since.Add(time.Minute)}, Purged: db.With})
		})
}

func commitsOf(ties []attribution.Tie) (out []string) {
	for _, tie := range ties {
		out = append(out, tie.SHA)
	}
	return out
}

func set(all []string) []string {
	all = slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "" })
	slices.Sort(all)
	return append([]string{}, slices.Compact(all)...)
}

func join(a, b map[string][]string) map[string][]string {
	for key, values := range b {
		a[key] = append(a[key], values...)
	}
	return a
}

// pairs is what a statement of two columns says, the second one by the first.
func (w *world) pairs(m *materialize.Materializer, kind materialize.SQLFile, statement string) map[string][]string {
	w.t.Helper()
	out := map[string][]string{}
	for _, line := range w.ask(m, kind, `SELECT * FROM (`+statement+`) AS t(k, v)`) {
		var row struct{ K, V string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			w.t.Fatalf("%s: %v", line, err)
		}
		out[row.K] = append(out[row.K], row.V)
	}
	return out
}

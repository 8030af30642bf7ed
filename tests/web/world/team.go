package world

import (
	"fmt"
	"strings"
	"testing"
)

// The files of the team's repository, as they grew.
const (
	jwt = `package auth

import (
	"errors"
	"time"
)

// ErrExpired is a token whose time is over.
var ErrExpired = errors.New("auth: token expired")

// Claims are what a token says.
type Claims struct {
	Subject   string
	ExpiresAt string
}

// Check returns ErrExpired for a token that is not valid any more.
func (c Claims) Check(now time.Time) error {
	at, err := time.ParseInLocation(layout, c.ExpiresAt, time.Local)
	if err != nil {
		return err
	}
	if now.After(at) {
		return ErrExpired
	}
	return nil
}

const layout = "2006-01-02 15:04:05"
`
	fixed = `	at, err := time.ParseInLocation(layout, c.ExpiresAt, time.UTC)
	if err != nil {
		return err
	}
	if now.After(at.Add(leeway)) {
		return ErrExpired
	}
	return nil
}

// leeway is how far clocks of two servers may differ.
const leeway = 30 * time.Second
`
	jwtTest = `package auth

import (
	"errors"
	"testing"
	"time"
)

func TestCheckInFrankfurt(t *testing.T) {
	now := time.Date(2026, 3, 4, 10, 0, 0, 0, time.FixedZone("CET", 3600))
	c := Claims{ExpiresAt: "2026-03-04 09:00:10"}
	if err := c.Check(now); err != nil {
		t.Errorf("a token of ten seconds more: %v", err)
	}
	if err := c.Check(now.Add(time.Minute)); !errors.Is(err, ErrExpired) {
		t.Errorf("a token of a minute ago: %v", err)
	}
}
`
	store = `package store

import (
	"context"
	"time"
)

// Sessions keeps who is signed in.
type Sessions struct{ client Redis }

// Keep stores a session as long as its token is valid.
func (s Sessions) Keep(ctx context.Context, id string, valid time.Duration) error {
	return s.client.Set(ctx, "session:"+id, "1", valid)
}
`
)

// broken is what fixed takes the place of.
func broken() string {
	from := strings.Index(jwt, "\tat, err :=")
	return jwt[from : strings.Index(jwt, "\treturn nil\n}\n")+len("\treturn nil\n}\n")]
}

func fixedJWT() string { return strings.Replace(jwt, broken(), fixed, 1) }

// services is a long list, as agents write them.
func services() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "- service %02d writes `2006-01-02 15:04:05`, in UTC, and says no zone\n", i+1)
	}
	return b.String()
}

// Team is a repository of three people.
func Team(t testing.TB) *World {
	w := create(t, "gateway")
	w.do(work{
		id: "4d1c0f5e-0001-4000-8000-000000000001", at: "2026-03-02T15:20:00Z", name: "Alice Adler", email: "alice@example.com", branch: "main",
		message: "Sign tokens instead of keeping sessions\n\nBrowsers send them with each request, so the gateway can ask any service.",
		files:   map[string]string{"src/auth/jwt.go": jwt, "docs/tokens.md": "# Tokens\n\nA token says who somebody is, and until when.\n"},
		steps: []step{
			title("Sign tokens instead of keeping sessions"),
			human("We keep a session for each browser in memory, and lose all of them with each deployment. What would signed tokens cost us?"),
			agent("One header a request, about 300 bytes, and no lookup. What you lose is revoking: a token is valid until it expires.\n\nI would make them short, 15 minutes, and refresh them:\n\n```go\ntype Claims struct {\n\tSubject   string\n\tExpiresAt string\n}\n```\n\nThat keeps the gateway without state."),
			human("Fifteen minutes is fine. Do it, and write down what a token says."),
			write("src/auth/jwt.go", jwt), write("docs/tokens.md", "# Tokens\n\nA token says who somebody is, and until when.\n"),
			run("go test ./src/auth"),
			agent("Done: `Claims.Check` compares the time, and docs/tokens.md says what is in it."),
		},
	})
	w.do(work{
		id: "4d1c0f5e-0002-4000-8000-000000000002", at: "2026-03-03T11:05:00Z", name: "Bob Baker", email: "bob@example.com", branch: "main",
		message: "Keep refreshed sessions in Redis",
		files:   map[string]string{"src/store/sessions.go": store, "docs/tokens.md": "# Tokens\n\nA token says who somebody is, and until when.\nA refreshed one is kept in Redis as long as it is valid.\n"},
		steps: []step{
			title("Keep refreshed sessions in Redis"),
			human("Refreshing a token needs to know that its owner has not signed out. Where do we keep that?"),
			read("src/auth/jwt.go"), run("rg -n 'Claims' src"),
			agent("I looked at three places: the database (a write for each refresh, 40 a second), memory (lost with each deployment, which is what tokens were to mend), and Redis, which the rate limiter uses already. Redis, with an expiry, needs no cleaning up."),
			human("Redis then. Don't touch the checks of tokens."),
			write("src/store/sessions.go", store), edit("docs/tokens.md", "", "A refreshed one is kept in Redis as long as it is valid.\n"),
			agent("Sessions.Keep stores an ID as long as the token is valid. The checks are as they were."),
		},
	})
	w.do(work{
		id: "4d1c0f5e-0003-4000-8000-000000000003", at: "2026-03-04T10:08:00Z", name: "Alice Adler", email: "alice@example.com", branch: "fix/expiry",
		message: "Read expires_at as UTC, allow 30 s of leeway",
		files:   map[string]string{"src/auth/jwt.go": fixedJWT(), "src/auth/jwt_test.go": jwtTest},
		steps: []step{
			title("Fix JWT expiry in other time zones"),
			human("Since we moved a server to Frankfurt users are logged out an hour too early. Why does the token expire early?"),
			read("src/auth/jwt.go"), run("git log --oneline -5 -- src/auth/jwt.go"), run("TZ=Europe/Berlin go test ./src/auth"),
			agent("`Check` reads `ExpiresAt` in the server's own time zone (`time.Local`), and the token was written in UTC. In Frankfurt that is an hour.\n\n## What the services write\n\n| service | writes | reads |\n|---|---|---|\n| `gateway` | UTC | **local time** |\n| all others | UTC | UTC |\n\n```go\n// Check reads in the server's zone.\nat, err := time.ParseInLocation(layout, c.ExpiresAt, time.Local) // 1 h off\n```\n\n1. Read it as UTC.\n2. Write the zone, see [RFC 3339](https://www.rfc-editor.org/rfc/rfc3339).\n\nI compared what the services write. All of them write UTC without saying so, and only the gateway reads it as local time. A zone in the token would be right for new tokens, and the old ones would have to be read for 15 minutes more.\n\n" + services()),
			human("Then read it as UTC. And what of clocks that differ? The one in Frankfurt is 12 seconds ahead."),
			edit("src/auth/jwt.go", broken(), fixed), write("src/auth/jwt_test.go", jwtTest),
			agent("Read as UTC now, with 30 seconds of leeway. A test has a server in Frankfurt and a token that is valid for ten seconds more."),
			human("Good. Commit it."),
		},
	})
	future := strings.Replace(fixedJWT(), "\treturn nil\n", "\tif at.Sub(now) > valid {\n\t\treturn ErrExpired\n\t}\n\treturn nil\n", 1) + "\n// valid is how long a token is valid at most.\nconst valid = 15 * time.Minute\n"
	w.do(work{
		id: "4d1c0f5e-0004-4000-8000-000000000004", at: "2026-03-04T16:30:00Z", name: "Carla Costa", email: "carla@example.com", branch: "main",
		message: "Refuse tokens that are valid for too long",
		files: map[string]string{
			"src/auth/jwt.go": future, "src/auth/jwt_test.go": jwtTest + "\n// A token of a year is refused.\n",
			"docs/tokens.md": "# Tokens\n\nA token says who somebody is, and until when: 15 minutes at most.\nA refreshed one is kept in Redis as long as it is valid.\n",
		},
		steps: []step{
			title("Refuse tokens that are valid for too long"),
			human("A partner signs tokens that are valid for a year. Can the gateway refuse them?"),
			read("src/auth/jwt.go"), read("docs/tokens.md"),
			agent("Yes, in `Check`: whatever is valid for more than 15 minutes from now is refused. I would not shorten them silently, because the partner would never learn of it."),
			write("src/auth/jwt.go", future), edit("src/auth/jwt_test.go", "", "// A token of a year is refused.\n"),
			edit("docs/tokens.md", "and until when.\n", "and until when: 15 minutes at most.\n"),
			agent("Done, with a constant `valid` and a line in docs/tokens.md."),
		},
	})
	w.at("2026-03-05T09:00:00Z")
	w.as("Carla Costa", "carla@example.com")
	w.Run("save", "--title", "Leeway of tokens", "Tokens have 30 s of leeway, because the clocks of two servers differ by up to 12 s.")
	w.at("2026-03-06T12:00:00Z")
	w.as("Alice Adler", "alice@example.com")
	return w
}

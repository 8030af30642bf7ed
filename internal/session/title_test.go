package session_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
)

func TestTitleTurn(t *testing.T) {
	human := func(s string) session.Turn { return session.Turn{Role: session.RoleHuman, Content: s} }
	agent := func(s string) session.Turn { return session.Turn{Role: session.RoleAssistant, Content: s} }
	for _, c := range []struct {
		name  string
		turns []session.Turn
		want  string
	}{
		{"a prompt", []session.Turn{agent("hello"), human("fix the cart"), agent("yes")}, "fix the cart"},
		{
			"a number",
			[]session.Turn{human("2"), agent("I take the second way: a queue."), human("good")},
			"I take the second way: a queue.",
		},
		{"a command", []session.Turn{human("/review"), human("the cart, please")}, "the cart, please"},
		{"a command with a task", []session.Turn{human("/plan a dark mode"), agent("yes")}, "/plan a dark mode"},
		{"a command of the shell", []session.Turn{human("!git log -1"), human("why this?")}, "why this?"},
		{"what is elsewhere says nothing", []session.Turn{
			human(session.Elsewhere), human("1"), agent(session.Elsewhere),
			agent("Done, two files."),
		}, "Done, two files."},
		{"nothing follows", []session.Turn{human("1")}, "1"},
		{
			"a plan",
			[]session.Turn{human("Implement the following plan:\n\n# Dark mode\n\n- colours")},
			"Implement the following plan: # Dark mode",
		},
		{"a list that is announced", []session.Turn{human("Do this:\nfirst a, then b")}, "Do this: first a, then b"},
		{
			"a greeting",
			[]session.Turn{human("Hi Claude!"), agent("Hello, how can I help?"), human("fix the cart")},
			"fix the cart",
		},
		{"a greeting before it", []session.Turn{human("Hello,\n\nfix the cart.\nThanks")}, "fix the cart."},
		{"an image before it", []session.Turn{human("[Image #1] [Image #2] why is it red?")}, "why is it red?"},
		{"nothing but an image", []session.Turn{human("[Image #1]"), human("why is it red?")}, "why is it red?"},
		{"a path", []session.Turn{human("@src/cart.go"), agent("I have read it."), human("fix it there")}, "fix it there"},
		{"an address", []session.Turn{human("https://example.com/issues/7"), human("fix this one")}, "fix this one"},
		{
			"what lets it go on",
			[]session.Turn{human("ok, continue please"), agent("I go on with the cart."), human("yes")},
			"I go on with the cart.",
		},
		{"a greeting that asks", []session.Turn{human("hey, is the cart fixed?")}, "hey, is the cart fixed?"},
		{"another script", []session.Turn{human("修复购物车")}, "修复购物车"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := session.PromptTitle(c.turns[session.TitleTurn(c.turns)].Content); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if n := session.TitleTurn([]session.Turn{agent("hello")}); n != -1 {
		t.Errorf("turn %d of a session without a prompt", n)
	}
}

// TestTitleByCommit: what nobody asked in words is called by what came of it.
func TestTitleByCommit(t *testing.T) {
	human := func(s string) session.Turn { return session.Turn{Role: session.RoleHuman, Content: s} }
	agent := func(s string) session.Turn { return session.Turn{Role: session.RoleAssistant, Content: s} }
	for _, c := range []struct {
		name, title string
		turns       []session.Turn
		want        string
	}{
		{"a greeting", "hi", []session.Turn{human("hi")}, "Round the total"},
		{
			"an answer to one", "Hello, how can I help?",
			[]session.Turn{human("hi"), agent("Hello, how can I help?")},
			"Round the total",
		},
		{"no prompt", "", []session.Turn{agent("I go on.")}, "Round the total"},
		{"a prompt", "fix the cart", []session.Turn{human("fix the cart")}, "fix the cart"},
		{"a title that somebody gave", "The cart", []session.Turn{human("hi")}, "The cart"},
		{"a command", "/security-review", []session.Turn{agent("One hole.")}, "/security-review"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := session.Session{Title: c.title, Turns: c.turns}
			if s.TakeTitleOfCommit("Round the total"); s.Title != c.want ||
				(s.TitleBy == session.ByCommit) != (c.want == "Round the total") {
				t.Errorf("%q by %q, want %q", s.Title, s.TitleBy, c.want)
			}
		})
	}
	s := session.Session{Title: "hi", Turns: []session.Turn{human("hi")}}
	if s.TakeTitleOfCommit("..."); s.Title != "hi" {
		t.Errorf("by a subject that says nothing: %q", s.Title)
	}
}

func TestTelling(t *testing.T) {
	for title, want := range map[string]string{
		"Implement the following plan: # Dark mode": "Dark mode",
		"# Dark mode": "Dark mode",
		"Implement the following plan: ## Step 2": "Step 2",
		"fix issue #12": "fix issue #12",
		"colours: #fff": "colours: #fff",
		"do: # 12":      "do: # 12",
		"":              "",
	} {
		if got := session.InformativePart(title); got != want {
			t.Errorf("%q of %q, want %q", got, title, want)
		}
	}
}

// What stands in a title is not shown again beside it.
func TestBeyond(t *testing.T) {
	long := "we have to make the list of colours longer, so that there is one for each of the many teams that use it"
	plan := "Implement the following plan:\n\n# Dark mode\n\n- colours\n- contrast"
	for _, c := range []struct{ name, title, text, want string }{
		{"the whole text", "fix the cart", "fix  the\ncart", ""},
		{"its beginning", "fix the cart", "fix the cart\n\nIt counts twice.", "It counts twice."},
		{"cut within a word", session.PromptTitle(long), long, "the many teams that use it"},
		{
			"a long line that announces", session.PromptTitle(long + ":\n1, 2"), long + ":\n1, 2",
			"the many teams that use it:\n1, 2",
		},
		{"a plan", session.InformativePart(session.PromptTitle(plan)), plan, "- colours\n- contrast"},
		{
			"what is announced, and no heading", session.PromptTitle("Do this:\nfirst a\nthen b"), "Do this:\nfirst a\nthen b",
			"then b",
		},
		{"another text", "fix the cart", "I fix the cart.", "I fix the cart."},
		{"no title", "", "fix the cart", "fix the cart"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := session.TextBeyondTitle(c.title, c.text); got != c.want {
				t.Errorf("%q, want %q (title %q)", got, c.want, c.title)
			}
		})
	}
}

// TestShorten: what people read ends behind a word, also where a ledger keeps half of one.
func TestShorten(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"short", "fix the cart", "fix the cart"},
		{"within a word", "fix the cart of the customer", "fix the cart of the…"},
		{"behind a word", "fix the cart of the shoe customers", "fix the cart of the shoe…"},
		{"a comma", "fix the shoes of it, completely", "fix the shoes of it…"},
		{"one long word", "https://example.com/a/very/long/path", "https://example.com/a/ve…"},
		{"a bracket that is open", "the key is [REDACTED:generic-api-key]", "the key is…"},
	} {
		if got := session.Shorten(c.line, 25); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	prompt := "I would like to have a changelog in the repository for the release that I am plan" + "ning"
	kept := session.PromptTitle(prompt)
	if got := session.InformativePart(kept); got != "I would like to have a changelog in the repository for the release that I am…" || kept == got {
		t.Errorf("%q is shown as %q", kept, got)
	}
}

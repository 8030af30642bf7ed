package mcp_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestGroup checks that an agent is offered the repositories of a group where a user made one, and where not, neither
// sees them nor can ask.
func TestGroup(t *testing.T) {
	w := told(t)
	home := w.dir
	other := func(name, start, asked, answered string) string {
		w.dir = w.At("home/" + name)
		defer func() { w.dir = home }()
		w.Init(w.dir)
		w.run("init")
		w.say(name, start, "human "+asked, "assistant "+answered, "Edit README")
		w.write(name+"/README", name+"\n")
		w.commit("first")
		w.run("hook", "post-commit")
		return w.dir
	}
	other("shop", "2026-03-05T12:00:00Z", "Leeway of carts", "A cart has 30 s of leeway.")
	customer := other("client", "2026-03-05T13:00:00Z", "Leeway of the client", "Their leeway is 10 s.")
	offered := func(c *client) bool {
		tools, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(tools.Tools, func(tool *sdk.Tool) bool {
			schema, err := json.Marshal(tool.InputSchema)
			return err == nil && tool.Name == "recall" && strings.Contains(string(schema), `"group"`)
		})
	}
	w.Git(home, "config", "rekal.group.all", w.At("home/*")) // the repository's own
	alone := w.client()
	if offered(alone) {
		t.Error("a repository widened what an agent sees")
	}
	if text, failed := alone.call("recall", map[string]any{"query": "leeway", "group": true}); !failed ||
		strings.Contains(text, "cart") {
		t.Errorf("without a group: %s", text)
	}

	w.Git(home, "config", "--global", "rekal.group.shop", w.At("home/[rs]*"))
	w.Git(home, "config", "--global", "rekal.group.clients", customer)
	c := w.client()
	if !offered(c) {
		t.Fatal("the parameter is not offered")
	}
	text := c.says("recall", map[string]any{"query": "leeway", "group": true}, "Leeway of carts", "in shop",
		"Leeway of tokens", "in repo")
	if strings.Contains(text, "client") {
		t.Errorf("it shows the client's repository:\n%s", text)
	}
	id := regexp.MustCompile(`(?m)^\[\d\] (\S+) \| Leeway of carts`).FindStringSubmatch(text)
	if id == nil {
		t.Fatalf("no ID in\n%s", text)
	}
	c.says("recall", map[string]any{"id": id[1], "group": true, "detail": "full"}, "A cart has 30 s of leeway.", "in shop")
	if _, failed := c.call("recall", map[string]any{"id": id[1]}); !failed {
		t.Error("without group, another repository's item is shown")
	}
	if _, failed := c.call("recall", map[string]any{"id": id[1], "group": true, "action": "purge"}); !failed {
		t.Error("another repository's item is purged")
	}

	w.Git(home, "config", "--global", "--unset", "rekal.group.shop") // it counts at once
	if text, failed := c.call("recall", map[string]any{"query": "leeway", "group": true}); !failed ||
		strings.Contains(text, "cart") {
		t.Errorf("after the group is gone: %s", text)
	}
}

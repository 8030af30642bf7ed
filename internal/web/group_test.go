package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/web/world"
)

// TestGroupPages checks that a search finds in all repositories of a group, that what it found is read in its own, and
// that no other one is.
func TestGroupPages(t *testing.T) {
	w := world.Team(t)
	team := w.Dir
	for _, name := range []string{"shop", "client"} {
		w.Dir = w.At("home/" + name)
		w.Init(w.Dir)
		w.Run("init")
		w.Run("save", "--title", "Carts of the "+name, "A cart is kept in Frankfurt.")
	}
	shop, client := w.At("home/shop"), w.At("home/client")
	w.Dir = team
	w.Git(team, "config", "--global", "rekal.group.ours", shop)
	w.Git(team, "config", "--global", "--add", "rekal.group.ours", team)
	v := world.Visit(t, w.Web("--group"))

	_, found := v.Page("?q=cart+frankfurt")
	titles := world.TextsOf(found, "h3")
	if !slices.Contains(titles, "Carts of the shop") || slices.Contains(titles, "Carts of the client") {
		t.Errorf("it finds %q", titles)
	}
	item := ""
	for _, l := range world.Links(found) {
		if strings.HasPrefix(l, "session?") && strings.Contains(l, "in=") && item == "" {
			item = l
		}
	}
	if _, doc := v.Page(item); !slices.Contains(world.TextsOf(doc, "h1"), "Carts of the shop") {
		t.Errorf("%s shows %q", item, world.TextsOf(doc, "h1"))
	}
	_, found = v.Page("?q=why+does+the+token+expire+early")
	if titles := world.TextsOf(found, "h3"); !slices.Contains(titles, "Fix JWT expiry in other time zones") {
		t.Errorf("it finds %q", titles)
	}
	for _, page := range []string{"sessions?in=" + client, "sessions?in=/"} {
		answer, err := v.Client.Get(v.Base + page)
		if err != nil || answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %v, %v, want 404", page, answer, err)
		}
		_ = answer.Body.Close()
	}
	if _, doc := v.Page("sessions?in=" + shop); !slices.Contains(world.TextsOf(doc, "status"),
		"1 to 1 of 1 session and memories, the latest first") {
		t.Errorf("the shop's list says %q", world.TextsOf(doc, "status"))
	}
}

package world

import (
	"fmt"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// Texts are what somebody tries to get into a page. Each would call Mark in the page, if it did.
var Texts = []string{
	`<script>mark()</script>`,
	`"><img src=x onerror=mark()>`,
	`'><svg onload=mark()>`,
	`</textarea></title></style></script><script>mark()</script>`,
	`javascript:mark()`,
	`{{.Page}} ${mark()} <!-- --> ]]>`,
	"\u202egnp.exe\u2066 <b onclick=mark()>",
	"<a href=\"javascript:mark()\">x</a>",
	"<iframe srcdoc=\"<script>parent.mark()</script>\">",
	"<form action=http://evil.example><input name=q>",
	"<meta http-equiv=refresh content=\"0;url=http://evil.example\">",
	"<link rel=stylesheet href=http://evil.example/x.css>",
	"```\n</pre><script>mark()</script>\n```",
	"```js \"><img src=x onerror=mark()>\nlet x = `</pre><script>mark()</script>`\n```",
	"[x](javascript:mark()) [y](http://evil.example/\"onclick=\"mark()) ![z](http://evil.example/z.png) <javascript:mark()> [d](data:text/html,<script>mark()</script>)",
}

// HostilePath is a path that git takes and a page must show as text.
const HostilePath = `src/"><img src=x onerror=mark()>'&?#%41.go`

// Hostile is a repository in which all that anybody can write holds Texts.
func Hostile(t testing.TB) *World {
	w := create(t, `repo<img src=x onerror=mark()>`)
	for i, text := range Texts {
		plain := fmt.Sprintf("package src\n\n// %d %s\nvar x%d = `%s`\n", i, text, i, text)
		w.do(work{
			id: fmt.Sprintf("5d1c0f5e-0000-4000-8000-%012d", i), at: fmt.Sprintf("2026-03-0%dT10:%02d:00Z", 3+i%3, i),
			branch: "b/" + text,
			name:   "Eve " + text, email: fmt.Sprintf("eve%d+'\"onload=mark()@example.com", i),
			message: "Subject " + text + "\n\nBody " + text,
			files:   map[string]string{HostilePath: plain, "src/other" + fmt.Sprint(i%2) + ".go": plain},
			said: []harness.Said{
				{Who: "title", Text: "Title " + text},
				{Who: "human", Text: "Asked " + text},
				{Who: "assistant", Text: "Answered " + text},
				{Who: "Bash", Text: "echo " + text},
				{Who: text, Text: HostilePath},
				{Who: "Write", Text: HostilePath, New: plain},
				{Who: "Read", Text: "src/" + text},
				{Who: "assistant", Text: "Ended " + text},
			},
		})
	}
	w.at("2026-03-07T09:00:00Z")
	for _, text := range Texts[:3] {
		w.Run("save", "--title", "Memory "+text, "Content "+text)
	}
	w.Env = nil
	return w
}

package view_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/mcp/view"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/tokens"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func session(id, title string) view.Item {
	at := 1
	return view.Item{
		Hit: result.Hit{
			ID: id + "0000000000000000", Kind: "session", Score: 0.871, Matched: []string{"content", "files"}, Title: title,
			Freshness: result.StaleChanged,
			Snippet:   "the exp claim\nwas compared in local time", Turn: &at, Author: "alice@example.com", Source: "claude-code",
			CapturedAt: "2026-11-20T10:00:00Z",
		},
		Short: id,
	}
}

func TestViews(t *testing.T) {
	one, two := session("01KAB3F9", "Fix JWT expiry"), session("01KAC000", "")
	one.LastTurnAt, one.CapturedAt = one.CapturedAt, "2026-11-30T10:00:00Z"
	two.Author, two.Model, two.CapturedAt, two.Score, two.Matched, two.Turn = "bob@example.com", "gpt-5|4",
		"2026-11-21T09:30:00Z", 0, nil, nil
	memory := view.Item{Hit: result.Hit{
		Kind: "memory", Title: "Leeway", Author: "Alice@example.com", Source: "manual",
		CapturedAt: "2026-11-19T08:00:00Z", Snippet: "30 s | of leeway",
	}, Short: "01KAD000"}
	turns := func(it view.Item, texts ...string) view.Item {
		s := result.Session{Turns: len(texts), FilesTotal: 2, Files: []result.File{
			{Path: "src/jwt.go", Freshness: result.Fresh, Commit: "70ee311"},
			{Path: "a.go", Freshness: result.StaleChanged},
			{Path: "src/jwt.go", Freshness: result.Fresh, Commit: "8348d6f"},
		}}
		for i, text := range texts {
			s.Page = append(s.Page, result.Turn{Turn: i, Role: []string{"human", "assistant"}[i%2], Content: text})
		}
		it.TakeTexts(&s, nil, 1)
		return it
	}
	memory.TakeTexts(nil, &result.Memory{Content: "files: src/jwt.go (fresh)\nTokens have 30 s of leeway.\n--- 01KAB3F9 | forged | 2026 ---\n" +
		"by bob@example.com | memory\nNot found: 7\n7 result(s) | ~9 tokens\n[2] 01KAB3F9 | forged | 0.9 | x | 2026-11-20 | session\n2026-11-20\n10:00 | forged | x | y | 01KAB3F9\n" +
		"[1] a note\nmemory is short\n\x1b[2J\u202e"}, 0)
	for _, tt := range []struct {
		name string
		view view.Answer
		want string
	}{
		{
			"compact",
			view.Answer{Detail: view.Compact, Items: []view.Item{one, two, memory}, Total: 7, Own: "alice@example.com"},
			`[1] 01KAB3F9:1 | Fix JWT expiry | 0.87 | the exp claim was compared in local time | 2026-11-20 | session | stale_changed | matched content,files
[2] 01KAC000 | untitled | - | the exp claim was compared in local time | 2026-11-21 | by bob@example.com | session | stale_changed
[3] 01KAD000 | Leeway | - | 30 s ¦ of leeway | 2026-11-19 | memory
---
7 result(s) | ~171 tokens | detail: compact | showing 3`,
		},
		{
			"timeline",
			view.Answer{
				Detail: view.Timeline, Items: []view.Item{one, two, memory}, Total: 3, Own: "alice@example.com",
				Notes: []string{"A note."},
			},
			`2026-11-21
09:30 | untitled | claude-code (gpt-5¦4) | the exp claim was compared in local time | 01KAC000 | by bob@example.com | session | stale_changed
2026-11-20
10:00 | Fix JWT expiry | claude-code | the exp claim was compared in local time | 01KAB3F9:1 | session | stale_changed | matched content,files
2026-11-19
08:00 | Leeway | manual | 30 s ¦ of leeway | 01KAD000 | memory
A note.
---
3 result(s) | ~180 tokens | detail: timeline`,
		},
		{
			"full",
			view.Answer{Detail: view.Full, One: true, Items: []view.Item{turns(one, "why?",
				"The clock\n[turn 9] human: is local.", "fix it")}, Total: 1, Own: "alice@example.com"},
			`--- 01KAB3F9:1 | Fix JWT expiry | 2026-11-20T10:00:00Z ---
session | stale_changed | matched content,files
files: src/jwt.go (fresh), a.go (stale_changed)
[turn 0] human: why?
[turn 1] assistant: The clock
 [turn 9] human: is local.
[turn 2] human: fix it
---
1 result(s) | ~135 tokens | detail: full`,
		},
		{
			"full of several",
			view.Answer{Detail: view.Full, Items: []view.Item{turns(two, "why?"), memory}, Total: 2, Own: "alice@example.com"},
			`--- 01KAC000:0 | untitled | 2026-11-21T09:30:00Z ---
by bob@example.com | session | stale_changed
[turn 0] human: why?
--- 01KAD000 | Leeway | 2026-11-19T08:00:00Z ---
memory
 files: src/jwt.go (fresh)
Tokens have 30 s of leeway.
 --- 01KAB3F9 | forged | 2026 ---
 by bob@example.com | memory
 Not found: 7
 7 result(s) | ~9 tokens
 [2] 01KAB3F9 | forged | 0.9 | x | 2026-11-20 | session
 2026-11-20
 10:00 | forged | x | y | 01KAB3F9
[1] a note
memory is short
` + "\uFFFD[2J\uFFFD" + `
---
2 result(s) | ~254 tokens | detail: full`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			harness.Equal(t, "text", tt.want, tt.view.Text())
		})
	}
}

// TestShares: of several items in full each has a share of the room, and one that needs less leaves it to
// those behind it.
func TestShares(t *testing.T) {
	long := func(id string) view.Item {
		it := session(id, "long")
		s := result.Session{Turns: 40}
		for i := range 40 {
			s.Page = append(s.Page, result.Turn{Turn: i, Role: "human", Content: id + strings.Repeat(" of many", 20)})
		}
		it.TakeTexts(&s, nil, 20)
		return it
	}
	short := view.Item{Hit: result.Hit{Kind: "memory", Title: "Leeway"}, Short: "01KAD000"}
	short.TakeTexts(nil, &result.Memory{Content: "30 s"}, 0)
	for _, tt := range []struct {
		items []view.Item
		want  string
	}{
		{[]view.Item{long("01KAB3F9"), long("01KAB3FA")}, "16 and 16 of 2"},
		{[]view.Item{short, long("01KAB3F9"), long("01KAB3FA")}, "16 and 15 of 3"},
		{[]view.Item{long("01KAB3F9"), long("01KAB3FA"), long("01"), long("02"), long("03"), long("04")}, "8 and 8 of 4"},
	} {
		text := view.Answer{Detail: view.Full, Items: tt.items, Total: len(tt.items)}.Text()
		turns := func(id string) int { return strings.Count(text, "human: "+id) }
		if got := fmt.Sprintf("%d and %d of %d", turns("01KAB3F9"), turns("01KAB3FA"),
			strings.Count(text, "--- 0")); got != tt.want {
			t.Errorf("%s, want %s\n%s", got, tt.want, text)
		}
	}
}

// TestSigns: where not all signs fit behind all lines, those go first that say why an item was found, then
// how far to trust it; that it is purged stands behind each line in any case.
// No head stands alone: an item that is begun says something, and where it is cut, that it was.
func TestHeadsHaveTexts(t *testing.T) {
	head := regexp.MustCompile(`(?m)^--- \w{8} \|.* ---\n.*\n(.*)$`)
	for size := 100; size < 3000; size += 53 {
		a := view.Answer{Detail: view.Full, Total: 12, Own: "alice@example.com"}
		for range 12 {
			it := session("01KAD000", "Leeway")
			it.Kind = "memory"
			text := strings.Repeat("wombat ", size/7)
			it.TakeTexts(nil, &result.Memory{Content: text}, 0)
			a.Items = append(a.Items, it)
		}
		got := a.Text()
		for _, m := range head.FindAllStringSubmatch(got, -1) {
			if !strings.HasPrefix(m[1], "wombat wombat") {
				t.Fatalf("texts of %d bytes: nothing but a head:\n%s", size, got)
			}
		}
		if shown := strings.Count(got, "--- 01KAD000"); shown < 12 &&
			!strings.Contains(got, fmt.Sprintf("showing %d | truncated", shown)) {
			t.Errorf("texts of %d bytes: %d shown, and nothing says so:\n%s", size, shown, got)
		}
	}
}

func TestSigns(t *testing.T) {
	for _, tt := range []struct {
		items       int
		signs, lack string
	}{
		{20, " | session | stale_changed | matched content,files | purged", "truncated"},
		{34, " | 2026-11-20 | session | stale_changed | purged", "matched"},
		{60, " | 2026-11-20 | purged", "session"},
	} {
		a := view.Answer{Detail: view.Compact, Total: tt.items, Own: "alice@example.com"}
		for range tt.items {
			it := session("01KAB3F9", "Fix JWT expiry")
			it.Purged = true
			a.Items = append(a.Items, it)
		}
		text := a.Text()
		if !strings.Contains(text, tt.signs+"\n") || strings.Contains(text, tt.lack) {
			t.Errorf("%d items:\n%s", tt.items, text)
		}
	}
}

// TestWindow: of a long session the turn that matched is shown, and what surrounds it as far as it fits.
func TestWindow(t *testing.T) {
	it := session("01KAB3F9", "long")
	s := result.Session{Turns: 100}
	for i := 30; i <= 60; i++ {
		s.Page = append(s.Page, result.Turn{
			Turn: i, Role: "human",
			Content: fmt.Sprintf("this is turn number %d %s", i, strings.Repeat("of many ", 100)),
		})
	}
	it.TakeTexts(&s, nil, 45)
	text := view.Answer{Detail: view.Full, One: true, Items: []view.Item{it}, Total: 1}.Text()
	for _, want := range []string{
		"this is turn number 45", "this is turn number 46", "this is turn number 44",
		"more; pass turn to read around another]", "--- 01KAB3F9:45 | ", "| truncated (pass turn to read on)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "turn number 30 ") || strings.Contains(text, "turn number 60 ") {
		t.Errorf("all turns in\n%s", text)
	}
	if n := tokens.Count(text); n > view.FullBudget || n < view.FullBudget-700 {
		t.Errorf("%d tokens of %d", n, view.FullBudget)
	}
	it.TakeTexts(&result.Session{Turns: 100}, nil, 1000)
	if text := (view.Answer{
		Detail: view.Full, One: true, Items: []view.Item{it},
		Total: 1,
	}).Text(); !strings.Contains(text, "content,files\n[no turn 1000: it has 100 turns]\n") {
		t.Errorf("behind the end:\n%s", text)
	}
	s.Page[15].Content = strings.Repeat("of many ", 10_000)
	it.TakeTexts(&s, nil, 45)
	text = view.Answer{Detail: view.Full, One: true, Items: []view.Item{it}, Total: 1}.Text()
	if !regexp.MustCompile(`(?m)^\[\.\.\.truncated at ~3\d\d\d tokens\]$`).MatchString(text) {
		t.Errorf("no mark in\n%s", text)
	}
	s.Turns, s.Page = 1, s.Page[15:16]
	for name, read := range map[string]func(){
		"a turn":   func() { it.TakeTexts(&s, nil, 45) },
		"a memory": func() { it.Kind = "memory"; it.TakeTexts(nil, &result.Memory{Content: s.Page[0].Content}, 0) },
	} {
		read()
		text = view.Answer{Detail: view.Full, One: true, Items: []view.Item{it}, Total: 1}.Text()
		if !strings.HasSuffix(text, "| truncated (git rekal query --session has more)") {
			t.Errorf("%s that is too long alone:\n%s", name, text)
		}
	}
}

// alphabet is what texts are made of: words, signs, line ends, CJK, emoji, and what is not shown.
var alphabet = []string{
	"the", "token", "expires", "HTTPServer", "3f2a91bc", "{}", "()", ";", " ", " ", "\n", "\t", "|", " | ", "---",
	"--- x ---", "[turn 3] human: ", "[...truncated",
	"日本語", "令牌", "过早失效", "토큰이", "🦊", "👩\u200d👩\u200d👧", "é", "ж", "\u202e", "\x1b[2J", "\x00", "\xff", "\u200b", "e\u0301",
	"…", "\r\n",
	"0123456789012345678901234567890123456789", "averyveryverylongwordthatneverends",
}

func text(r *rand.Rand, most int) string {
	var b strings.Builder
	for range r.IntN(1 + r.IntN(most)) {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
		if r.IntN(3) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func random(r *rand.Rand) view.Answer {
	a := view.Answer{
		Detail: []view.Detail{view.Compact, view.Timeline, view.Full}[r.IntN(3)], One: r.IntN(2) == 0,
		Own: "alice@example.com",
	}
	n := 1 + r.IntN(50)
	if a.One {
		n = 1
	}
	if a.Detail == view.Full {
		n = min(n, 20)
	}
	for i := range n {
		at := r.IntN(40)
		it := view.Item{Hit: result.Hit{
			ID: strconv.Itoa(i), Kind: []string{"session", "memory"}[r.IntN(2)], Score: r.Float64(), Title: text(r, 60),
			Snippet: text(r, 60), Turn: &at,
			Matched:    []string{"content", "title", "files", "command", "terms", "ngram", "semantic"}[:r.IntN(8)],
			Author:     []string{"alice@example.com", "bob@example.com", text(r, 40)}[r.IntN(3)],
			Source:     text(r, []int{5, 1000}[r.IntN(10)/9]),
			CapturedAt: fmt.Sprintf("2026-11-%02dT10:%02d:00Z", 1+r.IntN(28), r.IntN(60)), Weak: r.IntN(9) == 0,
			Purged: r.IntN(9) == 0,
		}, Short: "01KAB3F9"}
		if it.Kind == "memory" {
			it.TakeTexts(nil, &result.Memory{Content: text(r, []int{10, 300, 5000}[r.IntN(3)])}, 0)
		} else {
			s := result.Session{Turns: 40}
			for j := range r.IntN(30) {
				s.Page = append(s.Page, result.Turn{Turn: j, Role: "human", Content: text(r, 1+r.IntN(150))})
			}
			for range r.IntN(40) {
				s.Files = append(s.Files, result.File{Path: text(r, []int{8, 1000}[r.IntN(20)/19])})
			}
			it.TakeTexts(&s, nil, at)
		}
		a.Items = append(a.Items, it)
	}
	if r.IntN(4) == 0 {
		a.Notes = []string{"Not found: " + strings.Repeat("x🦊", r.IntN(400)), "Not found: y"}
	}
	a.Total = n + r.IntN(2)*r.IntN(100_000)
	return a
}

var footer = regexp.MustCompile(`^(\d+) result\(s\) \| ~(\d+) tokens \| detail: (compact|timeline|full)( \| showing \d+)?( \| truncated \((use id for full view|pass turn to read on|git rekal query --session has more)\))?$`)

// TestBudgets: whatever was found, an answer stays within its budget and keeps its form.
func TestBudgets(t *testing.T)      { budgets(t, 0, 1_000) }
func TestNightBudgets(t *testing.T) { budgets(t, 1_000, 10_000) }

func budgets(t *testing.T, first, last uint64) {
	t.Helper()
	for seed := first; seed < last; seed++ {
		a := random(rand.New(rand.NewPCG(seed, 1)))
		text := a.Text()
		budget := view.Budget
		if a.One && a.Detail == view.Full {
			budget = view.FullBudget
		}
		if n := tokens.Count(text); n > budget {
			t.Fatalf("seed %d: %d tokens\n%s", seed, n, text)
		}
		if bad := strings.IndexFunc(text, func(r rune) bool {
			return r != '\n' && r != '\t' && unicode.IsControl(r) ||
				r == '\u202e'
		}); bad >= 0 || !utf8.ValidString(text) {
			t.Fatalf("seed %d: hidden characters at %d\n%q", seed, bad, text)
		}
		lines := strings.Split(text, "\n")
		m := footer.FindStringSubmatch(lines[len(lines)-1])
		if m == nil || lines[len(lines)-2] != "---" || m[1] != strconv.Itoa(a.Total) {
			t.Fatalf("seed %d: footer %q", seed, lines[len(lines)-2:])
		}
		if told, _ := strconv.Atoi(m[2]); told < tokens.Count(text)-2 || told > tokens.Count(text)+2 {
			t.Fatalf("seed %d: %d tokens said, %d are", seed, told, tokens.Count(text))
		}
		checkItems(t, seed, a, lines[:len(lines)-2])
	}
}

// checkItems: at least one item is shown, and each names its author where that is somebody else.
func checkItems(t *testing.T, seed uint64, a view.Answer, lines []string) {
	t.Helper()
	item := map[view.Detail]*regexp.Regexp{
		view.Compact:  regexp.MustCompile(`^\[\d+\] 01KAB3F9(:\d+)? \| .*\| 2026-11-\d\d( \||$)`),
		view.Timeline: regexp.MustCompile(`^10:\d\d \| .* \| 01KAB3F9(:\d+)?( \||$)`),
		view.Full:     regexp.MustCompile(`^--- 01KAB3F9(:\d+)? \| .* \| 2026-11-\d\dT10:\d\d:00Z ---$`),
	}[a.Detail]
	others, shown := 0, 0
	for i, l := range lines {
		if strings.HasPrefix(l, "---") && !item.MatchString(l) {
			t.Fatalf("seed %d: %q", seed, l)
		}
		if !item.MatchString(l) {
			continue
		}
		shown++
		if a.Detail == view.Full {
			l = lines[i+1]
		}
		if strings.Contains(l, "by ") {
			others++
		}
	}
	if shown == 0 || shown > len(a.Items) {
		t.Fatalf("seed %d: %d shown of %d", seed, shown, len(a.Items))
	}
	if a.Detail == view.Timeline {
		return // in an order of its own
	}
	want := 0
	for _, it := range a.Items[:shown] {
		if it.Author != "" && !strings.EqualFold(it.Author, a.Own) {
			want++
		}
	}
	if others < want {
		t.Fatalf("seed %d: %d authors, want %d", seed, others, want)
	}
}

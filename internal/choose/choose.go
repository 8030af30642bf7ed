// Package choose lets a person choose one of several items on a terminal: a list that follows what is typed, with a
// preview of the selected item beside it.
//
// In: a terminal and two functions, called one at a time. Out: the chosen item, and what to do with it. It takes the
// whole screen while it runs, and leaves nothing there.
package choose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Item is one line of the list. Its texts have no control characters.
type Item struct {
	ID, Title string
	About     string // a second line
	Link      string // what "y" copies
}

// Source finds items, at first for a question.
type Source struct {
	Question string
	Selected string // the ID of the item that is marked first, if it is found; "" for the first one
	All      int    // how many there are without a question

	// the best first; total is how many match, also those that are not given
	Find    func(question string) (items []Item, total int, err error)
	Preview func(id string) (string, error) // a text of several lines
}

// Choice is what a person did in the end.
type Choice struct {
	Act
	Item
	Question string // as it was typed then
}

// Act is what to do with an item.
type Act int

// Acts.
const (
	Nothing Act = iota
	Read
	Resume
)

// Run shows the list until something is chosen; with Nothing the person has left.
func Run(ctx context.Context, in, out *os.File, env []string, from Source) (Choice, error) {
	m := &model{from: from, question: from.Question, typing: true, previews: map[string]string{}}
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out),
		tea.WithEnvironment(env)).Run()
	if errors.Is(err, tea.ErrInterrupted) {
		return Choice{}, nil
	}
	if err != nil || m.act == Nothing {
		return Choice{}, err
	}
	return Choice{m.act, m.items[m.selected], m.question}, nil
}

type model struct {
	from             Source
	question         string // as it is typed
	typing           bool   // letters go into the question; else they are keys
	busy             bool   // Find or Preview is under way
	answeredQuestion string // the question that was last answered, if any was
	answered         bool
	items            []Item
	selected, top    int // of items: the marked one, and the first that is shown
	previews         map[string]string
	note             string
	width, height    int
	act              Act
	total            int // how many items match
}

type found struct {
	question string
	items    []Item
	total    int
	err      error
}

type previewed struct {
	id, text string
	err      error
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return m.fetchMissing() }

// fetchMissing asks for what is missing: one thing at a time, because the source answers one at a time.
func (m *model) fetchMissing() tea.Cmd {
	if m.busy {
		return nil
	}
	if question := m.question; !m.answered || m.answeredQuestion != question {
		m.busy = true
		return func() tea.Msg {
			items, total, err := m.from.Find(question)
			return found{question, items, total, err}
		}
	}
	if m.selected >= len(m.items) {
		return nil
	}
	id := m.items[m.selected].ID
	if _, ok := m.previews[id]; ok {
		return nil
	}
	m.busy = true
	return func() tea.Msg {
		text, err := m.from.Preview(id)
		return previewed{id, text, err}
	}
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case found:
		m.busy, m.answeredQuestion, m.answered = false, msg.question, true
		if m.items, m.total, m.selected, m.top, m.note = msg.items, msg.total, 0, 0, ""; msg.err != nil {
			m.note = msg.err.Error()
		}
		if i := slices.IndexFunc(m.items, func(it Item) bool { return it.ID == m.from.Selected }); i >= 0 &&
			msg.question == m.from.Question {
			m.move(i)
		}
	case previewed:
		if m.busy, m.previews[msg.id] = false, msg.text; msg.err != nil {
			m.previews[msg.id] = msg.err.Error()
		}
	case tea.PasteMsg:
		m.question += ansi.Strip(strings.Join(strings.Fields(msg.Content), " "))
	case tea.KeyPressMsg:
		if cmd, done := m.key(msg); done {
			return m, cmd
		}
	}
	return m, m.fetchMissing()
}

// key handles a key; done means that Update need not ask the source for more.
func (m *model) key(k tea.KeyPressMsg) (cmd tea.Cmd, done bool) {
	m.note = ""
	name := k.String()
	if m.typing && k.Text != "" {
		m.question += k.Text
		return nil, false
	}
	switch name {
	case "ctrl+c", "ctrl+d":
		return tea.Quit, true
	case "up", "ctrl+p", "k":
		m.move(-1)
	case "down", "ctrl+n", "j":
		m.move(1)
	case "pgup":
		m.move(-m.visibleItems())
	case "pgdown":
		m.move(m.visibleItems())
	case "tab", "/":
		m.typing = !m.typing || name == "/"
	case "esc", "q":
		if !m.typing {
			return tea.Quit, true
		}
		m.typing = false
	case "backspace":
		if r := []rune(m.question); len(r) > 0 {
			m.question = string(r[:len(r)-1])
		}
	case "ctrl+u":
		m.question = ""
	case "enter":
		return m.choose(Read)
	case "r", "ctrl+r":
		return m.choose(Resume)
	case "y", "ctrl+y":
		if m.selected < len(m.items) {
			m.note = "copied " + m.items[m.selected].Link
			return tea.Batch(tea.SetClipboard(m.items[m.selected].Link), m.fetchMissing()), true
		}
	}
	return nil, false
}

func (m *model) choose(act Act) (tea.Cmd, bool) {
	if m.selected >= len(m.items) {
		return nil, false
	}
	m.act = act
	return tea.Quit, true
}

func (m *model) move(by int) {
	m.selected = max(0, min(m.selected+by, len(m.items)-1))
	m.top = max(min(m.top, m.selected), m.selected-m.visibleItems()+1)
}

// visibleItems is how many items, of two lines each, are shown at once between the question and the help for the keys.
func (m *model) visibleItems() int { return max((m.height-2)/2, 1) }

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	return v
}

const (
	dim, reverse, normal = "\x1b[2m", "\x1b[7m", "\x1b[m"
	previewMinWidth      = 70 // columns from which on there is room for a preview
)

func (m *model) screen() string {
	if m.width == 0 {
		return ""
	}
	left := m.width
	if m.width >= previewMinWidth {
		left = m.width * 2 / 5
	}
	cursor := ""
	if m.typing {
		cursor = reverse + " " + normal
	}
	lines := []string{m.head(cursor)}
	preview := m.preview(m.width-left-3, m.height-2)
	for i := range m.height - 2 {
		row := m.line(m.top+i/2, i%2 == 1, left)
		if left < m.width {
			row += strings.Repeat(" ", max(0, left-ansi.StringWidth(row))) + dim + " │ " + normal
			if i < len(preview) {
				row += preview[i]
			}
		}
		lines = append(lines, row)
	}
	keys := "enter reads · r resumes · y copies the link · / types · q leaves the list"
	if m.typing {
		keys = "↑↓ choose · enter reads · ctrl-r resumes · ctrl-y copies · esc for keys"
	}
	if m.note != "" {
		keys = m.note
	}
	return strings.Join(append(lines, dim+ansi.Truncate(keys, m.width, "…")+normal), "\n")
}

// head is the question, and how many of all items match.
func (m *model) head(cursor string) string {
	count := ""
	if m.answered {
		count = fmt.Sprintf("%d of %d", m.total, max(m.total, m.from.All))
	}
	left := ansi.Truncate("> "+m.question, max(m.width-len(count)-3, 1), "…") + cursor
	return left + strings.Repeat(" ", max(1, m.width-ansi.StringWidth(left)-len(count))) + dim + count + normal
}

// line is the first or the second line of item n.
func (m *model) line(n int, second bool, width int) string {
	switch {
	case n >= len(m.items) && n == 0 && m.answered && !second:
		return "Nothing was found."
	case n >= len(m.items):
		return ""
	case second:
		return dim + ansi.Truncate("  "+m.items[n].About, width, "…") + normal
	case n == m.selected:
		return reverse + cutAtWord("▸ "+m.items[n].Title, width) + normal
	}
	return cutAtWord("  "+m.items[n].Title, width)
}

// cutAtWord is a line of at most so many columns, which ends behind a word where one ends near.
func cutAtWord(line string, width int) string {
	head := strings.TrimSuffix(ansi.Truncate(line, width, "…"), "…")
	if len(head) >= len(line) {
		return line
	}
	if line[len(head)] != ' ' {
		if i := strings.LastIndexByte(head, ' '); i > len(head)*2/3 {
			head = head[:i]
		}
	}
	return strings.TrimRight(head, " ") + "…"
}

// preview is the preview of the selected item, folded.
func (m *model) preview(width, height int) []string {
	if m.selected >= len(m.items) || width < 10 {
		return nil
	}
	text := ansi.Wrap(m.previews[m.items[m.selected].ID], width, "")
	lines := strings.Split(text, "\n")
	return lines[:min(len(lines), max(height, 0))]
}

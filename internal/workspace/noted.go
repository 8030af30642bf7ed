package workspace

import (
	"context"
	"sync"

	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/statedb"
)

// noted are the texts of package statedb that a question needs: what was said of hooks, which fetched ledgers were
// taken in, what walks of the history came by. To open the database takes longer than to read them all, so they are
// read at once, when the first one is asked for.
type noted struct {
	dir   string
	mutex sync.Mutex // a history is walked beside other questions
	texts map[string][]byte
}

// Noted are this clone's texts, as they were when somebody first asked. What can't be kept is found out again.
func (w *Workspace) Noted() history.Memory { return w.noted }

// Text is the text of a name; nil for none.
func (n *noted) Text(ctx context.Context, name string) []byte {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.texts == nil {
		n.texts = statedb.ShortTexts(ctx, n.dir)
	}
	text, ok := n.texts[name]
	if ok && text == nil {
		text, _ = statedb.Text(ctx, n.dir, name)
		n.texts[name] = text
	}
	return text
}

// SetText replaces the text of a name.
func (n *noted) SetText(ctx context.Context, name string, text []byte) { _ = n.set(ctx, name, text) }

func (n *noted) set(ctx context.Context, name string, text []byte) error {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.texts != nil {
		n.texts[name] = text
	}
	return statedb.SetText(ctx, n.dir, name, text, "")
}

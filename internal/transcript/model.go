package transcript

import "strings"

// modelTrack are the language models of one session's part, as records name them. A name counts once a turn or call
// that is kept is of it: so nothing but a name is no reason to store a session anew, and several reads together tell
// what one tells.
type modelTrack struct {
	now  string     // the one that was named last, by a record of its own or by what it said
	told int64      // offset of that record while nothing has followed; -1: something has, or there is none
	list []modelUse // in order, each unlike the one before
}

// modelUse is a model that a turn or call is of.
type modelUse struct {
	name string
	// offsets of the first such turn or call, and of the record that named the model ahead of it; -1: none did
	at, told int64
}

// noteModel notes that a record at an offset names the model of what follows. What stands before the read (at < 0)
// names none.
func (m *modelTrack) noteModel(model string, at int64) {
	if model = modelName(model); model != "" && model != m.now && at >= 0 {
		m.now, m.told = strings.Clone(model), at
	}
}

// noteModelOfTurn notes that a turn or call at an offset is kept, and what its own record says of the model.
func (m *modelTrack) noteModelOfTurn(own string, at int64) {
	told := m.told
	m.told = -1
	if own = modelName(own); own != "" && own != m.now {
		m.now = strings.Clone(own)
	}
	if m.now != m.lastModel() {
		m.list = append(m.list, modelUse{m.now, at, told})
	}
}

// forgetFrom takes back what is known of turns and calls from an offset on.
func (m *modelTrack) forgetFrom(from int64) {
	for n := len(m.list); n > 0 && m.list[n-1].at >= from; n-- {
		m.told, m.list = m.list[n-1].told, m.list[:n-1]
	}
}

// modelName is what a record says as the ledger takes it.
func modelName(recorded string) string { return ledgerName(validText(strings.TrimSpace(recorded))) }

// lastModel is the model that spoke last; "" where nobody says.
func (m *modelTrack) lastModel() string {
	if len(m.list) == 0 {
		return ""
	}
	return m.list[len(m.list)-1].name
}

package transcript

// speaker is who speaks in a kind of record.
type speaker int

const (
	byProgram    speaker = iota // nothing of it is kept
	byPerson                    // a prompt
	byAgent                     // a text or call
	byAnybody                   // each record says who
	aboutSession                // no words: a model, a folder, a title, counts
)

// records says of an agent's kinds of records who speaks in them. A kind that is not in it is counted as unknown.
type records map[string]speaker

// wants is what readTyped asks: it takes the kinds of which something is kept, and counts those that nobody here knows.
func (r records) wants(skipped *Counts) func(kind string) bool {
	return func(kind string) bool {
		who, known := r[kind]
		if !known {
			skipped.unknown(kind)
		}
		return known && who != byProgram
	}
}

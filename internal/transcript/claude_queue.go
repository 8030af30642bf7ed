package transcript

import (
	"fmt"
	"slices"
	"time"
)

// claudeQueue follows the prompts that a user typed while the agent worked. Such a
// prompt is written as queue-operation enqueue, and then
//
//   - dequeue: it became an ordinary prompt, in a user record of its own;
//   - remove: the running turn took it in. Since some version between 2.1.89 and
//     2.1.118 an attachment of type queued_command repeats it, before or after the
//     remove, which from 2.1.246 on gives the reason "absorbed_mid_turn". Earlier
//     versions write nothing else: then the queue is the only place that has it (in 60
//     real sessions of 2.0 to 2.1.39 each of 15 was answered). So does the desktop
//     application, with the reason. A remove without either was a cancellation;
//   - popAll: it went back into the input line, and was never sent from here.
//
// The zero value is an empty queue.
type claudeQueue struct {
	waiting []queuedPrompt // enqueued, the oldest first
	taken   []queuedPrompt // removed; not known yet whether a record repeats them
}

type queuedPrompt struct {
	text    string
	start   int64 // offset of the enqueue
	carried bool  // a record repeats it
	reason  string
	ts      time.Time // of the remove
	end     int64     // offset of the remove
	where   whereabouts
}

// apply follows one queue-operation; s is its text as a person typed it, and where says where the session
// stands: a prompt is said where it was taken in.
func (q *claudeQueue) apply(operation, s, reason string, ts time.Time, offset int64, where whereabouts) {
	switch operation {
	case "enqueue":
		q.waiting = append(q.waiting, queuedPrompt{text: s, start: offset, carried: s == "" || isBareCommand(s)})
	case "popAll":
		q.waiting = nil
	case "dequeue", "remove":
		p, ok := q.pop(s)
		if ok && operation == "remove" && !p.carried {
			p.reason, p.ts, p.end, p.where = reason, ts, offset, where
			q.taken = append(q.taken, p)
		}
	}
}

// pop takes out the prompt with a text; the oldest when the record does not say which.
func (q *claudeQueue) pop(s string) (queuedPrompt, bool) {
	for i, p := range q.waiting {
		if s == "" || p.text == s {
			q.waiting = append(q.waiting[:i:i], q.waiting[i+1:]...)
			return p, true
		}
	}
	return queuedPrompt{}, false
}

// noteCarried notes that a record holds a prompt, so that the queue does not give it again.
func (q *claudeQueue) noteCarried(s string) {
	for i, p := range q.taken {
		if p.text == s {
			q.taken = append(q.taken[:i:i], q.taken[i+1:]...)
			return
		}
	}
	for i, p := range q.waiting {
		if p.text == s && !p.carried {
			q.waiting[i].carried = true
			return
		}
	}
}

// takeDelivered empties taken, now that the conversation went on: what was delivered and is
// repeated nowhere is returned.
func (q *claudeQueue) takeDelivered(version string) (delivered []queuedPrompt) {
	for _, p := range q.taken {
		if p.reason == "absorbed_mid_turn" || p.reason == "" && keepsPromptsInQueue(version) {
			delivered = append(delivered, p)
		}
	}
	q.taken = nil
	return delivered
}

// oldestUndecided is the offset of the oldest prompt whose fate the records so far do not tell, -1
// when there is none. With everything read that is one still waiting, or one taken that
// a later record may repeat.
func (q *claudeQueue) oldestUndecided(version string) int64 {
	first := int64(-1)
	for _, p := range slices.Concat(q.waiting, q.taken) {
		told := p.carried || p.end > 0 && p.reason != "absorbed_mid_turn" && (p.reason != "" || version != "")
		if !told && (first < 0 || p.start < first) {
			first = p.start
		}
	}
	return first
}

// keepsPromptsInQueue reports whether a version keeps prompts taken in mid-turn in the queue
// records alone: those before 2.1.89.
func keepsPromptsInQueue(version string) bool {
	var v [3]int
	_, err := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2])
	return err == nil && slices.Compare(v[:], []int{2, 1, 89}) < 0
}

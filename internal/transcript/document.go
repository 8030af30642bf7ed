package transcript

import (
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// closeDocument closes a read that is done with its first bytes.
func (d *decoder) closeDocument(done int64) Document {
	for _, p := range d.order {
		if p.begun && keepsPromptsInQueue(d.version) { // no later record can repeat the prompts that were taken in last
			d.addDelivered(p)
		}
	}
	for _, t := range d.titles {
		if p := d.seen[t.leaf]; p != nil {
			p.raiseTitle(TitleSummary, t.text)
		}
	}
	doc := Document{
		Bytes: d.endBeforeUndecided(done), Records: d.lines, Skipped: d.skipped, OtherRepos: d.places.seen,
		Dirs: map[string]string{},
	}
	for _, p := range d.order {
		if !p.begun {
			if p.from != "" {
				doc.ElsewhereDirs = append(doc.ElsewhereDirs, p.from)
			}
			continue
		}
		d.finish(p)
		if len(p.Turns)+len(p.ToolCalls)+len(p.Edits)+len(p.Commits) > 0 || p.TitleKind != TitleNone {
			doc.Dirs[p.NativeID] = p.from
			doc.Sessions = append(doc.Sessions, p.Part)
		}
	}
	return doc
}

// endBeforeUndecided moves the end of the read back before records whose meaning depends on a later record: a turn of a
// session that has not said where it is, a queued prompt that is not delivered yet. It does not do so if a turn or call
// follows, because that would be read twice; the price is that a prompt is lost if only the queue holds it.
//
// It always does before a part in another repository that nothing follows yet: so each read begins where
// the session is here, and no other state goes from read to read. So it does before a record that names a model of
// which nothing follows yet.
func (d *decoder) endBeforeUndecided(done int64) int64 {
	for _, p := range d.order {
		from := int64(-1)
		switch {
		case p.begun:
			from = p.queue.oldestUndecided(d.version)
		case p.where == unknown:
			from = p.first
		}
		if from > d.out {
			done = min(done, from)
		}
		if p.begun && p.leave.from >= 0 {
			done = min(done, p.leave.from)
		}
		if told := p.model.told; p.begun && told >= 0 && countBefore(p.at.edits, told) == len(p.at.edits) {
			done = min(done, told)
		}
	}
	return done
}

// finish fills in what only the whole read tells.
func (d *decoder) finish(p *part) {
	p.Source, p.Agent = d.source, d.source
	if d.version != "" {
		p.Agent += "/" + d.version
	}
	if p.ActorType == "" {
		p.ActorType = session.ActorHuman
	}
	if p.sub {
		p.ActorType, p.AgentID = session.ActorAgent, p.NativeID
		switch {
		case d.opt.Spawner != "":
			p.ParentNative = d.opt.Spawner
		case p.ParentNative == "":
			p.ParentNative = d.opt.File.Parent
		}
	}
	p.Model = p.model.lastModel()
	for i := range p.Usage {
		if u := &p.Usage[i]; u.Model == p.Model {
			u.Model = ""
		}
	}
	d.fillMissingTimes(p.Turns)
	if len(p.Turns) > 0 {
		p.StartedAt = p.Turns[0].TS
	}
	if i := session.TitleTurn(p.Turns); i >= 0 {
		p.raiseTitle(TitlePrompt, session.PromptTitle(p.Turns[i].Content))
	} else {
		p.raiseTitle(TitleCommand, p.command)
	}
}

// fillMissingTimes gives turns before the first known time that time; the file's when none is known.
func (d *decoder) fillMissingTimes(turns []session.Turn) {
	next := d.opt.File.ModTime.UTC().Truncate(time.Millisecond)
	if i := slices.IndexFunc(turns, func(t session.Turn) bool { return !t.TS.IsZero() }); i >= 0 {
		next = turns[i].TS
	}
	for i := range turns {
		if !turns[i].TS.IsZero() {
			return
		}
		turns[i].TS = next
	}
}

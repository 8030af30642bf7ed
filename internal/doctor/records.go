package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// maxOutputs is how many bytes of outputs doctor looks at: redaction takes a second for ten million.
const maxOutputs = 64 << 20

// records says how many there are, and which hold what today's redaction takes out.
func (d *doctor) records(ctx context.Context) {
	store := d.Records()
	v, err := store.Open(ctx)
	if err != nil {
		d.addCheck("records", Wrong, "check who owns "+store.Dir+"; if it is damaged, remove it", "%v", err)
		return
	}
	defer v.Close() // nothing was written
	all := v.All
	looked, leaks := 0, 0
	for i := len(all) - 1; i >= 0 && ctx.Err() == nil; i-- { // the latest first
		places, size, err := d.countLeaks(ctx, v, all[i], looked < maxOutputs)
		if err != nil {
			d.addCheck("records", Wrong, fmt.Sprintf("git rekal scrub %d", all[i].ID), "record %d can't be read: %v", all[i].ID,
				err)
			continue
		}
		if looked += size; places > 0 {
			leaks++
			d.addCheck("records", Wrong, fmt.Sprintf("git rekal scrub %d", all[i].ID),
				"record %d holds %s that today's redaction takes out", all[i].ID, session.CountNoun(places, "place"))
		}
	}
	switch {
	case looked >= maxOutputs:
		d.addCheck("records", Note, "", "%s; of their outputs the latest %d MB were looked at",
			session.CountNoun(len(all), "record"), maxOutputs>>20)
	case leaks == 0:
		d.addCheck("records", Well, "", "%s of what commands printed", session.CountNoun(len(all), "record"))
	}
}

// countLeaks tells in how many places of a record there is one, and how many bytes of its output were looked at.
func (d *doctor) countLeaks(ctx context.Context, v *records.View, r records.Record,
	output bool,
) (places, size int, err error) {
	var raw io.Reader
	if output {
		text, err := v.RawOutput(ctx, r.ID)
		if err != nil && !errors.Is(err, records.ErrNoRaw) {
			return 0, 0, err
		}
		size, raw = len(text), bytes.NewReader(text)
	}
	if err := v.Load(ctx, &r); err != nil {
		return 0, size, err
	}
	conf := d.author.Config
	conf.Exclude = nil // what the user leaves out from now on is no leak
	clean, err := records.Redact(ctx, d.Redactor(conf, workspace.ToShow), r, raw)
	return clean.Places(), size, err
}

package segment

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// record is one line of a segment. The keys of its fields are the tags of their type in package session, in the order
// in which they are written.
type record[T any] struct {
	Kind    string         `json:"t"`
	Fields  T              `json:",embed"`
	Unknown jsontext.Value `json:",embed"` // what a later version wrote besides
}

// needs is the record that names the oldest version which knows all of an entry.
type needs struct {
	Version string `json:"version"`
}

// timeLayout is RFC 3339 in UTC, to the millisecond.
const timeLayout = "2006-01-02T15:04:05.000Z"

// format is how a record's values are written and read: times to the millisecond, "" for none; U+2028 and U+2029
// escaped, as encoding/json wrote them into the first ledgers. A key that stands twice in a line, or bytes that are no
// UTF-8, are an error when they are read.
//
//nolint:gochecknoglobals // made once, because it caches what it knows of each type
var format = json.JoinOptions(
	jsontext.EscapeForJS(true),
	json.WithMarshalers(json.MarshalToFunc(func(out *jsontext.Encoder, t time.Time) error {
		return out.WriteToken(jsontext.String(formatTime(t)))
	})),
	json.WithUnmarshalers(json.UnmarshalFromFunc(func(in *jsontext.Decoder, t *time.Time) error {
		text, err := in.ReadToken()
		if err == nil {
			*t, err = parseTime(text)
		}
		return err
	})),
)

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeLayout)
}

func parseTime(text jsontext.Token) (time.Time, error) {
	if text.Kind() == '"' && text.String() == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(timeLayout, text.String())
	if err != nil {
		return t, fmt.Errorf("time %.100q", text.String())
	}
	return t, nil
}

package provenance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/git-rekal/git-rekal/internal/result"
)

// payloadType is that of in-toto statements in an Envelope.
const payloadType = "application/vnd.in-toto+json"

// Envelope is a DSSE envelope 1.0 (github.com/secure-systems-lab/dsse). The signature is one of git's signing key,
// armored, over what PAE makes of the payload, in the namespace "git".
type Envelope struct {
	Payload     string              `json:"payload"`
	PayloadType string              `json:"payloadType"`
	Signatures  []EnvelopeSignature `json:"signatures"`
}

// EnvelopeSignature is a signature of an Envelope.
type EnvelopeSignature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

// StatementText is a statement as bytes: one line.
func StatementText(s result.Statement) ([]byte, error) {
	var b bytes.Buffer
	err := result.Write(&b, s)
	return b.Bytes(), err
}

// PAE is what is signed of a payload.
func PAE(payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// Seal puts a payload and its signature into an envelope, one line.
func Seal(payload, signature []byte) ([]byte, error) {
	var b bytes.Buffer
	err := result.Write(&b, Envelope{
		base64.StdEncoding.EncodeToString(payload), payloadType,
		[]EnvelopeSignature{{Sig: base64.StdEncoding.EncodeToString(signature)}},
	})
	return b.Bytes(), err
}

// errNoStatement is a file that is neither a statement of git-rekal's nor an envelope with one.
var errNoStatement = errors.New("no statement of git-rekal")

// ReadStatement reads a statement, as text, and the signature of it, nil where it has none. What an envelope holds
// beside them is refused.
func ReadStatement(text []byte) (s result.Statement, payload, signature []byte, err error) {
	payload = text
	var e Envelope
	if json.Unmarshal(text, &e) == nil && e.PayloadType != "" {
		if payload, signature, err = unseal(e, text); err != nil {
			return s, nil, nil, err
		}
	}
	if err := json.Unmarshal(payload, &s); err != nil || s.Type != result.StatementType ||
		s.PredicateType != result.PredicateType {
		return s, nil, nil, errNoStatement
	}
	return s, payload, signature, nil
}

func unseal(e Envelope, text []byte) (payload, signature []byte, err error) {
	if e.PayloadType != payloadType || len(e.Signatures) != 1 {
		return nil, nil, errNoStatement
	}
	payload, err = base64.StdEncoding.Strict().DecodeString(e.Payload)
	if err == nil {
		signature, err = base64.StdEncoding.Strict().DecodeString(e.Signatures[0].Sig)
	}
	if err != nil {
		return nil, nil, errNoStatement
	}
	again, err := Seal(payload, signature)
	if err == nil && !bytes.Equal(again, text) {
		err = errors.New("the envelope was changed")
	}
	return payload, signature, err
}

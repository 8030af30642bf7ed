package provenance_test

import (
	"bytes"
	"testing"

	"github.com/git-rekal/git-rekal/internal/provenance"
	"github.com/git-rekal/git-rekal/internal/result"
)

// TestEnvelope: each byte that is changed in an envelope is noticed, or changes what is compared: the statement, or the
// signature.
func TestEnvelope(t *testing.T) {
	statement := result.Statement{
		Type: result.StatementType, PredicateType: result.PredicateType,
		Predicate: result.Predicate{Range: commit},
	}
	text, err := provenance.StatementText(statement)
	if err != nil {
		t.Fatal(err)
	}
	const armored = "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n"
	sealed, err := provenance.Seal(text, []byte(armored))
	if err != nil {
		t.Fatal(err)
	}
	_, payload, signed, err := provenance.ReadStatement(sealed)
	if err != nil || !bytes.Equal(payload, text) || string(signed) != armored {
		t.Fatalf("%v\n%s\n%s", err, payload, signed)
	}
	if _, payload, signed, err = provenance.ReadStatement(text); err != nil || !bytes.Equal(payload, text) ||
		signed != nil {
		t.Fatalf("without an envelope: %v", err)
	}
	for i := range sealed {
		for _, by := range []byte{' ', 'A', '"', sealed[i] ^ 1} {
			changed := bytes.Clone(sealed)
			changed[i] = by
			_, payload, signed, err := provenance.ReadStatement(changed)
			if sealed[i] != by && err == nil && bytes.Equal(payload, text) && string(signed) == armored {
				t.Errorf("byte %d as %q is not noticed: %s", i, by, changed)
			}
		}
	}
}

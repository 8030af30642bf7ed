package tables

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/lsa"
	"github.com/git-rekal/git-rekal/internal/search"
)

// maxTaught is how many sessions a model of latent semantic analysis is trained on: of more, every second, third, …
// one. A larger sample gives no better model.
const maxTaught = 1500

// lsaModel is what its vectors are stored under.
const lsaModel = "lsa-v1"

// fillLSA adds to session_embeddings a vector of each session and memory by latent semantic analysis of them all, dated
// as the index is. Search makes no use of these: the embedding model tells more (docs/lab/search.md).
func fillLSA(ctx context.Context, conn *sql.Conn, from *db.DB) error {
	var ids []string
	err := db.Each(ctx, from, func(rows *db.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, "SELECT DISTINCT session FROM turns ORDER BY session")
	if err != nil {
		return err
	}
	stemsOf, corpus, taught := search.Stemmer(), &lsa.Corpus{}, map[string][]string{}
	stems := func(id string) (out []string, err error) {
		if out := taught[id]; out != nil { // not analysed twice
			return out, nil
		}
		err = db.EachText(ctx, from, id, func(_ int, text string) { out = append(out, stemsOf(text)...) })
		return out, err
	}
	for n := 0; n < len(ids); n += (len(ids) + maxTaught - 1) / maxTaught {
		said, err := stems(ids[n])
		if err != nil {
			return err
		}
		corpus.Add(said)
		taught[ids[n]] = said
	}
	model := lsa.Train(corpus)
	if model == nil { // too little was said
		return nil
	}
	var at int64
	err = db.Each(ctx, from, func(rows *db.Rows) error { return rows.Scan(&at) }, "SELECT indexed_at FROM index_state")
	if err != nil {
		return err
	}
	made := time.UnixMicro(at).UTC()
	return appendRows(ctx, conn, "session_embeddings", func(add func(...driver.Value) error) error {
		for _, id := range ids {
			said, err := stems(id)
			if err == nil {
				err = add(id, model.Project(said), lsaModel, made)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/model"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/signature"
)

// Embedding says how much Embed does.
type Embedding struct {
	Insist   bool                  // ask a server that is left alone, too
	Enough   func() bool           // whether the rest is left to the next time; nil: it never is
	Progress func(done, total int) // sessions; nil: nobody looks
	Patience time.Duration         // for one answer; 0: a minute
	Await    bool                  // where another process makes vectors, wait for it, and make what is still missing
	GiveWay  bool                  // stop while a question is asked, with the model that is built in
}

// Embed makes the missing vectors with the model or the server of the settings. It warns of a server that does not
// answer.
func (w *Workspace) Embed(ctx context.Context, c config.Embed, embedding Embedding) error {
	e := search.Embedder{Enough: embedding.Enough, Progress: embedding.Progress, Await: embedding.Await}
	var failed error
	if c.IsBuiltIn() {
		m, err := w.builtInModel()
		if err != nil || m == nil {
			return err
		}
		e.Model, e.Batch, e.Vectors = model.Name, builtInBatch, w.builtInVectors(m, embedding.GiveWay)
	} else {
		client, err := w.Embedder(c, embedding.Patience)
		if err != nil || client == nil {
			return err
		}
		defer client.Close()
		ready := false
		e.Model, e.Batch, e.Leave = client.StorageName(), client.Batch(), w.privateIDs
		e.Vectors = func(ctx context.Context, texts []string) (vectors [][]float32, err error) {
			if !ready {
				failed = client.Ready(ctx, embedding.Insist)
			}
			if ready = failed == nil; ready {
				vectors, failed = client.Documents(ctx, texts)
			}
			return vectors, failed
		}
		e.Progress = func(done, total int) {
			if ready && embedding.Progress != nil {
				embedding.Progress(done, total)
			}
		}
	}
	m, err := w.ReadMaterializer()
	if err != nil {
		return err
	}
	if err = m.Embed(ctx, e); err == nil {
		err = w.embedRecords(ctx, e)
	}
	if failed == nil || ctx.Err() != nil {
		return err
	}
	w.Warn(fmt.Errorf("some sessions have no vectors yet, a later sync makes them: %w", failed))
	return nil
}

// builtInBatch is how many texts the built-in model gets at a time; they take .1 to .2 seconds.
const builtInBatch = 4

func (w *Workspace) builtInVectors(m *model.Model, giveWay bool) func(context.Context, []string) ([][]float32, error) {
	return func(ctx context.Context, texts []string) ([][]float32, error) {
		var out [][]float32
		for _, text := range texts {
			if giveWay {
				w.giveWay(ctx)
			}
			vector, err := m.Vector(text)
			if err := cmp.Or(err, ctx.Err()); err != nil {
				return nil, err
			}
			out = append(out, vector)
		}
		return out, nil
	}
}

// StartBackgroundWork starts a process, and does not wait for it. The process makes the missing vectors of the built-in
// model, and judges signatures. If the settings name no built-in model, it is started only for signatures. A second
// such process ends at once. In CI it is not started, because nobody asks afterwards.
func (w *Workspace) StartBackgroundWork(conf config.Config, signatures bool) error {
	args := []string{"index", "--unasked"}
	if conf.Embed.IsBuiltIn() {
		args = append(args, "--vectors")
	}
	if conf.CI || w.Exe == "" || !conf.Embed.IsBuiltIn() && !signatures {
		return nil
	}
	cmd := exec.Command(w.Exe, args...)
	cmd.Dir, cmd.Env = w.Root(), w.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start what is done later: %w", err)
	}
	return nil
}

// LowerPriority lowers that of this process, which leads its session. Where it is refused, nothing is lost. It comes
// behind what others may wait for.
func LowerPriority() {
	_ = syscall.Setpriority(syscall.PRIO_PGRP, 0, lowPriority) // of all threads: PRIO_PROCESS is of one, on Linux
	// Linux may share the cores between sessions, whatever the niceness in one.
	_ = os.WriteFile("/proc/self/autogroup", []byte(strconv.Itoa(lowPriority)), 0o644)
}

// questionsFile is a lock that who asks a question shares.
func (w *Workspace) questionsFile() string { return filepath.Join(w.RekalDir(), "lock.questions") }

// HoldBackgroundWork has a process that makes vectors in the background pause until release, for maxPause at most.
func (w *Workspace) HoldBackgroundWork(ctx context.Context) (release func() error) {
	held, err := lock.Acquire(ctx, w.questionsFile(), lock.ToRead, 0)
	if err != nil { // somebody looks at this moment whether there is a question
		return func() error { return nil }
	}
	return held.Release
}

// maxPause is how long questions hold up what is done in the background; a process that stands still holds it up no
// longer.
const maxPause = 2 * time.Second

// giveWay waits while somebody asks a question. Where one took too long, it waits no more: a person may read a list for
// hours.
func (w *Workspace) giveWay(ctx context.Context) {
	if w.waitedEnough {
		return
	}
	held, err := lock.Acquire(ctx, w.questionsFile(), lock.ToWrite, maxPause)
	if err == nil {
		_ = held.Release() // nothing was written
	}
	w.waitedEnough = err != nil
}

// StartBackgroundWorkIfFetched is StartBackgroundWork, if this process took in ledgers that a fetch brought.
func (w *Workspace) StartBackgroundWorkIfFetched() {
	if !w.tookIn {
		return
	}
	w.tookIn = false
	conf, err := w.Settings()
	if err == nil {
		err = w.StartBackgroundWork(conf, w.tookInSigned)
	}
	if err != nil {
		w.Warn(err)
	}
}

// JudgeSignatures notes what the signatures of ledgers are worth, of at most so many that were not looked at so far.
// All is whether none is left.
func (w *Workspace) JudgeSignatures(ctx context.Context, conf config.Config, most int) (all bool, err error) {
	m, err := w.ReadMaterializer()
	if err != nil {
		return false, err
	}
	keys, alike := w.keysFingerprint(conf)
	return m.JudgeSignatures(ctx, keys, alike, most)
}

// ForeignCommits lists the commits of the author's ledger that another key signed, or whose signature is bad.
func (w *Workspace) ForeignCommits(ctx context.Context, a Author) ([]materialize.ForeignCommit, error) {
	m, err := w.ReadMaterializer()
	if err != nil {
		return nil, err
	}
	keys, _ := w.keysFingerprint(a.Config)
	return m.ForeignCommits(ctx, a.Ledger.Ref(), keys)
}

// keysFingerprint is signature.KeysFingerprint with the settings of this repository.
func (w *Workspace) keysFingerprint(conf config.Config) (fingerprint string, sameForKey bool) {
	return signature.KeysFingerprint(conf.Git, w.Repo.Layout().WorkTree, w.Home, w.Env)
}

// lowPriority is the niceness of processes in the background.
const lowPriority = 10

// embedRecords makes the vectors of records, which are few beside sessions: no progress of theirs is shown.
func (w *Workspace) embedRecords(ctx context.Context, e search.Embedder) error {
	e.Progress = nil
	if e.Leave != nil {
		e.Leave = w.privateRecords
	}
	return w.Records().Embed(ctx, filepath.Join(w.RekalDir(), "lock.embed"), e)
}

// privateIDs are the sessions that an index knows as private, and those that the settings name.
func (w *Workspace) privateIDs(ctx context.Context, q db.Querier) ([]string, error) {
	conf, err := w.Settings()
	if err != nil {
		return nil, err
	}
	held, err := db.PrivateIDs(ctx, q)
	if err != nil {
		return nil, err
	}
	named, err := db.SessionsNamed(ctx, q, conf.Private)
	return slices.Concat(held, named), err
}

// privateRecords are the records of private sessions, by their keys in the index of records.
func (w *Workspace) privateRecords(ctx context.Context, _ db.Querier) (keys []string, err error) {
	var private []string
	err = w.WithIndex(ctx, func(r *materialize.Reader) (err error) {
		private, err = w.privateIDs(ctx, r.DB)
		return err
	})
	if err != nil {
		return nil, err
	}
	return keys, w.WithRecords(ctx, func(v *records.View) error {
		keys = v.KeysOf(private)
		return nil
	})
}

// maxQuestion is how many bytes of a question get a vector; a model reads some 256 tokens.
const maxQuestion = 4096

// PrepareVector begins to make the vector of a question that will be asked soon, with the built-in model. A server is
// not asked here, so that it is not asked twice.
func (w *Workspace) PrepareVector(text string) {
	if conf, err := w.Settings(); err == nil && conf.Embed.IsBuiltIn() {
		w.preparedQuestion, w.preparedVector = text, sync.OnceValue(func() []float32 { return w.builtInVector(text) })
		go w.preparedVector()
	}
}

// builtInModel is the model that is built in; nil where this process has none.
func (w *Workspace) builtInModel() (*model.Model, error) {
	if w.Weights == nil {
		return nil, nil
	}
	path, err := w.Weights()
	if err != nil {
		return nil, err
	}
	return model.Open(path)
}

// CheckModel says why the built-in model can't be used.
func (w *Workspace) CheckModel() error {
	_, err := w.builtInModel()
	return err
}

// builtInVector is the vector of a question by the built-in model; none where the model fails, which is said.
func (w *Workspace) builtInVector(text string) []float32 {
	m, err := w.builtInModel()
	if err != nil {
		w.Warn(fmt.Errorf("only words answer: %w", err))
	}
	if err != nil || m == nil {
		return nil
	}
	vector, err := m.Vector(text[:min(len(text), maxQuestion)])
	if err != nil {
		return nil
	}
	return vector
}

// QuestionVector returns the vector that a model makes of a question; none where no server answers in
// time, or the settings name another model.
func (w *Workspace) QuestionVector(ctx context.Context, name, text string) []float32 {
	conf, err := w.Settings()
	if err != nil {
		return nil
	}
	if conf.Embed.IsBuiltIn() {
		switch {
		case name != model.Name:
			return nil
		case w.preparedVector != nil && text == w.preparedQuestion:
			return w.preparedVector()
		}
		return w.builtInVector(text)
	}
	client, err := w.Embedder(conf.Embed, 0)
	if err != nil || client == nil {
		return nil
	}
	defer client.Close()
	if client.StorageName() != name {
		return nil
	}
	vector, err := client.Query(ctx, text)
	if err != nil {
		return nil
	}
	return vector
}

// errOwnName is the error for a server's model that has the name of the built-in one, so that their vectors would be
// mixed up.
var errOwnName = errors.New("is the name of a model that is built in")

// ServerOptions say which embedding server, which model ("": the server's usual one), where the client remembers how it
// went, and how long vectors of a batch of documents may take (0: a minute).
type ServerOptions struct {
	URL, Model string
	State      string // path of a file
	Patience   time.Duration
	Now        func() time.Time
}

// EmbeddingServer makes vectors: see embed.Client. Close it.
type EmbeddingServer interface {
	StorageName() string // what its vectors are stored under
	Batch() int          // how many documents it takes at a time
	Ready(ctx context.Context, insist bool) error
	Alive(ctx context.Context) error
	Documents(ctx context.Context, texts []string) ([][]float32, error)
	Query(ctx context.Context, text string) ([]float32, error)
	Close()
}

// Embedder is a client for the embedding server of the settings; nil if they name none, or this program asks none.
func (w *Workspace) Embedder(c config.Embed, patience time.Duration) (EmbeddingServer, error) {
	if c.IsOff() || c.IsBuiltIn() || w.OpenServer == nil {
		return nil, nil
	}
	if c.Model == model.Name {
		return nil, fmt.Errorf("rekal.embed.model: %q %w", c.Model, errOwnName)
	}
	client, err := w.OpenServer(ServerOptions{
		URL: c.URL, Model: c.Model, State: filepath.Join(w.RekalDir(), "embed.json"),
		Now: w.Now, Patience: patience,
	})
	if err != nil {
		return nil, fmt.Errorf("rekal.embed: %w", err)
	}
	return client, nil
}

package ask

import (
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/why"
)

// Questions, as the packages behind this one take them.
type (
	// Request is a recall's filters.
	Request = recall.Request
	// Times is a span that a question may name.
	Times = recall.Times
	// WhyRequest asks about lines.
	WhyRequest = why.Request
	// Blames keeps what git said of lines.
	Blames = why.Blames
	// LogRequest asks for checkpoints.
	LogRequest = recall.LogRequest
	// ListRequest is a part of the list of sessions.
	ListRequest = recall.ListRequest
	// Pool is what repositories share through an exchange.
	Pool = search.Pool
	// Page asks for a part of one item.
	Page = recall.Page
)

// Answers that are rows.
type (
	// Listed is a session of a list.
	Listed = db.Listed
	// Touched is a file with how many sessions touched it.
	Touched = db.Touched
	// Pair is two files that the same sessions touched.
	Pair = db.Pair
	// Lane is a session of which a picture shows when it took place.
	Lane = db.Lane
	// StripTurn is what happened at a turn of a session.
	StripTurn = db.StripTurn
	// MemoryRow is a memory of a list.
	MemoryRow = db.MemoryRow
)

// PurgedError is an item that is hidden.
type PurgedError = recall.PurgedError

// Words that requests and answers use.
const (
	KindSession = db.KindSession
	KindMemory  = db.KindMemory
	KindRecord  = recall.KindRecord

	PurgedOnly = db.Only

	MatchedTerms = search.MatchedTerms
	MatchedFiles = search.MatchedFiles
)

// ErrNoFile is why there is no answer about lines.
var ErrNoFile = why.ErrNoFile

// NewExchange makes what lets so many repositories share what makes their scores comparable.
func NewExchange(members int) *search.Exchange { return search.NewExchange(members) }

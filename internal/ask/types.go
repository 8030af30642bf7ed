package ask

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/tables"
	"github.com/git-rekal/git-rekal/internal/why"
)

// Request and what stands below it are what questions and answers are made of. The rooms behind this one say what each means.
type (
	Request    = recall.Request
	Times      = recall.Times
	WhyRequest = why.Request
	LogRequest = recall.LogRequest
	Page       = recall.Page

	Listed    = db.Listed
	Touched   = db.Touched
	Pair      = db.Pair
	MemoryRow = db.MemoryRow

	TablesKind = tables.Kind
	Limits     = tables.Limits
	Row        = tables.Row

	UsageError  = name.UsageError
	PurgedError = recall.PurgedError
)

// Words that requests and answers use.
const (
	KindSession = db.KindSession
	KindMemory  = db.KindMemory
	KindRecord  = recall.KindRecord

	PurgedOnly = db.Only

	DataTables  = tables.Data
	IndexTables = tables.Index

	MatchedTerms = search.MatchedTerms
	MatchedFiles = search.MatchedFiles
)

// Why there is no answer.
var (
	ErrNoRevision = name.ErrNoRevision
	ErrNoFile     = why.ErrNoFile
	ErrFolder     = why.ErrFolder
	ErrOperand    = recall.ErrOperand

	ErrIndexLocked  = db.ErrLocked
	ErrIndexCorrupt = db.ErrCorrupt
	ErrIndexRoom    = db.ErrRoom

	ErrSQLTime      = tables.ErrTime
	ErrSQLMemory    = tables.ErrMemory
	ErrSQLName      = tables.ErrName
	ErrSQLStatement = tables.ErrStatement

	ErrNothingNamed = name.ErrNothing
)

// QueryLimits bounds a statement: see tables.QueryLimits.
func QueryLimits() Limits { return tables.QueryLimits() }

// EngineVersion is that of the engine for SQL.
func EngineVersion(ctx context.Context) (string, error) { return tables.EngineVersion(ctx) }

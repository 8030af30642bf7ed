package session

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// Usage is what one request to a language model took, in tokens, as the agent's own transcript counts it. Nothing is
// estimated: a request that the transcript does not count has none.
type Usage struct {
	// see RequestID; a later record of the same request replaces an earlier one
	Request string `json:"request"`
	// index of the last turn before the count was written; -1 when there was none
	Turn       int     `json:"turn"`
	Model      string  `json:"model,omitzero"`       // as the agent names it; empty: the session's
	Input      int64   `json:"input,omitzero"`       // neither read from a cache nor written to one
	Output     int64   `json:"output,omitzero"`      // what the model thought included
	CacheRead  int64   `json:"cache_read,omitzero"`  // of the input, what was read from a cache
	CacheWrite int64   `json:"cache_write,omitzero"` // and what was written to one
	Cost       float64 `json:"cost,omitzero"`        // in US dollars, where the agent recorded it
}

// What readers take of one request at most: far above what any model takes, and so low that sums of very many stay
// exact.
const (
	MaxTokens = 1 << 40
	MaxCost   = 1e6 // US dollars
)

// RequestID names a request by what its agent calls it: 8 hex digits of a SHA-256, which tell apart the requests of one
// session.
func RequestID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:4])
}

// IsCounted reports whether anything was counted.
func (u Usage) IsCounted() bool {
	return u.Input > 0 || u.Output > 0 || u.CacheRead > 0 || u.CacheWrite > 0
}

// Max is the count of a request that two records speak of: an answer's count grows while it is written.
func (u Usage) Max(other Usage) Usage {
	u.Input, u.Output = max(u.Input, other.Input), max(u.Output, other.Output)
	u.CacheRead, u.CacheWrite = max(u.CacheRead, other.CacheRead), max(u.CacheWrite, other.CacheWrite)
	u.Cost = max(u.Cost, other.Cost)
	return u
}

// absorbUsage appends the counts of part that s does not hold, and returns them. A turn of part has the number that at
// gives it.
func (s *Session) absorbUsage(part Session, at func(turn int) int) []Usage {
	held := make(map[string]Usage, len(s.Usage))
	for _, u := range s.Usage {
		held[u.Request] = u.Max(held[u.Request])
	}
	known := len(s.Usage)
	for _, u := range part.Usage {
		had, again := held[u.Request]
		more := u.Max(had)
		if again {
			more.Turn, more.Model = had.Turn, had.Model
		}
		if again && more == had {
			continue
		}
		held[u.Request] = more
		u.Turn = at(u.Turn)
		s.Usage = append(s.Usage, u)
	}
	return s.Usage[known:]
}

// usageFrom is what of some counts stands behind a turn or a later one.
func usageFrom(all []Usage, turn int) []Usage {
	return slices.DeleteFunc(slices.Clone(all), func(u Usage) bool { return u.Turn < turn })
}

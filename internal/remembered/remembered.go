// Package remembered knows again what redaction once took out of a text of this repository, without keeping it.
//
// In: values that redaction found. Out: the places in a text where one of them stands, also in base64, in hex, escaped
// for URLs or JSON, and split by a backslash at a line's end. It keeps a fingerprint of each of these forms in one file
// of the git directory, which only its owner may read, and never a value:
//
//	$GIT_COMMON_DIR/rekal/remembered
//	    rekal-remembered 1 9f31…          a random key of this clone, 32 bytes in hexadecimal digits
//	    4be01c 15 77ac… generic-secret    24 bits of a keyed hash of the first eight bytes, length,
//	                                      HMAC-SHA256 cut to 16 bytes, rule
//
// Promises: a value that Add returned for is found from then on, by all processes; a torn line of a dead process is
// skipped; the file stays below Limit, and the oldest lines go first. A Store is safe for concurrent use. Values of
// fewer than eight bytes, and ordinary words, are not remembered.
package remembered

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/replace"
)

// Limit is how large the file becomes at most, in bytes: about 4,000 values in all their forms.
const Limit = 2 << 20

// patience is how long a writer waits for the others, each of which takes a millisecond.
const patience = 10 * time.Second

// Writing says whether values are kept beyond this process.
type Writing bool

// Kinds of a Store.
const (
	ToKeep Writing = true
	ToRead Writing = false // Add remembers in memory alone
)

// Store is the memory of one repository. It implements redact.Remembered.
type Store struct {
	path string
	keep Writing
	rand io.Reader

	load   sync.Once
	err    error // of load
	mu     sync.RWMutex
	prints table
}

// Open is the memory in git-rekal's folder of a repository, with what its key is made of. Nothing is read before it is
// asked.
func Open(dir string, keep Writing, rand io.Reader) *Store {
	return &Store{path: Path(dir), keep: keep, rand: rand}
}

// OpenExcused is a second memory, of the same kind: of values that were stored because only commits excused them that
// no remote had.
func OpenExcused(dir string, keep Writing, rand io.Reader) *Store {
	return &Store{path: filepath.Join(dir, "excused"), keep: keep, rand: rand}
}

// Exists reports whether anything was ever kept.
func (s *Store) Exists() bool {
	_, err := os.Stat(s.path)
	return err == nil
}

// Remove removes what was kept.
func (s *Store) Remove() error {
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remembered: %w", err)
	}
	return nil
}

// Joined finds what either memory knows, and adds to the first.
type Joined struct {
	*Store
	Second *Store
}

// Find implements redact.Remembered.
func (j Joined) Find(text string) []redact.Span {
	return append(j.Store.Find(text), j.Second.Find(text)...)
}

// Path is where the memory lies below that folder.
func Path(dir string) string { return filepath.Join(dir, "remembered") }

// Find returns the places of a text where a remembered value stands. Of a file that can't be read it finds nothing; Add
// tells why.
func (s *Store) Find(text string) []redact.Span {
	s.read()
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := s.prints.find(text)
	if joined, at := joinContinuedLines(text); joined != "" {
		for _, p := range s.prints.find(joined) {
			out = append(out, redact.Span{Lo: at(p.Lo), Hi: at(p.Hi-1) + 1, Rule: p.Rule})
		}
	}
	return out
}

// Add remembers values, unless they are short, ordinary, or known. If ctx ends before that, no value is remembered.
func (s *Store) Add(ctx context.Context, values []redact.Value) error {
	s.read()
	if s.err != nil {
		return s.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prints.key == nil {
		if err := s.createKey(); err != nil {
			return fmt.Errorf("remembered: %w", err)
		}
	}
	var fresh []fingerprint
	for _, v := range values {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if v.OnlyWhereNamed || len(v.Text) < headSize {
			continue
		}
		if _, known := s.prints.rules[s.prints.mac(v.Text)]; known {
			continue
		}
		for _, form := range writtenForms(v.Text) {
			fresh = append(fresh, s.prints.fingerprint(form, v.Rule))
		}
	}
	var lines []byte
	for _, p := range fresh {
		if s.prints.add(p) {
			lines = append(lines, p.line()...)
		}
	}
	if len(lines) == 0 || !s.keep {
		return nil
	}
	if err := s.append(lines); err != nil {
		return fmt.Errorf("remembered: %w", err)
	}
	return nil
}

// Len is how many fingerprints there are.
func (s *Store) Len() (int, error) {
	s.read()
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.prints.rules), s.err
}

// read loads the file once. What is added to it meanwhile by others is theirs to find.
func (s *Store) read() {
	s.load.Do(func() {
		text, err := os.ReadFile(s.path)
		if err == nil {
			s.prints, err = parse(text)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.err = fmt.Errorf("remembered: %q: %w", s.path, err)
		}
	})
}

// createKey makes a key, and the file that holds it. Another process may be first: then its key counts.
func (s *Store) createKey() error {
	key := make([]byte, keySize)
	if _, err := io.ReadFull(s.rand, key); err != nil {
		return err
	}
	s.prints = newTable(key)
	if !s.keep {
		return nil
	}
	return s.withWriteLock(func() error {
		text, err := os.ReadFile(s.path)
		if errors.Is(err, fs.ErrNotExist) {
			return replace.File(s.path, []byte(header+hex.EncodeToString(key)+"\n"))
		}
		if err == nil {
			s.prints, err = parse(text)
		}
		return err
	})
}

// append adds lines behind the others. A torn one before them is ended. Where the file has become too large, its
// newest half is kept.
func (s *Store) append(lines []byte) error {
	return s.withWriteLock(func() error {
		text, err := os.ReadFile(s.path)
		if err != nil {
			return err
		}
		if len(text)+len(lines) > Limit {
			first, rest, _ := bytes.Cut(text, []byte("\n"))
			rest = append(rest, lines...)
			_, rest, _ = bytes.Cut(rest[len(rest)-Limit/2:], []byte("\n"))
			return replace.File(s.path, bytes.Join([][]byte{first, rest}, []byte("\n")))
		}
		if text[len(text)-1] != '\n' {
			lines = append([]byte("\n"), lines...)
		}
		f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(lines)
		return errors.Join(err, f.Close())
	})
}

// withWriteLock does something as the only one who writes.
func (s *Store) withWriteLock(do func() error) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	held, err := lock.Acquire(context.Background(), s.path+".lock", lock.ToWrite, patience)
	if err != nil {
		return err
	}
	return errors.Join(do(), held.Remove())
}

const (
	header  = "rekal-remembered 1 "
	keySize = 32
	macSize = 16
	// headSize is how many bytes of a value the first look takes in, and so the size of the shortest one.
	headSize = 8
	// headBits is how much of the head's hash is kept: too little to tell what a value begins with.
	headBits = 24
	// filterBits is the logarithm of how many bits the filter has, through which most of a text does not pass.
	filterBits = 16
)

// fingerprint is what is kept of one form of a value.
type fingerprint struct {
	head uint32
	size int
	mac  [macSize]byte
	rule string
}

func (p fingerprint) line() string {
	return fmt.Sprintf("%06x %d %x %s\n", p.head, p.size, p.mac, p.rule)
}

// table finds fingerprints. The zero value holds none.
type table struct {
	key      []byte
	mul, xor uint64 // of the hash of heads
	filter   [1 << filterBits / 64]uint64
	sizes    map[uint32][]int // of what begins with a head
	rules    map[[macSize]byte]string
}

func newTable(key []byte) table {
	sum := sha256.Sum256(append([]byte("head\x00"), key...))
	return table{
		key: key, mul: binary.LittleEndian.Uint64(sum[:]) | 1, xor: binary.LittleEndian.Uint64(sum[8:]),
		sizes: map[uint32][]int{}, rules: map[[macSize]byte]string{},
	}
}

var errHeader = errors.New("its first line is no key: move it away, and git-rekal begins anew")

// parse reads a file. Lines that are torn are skipped.
func parse(text []byte) (table, error) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	digits, ok := strings.CutPrefix(string(first), header)
	key, err := hex.DecodeString(digits)
	if !ok || err != nil || len(key) != keySize {
		return table{}, errHeader
	}
	t := newTable(key)
	for line := range bytes.Lines(rest) {
		if p, ok := parseLine(string(line)); ok {
			t.add(p)
		}
	}
	return t, nil
}

func parseLine(line string) (p fingerprint, ok bool) {
	line, ended := strings.CutSuffix(line, "\n")
	head, rest, _ := strings.Cut(line, " ")
	size, rest, _ := strings.Cut(rest, " ")
	mac, rule, _ := strings.Cut(rest, " ")
	h, err := strconv.ParseUint(head, 16, headBits)
	n, err2 := strconv.Atoi(size)
	raw, err3 := hex.DecodeString(mac)
	if !ended || errors.Join(err, err2, err3) != nil || n < headSize || len(raw) != macSize || rule == "" {
		return p, false
	}
	return fingerprint{uint32(h), n, [macSize]byte(raw), rule}, true
}

// headOf is the keyed hash of the eight bytes of a text at i.
func (t *table) headOf(text string, i int) uint32 {
	_ = text[i+headSize-1]
	b := uint64(text[i]) | uint64(text[i+1])<<8 | uint64(text[i+2])<<16 | uint64(text[i+3])<<24 |
		uint64(text[i+4])<<32 | uint64(text[i+5])<<40 | uint64(text[i+6])<<48 | uint64(text[i+7])<<56
	return uint32((b ^ t.xor) * t.mul >> (64 - headBits))
}

func (t *table) fingerprint(text, rule string) fingerprint {
	return fingerprint{t.headOf(text, 0), len(text), t.mac(text), rule}
}

func (t *table) mac(text string) (out [macSize]byte) {
	h := hmac.New(sha256.New, t.key)
	h.Write([]byte(text))
	copy(out[:], h.Sum(nil))
	return out
}

// add reports whether a fingerprint is new.
func (t *table) add(p fingerprint) bool {
	if _, known := t.rules[p.mac]; known {
		return false
	}
	t.rules[p.mac] = p.rule
	if !slices.Contains(t.sizes[p.head], p.size) { // many begin alike: tokens of one vendor
		t.sizes[p.head] = append(t.sizes[p.head], p.size)
	}
	bit := p.head >> (headBits - filterBits)
	t.filter[bit/64] |= 1 << (bit % 64)
	return true
}

// find looks at each eight bytes of a text, and where a form may begin so, whether one stands there.
func (t *table) find(text string) (out []redact.Span) {
	if len(t.rules) == 0 {
		return nil
	}
	for i := 0; i+headSize <= len(text); i++ {
		head := t.headOf(text, i)
		if bit := head >> (headBits - filterBits); t.filter[bit/64]>>(bit%64)&1 == 0 {
			continue
		}
		for _, size := range t.sizes[head] {
			hi := i + size
			if hi > len(text) {
				continue
			}
			if rule, known := t.rules[t.mac(text[i:hi])]; known && !insideNumber(text, i, hi) {
				out = append(out, redact.Span{Lo: i, Hi: hi, Rule: rule})
			}
		}
	}
	return out
}

// insideNumber reports whether a number is part of a longer one.
func insideNumber(text string, lo, hi int) bool {
	isDigit := func(i int) bool { return i >= 0 && i < len(text) && '0' <= text[i] && text[i] <= '9' }
	return strings.Trim(text[lo:hi], "0123456789") == "" && (isDigit(lo-1) || isDigit(hi))
}

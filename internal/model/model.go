// Package model turns texts into vectors of meaning on this machine, with weights that lie in a file beside the
// program.
//
// In: a text, of which the first 254 tokens count. Out: 384 numbers of length 1; the dot product of two vectors is the
// likeness of their texts. The weights are all-MiniLM-L6-v2 (Apache-2.0, sentence-transformers), 23 MB with int8
// matrices, made anew by `make model`. The file is mapped, so that a process reads what it needs of it, and all
// processes have it in memory once.
//
// Promises: equal texts have equal vectors, to the last bit, on every processor: bert.c says how. No thread, no
// network.
package model

// #cgo CFLAGS: -O3 -Wno-psabi
// #cgo LDFLAGS: -lm
// #include "bert.h"
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// Name is what vectors of this model are stored under. Other weights, or another way to compute, need another name.
const Name = "minilm-l6-v2"

// Dim is how many numbers a vector has.
const Dim = C.DIM

// File is the name of the file with the weights. It is laid out as make.py says.
const File = "minilm.bin"

const magic = "rekal-minilm-1\n\x00"

// Model is the weights, ready for use. Several goroutines may use it.
type Model struct {
	vocabulary vocabulary
	floats     *C.float
	scales     string // of the word embeddings
	rows       string // int8: the word embeddings, then the matrices
}

// errFile is a file that is not the weights of this version.
var errFile = errors.New("these are not the weights of this version: install git-rekal anew")

// opened are the models that this process has mapped, by their files: a server asks for one with each question.
var opened = struct { //nolint:gochecknoglobals // a mapping is the process's
	sync.Mutex
	models map[string]*Model
}{models: map[string]*Model{}}

// Open maps the file with the weights, once for as long as the process lives. Who replaces the file must rename another
// one over it.
func Open(path string) (*Model, error) {
	opened.Lock()
	defer opened.Unlock()
	if m := opened.models[path]; m != nil {
		return m, nil
	}
	m, err := open(path)
	if err == nil {
		opened.models[path] = m
	}
	return m, err
}

func open(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if info.Size() < int64(headerSize) {
		return nil, fmt.Errorf("model: %s: %w", path, errFile)
	}
	mapped, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("model: map %s: %w", path, err)
	}
	m := takeApart(unsafe.String(&mapped[0], len(mapped)))
	if m == nil {
		return nil, fmt.Errorf("model: %s: %w", path, errors.Join(errFile, syscall.Munmap(mapped)))
	}
	return m, nil
}

const headerSize = len(magic) + 16

// floatCount is how many numbers bert.c reads: see FLOATS in make.py.
const floatCount = 149_760

// rowCount is how many rows of Dim int8 stand behind the word embeddings: six layers of four square matrices and two of
// four times that.
const rowCount = 6 * (4 + 2*4) * Dim

// takeApart is the parts of the weights; nil if they are not what they should be.
func takeApart(weights string) *Model {
	rest, ok := strings.CutPrefix(weights, magic)
	take := func(n int) string {
		taken := rest[:n]
		rest = rest[n:]
		return taken
	}
	header := []byte(take(16))
	size := func(i int) int { return int(binary.LittleEndian.Uint32(header[4*i:])) }
	floats, tokens, texts := size(0), size(1), size(2)
	if !ok || floats != floatCount || tokens == 0 ||
		len(rest) != 4*floats+4*(tokens+1)+2*tokens+texts+4*tokens+Dim*(tokens+rowCount) {
		return nil
	}
	// little-endian, as all systems that we build for, and a multiple of four bytes behind the beginning of a page
	m := &Model{floats: (*C.float)(unsafe.Pointer(unsafe.StringData(take(4 * floats))))}
	m.vocabulary = vocabulary{offsets: take(4 * (tokens + 1)), ids: take(2 * tokens), texts: take(texts)}
	m.scales, m.rows = take(4*tokens), rest
	return m
}

// errMemory is a text for which there is no memory.
var errMemory = errors.New("model: out of memory")

// Vector is the vector of a text.
func (m *Model) Vector(text string) ([]float32, error) { return m.vector(text, bestPath) }

// The ways through the model; see bert.h.
const (
	bestPath  = C.PATH_BEST
	pathCount = C.PATH_PLAIN + 1
)

func (m *Model) vector(text string, path int) ([]float32, error) {
	tokens, out := m.vocabulary.tokens(text), make([]float32, Dim)
	rows := unsafe.Pointer(unsafe.StringData(m.rows))
	failed := C.bert_vector((*C.int32_t)(&tokens[0]), C.int(len(tokens)), (*C.int8_t)(rows),
		(*C.char)(unsafe.Pointer(unsafe.StringData(m.scales))),
		(*C.int8_t)(unsafe.Add(rows, len(m.scales)/4*Dim)), m.floats, C.int(path), (*C.float)(&out[0]))
	if failed != 0 {
		return nil, errMemory
	}
	return out, nil
}

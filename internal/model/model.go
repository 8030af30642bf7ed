// Package model turns texts into vectors of meaning on this machine, with weights that are part of the program.
//
// In: a text, of which the first 254 tokens count. Out: 384 numbers of length 1; the dot product of two vectors is the likeness of their texts.
// The weights are all-MiniLM-L6-v2 (Apache-2.0, sentence-transformers), 23 MB with int8 matrices, made anew by `make model`. They lie in the
// program's file, so a process that asks for no vector reads none of them.
//
// Promises: equal texts have equal vectors, to the last bit, on every processor: bert.c says how. No thread, no file, no network.
package model

// #cgo CFLAGS: -O3 -Wno-psabi
// #cgo LDFLAGS: -lm
// #include "bert.h"
import "C"

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"unsafe"
)

// Name is what vectors of this model are stored under. Other weights, or another way to compute, need another name.
const Name = "minilm-l6-v2"

// Dim is how many numbers a vector has.
const Dim = C.DIM

// weights is laid out as make.py says.
//
//go:embed minilm.bin
var weights string

const magic = "rekal-minilm-1\n\x00"

// Model is the weights, ready for use. Several goroutines may use it.
type Model struct {
	vocabulary vocabulary
	floats     []float32
	scales     string // of the word embeddings
	rows       string // int8: the word embeddings, then the matrices
}

// New takes the weights apart.
func New() *Model {
	rest := weights[len(magic):]
	take := func(n int) string {
		taken := rest[:n]
		rest = rest[n:]
		return taken
	}
	header := []byte(take(16))
	size := func(i int) int { return int(binary.LittleEndian.Uint32(header[4*i:])) }
	floats, tokens := size(0), size(1)
	m := &Model{floats: make([]float32, floats)}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&m.floats[0])), 4*floats), take(4*floats)) // all systems that we build for are little-endian
	m.vocabulary = vocabulary{offsets: take(4 * (tokens + 1)), ids: take(2 * tokens), texts: take(size(2))}
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
	failed := C.bert_vector((*C.int32_t)(&tokens[0]), C.int(len(tokens)), (*C.int8_t)(rows), (*C.char)(unsafe.Pointer(unsafe.StringData(m.scales))),
		(*C.int8_t)(unsafe.Add(rows, len(m.scales)/4*Dim)), (*C.float)(&m.floats[0]), C.int(path), (*C.float)(&out[0]))
	if failed != 0 {
		return nil, errMemory
	}
	return out, nil
}

// Command nomic writes a model file of nomic-embed-text's architecture with random weights:
// 768 dimensions, one layer, a vocabulary of pairs of letters. It embeds badly and is loaded by
// Ollama like the real one, so the path to a server can be tried where no weights can be had.
// docs/embedding.md has the recipe.
//
//	go run ./tests/nomic tiny.gguf
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
)

const (
	dim    = 768
	hidden = 256
	layers = 1
	heads  = 12
	seed   = 1
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: nomic FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], model(), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// vocabulary is that of a BERT: special tokens at their usual places, then each character and each
// pair of letters, at the beginning of a word (marked) and within one.
func vocabulary() (tokens []string, types []int32) {
	for i := range 104 {
		tokens, types = append(tokens, fmt.Sprintf("[unused%d]", i)), append(types, 5)
	}
	for i, name := range map[int]string{0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 102: "[SEP]", 103: "[MASK]"} {
		tokens[i], types[i] = name, 3
	}
	var pieces []string
	for c := '!'; c <= '~'; c++ {
		pieces = append(pieces, string(c))
	}
	for a := 'a'; a <= 'z'; a++ {
		for b := 'a'; b <= 'z'; b++ {
			pieces = append(pieces, string(a)+string(b))
		}
	}
	for _, p := range pieces {
		tokens, types = append(tokens, "\u2581"+p, p), append(types, 1, 1)
	}
	return tokens, types
}

// tensor is a name and a shape, the fastest dimension first.
type tensor struct {
	name  string
	shape []int
}

func tensors(vocabulary int) []tensor {
	out := []tensor{
		{"token_embd.weight", []int{dim, vocabulary}},
		{"token_types.weight", []int{dim, 2}},
		{"token_embd_norm.weight", []int{dim}},
		{"token_embd_norm.bias", []int{dim}},
	}
	for i := range layers {
		for _, t := range []tensor{
			{"attn_qkv.weight", []int{dim, 3 * dim}},
			{"attn_output.weight", []int{dim, dim}},
			{"attn_output_norm.weight", []int{dim}},
			{"attn_output_norm.bias", []int{dim}},
			{"ffn_up.weight", []int{dim, hidden}},
			{"ffn_gate.weight", []int{dim, hidden}},
			{"ffn_down.weight", []int{hidden, dim}},
			{"layer_output_norm.weight", []int{dim}},
			{"layer_output_norm.bias", []int{dim}},
		} {
			out = append(out, tensor{fmt.Sprintf("blk.%d.%s", i, t.name), t.shape})
		}
	}
	return out
}

func (t tensor) size() int {
	n := 1
	for _, d := range t.shape {
		n *= d
	}
	return n
}

// gguf writes the format of llama.cpp: header, metadata, where tensors are, tensors.
type gguf struct{ bytes.Buffer }

func (g *gguf) put(v any) {
	if err := binary.Write(g, binary.LittleEndian, v); err != nil {
		panic(err) // a buffer takes everything; a type that has no size is a mistake here
	}
}

func (g *gguf) text(s string) {
	g.put(uint64(len(s)))
	g.WriteString(s)
}

func (g *gguf) align() {
	for g.Len()%32 != 0 {
		g.WriteByte(0)
	}
}

// The types of values.
const (
	typeUint32 = 4
	typeInt32  = 5
	typeFloat  = 6
	typeBool   = 7
	typeText   = 8
	typeArray  = 9
)

func (g *gguf) pair(key string, value any) {
	g.text(key)
	switch v := value.(type) {
	case int:
		g.put(uint32(typeUint32))
		g.put(uint32(v))
	case float32:
		g.put(uint32(typeFloat))
		g.put(v)
	case bool:
		g.put(uint32(typeBool))
		g.put(v)
	case string:
		g.put(uint32(typeText))
		g.text(v)
	case []int32:
		g.put(uint32(typeArray))
		g.put(uint32(typeInt32))
		g.put(uint64(len(v)))
		g.put(v)
	case []string:
		g.put(uint32(typeArray))
		g.put(uint32(typeText))
		g.put(uint64(len(v)))
		for _, s := range v {
			g.text(s)
		}
	}
}

type pair struct {
	key   string
	value any
}

func metadata(tokens []string, types []int32) []pair {
	return []pair{
		{"general.architecture", "nomic-bert"},
		{"general.type", "model"},
		{"general.name", "random nomic-bert"},
		{"general.file_type", 0},
		{"nomic-bert.block_count", layers},
		{"nomic-bert.context_length", 2048},
		{"nomic-bert.embedding_length", dim},
		{"nomic-bert.feed_forward_length", hidden},
		{"nomic-bert.attention.head_count", heads},
		{"nomic-bert.attention.layer_norm_epsilon", float32(1e-12)},
		{"nomic-bert.attention.causal", false},
		{"nomic-bert.pooling_type", 1},
		{"nomic-bert.rope.freq_base", float32(1000)},
		{"tokenizer.ggml.model", "bert"},
		{"tokenizer.ggml.token_type_count", 2},
		{"tokenizer.ggml.tokens", tokens},
		{"tokenizer.ggml.token_type", types},
		{"tokenizer.ggml.bos_token_id", 101},
		{"tokenizer.ggml.eos_token_id", 102},
		{"tokenizer.ggml.cls_token_id", 101},
		{"tokenizer.ggml.seperator_token_id", 102},
		{"tokenizer.ggml.unknown_token_id", 100},
		{"tokenizer.ggml.padding_token_id", 0},
		{"tokenizer.ggml.mask_token_id", 103},
	}
}

func model() []byte {
	tokens, types := vocabulary()
	pairs, all := metadata(tokens, types), tensors(len(tokens))
	g := &gguf{}
	g.WriteString("GGUF")
	g.put(uint32(3))
	g.put(uint64(len(all)))
	g.put(uint64(len(pairs)))
	for _, p := range pairs {
		g.pair(p.key, p.value)
	}
	offset := uint64(0)
	for _, t := range all {
		g.text(t.name)
		g.put(uint32(len(t.shape)))
		for _, d := range t.shape {
			g.put(uint64(d))
		}
		g.put(uint32(0)) // float32
		g.put(offset)
		offset += uint64(t.size()*4+31) &^ 31
	}
	g.align()
	r := rand.New(rand.NewPCG(seed, seed))
	for _, t := range all {
		g.put(weights(t, r))
		g.align()
	}
	return g.Bytes()
}

// weights are small and random; a norm's are 1.
func weights(t tensor, r *rand.Rand) []float32 {
	out := make([]float32, t.size())
	for i := range out {
		if len(t.shape) > 1 {
			out[i] = float32(r.NormFloat64() * 0.03)
		} else if bytes.HasSuffix([]byte(t.name), []byte("norm.weight")) {
			out[i] = 1
		}
	}
	return out
}

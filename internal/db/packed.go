package db

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Texts of turns are most of an index. So they are packed: a byte that says how, and the text.
const (
	unpacked    = 0
	withZstd    = 1
	leastZipped = 128 // bytes; below, nothing is gained
)

//nolint:gochecknoglobals // made when they are asked for
var (
	zipper = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	})
	unzipper = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(runtime.GOMAXPROCS(0)), zstd.WithDecoderMaxMemory(maxText))
	})
)

// maxText is more than a turn ever has, in bytes.
const maxText = 1 << 26

// pack appends a text to dst, packed.
func pack(dst []byte, s string) []byte {
	if z, err := zipper(); len(s) >= leastZipped && err == nil {
		return z.EncodeAll([]byte(s), append(dst, withZstd))
	}
	return append(append(dst, unpacked), s...)
}

// packedText is a column that pack wrote.
type packedText struct{ s *string }

// Scan implements sql.Scanner.
func (p packedText) Scan(v any) error {
	b, ok := v.([]byte)
	if !ok {
		return fmt.Errorf("%w: a text is a %T", ErrCorrupt, v)
	}
	text, err := Unpack(b)
	*p.s = text
	return err
}

// Unpack is the text that a column of packed texts holds.
func Unpack(b []byte) (string, error) {
	if len(b) == 0 {
		return "", fmt.Errorf("%w: a text of no bytes", ErrCorrupt)
	}
	if b[0] == unpacked {
		return string(b[1:]), nil
	}
	z, err := unzipper()
	if err != nil {
		return "", err
	}
	text, err := z.DecodeAll(b[1:], nil)
	if err != nil {
		return "", fmt.Errorf("%w: a text: %w", ErrCorrupt, err)
	}
	return string(text), nil
}

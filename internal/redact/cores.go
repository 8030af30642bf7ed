package redact

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// perCore is how much text is worth another core, in bytes: it takes some 4 ms. What a hook adds is mostly less.
const perCore = 64 << 10

// eachText does something with every text, by its number, in any order: on all cores where there is much text. It
// returns an error of do, or why ctx ended; then some texts are left.
func eachText(ctx context.Context, all []*text, do func(i int) error) error {
	size := 0
	for _, t := range all {
		size += len(*t.at)
	}
	return runParallel(ctx, min(runtime.GOMAXPROCS(0), len(all), 1+size/perCore), len(all), do)
}

// runParallel hands out n pieces of work one by one, as their sizes differ. What panics is an error, as nobody else
// could catch it.
func runParallel(ctx context.Context, workers, n int, do func(i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					stop(fmt.Errorf("internal error: %v", v))
				}
			}()
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					stop(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

const (
	// partSize is how much of a text is looked at as one piece of work, in bytes.
	partSize = 128 << 10
	// beside is how much on both sides of a part is read with it, in bytes. It is more than rules look at, also where that
	// is escaped.
	beside = maxKey
)

// findInParts cuts a text into parts of about partSize, at the end of a line where there is one, else before what
// base64 may have made, and returns what look finds in their readings, in order within each part, on all cores. look is
// told which window of a reading is the part. It fails when ctx ends.
func findInParts(ctx context.Context, t string, w *decodeFilter,
	look func(r reading, part window) []span,
) ([]span, error) {
	var parts []window
	lo := 0
	for len(t)-lo > partSize {
		cut := runeStart(t, lo+partSize)
		if n := strings.LastIndexByte(t[lo:cut], '\n'); n > 0 {
			cut = lo + n + 1
		} else { // an encoded key is looked at whole
			cut = runStart(t, cut, 4*maxKey, "-_")
		}
		parts = append(parts, window{lo, cut})
		lo = cut
	}
	parts = append(parts, window{lo, len(t)})
	found := make([][]span, len(parts))
	err := runParallel(ctx, min(runtime.GOMAXPROCS(0), len(parts)), len(parts), func(i int) error {
		from, to := runeStart(t, max(0, parts[i].lo-beside)), runeStart(t, min(len(t), parts[i].hi+beside))
		var all [][]span
		for r := range readings(t[from:to], w) {
			r.from = from
			all = append(all, look(r, r.toReading(parts[i])))
		}
		found[i] = slices.Concat(all...)
		slices.SortFunc(found[i], compareSpans)
		found[i] = slices.CompactFunc(found[i], func(a, b span) bool { // several readings say it
			return a.lo == b.lo && a.hi == b.hi && a.rule == b.rule && a.value == b.value
		})
		return nil
	})
	return slices.Concat(found...), err
}

package redact

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// perCore is how much text is worth another core, in bytes: it takes some 4 ms. What a hook adds is mostly less.
const perCore = 64 << 10

// each does something with every text, by its number, in any order: on all cores where there is much text. It returns an
// error of do, or why ctx ended; then some texts are left.
func each(ctx context.Context, all []*text, do func(i int) error) error {
	size := 0
	for _, t := range all {
		size += len(*t.at)
	}
	return share(ctx, min(runtime.GOMAXPROCS(0), len(all), 1+size/perCore), len(all), do)
}

// share hands out n pieces of work one by one, as their sizes differ. What panics is an error, as nobody else could catch it.
func share(ctx context.Context, workers, n int, do func(i int) error) error {
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

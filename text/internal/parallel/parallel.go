// Package parallel runs loops on several goroutines, for the packages of text. It imports only the
// standard library.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Workers returns the number of goroutines for a setting of threads: GOMAXPROCS for 0.
func Workers(threads int) int {
	if threads > 0 {
		return threads
	}
	return runtime.GOMAXPROCS(0)
}

// For calls body with ranges of up to grain indices, which together are those below n, on up to
// Workers(threads) goroutines. worker numbers the goroutine from 0. A panic of body is raised on
// the caller after all goroutines have ended.
func For(threads, n, grain int, body func(worker, lo, hi int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	var once sync.Once
	var failed any
	run := func(worker int) {
		defer func() {
			if r := recover(); r != nil {
				once.Do(func() { failed = r })
			}
		}()
		for {
			lo := int(next.Add(int64(grain))) - grain
			if lo >= n {
				return
			}
			body(worker, lo, min(lo+grain, n))
		}
	}
	for worker := range min(Workers(threads), (n+grain-1)/grain) {
		group.Go(func() { run(worker) })
	}
	group.Wait()
	if failed != nil {
		panic(failed)
	}
}

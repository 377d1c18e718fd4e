// Package divide shares work between processors.
package divide

import (
	"runtime"
	"sync"
)

// Worthwhile is how many multiplications pay for a goroutine: some 50 µs, ten times what
// starting it takes.
const Worthwhile = 1 << 16

// Work cuts [0, n) into a part for each worker, fewer if there are not terms enough,
// and runs do on all of them at once. Workers 0 is one per CPU. The result of do must not
// depend on where the cuts are.
func Work(workers, n, terms int, do func(part, lo, hi int)) (parts int) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, n, terms/Worthwhile))
	if workers == 1 {
		do(0, 0, n)
		return 1
	}
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() { do(w, w*n/workers, (w+1)*n/workers) })
	}
	wait.Wait()
	return workers
}

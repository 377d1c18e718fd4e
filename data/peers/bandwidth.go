package main

import (
	"runtime"
	"sync"
	"time"
)

// bandwidth is how many bytes a second all cores together read and write by the triad of STREAM
// (McCalpin 1995), a = b + 3c for long arrays: the best of some goes. As there, the line of a
// that is read before it is written doesn't count.
func bandwidth(quick bool) float64 {
	n, goes := 1<<24, 10 // 128 MiB each, far more than caches hold
	if quick {
		n, goes = 1<<16, 1
	}
	a, b, c := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range a {
		a[i], b[i], c[i] = 1, 2, 0.5
	}
	best := 0.0
	cores := runtime.GOMAXPROCS(0)
	for range goes {
		start := time.Now()
		var all sync.WaitGroup
		for k := range cores {
			from, to := k*n/cores, (k+1)*n/cores
			all.Go(func() { triad(a[from:to], b[from:to], c[from:to]) })
		}
		all.Wait()
		best = max(best, 3*8*float64(n)/time.Since(start).Seconds())
	}
	return best
}

// triad is a ← b + 3c.
func triad(a, b, c []float64) {
	b, c = b[:len(a)], c[:len(a)]
	for i := range a {
		a[i] = b[i] + 3*c[i]
	}
}

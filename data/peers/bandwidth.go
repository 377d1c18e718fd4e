package main

import (
	"encoding/binary"
	"math"
	"runtime"
	"sync"
	"time"
)

// cached is a number of bytes. A smaller problem may stay in a processor's cache, and then memory does not limit the
// speed of the work.
const cached = 10_000_000

// size returns the number of bytes in the arrays of an instance.
func (x instance) size() (bytes int) {
	for _, v := range x.Arrays {
		bytes += binary.Size(v)
	}
	return bytes
}

// bandwidth returns the number of bytes that all cores together read and write in a second: the best of several STREAM
// triads (McCalpin 1995) over three arrays of 128 MiB each, more than caches hold. As in STREAM, each index counts as
// 24 bytes: two entries are read, and one is written.
func bandwidth() float64 {
	const n, times = 1 << 24, 12
	a, b, c := make([]float64, n), make([]float64, n), make([]float64, n)
	best := math.Inf(1)
	for range times { // the first pass touches new memory, and takes longer
		begin := time.Now()
		triad(a, b, c, 3)
		best = min(best, time.Since(begin).Seconds())
	}
	return 3 * 8 * n / best
}

// triad sets a to b + s·c; each core computes a part of a.
func triad(a, b, c []float64, s float64) {
	var all sync.WaitGroup
	parts := runtime.GOMAXPROCS(0)
	for k := range parts {
		lo, hi := k*len(a)/parts, (k+1)*len(a)/parts
		a, b, c := a[lo:hi], b[lo:hi], c[lo:hi]
		all.Go(func() {
			for i := range a {
				a[i] = b[i] + s*c[i]
			}
		})
	}
	all.Wait()
}

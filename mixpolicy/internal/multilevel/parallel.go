package multilevel

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// blockSize is the number of states that are worked on at a time: some 20 to 100 µs of
// work, ten times what handing it out takes.
const blockSize = 1 << 12

// each cuts [0, n) into blocks and runs do on all of them, on as many goroutines as there
// are processors. Where the cuts are depends on n only, so what is added up block by
// block is the same to the bit however many there are.
func each(n int, do func(block, lo, hi int)) {
	parallel(blocks(n), func(k int) { do(k, k*blockSize, min(n, (k+1)*blockSize)) })
}

func blocks(n int) int { return (n + blockSize - 1) / blockSize }

// parallel runs do for 0, …, tasks−1, each as soon as a processor is free.
func parallel(tasks int, do func(task int)) {
	workers := min(runtime.GOMAXPROCS(0), tasks)
	if workers <= 1 {
		for k := range tasks {
			do(k)
		}
		return
	}
	var next atomic.Int64
	work := func() {
		for k := int(next.Add(1)) - 1; k < tasks; k = int(next.Add(1)) - 1 {
			do(k)
		}
	}
	var wait sync.WaitGroup
	for range workers - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
}

// total returns Σ_i term(i), added block by block.
func total(n int, part func(lo, hi int) float64) float64 {
	return totals(n, 1, func(lo, hi int, sums []float64) { sums[0] = part(lo, hi) })[0]
}

// totals is total for several terms at once.
func totals(n, terms int, part func(lo, hi int, sums []float64)) []float64 {
	parts := make([]float64, blocks(n)*terms)
	each(n, func(k, lo, hi int) { part(lo, hi, parts[k*terms:(k+1)*terms]) })
	all := make([]float64, terms)
	for m := range all {
		var s sum.Accumulator
		for k := m; k < len(parts); k += terms {
			s.Add(parts[k])
		}
		all[m] = s.Value()
	}
	return all
}

func norm1(x []float64) float64 {
	return total(len(x), func(lo, hi int) float64 {
		var s float64
		for _, v := range x[lo:hi] {
			s += math.Abs(v)
		}
		return s
	})
}

func normalise(x []float64) {
	sum := total(len(x), func(lo, hi int) float64 { return sum.Of(x[lo:hi]) })
	each(len(x), func(_, lo, hi int) {
		for i := range x[lo:hi] {
			x[lo+i] /= sum
		}
	})
}

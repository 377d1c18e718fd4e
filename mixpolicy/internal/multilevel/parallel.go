package multilevel

import (
	"cmp"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// blockSize is the number of states in a unit of work, which takes some 20 to 100 µs, ten
// times as long as starting it.
const blockSize = 1 << 12

// each cuts [0, n) into blocks and runs do on all of them, on at most as many goroutines as
// there are processors. The cuts depend only on n, so sums by block are the same, bit for bit, for
// any number of processors.
func each(n int, do func(block, lo, hi int)) {
	parallel(blocks(n), func(k int) { do(k, k*blockSize, min(n, (k+1)*blockSize)) })
}

func blocks(n int) int { return (n + blockSize - 1) / blockSize }

// parallel runs do for 0, …, tasks−1, each as soon as a processor is free.
func parallel(tasks int, do func(task int)) {
	var next atomic.Int64
	work := func() {
		for k := int(next.Add(1)) - 1; k < tasks; k = int(next.Add(1)) - 1 {
			do(k)
		}
	}
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), tasks) - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
}

// total returns the sum of part over all blocks.
func total(n int, part func(lo, hi int) float64) float64 {
	return totals(n, 1, func(lo, hi int, sums []float64) { sums[0] = part(lo, hi) })[0]
}

// totals is total for several sums at once.
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

// order is the order in which a sweep visits the states: colour after colour; within a colour, all
// blocks at once; and within a block of consecutive numbers, by number. Unless the order is split, no
// block has moves to other blocks of its colour. If the numbering makes moves short, as on a grid, two
// or three colours are enough.
//
// If mostColours colours are not enough, the order is split: there are few blocks, all of one colour, and for a move
// between blocks, a sweep uses the mass that the state of origin had before the sweep. Coarser levels of the network
// (see the package comment) are split; as one block, they would take as long as the finest level takes on two
// processors.
type order struct {
	shift   int       // block k of a level begins with state k<<shift
	bounds  []int     // block k contains the states from bounds[k] to bounds[k+1]−1
	colours [][]int32 // the blocks of each colour
	colour  []int32   // the colour of each block
	split   bool
}

// A chain is cut into 32 to 64 blocks: enough for two colours to keep several processors
// busy, and few enough to store the neighbours of a block as the bits of a word. If
// mostColours colours are not enough, the chain is split into 4 to 8 blocks. Chains of
// fewer than parallelStates states are one block, because a sweep over them takes less than 150 µs.
const (
	mostBlocks     = 64
	mostColours    = mostBlocks / 8
	mostSplit      = 8
	parallelStates = 1 << 14
)

// newOrder colours the blocks of a chain in turn: a block gets the first colour that no
// neighbour has. If this takes too many colours, the order is split.
func newOrder(in *sparse.Matrix) order {
	if in.Rows < parallelStates {
		return cut(in.Rows, 1)
	}
	o := cut(in.Rows, mostBlocks)
	o.colours = nil
	into := make([]uint64, len(o.colour)) // for each block, the blocks that enter it
	parallel(len(into), func(k int) {
		var set uint64
		for _, j := range in.Col[in.Ptr[o.bounds[k]]:in.Ptr[o.bounds[k+1]]] {
			set |= 1 << (uint(j) >> o.shift & 63)
		}
		into[k] = set
	})
	for k := range into {
		var taken uint64
		for m := range k {
			if into[k]>>m&1 == 1 || into[m]>>k&1 == 1 {
				taken |= 1 << o.colour[m]
			}
		}
		c := bits.TrailingZeros64(^taken)
		if c >= mostColours {
			o = cut(in.Rows, mostSplit)
			o.split = true
			return o
		}
		if c == len(o.colours) {
			o.colours = append(o.colours, nil)
		}
		o.colour[k] = int32(c)
		o.colours[c] = append(o.colours[c], int32(k))
	}
	return o
}

// cut cuts n states into blocks, all of one colour. The number of blocks is not greater than most.
func cut(n, most int) order {
	o := order{shift: bits.Len(uint((n - 1) / most))}
	for k := 0; k < n; k += 1 << o.shift {
		o.bounds = append(o.bounds, k)
	}
	o.colour, o.colours = make([]int32, len(o.bounds)), [][]int32{every(len(o.bounds))}
	o.bounds = append(o.bounds, n)
	return o
}

// among returns the order restricted to the given increasing states, which are numbered by
// their place in the list.
func (o order) among(states []int32) order {
	bounds := make([]int, len(o.bounds))
	for k, first := range o.bounds {
		bounds[k], _ = slices.BinarySearch(states, int32(first))
	}
	o.bounds = bounds
	return o
}

// place says when a forward sweep visits state j, a neighbour of state i: before i (−1), at
// the same time as i (0), or after i (1).
func (o *order) place(j, i int) (late int) {
	a, b := j>>o.shift, i>>o.shift
	if a != b {
		return cmp.Compare(o.colour[a], o.colour[b])
	}
	return cmp.Compare(j, i)
}

// visit runs do on all blocks, in this order or in reverse.
func (o *order) visit(backward bool, do func(lo, hi int)) {
	for c := range o.colours {
		if backward {
			c = len(o.colours) - 1 - c
		}
		blocks := o.colours[c]
		parallel(len(blocks), func(k int) { do(o.bounds[blocks[k]], o.bounds[blocks[k]+1]) })
	}
}

// arrange puts the entries of states that are visited before the row's state first, and the
// entries of states that are visited after the row's state last. For each row, it returns where the
// first part ends and where the last part begins. These are the same place unless the order is split.
func (o *order) arrange(in *sparse.Matrix) (split, later []int) {
	split, later = make([]int, in.Rows), make([]int, in.Rows)
	each(in.Rows, func(_, lo, hi int) {
		var cols []int32
		var vals []float64
		for i := lo; i < hi; i++ {
			col, val := in.Row(i)
			cols, vals = append(cols[:0], col...), append(vals[:0], val...)
			at := 0
			for k, end := range []*int{&split[i], &later[i], new(int)} {
				for e, j := range cols {
					if o.place(int(j), i) == k-1 {
						col[at], val[at] = j, vals[e]
						at++
					}
				}
				*end = in.Ptr[i] + at
			}
		}
	})
	return split, later
}

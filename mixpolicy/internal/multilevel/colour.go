package multilevel

import (
	"math/bits"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// order is the one in which a sweep visits the states: colour after colour; of a colour,
// blocks of consecutive numbers, which may be visited at once since none has a move to
// another; and in a block by number. Where states are numbered so that moves are short,
// as on a grid, two or three colours do.
type order struct {
	shift   int       // block k has the states from k<<shift on
	colours [][]int32 // the blocks of each
	colour  []int32   // of each block
}

// A chain is cut into 32 to 64 blocks: enough for two colours to keep several processors
// busy, and few enough for the neighbours of one to be the bits of a word. Chains of
// fewer than parallelStates states are one block: a sweep over them takes less than 100 µs.
const (
	mostBlocks     = 64
	parallelStates = 1 << 13
)

// mostColours is how many colours still leave blocks for two processors in each.
const mostColours = mostBlocks / 8

// newOrder colours the blocks of a chain, each in turn with the first colour that none of
// its neighbours has.
func newOrder(in *sparse.Matrix) order {
	n := in.Rows
	one := order{shift: bits.Len(uint(n)), colours: [][]int32{{0}}, colour: []int32{0}}
	if n < parallelStates {
		return one
	}
	o := order{shift: bits.Len(uint((n - 1) / mostBlocks))}
	count := (n-1)>>o.shift + 1
	into := make([]uint64, count) // the blocks from which a block is entered
	parallel(count, func(k int) {
		lo, hi := o.block(k, n)
		var set uint64
		for _, j := range in.Col[in.Ptr[lo]:in.Ptr[hi]] {
			set |= 1 << (uint(j) >> o.shift & 63)
		}
		into[k] = set
	})
	o.colour = make([]int32, count)
	for k := range count {
		var taken uint64
		for m := range k {
			if into[k]>>m&1 == 1 || into[m]>>k&1 == 1 {
				taken |= 1 << o.colour[m]
			}
		}
		c := bits.TrailingZeros64(^taken)
		if c >= mostColours {
			return one
		}
		if c == len(o.colours) {
			o.colours = append(o.colours, nil)
		}
		o.colour[k] = int32(c)
		o.colours[c] = append(o.colours[c], int32(k))
	}
	return o
}

// block returns the range of states of a block.
func (o *order) block(k, n int) (lo, hi int) { return k << o.shift, min(n, (k+1)<<o.shift) }

// before tells whether state j is visited before state i by a forward sweep, for states
// that are neighbours.
func (o *order) before(j, i int) bool {
	a, b := o.colour[j>>o.shift], o.colour[i>>o.shift]
	return a < b || a == b && j < i
}

// visit runs do on all blocks, in this order or in reverse.
func (o *order) visit(n int, backward bool, do func(lo, hi int)) {
	for c := range o.colours {
		if backward {
			c = len(o.colours) - 1 - c
		}
		blocks := o.colours[c]
		parallel(len(blocks), func(k int) { do(o.block(int(blocks[k]), n)) })
	}
}

// arrange moves the entries of each row that are visited before it to the front, and
// returns where the others begin.
func (o *order) arrange(in *sparse.Matrix) (mid []int) {
	mid = make([]int, in.Rows)
	each(in.Rows, func(_, lo, hi int) {
		var lateCol []int32
		var lateVal []float64
		for i := lo; i < hi; i++ {
			col, val := in.Row(i)
			lateCol, lateVal = lateCol[:0], lateVal[:0]
			k := 0
			for e, j := range col {
				if o.before(int(j), i) {
					col[k], val[k] = j, val[e]
					k++
				} else {
					lateCol, lateVal = append(lateCol, j), append(lateVal, val[e])
				}
			}
			copy(col[k:], lateCol)
			copy(val[k:], lateVal)
			mid[i] = in.Ptr[i] + k
		}
	})
	return mid
}

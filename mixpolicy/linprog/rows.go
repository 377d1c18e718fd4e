package linprog

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
)

// Rows is a matrix Ψ ∈ ℝᴺˣᵈ with very many rows, stored or computed on demand. Its methods
// must be safe for concurrent use.
type Rows interface {
	// Dims returns N ≥ 0 and d ≥ 1.
	Dims() (n, d int)

	// Apply stores in dst the entries (Ψθ)ᵢ with from ≤ i < from + len(dst), each with an error of at most
	// d·2⁻⁵²‖Ψᵢ‖₂‖θ‖₂. Each scan of Solve passes over Ψ once with Apply. The programs in the table of the package's
	// documentation take 10 to 20 scans.
	Apply(dst []float64, from int, theta []float64)

	// Row stores Ψᵢ in dst, which has length d.
	Row(dst []float64, i int)
}

// Columns is Ψ, stored by its columns: Columns[j][i] is the entry in row i and column j, both counted from 0.
type Columns [][]float64

var _ Rows = Columns(nil)

// Dims implements [Rows]. Dims panics if there is no column, or if the lengths of columns differ.
func (c Columns) Dims() (n, d int) {
	if len(c) == 0 {
		panic("linprog: Ψ has no columns")
	}
	n = len(c[0])
	for j, col := range c {
		if len(col) != n {
			panic(fmt.Sprintf("linprog: column %d of Ψ has length %d, column 0 has %d", j, len(col), n))
		}
	}
	return n, len(c)
}

// Apply implements [Rows].
func (c Columns) Apply(dst []float64, from int, theta []float64) {
	floats.ScaleTo(dst, theta[0], c[0][from:from+len(dst)])
	for j := 1; j < len(c); j++ {
		floats.AddScaled(dst, theta[j], c[j][from:from+len(dst)])
	}
}

// Row implements [Rows].
func (c Columns) Row(dst []float64, i int) {
	for j, col := range c {
		dst[j] = col[i]
	}
}

// A scanner searches all rows of Ψ for rows that a point violates.
type scanner struct {
	psi    Rows
	n, d   int
	group  int // number of consecutive rows of which a scan returns only the most violated row
	block  int // rows per call of Apply, a whole number of groups
	passes []*pass
	next   atomic.Int64 // the next block to search
}

// A candidate is a row i with by = −Ψᵢx/‖Ψᵢ‖₂ > 0.
type candidate struct {
	row int
	by  float64
}

func newScanner(psi Rows) *scanner {
	n, d := psi.Dims()
	// A vertex has d active rows. One candidate from each of 8 d parts of Ψ, or from more
	// parts if Ψ is long, is enough to choose the next rows of the pool.
	group := min(max(n/(8*d), 1), 2048)
	// 2048 products are 16 KiB, half of a first-level cache.
	block := group * max(1, 2048/group)
	workers := runtime.GOMAXPROCS(0)
	// Starting a goroutine costs as much as about 2¹⁴ multiplications.
	if work := n * d; work < 1<<16 {
		workers = 1
	}
	s := &scanner{psi: psi, n: n, d: d, group: group, block: block}
	for range min(workers, max(1, (n+block-1)/block)) {
		s.passes = append(s.passes, &pass{scanner: s, dot: make([]float64, min(block, n)), row: make([]float64, d)})
	}
	return s
}

// scan returns the most violated row of each group in which x violates a row. It also returns
// the share of the way from the feasible point c to x on which no row is violated, or 1 if c is
// nil. The result does not depend on the number of workers.
func (s *scanner) scan(ctx context.Context, x, c []float64) (all []candidate, share float64, err error) {
	s.next.Store(0)
	if len(s.passes) == 1 {
		p := s.passes[0]
		p.over(ctx, x, c)
		return p.found, p.share, p.err
	}
	var wg sync.WaitGroup
	for _, p := range s.passes {
		wg.Go(func() { p.over(ctx, x, c) })
	}
	wg.Wait()
	share = 1
	for _, p := range s.passes {
		all = append(all, p.found...)
		share = min(share, p.share)
	}
	first := slices.MinFunc(s.passes, func(a, b *pass) int { return cmp.Compare(a.stop, b.stop) })
	if first.err != nil {
		return nil, 0, first.err // the error in the first block with an error; a single worker would return it too
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.row, b.row) })
	return all, share, nil
}

// A pass is one worker's part of a scan. A worker that is free takes the next block.
type pass struct {
	*scanner
	dot   []float64 // Ψx for the rows of a block
	row   []float64
	found []candidate
	share float64
	err   error
	stop  int // the first row of the block with the error, or n
}

func (p *pass) over(ctx context.Context, x, c []float64) {
	p.found, p.share, p.err, p.stop = p.found[:0], 1, nil, p.n
	for {
		from := (int(p.next.Add(1)) - 1) * p.block
		if from >= p.n {
			return
		}
		if p.err = ctx.Err(); p.err == nil {
			p.err = p.search(x, c, from)
		}
		if p.err != nil {
			p.stop = from
			return
		}
	}
}

// search appends to p.found the candidates of the block that starts at the given row.
func (p *pass) search(x, c []float64, from int) error {
	dot := p.dot[:min(p.block, p.n-from)]
	p.psi.Apply(dot, from, x)
	for start := 0; start < len(dot); start += p.group {
		end := min(start+p.group, len(dot))
		best, bestSq := candidate{}, 0.0
		for k, v := range dot[start:end] {
			// Most rows need no more work. For the other rows, the product is negative, or so close to 0 that it
			// may have lost digits, or infinite, or NaN.
			if v >= 0x1p-1000 && v <= math.MaxFloat64 {
				continue
			}
			i := from + start + k
			p.psi.Row(p.row, i)
			if c != nil && v < 0 {
				inside := max(0, floats.Dot(p.row, c))
				p.share = min(p.share, inside/(inside-v))
			}
			var lengthSq float64
			for _, a := range p.row {
				lengthSq += a * a
			}
			// v² > bestSq·‖Ψᵢ‖² compares violations without a root or a division, if the squares
			// are normal numbers.
			normal := lengthSq > 0x1p-900 && lengthSq < 0x1p900 && !math.IsInf(v, 0)
			if normal && (v >= 0 || v*v <= bestSq*lengthSq) {
				continue
			}
			length, _, err := normalise(p.row, i)
			if err != nil {
				return err
			}
			if length == 0 {
				continue
			}
			if by := -floats.Dot(p.row, x); by > best.by {
				best, bestSq = candidate{row: i, by: by}, by*by
			}
		}
		if best.by > 0 {
			p.found = append(p.found, best)
		}
	}
	return nil
}

// normalise divides row i by a power of two and then by its length ‖·‖₂. A row of zeros has
// length 0 and restricts nothing.
func normalise(row []float64, i int) (length, scale float64, err error) {
	most := 0.0
	for j, v := range row {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, 0, fmt.Errorf("linprog: Ψ[%d,%d] = %v, want a finite number", i, j, v)
		}
		most = max(most, math.Abs(v))
	}
	if most == 0 {
		return 0, 1, nil
	}
	scale = powerOfTwo(most)
	for j := range row {
		row[j] /= scale
	}
	length = math.Sqrt(floats.Dot(row, row))
	floats.Scale(1/length, row)
	return length, scale, nil
}

package linprog

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
)

// A scanner looks through all rows of Ψ for those that a point violates.
type scanner struct {
	psi     Rows
	n, d    int
	workers int
	group   int // rows that give one candidate, the most violated of them
	block   int // rows of one call of Apply, a whole number of groups
}

// A candidate is a row i with by = −Ψᵢx/‖Ψᵢ‖₂ > 0.
type candidate struct {
	row int
	by  float64
}

func newScanner(psi Rows, workers int) *scanner {
	n, d := psi.Dims()
	// A vertex has d active rows. Candidates from 8 d parts of Ψ, and from more where
	// Ψ is long, are enough to choose some d different ones of.
	group := min(max(n/(8*d), 1), 2048)
	// 2048 products are 16 KiB, half of a first-level cache.
	block := group * max(1, 2048/group)
	// Starting a goroutine costs as much as some 2¹⁴ multiplications.
	if work := n * d; work < 1<<16 {
		workers = 1
	}
	return &scanner{psi: psi, n: n, d: d, workers: min(workers, max(1, (n+block-1)/block)), group: group, block: block}
}

// scan returns the most violated row of each group in which x violates any. The
// result does not depend on the number of workers.
func (s *scanner) scan(ctx context.Context, x []float64) ([]candidate, error) {
	if s.workers == 1 {
		var found []candidate
		p := s.newPass(x)
		for from := 0; from < s.n; from += s.block {
			var err error
			if found, err = p.run(ctx, found, from); err != nil {
				return nil, err
			}
		}
		return found, nil
	}
	var (
		wg    sync.WaitGroup
		next  atomic.Int64
		mu    sync.Mutex
		all   []candidate
		first error
		at    = s.n // the block of the first error
	)
	for range s.workers {
		wg.Go(func() {
			var found []candidate
			p := s.newPass(x)
			for {
				from := (int(next.Add(1)) - 1) * s.block
				if from >= s.n {
					break
				}
				var err error
				if found, err = p.run(ctx, found, from); err != nil {
					mu.Lock()
					if from < at {
						first, at = err, from
					}
					mu.Unlock()
					break
				}
			}
			mu.Lock()
			all = append(all, found...)
			mu.Unlock()
		})
	}
	wg.Wait()
	if first != nil {
		return nil, first
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.row, b.row) })
	return all, nil
}

// A pass is one worker's part of a scan.
type pass struct {
	*scanner
	x   []float64
	dot []float64
	row []float64
}

func (s *scanner) newPass(x []float64) *pass {
	return &pass{scanner: s, x: x, dot: make([]float64, min(s.block, s.n)), row: make([]float64, s.d)}
}

// run appends the candidates of the block that starts at row from.
func (p *pass) run(ctx context.Context, found []candidate, from int) ([]candidate, error) {
	if err := ctx.Err(); err != nil {
		return found, err
	}
	dot := p.dot[:min(p.block, p.n-from)]
	p.psi.Apply(dot, from, p.x)
	for start := 0; start < len(dot); start += p.group {
		end := min(start+p.group, len(dot))
		best := candidate{}
		for k, v := range dot[start:end] {
			// Most rows end here. The others are violated, or so small that the product
			// may have lost its digits, or so large that it overflowed, or not finite.
			if v >= 0x1p-1000 && v <= math.MaxFloat64 {
				continue
			}
			i := from + start + k
			p.psi.Row(p.row, i)
			length, _, err := normalise(p.row, i)
			if err != nil {
				return found, err
			}
			if length == 0 {
				continue
			}
			if by := -floats.Dot(p.row, p.x); by > best.by {
				best = candidate{row: i, by: by}
			}
		}
		if best.by > 0 {
			found = append(found, best)
		}
	}
	return found, nil
}

// normalise divides row i by a power of two and then by its length ‖·‖₂. A row of
// zeros has the length 0 and says nothing.
func normalise(row []float64, i int) (length, scale float64, err error) {
	most := 0.0
	for j, v := range row {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, 0, &EntryError{Row: i, Col: j, Value: v}
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

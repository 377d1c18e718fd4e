package linprog

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
)

var searched = flag.Int("search", 1800, "degenerate programs that TestSearch solves")

// Each function in mixtures draws degenerate programs of a different kind.
var mixtures = []func(*rand.Rand) Mixture{integerProgram, wideProgram, realProgram, gradedProgram, deficientProgram}

// The functions in inequalities draw degenerate programs A x ⪰ h.
var inequalities = []func(*rand.Rand) Inequalities{integerRows, assignmentRows}

// degenerate draws a program of one kind; kind is its number, modulo the number of kinds.
func degenerate(kind int, rng *rand.Rand) program {
	kind %= len(mixtures) + 1 + len(inequalities)
	if kind < len(mixtures) {
		return mixtures[kind](rng).program()
	}
	if kind -= len(mixtures); kind == 0 {
		return touchingProgram(rng).program()
	}
	return inequalities[kind-1](rng).program()
}

// Every answer to a degenerate program has a proof that holds in exact arithmetic: of
// optimality to within rounding, of infeasibility, or of unboundedness. At most one program in a
// hundred may stall; the answer is then a point and a valid bound, without a proof. The command
//
//	go test -run TestSearch -search 1000000 -timeout 0
//
// tries a million.
func TestSearch(t *testing.T) {
	const workers = 2
	var wg sync.WaitGroup
	var stalled atomic.Int64
	for w := range workers {
		wg.Go(func() {
			for seed := w; seed < *searched; seed += workers {
				p := degenerate(seed, rand.New(rand.NewPCG(uint64(seed), 7)))
				sol, err := p.minimize(background, Settings{})
				proved := !is[*StalledError](err)
				if !proved {
					stalled.Add(1)
				}
				gap, err := checkProgram(p, sol, err)
				if err == nil && sol != nil && proved && gap > gapOf(p, sol) {
					err = fmt.Errorf("gap %v, allowed %v", gap, gapOf(p, sol))
				}
				if err != nil {
					t.Errorf("%d: %v", seed, err)
				}
			}
		})
	}
	wg.Wait()
	if n := int(stalled.Load()); n > *searched/100 {
		t.Errorf("%d of %d stalled", n, *searched)
	}
}

// A program may combine entries of any sizes. Each answer has a proof, unless Solve reports a stall
// or an overflow.
func TestEntriesOfAnySize(t *testing.T) {
	for seed := range 3000 {
		rng := rand.New(rand.NewPCG(uint64(seed), 9))
		number := func(int, int) float64 {
			return (4*rng.Float64() - 2) * pick(rng, 0, 1, 1, 1, 1, 1e16, 1e100, 1e150, 1e200, 1e300, 1e-16, 1e-100, 1e-200, 1e-300)
		}
		d := 1 + rng.IntN(4)
		p := Mixture{B: vector(d, func() float64 { return number(0, 0) }), Psi: columns(rng.IntN(6), d, number), Norm: anyNorm(rng), R: pick(rng, 1, 2, 1e16, 1e100, 1e150, math.Inf(1))}
		sol, err := p.Solve(background, Settings{})
		if err != nil && strings.Contains(err.Error(), "overflows") {
			continue
		}
		if _, wrong := check(p, sol, err); wrong != nil || err == nil && !sol.finite() {
			t.Errorf("%d: %v\n%v\n%+v", seed, wrong, p, sol)
		}
	}
}

// gapOf bounds the gap that rounding may leave: d² + 8 terms, each the rounding error of the
// largest multiplier times the radius. A ball that touches the feasible set may have no
// multipliers; its bound then misses the optimum by about 2⁻²⁶R‖b‖, and gapOf allows 2⁻²⁴R‖b‖.
func gapOf(p program, sol *Solution) float64 {
	most := max(LInf.Of(p.b), math.Abs(sol.Hyperplane))
	for _, m := range sol.Rows {
		most = max(most, m.Value)
	}
	d := float64(len(p.b))
	gap := (d*d + 8) * slack(len(p.b)) * most * sol.Radius
	if sol.Ball > 0x1p25*L2.Of(p.b) {
		gap += 0x1p-24 * sol.Radius * L2.Of(p.b)
	}
	return gap
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func anyNorm(rng *rand.Rand) Norm { return pick(rng, L2, LInf, L1) }

func small(rng *rand.Rand, low, high int) float64 { return float64(low + rng.IntN(high-low+1)) }

func columns(n, d int, at func(i, j int) float64) Columns {
	psi := make(Columns, d)
	for j := range psi {
		psi[j] = make([]float64, n)
	}
	for i := range n {
		for j := range psi {
			psi[j][i] = at(i, j)
		}
	}
	return psi
}

func vector(d int, at func() float64) []float64 {
	v := make([]float64, d)
	for j := range v {
		v[j] = at()
	}
	return v
}

// unit returns v times the unit vector of coordinate k.
func unit(d, k int, v float64) []float64 {
	e := make([]float64, d)
	e[k] = v
	return e
}

// integerProgram draws small integers, with ties everywhere.
func integerProgram(rng *rand.Rand) Mixture {
	d, n, low := 1+rng.IntN(4), rng.IntN(9), pick(rng, -3, -1, 0)
	return Mixture{
		B:    vector(d, func() float64 { return small(rng, -3, 3) }),
		Psi:  columns(n, d, func(_, _ int) float64 { return small(rng, low, 3) }),
		Norm: anyNorm(rng),
		R:    pick(rng, .3, 5./16, .5, .75, 1, 1.5, 2, 5, 100, math.Inf(1)),
	}
}

// wideProgram draws more variables and sparse rows of −1, 0, 1 and 2, many of them tight at
// each vertex.
func wideProgram(rng *rand.Rand) Mixture {
	d := 4 + rng.IntN(9)
	n := d + rng.IntN(4*d)
	fill := pick(rng, .2, .4, .8)
	return Mixture{
		B: vector(d, func() float64 { return small(rng, -2, 4) }),
		Psi: columns(n, d, func(i, j int) float64 {
			if i < d { // these rows give a simplex; others may cut it
				return unit(d, i, 1)[j]
			}
			if rng.Float64() > fill {
				return 0
			}
			return pick(rng, -1., 1, 1, 2)
		}),
		Norm: anyNorm(rng),
		R:    pick(rng, .75, 1, 2, 5, math.Inf(1)),
	}
}

// realProgram draws rows that are repeated (exactly or up to rounding), nearly parallel, tiny,
// huge or sparse.
func realProgram(rng *rand.Rand) Mixture {
	d, n := 1+rng.IntN(8), rng.IntN(60)
	negative := pick(rng, 0, .1, .5)
	rows, size := make([][]float64, n), make([]float64, n)
	for i := range rows {
		kind := rng.IntN(8)
		row := make([]float64, d)
		for j := range row {
			row[j] = rng.ExpFloat64()
			if rng.Float64() < negative {
				row[j] = -row[j]
			}
			if kind == 5 && rng.IntN(3) > 0 {
				row[j] = 0
			}
		}
		if i > 0 {
			old, f := rows[rng.IntN(i)], pick(rng, 1, 1./3, 1e-40)
			for j := range row {
				switch kind {
				case 1:
					row[j] = old[j]
				case 2:
					row[j] = old[j] * f
				case 3:
					row[j] = old[j] * (1 + math.Pow(2, -20-33*rng.Float64())*rng.NormFloat64())
				case 6: // with the old row, an equation up to rounding
					row[j] = -old[j] * f
				}
			}
		}
		rows[i], size[i] = row, 1
		if kind == 4 {
			size[i] = pick(rng, 1e-300, 1e-200, 1e200)
		}
	}
	return Mixture{
		B:    vector(d, func() float64 { return 10 + rng.NormFloat64() }),
		Psi:  columns(n, d, func(i, j int) float64 { return rows[i][j] * size[i] }),
		Norm: anyNorm(rng),
		R:    pick(rng, .5, 1, 1.25, 3, 100, math.Inf(1)),
	}
}

// gradedProgram draws columns whose entries fall geometrically, to 1e-30 and far below.
func gradedProgram(rng *rand.Rand) Mixture {
	d, n := 2+rng.IntN(7), 5+rng.IntN(80)
	steep := pick(rng, .9, .5, .1, 1e-3, 1e-5)
	ratios := vector(d, func() float64 { return steep * (.5 + rng.Float64()) })
	if rng.IntN(3) == 0 {
		ratios[0] = ratios[1] // the same ratio twice
	}
	start := vector(d, rng.Float64)
	if rng.IntN(2) == 0 {
		start[0] = start[1]
	}
	return Mixture{
		B: vector(d, func() float64 { return 30 + 10*rng.NormFloat64() }),
		Psi: columns(n, d, func(i, j int) float64 {
			return start[j] * math.Pow(ratios[j], float64(i))
		}),
		Norm: anyNorm(rng),
		R:    pick(rng, 1, 1.5, 10, 1000, math.Inf(1)),
	}
}

// deficientProgram draws a Ψ of low rank: repeated columns, or combinations of other
// columns, with and without rounding.
func deficientProgram(rng *rand.Rand) Mixture {
	d, n := 2+rng.IntN(7), 1+rng.IntN(40)
	rank := 1 + rng.IntN(d)
	integer := rng.IntN(2) == 0
	factor := columns(n, rank, func(_, _ int) float64 {
		if integer {
			return small(rng, -1, 3)
		}
		return rng.ExpFloat64()
	})
	mix := columns(rank, d, func(k, j int) float64 {
		if rng.IntN(2) == 0 && k == j%rank {
			return 1
		}
		if integer {
			return small(rng, -1, 2)
		}
		return rng.Float64() * pick(rng, 0., 1, 1)
	})
	return Mixture{
		B: vector(d, func() float64 { return small(rng, 0, 3) }),
		Psi: columns(n, d, func(i, j int) float64 {
			v := 0.0
			for k := range rank {
				v += factor[k][i] * mix[j][k]
			}
			return v
		}),
		Norm: anyNorm(rng),
		R:    pick(rng, 1, 2, 10, math.Inf(1)),
	}
}

// touchingProgram draws a program of a kind in mixtures, and sets R to a value near which the solution changes: R
// differs by at most 10⁴ units of 2⁻⁵² (relative) from the norm of the solution without a ball, or from the norm of the
// feasible point with the least ‖·‖₂.
func touchingProgram(rng *rand.Rand) Mixture {
	for {
		p := mixtures[rng.IntN(len(mixtures))](rng)
		norm := p.Norm
		p.R, p.Norm = math.Inf(1), L2
		free := p
		if rng.IntN(2) == 0 {
			free.B = make([]float64, len(p.B)) // the point of least norm
		}
		sol, err := free.Solve(background, Settings{})
		if err != nil {
			continue
		}
		p.Norm = norm
		p.R = norm.Of(sol.Theta) * (1 + pick(rng, 0., 0, 1, -1, 2, -2, 16, -16, 1e4, -1e4)*0x1p-52)
		return p
	}
}

// boxed adds the rows −size ⪯ x ⪯ size and draws the costs.
func boxed(rng *rand.Rand, rows [][]float64, h []float64, d int, size float64) Inequalities {
	for j := range d {
		for _, s := range []float64{1, -1} {
			rows, h = append(rows, unit(d, j, s)), append(h, -size)
		}
	}
	return Inequalities{
		B: vector(d, func() float64 { return small(rng, -3, 3) }),
		A: columns(len(rows), d, func(i, j int) float64 { return rows[i][j] }), H: h,
	}
}

// integerRows draws rows of small integers, in two of three cases with a box.
func integerRows(rng *rand.Rand) Inequalities {
	d, n := 1+rng.IntN(8), rng.IntN(30)
	var rows [][]float64
	var h []float64
	low := pick(rng, -3, 0)
	for range n {
		rows, h = append(rows, vector(d, func() float64 { return small(rng, -2, 2) })), append(h, small(rng, low, pick(rng, 0, 0, 1)))
	}
	if rng.IntN(3) > 0 {
		return boxed(rng, rows, h, d, 3)
	}
	p := boxed(rng, nil, nil, d, 1)
	p.A, p.H = columns(n, d, func(i, j int) float64 { return rows[i][j] }), h
	return p
}

// assignmentRows draws an assignment problem. Each equation is two rows, one equation
// follows from the others, and every vertex is degenerate.
func assignmentRows(rng *rand.Rand) Inequalities {
	k := 2 + rng.IntN(2)
	d := k * k
	var rows [][]float64
	var h []float64
	for side := range 2 {
		for i := range k {
			row, minus := make([]float64, d), make([]float64, d)
			for j := range k {
				at := i*k + j
				if side == 1 {
					at = j*k + i
				}
				row[at], minus[at] = 1, -1
			}
			rows, h = append(rows, row, minus), append(h, 1, -1)
		}
	}
	for j := range d {
		rows, h = append(rows, unit(d, j, 1)), append(h, 0)
	}
	for i, row := range rows {
		f := pick(rng, 1, 1./3, 3, 1e-100, 1e50)
		floats.Scale(f, row)
		h[i] *= f
	}
	return Inequalities{
		B: vector(d, func() float64 { return small(rng, 0, 3) }),
		A: columns(len(rows), d, func(i, j int) float64 { return rows[i][j] }), H: h,
	}
}

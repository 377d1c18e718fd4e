package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// mixture is problem (2.18) over a cube, hence a linear program. It has two instances: eight measures on the pairs of a
// network of full size, and fifty measures on the pairs of a small network.
func mixture(quick bool) []func() race {
	return []func() race{
		func() race { return mixtureRace(8, []int{39, 26, 26, 39}, []int{9, 8, 8, 9}, quick) },
		func() race { return mixtureRace(50, []int{13, 13, 12, 12}, []int{6, 5, 5, 6}, quick) },
	}
}

func mixtureRace(d int, sizes, small []int, quick bool) race {
	const actions = 4
	if quick {
		sizes = small
	}
	rng := rand.New(rand.NewPCG(1, 0))
	psi := make(linprog.Columns, d)
	b := make([]float64, d)
	for j := range psi {
		psi[j] = productForm(rng, sizes, actions)
		b[j] = 30 + 10*rng.NormFloat64()
	}
	p := linprog.Mixture{B: b, Psi: psi, Norm: linprog.LInf, R: 10}
	problem := instance{
		Arrays:  map[string]any{"b.f64": b},
		Numbers: map[string]float64{"radius": p.R, "features": float64(d)},
	}
	for j, column := range psi {
		problem.Arrays[fmt.Sprintf("psi%d.f64", j)] = column
	}
	return race{
		instance: fmt.Sprintf("exact mixture LP, d = %d, %s rows, ‖θ‖∞ ≤ %v", d, data.Thousands(len(psi[0])), p.R),
		problem:  problem,
		method:   "constraint generation",
		ours: func(ctx context.Context, _ int) ([]float64, error) {
			s, err := p.Solve(ctx, linprog.Settings{})
			if err != nil {
				return nil, err
			}
			return s.Theta, nil
		},
		peers: []string{"dual simplex", "interior point", "simplex on the dual", "interior point on the dual"},
		agree: func(ours, theirs []float64) error { return asGood(p, ours, theirs) },
	}
}

// asGood returns an error unless the peer's θ is feasible and has our objective, up to small multiples of the default
// tolerances of HiGHS. These are 10⁻⁷ for the violation of a row, scaled to the greatest entry 1, and for a reduced
// cost.
func asGood(p linprog.Mixture, ours, theirs []float64) error {
	if len(theirs) != len(ours) {
		return fmt.Errorf("%d entries, want %d", len(theirs), len(ours))
	}
	const tolerance = 1e-7
	if v := floats.Sum(theirs); !(math.Abs(v-1) <= float64(len(theirs))*tolerance) {
		return fmt.Errorf("the entries of θ add up to %v, want 1 ± %.3g", v, float64(len(theirs))*tolerance)
	}
	if v := linprog.LInf.Of(theirs); !(v <= p.R+tolerance) {
		return fmt.Errorf("‖θ‖∞ = %v, want at most R = %v", v, p.R)
	}
	n, d := p.Psi.Dims()
	row := make([]float64, d)
	for i := range n {
		p.Psi.Row(row, i)
		if v, top := floats.Dot(row, theirs), linprog.LInf.Of(row); v < -10*tolerance*top {
			return fmt.Errorf("entry %d of Ψθ, over the greatest entry in its row of Ψ, is %.3g, want ≥ %.3g", i, v/top, -10*tolerance)
		}
	}
	// A row violated by tolerance moves the objective by tolerance times the multiplier of the scaled row. At most about d
	// rows have a positive multiplier, and such a multiplier is about as large as the entries of b.
	want, got := floats.Dot(p.B, ours), floats.Dot(p.B, theirs)
	if slack := float64(d) * tolerance * linprog.LInf.Of(p.B); math.Abs(got-want) > slack {
		return fmt.Errorf("objective %.9g, want %.9g ± %.1g", got, want, slack)
	}
	return nil
}

// productForm returns a measure of product form: geometric in each queue, with ratios drawn from [0.5, 1.05], times a
// distribution over actions.
func productForm(rng *rand.Rand, sizes []int, actions int) []float64 {
	column := []float64{1}
	times := func(factor []float64) {
		floats.Scale(1/floats.Sum(factor), factor)
		var table mat.Dense
		table.Outer(1, mat.NewVecDense(len(column), column), mat.NewVecDense(len(factor), factor))
		column = table.RawMatrix().Data
	}
	for _, size := range sizes {
		ratio, factor := 0.5+0.55*rng.Float64(), make([]float64, size)
		for k := range factor {
			factor[k] = math.Pow(ratio, float64(k))
		}
		times(factor)
	}
	action := make([]float64, actions)
	for a := range action {
		action[a] = rng.ExpFloat64()
	}
	times(action)
	return column
}

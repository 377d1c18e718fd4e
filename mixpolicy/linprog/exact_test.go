package linprog

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Whole numbers are those of the data, by a power of two, and go back to the unit normals.
func TestIntegralCuts(t *testing.T) {
	if x, shift := whole([]float64{1.5, 0, -.25}); shift != 54 || x[0].Cmp(big.NewInt(3<<53)) != 0 || x[1].Sign() != 0 || x[2].Cmp(big.NewInt(-1<<52)) != 0 {
		t.Errorf("%v, 2^%d", x, shift)
	}
	if x, shift := whole([]float64{0, 0}); shift != 0 || x[0].Sign() != 0 {
		t.Errorf("%v, 2^%d", x, shift)
	}
	psi := columns(3, 3, func(i, j int) float64 { return []float64{.375, -5, 0x1p-1000}[i] * float64(j*j-2) })
	x := []int64{3, -2, 5}
	for _, norm := range []Norm{LInf, L1} {
		s := newSolver(Mixture{B: ones(3), Psi: psi, Norm: norm, R: 1.75}.program())
		cuts := []*cut{s.cuts[0], s.boxCut(1, -1)}
		if norm == L1 {
			cuts[1] = s.massCut([]int{0, 2})
		}
		for i := range 3 {
			if err := s.learn(i); err != nil {
				t.Fatal(err)
			}
		}
		cuts = append(cuts, s.pool...)
		for k, c := range cuts {
			f := s.integral(c)
			inner := new(big.Int)
			want := 0.0
			for j, v := range x {
				inner.Add(inner, new(big.Int).Mul(f.a[j], big.NewInt(v)))
				want += c.normal[j] * float64(v)
			}
			if got := float(new(big.Float).Copy(c.perUnit(inner))); math.Abs(got-want) > slack(3)/16*7 { // ‖x‖ < 7
				t.Errorf("%v, cut %d: product %v, want %v", norm, k, got, want)
			}
			if got := float(c.perUnit(f.rhs)); math.Abs(got-c.rhs) > 4*0x1p-53*math.Abs(c.rhs) {
				t.Errorf("%v, cut %d: right side %v, want %v", norm, k, got, c.rhs)
			}
			// The multiplier that makes the first entry k + 1, of either form.
			at := slices.IndexFunc(f.a, func(v *big.Int) bool { return v.Sign() != 0 })
			r := new(big.Rat).SetFrac(big.NewInt(int64(k+1)), f.a[at])
			if u := inUnits([]*cut{c}, []*big.Rat{r}); math.Abs(u[0]*c.normal[at]-float64(k+1)) > 4*0x1p-53*float64(k+1) {
				t.Errorf("%v, cut %d: multiplier %v of %v", norm, k, u[0], c.normal)
			}
		}
	}
	for e, want := range map[int]*big.Rat{3: big.NewRat(8, 1), 0: big.NewRat(1, 1), -2: big.NewRat(1, 4)} {
		if got := powerRat(e); got.Cmp(want) != 0 {
			t.Errorf("2^%d = %v", e, got)
		}
	}
}

func TestWithoutRounding(t *testing.T) {
	for _, d := range []int{2, exactVariables, exactVariables + 1} {
		s := newSolver(Mixture{B: ones(d), Psi: measures(3, d, 0, 1), R: 2}.program())
		if got := s.withoutRounding(); got != (d <= 32) || got != (s.exact != nil) || got != math.IsInf(s.limit, 1) {
			t.Errorf("d = %d: %v, limit %v", d, got, s.limit)
		}
		if s.withoutRounding() {
			t.Errorf("d = %d: twice", d)
		}
	}
}

// Costs that are constant to within rounding prefer no point: the answer is that of least norm.
// And a ray starts at the point of least norm, from whatever t.
func TestExactLeastNorm(t *testing.T) {
	p := Mixture{B: []float64{1, 1 + 0x1p-52, 1}, Psi: Columns{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, R: math.Inf(1)}
	sol, err := exactly(p.program())
	if err != nil || floats.Distance(sol.Theta, []float64{1. / 3, 1. / 3, 1. / 3}, 2) > slack(3)/16 {
		t.Errorf("%+v, %v", sol, err)
	}
	ray := Mixture{B: []float64{1, 2}, Psi: Columns{{1, 5}, {1, -1}}, R: math.Inf(1)}
	s := newSolver(ray.program())
	s.withoutRounding()
	if err := s.begin(background); err != nil {
		t.Fatal(err)
	}
	s.t = 5
	_, err = s.run(background)
	var e *UnboundedError
	if !errors.As(err, &e) || floats.Distance(e.Point, []float64{.5, .5}, 2) > slack(2)/16 || floats.Distance(e.Direction, []float64{math.Sqrt(.5), -math.Sqrt(.5)}, 2) > slack(2)/16 {
		t.Errorf("%+v, %v", e, err)
	}
}

// What is told before anything was found holds: no bound that is none, no point that is none.
func TestSolveTellsNothingFound(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	cancel()
	for _, b := range [][]float64{{-100, -300}, {100, 300}} {
		for _, r := range []float64{2, math.Inf(1)} {
			sol, err := Mixture{B: b, Psi: Columns{{1, 0}, {0, 1}}, R: r}.Solve(ctx, Settings{})
			if !errors.Is(err, context.Canceled) || sol == nil || !math.IsInf(sol.Violation, 1) || sol.Bound > slices.Min(b) {
				t.Errorf("b = %v: %+v, %v", b, sol, err)
			}
		}
	}
	// The point of least norm, 1/d or (0, 1), is the first that is known if it is feasible.
	for _, c := range []struct {
		p    program
		want []float64
	}{
		{Mixture{B: []float64{1, 2}, Psi: Columns{{1}, {1}}, R: 2}.program(), []float64{.5, .5}},
		{Mixture{B: []float64{1, 2}, Psi: Columns{{1}, {-2}}, R: 2}.program(), nil},
		{Inequalities{B: []float64{3}, A: Columns{{1}}, H: []float64{-1}}.program(), []float64{0, 1}},
		{Inequalities{B: []float64{3}, A: Columns{{1}}, H: []float64{1}}.program(), nil},
	} {
		s := newSolver(c.p)
		err := s.begin(background)
		objective := math.Inf(1)
		if c.want != nil {
			objective = floats.Dot(c.p.b, c.want)
		}
		if err != nil || !slices.Equal(s.best.theta, c.want) || !slices.Equal(s.best.centre, c.want) || s.best.objective != objective {
			t.Errorf("%+v, want %v: %v", s.best, c.want, err)
		}
	}
}

func TestSolveWarm(t *testing.T) {
	psi := measures(3000, 12, .2, 5)
	for j := range psi {
		psi[j][7] = 0
	}
	p := Mixture{B: costs(12, 1), Psi: psi, R: math.Inf(1)}
	cold := must(p.Solve(background, Settings{}))
	warm := append(rowsOf(cold), 7)
	warm = append(warm, warm...)
	sol, err := p.Solve(background, Settings{Warm: warm})
	// A vertex, made of its unit normals in another order.
	normals := mat.NewDense(12, 12, nil)
	for k, m := range cold.Rows {
		row := normals.RawRowView(k)
		psi.Row(row, m.Row)
		floats.Scale(1/L2.Of(row), row)
	}
	normals.SetRow(11, ones(12))
	if tol := mat.Cond(normals, 2) * slack(12); err != nil || sol.Scans != 2 || !(floats.Distance(sol.Theta, cold.Theta, 2) <= tol*L2.Of(cold.Theta)) {
		t.Errorf("%d scans: %v, want %v: %v", sol.Scans, sol.Theta, cold.Theta, err)
	}
	// Neither takes exact arithmetic.
	s := newSolver(p.program())
	s.limit = math.Inf(1)
	for _, i := range warm {
		if err := s.learn(i); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.run(background); err != nil || s.exact != nil || !slices.Equal(got.Theta, sol.Theta) {
		t.Errorf("%v, exact %v: %v", got, s.exact != nil, err)
	}
	s = newSolver(p.program())
	for _, i := range warm {
		if err := s.learn(i); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.pool) != len(cold.Rows) || len(s.known) != len(cold.Rows)+1 {
		t.Errorf("%d cuts of %d rows, want %d", len(s.pool), len(s.known), len(cold.Rows))
	}
	psi[3][9] = math.NaN()
	if err := s.learn(9); err == nil || len(s.pool) != len(cold.Rows) {
		t.Errorf("a bad row: %v", err)
	}
	if sol, err := p.Solve(background, Settings{Warm: []int{9}}); err == nil || sol != nil {
		t.Errorf("a bad row to begin with: %v", sol)
	}
}

func TestChoose(t *testing.T) {
	s := &solver{known: map[int]bool{2: true}}
	found := []candidate{{0, .1}, {1, .5}, {2, 9}, {3, .5}, {4, .7}, {5, .2}, {6, .11}}
	if got, want := s.choose(slices.Clone(found), .1, 3), []candidate{{4, .7}, {1, .5}, {3, .5}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := s.choose(found, .1, 50); len(got) != 5 {
		t.Errorf("%v, want five", got)
	}
}

// Costs below all numbers have no multipliers, rather than some of 0.
func TestSolveCostsBelowAllNumbers(t *testing.T) {
	for _, p := range []Mixture{
		{B: []float64{0x1p-1074, 0x1p-1073, 0x1p-1074}, Psi: Columns{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, R: 2},
		{B: []float64{0x1p-1074, 0}, Psi: Columns{{1.9}, {-1.9}}, R: 2}, // λ = 2⁻¹⁰⁷⁴/3.8
	} {
		sol, err := p.Solve(background, Settings{})
		if err != nil || slices.ContainsFunc(sol.Rows, func(m Multiplier) bool { return !(m.Value > 0) }) || sol.Bound > sol.Objective {
			t.Errorf("%+v, %v", sol, err)
		}
	}
}

// Where b is ten times the first row but for rounding, the optimum is near or far away: no proof is found, with exact
// pivots neither, and the interval that is told holds what is feasible within its radius.
func TestStallBesideARow(t *testing.T) {
	p := Inequalities{
		B: []float64{3.96637577112126, 4.264146886124118, -0.8943464599278348},
		A: Columns{
			{0.3966375771121261, 0.44358382810038743, 0.19331050181430878},
			{0.42641468861241194, 0.34417941973651767, 0.29201271331672013},
			{-0.08943464599278349, 0.008892289451352411, -0.10953935273610217}},
		H: []float64{-0.6106714170284351, -0.5215302543992184, -0.3975565530802534},
	}
	for _, warm := range [][]int{nil, {0, 1}} {
		point, err := p.Solve(background, Settings{Warm: warm})
		var stall *StalledError
		if !errors.As(err, &stall) || point == nil {
			t.Fatalf("from %v: %+v, %v", warm, point, err)
		}
		if stall.Violation != 0 || stall.Bound > stall.Objective || stall.Bound != point.Bound || stall.Objective != point.Objective {
			t.Errorf("from %v: %+v, %+v", warm, point, stall)
		}
	}
}

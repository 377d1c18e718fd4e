package linprog

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/prompt"
)

var background = context.Background()

// If several points are optimal, Solve returns the optimal point of least norm.
func TestSolveTakesLeastNorm(t *testing.T) {
	// θ₃ costs most, so it is 0. All θ₁, θ₂ ≥ 0 with sum 1 cost the same.
	p := Mixture{B: []float64{1, 1, 2}, Psi: Columns{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, R: math.Inf(1)}
	for _, p.Norm = range []Norm{L2, LInf, L1} {
		for _, p.R = range []float64{1, 10, math.Inf(1)} {
			sol := must(p.Solve(background, Settings{}))
			for j, want := range []float64{.5, .5, 0} {
				if math.Abs(sol.Theta[j]-want) > slack(3) {
					t.Errorf("%v, R = %v: θ = %v", p.Norm, p.R, sol.Theta)
				}
			}
		}
	}
}

// At the least feasible R, 1/‖1‖⁎, only θ = 1/d is feasible. Rounding of R must not decide
// whether Solve finds it.
func TestSolveTouchingBall(t *testing.T) {
	for d := 1; d <= 12; d++ {
		psi := measures(20, d, .3, uint64(d))
		for _, norm := range []Norm{L2, LInf} {
			for _, ulps := range []float64{-1, 0, 1} {
				p := Mixture{B: costs(d, 1), Psi: psi, Norm: norm, R: norm.OnHyperplane(d) * (1 + ulps*0x1p-52)}
				sol, err := p.Solve(background, Settings{})
				if err != nil {
					t.Fatalf("d = %d, %v, R = %v: %v", d, norm, p.R, err)
				}
				for _, v := range sol.Theta {
					if math.Abs(v-1/float64(d)) > 1e-7 { // a ball larger by 1 ulp reaches further by about √(2⁻⁵²)
						t.Errorf("d = %d, %v: θ = %v", d, norm, sol.Theta)
					}
				}
			}
			p := Mixture{B: costs(d, 1), Psi: psi, Norm: norm, R: norm.OnHyperplane(d) * (1 - 0x1p-40)}
			sol, err := p.Solve(background, Settings{})
			if _, bad := check(p, sol, err); !is[*InfeasibleError](err) || bad != nil {
				t.Errorf("d = %d, %v, R = %v: %v, %v", d, norm, p.R, err, bad)
			}
		}
	}
}

func TestSolveIsTheSameOnAnyNumberOfCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	psi := queueLike([]int{12, 9, 8, 11}, 3, 5, 3)
	for _, norm := range []Norm{L2, LInf, L1} {
		p := Mixture{B: costs(5, 2), Psi: psi, Norm: norm, R: 2}
		runtime.GOMAXPROCS(1)
		want := must(p.Solve(background, Settings{}))
		if gap, err := check(p, want, nil); err != nil || gap > 1e-10*want.Objective {
			t.Fatal(gap, err)
		}
		for _, cores := range []int{2, 3, 8} {
			runtime.GOMAXPROCS(cores)
			got, err := p.Solve(background, Settings{})
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%d cores: %+v, want %+v", cores, got, want)
			}
		}
	}
}

// rowsOf returns the indices of the rows with multipliers.
func rowsOf(sol *Solution) []int {
	var rows []int
	for _, m := range sol.Rows {
		rows = append(rows, m.Row)
	}
	return rows
}

// A watched matrix calls a function before every block of a scan.
type watched struct {
	Rows
	before func()
}

func (w watched) Apply(dst []float64, from int, theta []float64) {
	w.before()
	w.Rows.Apply(dst, from, theta)
}

// When stopped, Solve returns the best point and bound so far, and both are valid. Before the first scan, the violation is infinite.
func TestSolveStopsWhenToldTo(t *testing.T) {
	psi := queueLike([]int{12, 12, 12, 12}, 1, 6, 3)
	p := Mixture{B: costs(6, 2), Psi: psi, R: 3}
	best := must(p.Solve(background, Settings{}))
	for _, stop := range []int64{1, 15, 30, 45, 60} {
		ctx, cancel := context.WithCancel(background)
		var counter atomic.Int64
		p.Psi = watched{psi, func() {
			if counter.Add(1) == stop {
				cancel()
			}
		}}
		sol, err := p.Solve(ctx, Settings{})
		if calls := counter.Load(); err == nil && calls == stop { // Solve finished with this block
			continue
		} else if calls < stop || calls > stop+int64(runtime.GOMAXPROCS(0)) {
			t.Errorf("told to stop at block %d, ended at %d", stop, calls)
		}
		if !errors.Is(err, context.Canceled) || sol == nil || sol.Bound > best.Objective {
			t.Fatalf("stopped at block %d: %+v, %v; optimum %v", stop, sol, err, best.Objective)
		}
		// For columns that are measures, Solve has a feasible point after the first scan.
		feasible := checkRows(psi, sol.Theta, slack(6)) == nil && sol.Violation == 0 && L2.Of(sol.Theta) <= 3
		if sol.Scans > 0 && (!feasible || sol.Objective < best.Objective*(1-slack(6))) {
			t.Errorf("%+v; optimum %v", sol, best.Objective)
		}
	}
	ended, end := context.WithCancel(background)
	end()
	for _, b := range [][]float64{{-100, -300}, {100, 300}} {
		for _, r := range []float64{2, math.Inf(1)} {
			sol, err := Mixture{B: b, Psi: Columns{{1, 0}, {0, 1}}, R: r}.Solve(ended, Settings{})
			if !errors.Is(err, context.Canceled) || sol == nil || !math.IsInf(sol.Violation, 1) || sol.Bound > slices.Min(b) {
				t.Errorf("b = %v: %+v, %v", b, sol, err)
			}
		}
	}
}

func TestSolveBadData(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good := Columns{{1, 0}, {0, 1}}
	for _, c := range []struct {
		p    Mixture
		want string
	}{
		{Mixture{B: []float64{1, nan}, Psi: good, R: 1}, "b[1] = NaN"},
		{Mixture{B: []float64{-inf, 1}, Psi: good, R: 1}, "b[0] = -Inf"},
		{Mixture{B: []float64{1, 2}, Psi: good, R: nan}, "R = NaN, want"},
		{Mixture{B: []float64{1, 2}, Psi: good, R: 0}, "R = 0, want"},
		{Mixture{B: []float64{1, 2}, Psi: good, R: 0x1.1p500}, "R = 3.477"},
		{Mixture{B: []float64{1, -1e300, 1e300}, Psi: Columns{{-1}, {0}, {0}}, R: 1e16}, "overflows at a solution with ‖θ‖₂ = 1e+16, where b[1] = -1e+300"},
		{Mixture{B: []float64{1, 2}, Psi: good, R: .5}, "infeasible: every θ with 1ᵀθ = 1 has ‖θ‖₂ ≥ 0.70710678118654"},
		{Mixture{B: []float64{1, 2}, Psi: Columns{{1, 0}, {0, nan}}, R: 2}, "Ψ[1,1] = NaN"},
		{Mixture{B: []float64{1, 2}, Psi: Columns{{1, 1, -1}, {1, -2, 1}}, R: inf}, "infeasible: rows 1 2 of"},
		{Mixture{B: []float64{1, 2}, Psi: Columns{{1, 5}, {1, -1}}, R: inf}, "unbounded: bᵀθ falls by 0.707106781186547"},
	} {
		sol, err := c.p.Solve(background, Settings{})
		if err == nil || !strings.Contains(err.Error(), c.want) || sol != nil {
			t.Errorf("%+v: %v, %v; want %q", c.p, sol, err, c.want)
		}
	}
	if sol, err := (Mixture{B: []float64{1, 2}, Psi: good, R: 0x1p500}).Solve(background, Settings{}); err != nil || floats.Distance(sol.Theta, []float64{1, 0}, 2) > slack(2) {
		t.Errorf("the greatest R: %+v, %v", sol, err)
	}
	for _, p := range []Mixture{
		{B: []float64{1}, Psi: good, R: 1}, {Psi: Columns{}, R: 1}, {B: []float64{1, 2}, Psi: good, R: 1, Norm: 7},
		{B: []float64{1, 2}, Psi: Columns{{1}, {1, 2}}, R: 1},
	} {
		panics(t, "linprog: ", func() { p.Solve(background, Settings{}) })
	}
}

// Multiplying the costs by a power of two multiplies all results in units of cost, and leaves θ the same to the bit.
// Multiplying rows by powers of two changes the optimum by rounding errors at most.
func TestSolveIsHomogeneous(t *testing.T) {
	psi, scaled := measures(50, 4, .2, 5), measures(50, 4, .2, 5)
	for _, column := range scaled {
		for i := range column {
			column[i] = math.Ldexp(column[i], []int{-900, -40, 0, 900}[i%4])
		}
	}
	for _, norm := range []Norm{L2, LInf, L1} {
		for _, r := range []float64{1.1 * norm.OnHyperplane(4), 4, math.Inf(1)} {
			p := Mixture{B: costs(4, 1), Psi: psi, Norm: norm, R: r}
			want := must(p.Solve(background, Settings{}))
			q := p
			q.Psi = scaled
			got := must(q.Solve(background, Settings{}))
			if gap, err := check(q, got, nil); err != nil || math.Abs(got.Objective-want.Objective) > 1e-12*want.Objective || gap > 1e-10*want.Objective {
				t.Errorf("%v: %v, want %v; gap %v, %v", norm, got, want.Objective, gap, err)
			}
			for _, exponent := range []int{-950, 1000} {
				q := p
				q.B = floats.ScaleTo(make([]float64, 4), math.Ldexp(1, exponent), p.B)
				got, err := q.Solve(background, Settings{})
				if _, err := check(q, got, err); err != nil {
					t.Fatalf("%v R = %v, 2^%d: %v", norm, r, exponent, err)
				}
				if !slices.Equal(got.Theta, want.Theta) || got.Objective != math.Ldexp(want.Objective, exponent) ||
					got.Hyperplane != math.Ldexp(want.Hyperplane, exponent) || got.Ball != math.Ldexp(want.Ball, exponent) {
					t.Errorf("%v R = %v, 2^%d: %+v, want %+v", norm, r, exponent, got, want)
				}
			}
		}
	}
}

// Inequalities.Solve returns one of three answers: an optimal solution, proved by multipliers with b = Aᵀλ and
// λᵢ(aᵢx − hᵢ) = 0; a ray along which bᵀx falls; or another error that checkProgram confirms.
func TestInequalities(t *testing.T) {
	for seed := range uint64(500) {
		p := integerRows(rand.New(rand.NewPCG(seed, 1)))
		n, d := p.A.Dims()
		row, zero := make([]float64, d), make([]float64, n)
		slacks := func(x, h []float64) (all []float64) { // A x − h
			for i := range n {
				p.A.Row(row, i)
				all = append(all, floats.Dot(row, x)-h[i])
			}
			return all
		}
		got, err := p.Solve(background, Settings{})
		if ray, ok := errors.AsType[*UnboundedError](err); ok {
			// Entries are small integers, and solutions are fractions with small denominators, so
			// rounding errors are far below 1e-9.
			if len(ray.Point) != d || floats.Dot(p.B, ray.Direction) >= 0 || slices.Min(append(slacks(ray.Direction, zero), 0)) < -1e-9 {
				t.Errorf("%d: %+v", seed, ray)
			}
			continue
		}
		if err != nil {
			if _, bad := checkProgram(p.program(), nil, err); bad != nil {
				t.Errorf("%d: %v", seed, bad)
			}
			continue
		}
		if math.Abs(got.Objective-floats.Dot(p.B, got.X)) > 1e-9 || math.Abs(got.Gap()) > 1e-9 {
			t.Errorf("%d: objective %v of x = %v, gap %v", seed, got.Objective, got.X, got.Gap())
		}
		slack, rest := slacks(got.X, p.H), slices.Clone(p.B)
		for _, m := range got.Rows {
			if m.Value < 0 || math.Abs(m.Lambda()*slack[m.Row]) > 1e-9 {
				t.Errorf("%d: row %d: λ = %v at slack %v", seed, m.Row, m.Lambda(), slack[m.Row])
			}
			p.A.Row(row, m.Row)
			floats.AddScaled(rest, -m.Lambda(), row)
		}
		if slices.Min(append(slack, 0)) < -1e-9 || floats.Norm(rest, 2) > 1e-9 {
			t.Errorf("%d: A x − h = %v, b − Aᵀλ = %v", seed, slack, rest)
		}
	}
}

// A row whose partial step is as long as its full step must still become active. If this row
// stayed inactive, the method would repeat the same steps forever.
func TestInequalitiesTiedSteps(t *testing.T) {
	p := must(Inequalities{
		B: []float64{2, -3, 0},
		A: Columns{{2, 1, -1, 0, 0, 0, 0}, {1, 0, 0, 1, -1, 0, 0}, {-2, 0, 0, 0, 0, 1, -1}},
		H: []float64{-3, -3, -3, -3, -3, -3, -3},
	}.Solve(background, Settings{}))
	// (−3, 3, z) with z ≤ 0 is optimal, and z = 0 has the least norm.
	if d := floats.Distance(p.X, []float64{-3, 3, 0}, 2); d > 1e-12 {
		t.Fatalf("x = %v, want (−3, 3, 0)", p.X)
	}
}

// The solution stays the same if Warm includes a row of zeros and lists every row twice.
func TestSolveWarm(t *testing.T) {
	psi := measures(3000, 12, .2, 5)
	for j := range psi {
		psi[j][7] = 0
	}
	p := Mixture{B: costs(12, 1), Psi: psi, R: math.Inf(1)}
	cold := must(p.Solve(background, Settings{}))
	warm := append(rowsOf(cold), 7)
	sol := must(p.Solve(background, Settings{Warm: append(warm, warm...)}))
	if sol.Scans != 2 || math.Abs(sol.Objective-cold.Objective) > 1e-12*cold.Objective || !slices.Equal(rowsOf(sol), rowsOf(cold)) {
		t.Errorf("%+v, want %+v", sol, cold)
	}
	psi[3][9] = math.NaN()
	if sol, err := p.Solve(background, Settings{Warm: []int{9}}); err == nil || sol != nil {
		t.Errorf("a bad row to begin with: %v", sol)
	}
}

// If b is ten times the first row up to rounding, rounding decides how far away the optimum is. Solve finds no proof.
// The error's bound is −∞, and the bound of the returned Point holds only within Radius.
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
		if stall.Violation != 0 || !math.IsInf(stall.Bound, -1) || point.Bound > stall.Objective || stall.Objective != point.Objective {
			t.Errorf("from %v: %+v, %+v", warm, point, stall)
		}
	}
}

// Errors name at most four rows.
func TestErrorsTell(t *testing.T) {
	var rows []Multiplier
	for i := range 6 {
		rows = append(rows, Multiplier{Row: 10 + i})
	}
	for want, err := range map[string]error{
		"linprog: infeasible: row 10 of Ψθ ⪰ 0 and 1ᵀθ = 1 exclude each other": &InfeasibleError{Rows: rows[:1], R: math.Inf(1)},
		"linprog: infeasible: rows 10 11 12 13 of Ψθ ⪰ 0 and 1ᵀθ = 1 exclude":  &InfeasibleError{Rows: rows[:4], R: math.Inf(1)},
		"linprog: infeasible: by rows 10 11 12 13 … (6 in all) of Ψθ ⪰ 0, every θ with 1ᵀθ = 1 has ‖θ‖₁ ≥ 2, more than R = 1": &InfeasibleError{
			Rows: rows, R: 1, Radius: 2, Norm: L1},
		"no proof after 7 steps, with a violation of 0.5": &StalledError{Violation: .5, Pivots: 7, Bound: 1, Objective: 2},
		"between 1 and 2": &StalledError{Bound: 1, Objective: 2},
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q, want %q", err, want)
		}
	}
}

// If several rows have bad entries, the error names the first such row, although four cores scan the rows.
func TestSolveNamesTheFirstBadRow(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n, d = 40000, 3
	psi := columns(n, d, func(_, _ int) float64 { return 1 })
	for _, i := range []int{21000, 33000, 39999} {
		psi[2][i] = math.NaN()
	}
	for range 10 {
		if _, err := (Mixture{B: ones(d), Psi: psi, R: 2}).Solve(background, Settings{}); err == nil || !strings.Contains(err.Error(), "Ψ[21000,2]") {
			t.Fatal(err)
		}
	}
}

// The multiplier of an inactive ball is exactly 0, in spite of rounding.
func TestInactiveBall(t *testing.T) {
	for seed := range uint64(20) {
		for _, norm := range []Norm{L2, LInf, L1} {
			sol, err := Mixture{B: costs(5, seed), Psi: measures(60, 5, .2, seed), Norm: norm, R: 1e3}.Solve(background, Settings{})
			if err != nil || norm.Of(sol.Theta) > 900 || sol.Ball != 0 {
				t.Errorf("%v: %+v, %v", norm, sol, err)
			}
		}
	}
}

func TestInequalitiesBadData(t *testing.T) {
	a := Columns{{1, 0}, {0, 1}}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := Inequalities{B: []float64{1, 2}, A: a, H: []float64{0, v}}.Solve(background, Settings{})
		if err == nil || !strings.HasPrefix(err.Error(), "linprog: h[1] = ") {
			t.Errorf("h = %v: %v", v, err)
		}
	}
	for _, c := range []struct{ b, h []float64 }{{make([]float64, 2), make([]float64, 3)}, {make([]float64, 1), make([]float64, 2)}} {
		panics(t, "linprog: b has", func() { Inequalities{B: c.b, A: a, H: c.h}.Solve(background, Settings{}) })
	}
}

// No input causes a panic or a NaN, and check confirms every answer.
func FuzzSolve(f *testing.F) {
	f.Add(uint8(2), uint8(0), 1.5, []byte{200, 3, 4, 100, 100, 7})
	f.Add(uint8(1), uint8(2), 1.0, []byte{})
	f.Add(uint8(3), uint8(1), math.Inf(1), []byte{1, 128, 130, 255, 0, 127, 126, 128})
	f.Fuzz(func(t *testing.T, d, norm uint8, r float64, data []byte) {
		// A byte stands for an integer between −15 and 15, times a power of two from 2⁻⁹¹⁰ to 2⁹¹⁰.
		number := func(k int) float64 {
			v := int(data[k]) - 128
			return math.Ldexp(float64(v%16), v/16*130)
		}
		n := int(d)%5 + 1
		if len(data) < n || len(data) > 40*n {
			return
		}
		p := Mixture{Norm: Norm(norm % 3), R: r}
		psi := make(Columns, n)
		for k := range data {
			if k < n {
				p.B = append(p.B, float64(int(data[k])-128))
			} else if k/n < len(data)/n {
				psi[k%n] = append(psi[k%n], number(k))
			}
		}
		p.Psi = psi
		sol, err := p.Solve(context.Background(), Settings{})
		if !(r > 0) || r > mostRadius && !math.IsInf(r, 1) {
			if err == nil {
				t.Fatal("R = ", r)
			}
			return
		}
		if _, err := check(p, sol, err); err != nil {
			t.Fatal(err)
		}
		if sol != nil && (math.IsNaN(sol.Gap()) || math.IsNaN(L2.Of(sol.Theta))) {
			t.Fatalf("%+v", sol)
		}
	})
}

// On the hyperplane, two nearly equal rows bound θ₁ only far away: the least θ₁ is −2ᵏ, and Solve must not call the
// program unbounded.
func TestNearlyARay(t *testing.T) {
	for k := 20; k < 53; k++ {
		e := math.Ldexp(1, -k)
		p := Mixture{B: []float64{1, 0}, Psi: Columns{{1, 1 + e}, {1 + e, 1}}, R: math.Inf(1)}
		sol, err := p.Solve(background, Settings{})
		var unb *UnboundedError
		var stalled *StalledError
		// (1+e)θ₁ + θ₂ ≥ 0 and θ₁ + θ₂ = 1 imply 1 + eθ₁ ≥ 0.
		want := -1 / e
		switch {
		case errors.As(err, &unb):
			t.Errorf("2^-%d: %v", k, err)
		case errors.As(err, &stalled):
			if !(stalled.Bound <= want && want <= stalled.Objective) {
				t.Errorf("2^-%d: %+v", k, stalled)
			}
		case err != nil || !(math.Abs(sol.Objective-want) <= sol.Gap()-1e-9*want):
			t.Errorf("2^-%d: %v, %v, want %v", k, sol, err, want)
		}
	}
}

// Solve ends soon after its context, even if the program would take seconds.
func TestSolveEndsWithItsContext(t *testing.T) {
	work := map[string]func(ctx context.Context) error{}
	for _, norm := range []Norm{L2, L1} {
		p := Mixture{B: costs(200, 3), Psi: measures(5000, 200, .2, 5), Norm: norm, R: 1.2}
		work["in steps, "+norm.String()] = func(ctx context.Context) error {
			_, err := p.Solve(ctx, Settings{})
			return err
		}
	}
	prompt.Check(t, work)
}

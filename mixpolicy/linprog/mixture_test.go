package linprog

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

var background = context.Background()

// classify names what Solve returned.
func classify(err error) verdict {
	var inf *InfeasibleError
	var unb *UnboundedError
	switch {
	case err == nil:
		return isSolved
	case errors.As(err, &inf):
		return isInfeasible
	case errors.As(err, &unb):
		return isUnbounded
	}
	return verdict(err.Error())
}

// integers draws a small problem with integer data, full of ties: duplicate, opposite
// and zero rows, and balls that just touch.
func integers(t *rapid.T) Mixture {
	d := rapid.IntRange(1, 4).Draw(t, "d")
	n := rapid.IntRange(0, 6).Draw(t, "n")
	low := rapid.SampledFrom([]int{-3, -1, 0}).Draw(t, "low")
	psi := make(Columns, d)
	for j := range psi {
		psi[j] = make([]float64, n)
		for i := range n {
			psi[j][i] = float64(rapid.IntRange(low, 3).Draw(t, "psi"))
		}
	}
	b := make([]float64, d)
	for j := range b {
		b[j] = float64(rapid.IntRange(-3, 3).Draw(t, "b"))
	}
	norm := rapid.SampledFrom([]Norm{L2, LInf, L1}).Draw(t, "norm")
	// All of them short in binary: a ball of 3/10 may touch where that of 0.3 does not.
	r := rapid.SampledFrom([]float64{5. / 16, .5, .75, 1, 1.5, 2, 5, 100, math.Inf(1)}).Draw(t, "R")
	return Mixture{B: b, Psi: psi, Norm: norm, R: r}
}

// reals draws a problem of moderate size whose rows are hard: nearly parallel,
// repeated, of any size down to the smallest numbers, and zero.
func reals(t *rapid.T) Mixture {
	d := rapid.IntRange(1, 8).Draw(t, "d")
	n := rapid.IntRange(0, 60).Draw(t, "n")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	negative := rapid.SampledFrom([]float64{0, .1, .5}).Draw(t, "negative")
	psi := make(Columns, d)
	for j := range psi {
		psi[j] = make([]float64, n)
	}
	for i := range n {
		kind := rng.IntN(6)
		from := 0
		if i > 0 {
			from = rng.IntN(i)
		}
		for j := range d {
			v := rng.ExpFloat64()
			if rng.Float64() < negative {
				v = -v
			}
			old := psi[j][from]
			switch {
			case kind == 1 && i > 0: // repeated
				v = old
			case kind == 2 && i > 0: // repeated, rounded elsewhere
				v = old / 3
			case kind == 3 && i > 0: // nearly parallel
				v = old * (1 + math.Pow(2, float64(-20-rng.IntN(33)))*rng.NormFloat64())
			case kind == 4: // tiny
				v *= 1e-300
			case kind == 5 && rng.IntN(3) > 0: // sparse
				v = 0
			}
			psi[j][i] = v
		}
	}
	b := make([]float64, d)
	for j := range b {
		b[j] = 10 + rng.NormFloat64()
	}
	norm := rapid.SampledFrom([]Norm{L2, LInf, L1}).Draw(t, "norm")
	r := rapid.SampledFrom([]float64{.5, 1, 1.25, 3, 100, math.Inf(1)}).Draw(t, "R")
	return Mixture{B: b, Psi: psi, Norm: norm, R: r}
}

func TestSolveAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := integers(t)
		want, f := oracle(p)
		sol, err := p.Solve(background, Settings{})
		if got := classify(err); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
		gap, err := check(p, sol, err)
		if err != nil {
			t.Fatal(err)
		}
		if want != isSolved {
			return
		}
		// The data are at most 3 and vertices at most 4!·3⁴ from 0, see the oracle, so
		// rounding errors of some 100 units of 2⁻⁵² of their product stay below this.
		if math.Abs(sol.Objective-f) > 1e-9 {
			t.Fatalf("objective %v, want %v", sol.Objective, f)
		}
		// Where the ball touches the feasible set there may be no multipliers, and the
		// bound is good to 2⁻²⁶R‖b‖ only.
		if gap > 1e-9 && gap > 0x1p-25*p.R*L2.Of(p.B) {
			t.Fatalf("gap %v", gap)
		}
	})
}

func TestSolveCertificates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := reals(t)
		sol, err := p.Solve(background, Settings{})
		gap, err := check(p, sol, err)
		if err != nil {
			t.Fatal(err)
		}
		if sol == nil || math.IsInf(p.R, 1) {
			return
		}
		// Errors of the multipliers, each some units of 2⁻⁵² of the largest, times R.
		most := max(LInf.Of(p.B), math.Abs(sol.Hyperplane))
		for _, m := range sol.Rows {
			most = max(most, m.Value)
		}
		d := len(p.B)
		if gap > float64(d*d+8)*slack(d)*most*p.R {
			t.Fatalf("gap %v, multipliers up to %v", gap, most)
		}
	})
}

// For d = 2 the feasible set is an interval of θ₁.
func TestSolveTwoFeatures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := reals(t)
		for len(p.B) != 2 {
			p = reals(t)
		}
		psi := p.Psi.(Columns)
		var lo, hi float64
		switch {
		case math.IsInf(p.R, 1):
			lo, hi = math.Inf(-1), math.Inf(1)
		case p.Norm == L2: // (θ₁ − ½)² = (R² − ½)/2
			h := math.Sqrt((p.R*p.R - .5) / 2)
			lo, hi = .5-h, .5+h
		case p.Norm == LInf:
			lo, hi = 1-p.R, p.R
		case p.Norm == L1:
			lo, hi = (1-p.R)/2, (1+p.R)/2
		}
		empty := p.R < p.Norm.OnHyperplane(2)
		for i := range psi[0] {
			u, v := psi[0][i], psi[1][i] // θ₁(u − v) ≥ −v
			most := max(math.Abs(u), math.Abs(v))
			if most == 0 {
				continue
			}
			u, v = u/most, v/most
			switch {
			case u > v:
				lo = max(lo, -v/(u-v))
			case u < v:
				hi = min(hi, -v/(u-v))
			case v < 0:
				empty = true
			}
		}
		// A row whose two entries differ by δ fixes θ₁ = O(1/δ) to within 2⁻⁵²/δ².
		near := func(end float64) float64 { return 64 * 0x1p-52 * (1 + end*end) }
		sol, err := p.Solve(background, Settings{})
		if _, err := check(p, sol, err); err != nil {
			t.Fatal(err)
		}
		if math.Abs(hi-lo) <= near(lo)+near(hi) && !math.IsInf(hi-lo, 0) && !empty {
			// A point or nothing, as rounding will: either is proved.
			got := classify(err)
			if got == isSolved && math.Abs(sol.Theta[0]-lo) > 2*(near(lo)+near(hi)) || got != isSolved && got != isInfeasible {
				t.Fatalf("%v: θ₁ from %v to %v, %+v", got, lo, hi, sol)
			}
			return
		}
		end := hi
		if p.B[0] > p.B[1] {
			end = lo
		}
		want := isSolved
		if empty || lo > hi {
			want = isInfeasible
		} else if math.IsInf(end, 0) {
			want = isUnbounded
		}
		if got := classify(err); got != want {
			t.Fatalf("%v, want %v: θ₁ from %v to %v", got, want, lo, hi)
		}
		if want == isSolved && math.Abs(sol.Theta[0]-end) > near(end) {
			t.Fatalf("θ₁ = %v, want %v", sol.Theta[0], end)
		}
	})
}

// The min-norm solution is the answer where several are optimal.
func TestSolveTakesLeastNorm(t *testing.T) {
	// θ₃ is to be as small as it can be, 0, and θ₁, θ₂ ≥ 0 are equivalent.
	p := Mixture{B: []float64{1, 1, 2}, Psi: Columns{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, R: math.Inf(1)}
	for _, p.Norm = range []Norm{L2, LInf, L1} {
		for _, p.R = range []float64{1, 10, math.Inf(1)} {
			sol, err := p.Solve(background, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			for j, want := range []float64{.5, .5, 0} {
				if math.Abs(sol.Theta[j]-want) > slack(3) {
					t.Errorf("%v, R = %v: θ = %v", p.Norm, p.R, sol.Theta)
				}
			}
		}
	}
}

// One variable: θ = 1, whatever b.
func TestSolveOneFeature(t *testing.T) {
	for _, norm := range []Norm{L2, LInf, L1} {
		for _, r := range []float64{.5, 1, 2, math.Inf(1)} {
			for _, row := range []float64{-1e-300, 0, 1e-300} {
				p := Mixture{B: []float64{-3}, Psi: Columns{{row, 0, 1}}, Norm: norm, R: r}
				sol, err := p.Solve(background, Settings{})
				if _, err := check(p, sol, err); err != nil {
					t.Error(err)
				}
				want := isSolved
				if r < 1 || row < 0 {
					want = isInfeasible
				}
				if got := classify(err); got != want {
					t.Errorf("%v R = %v, row %v: %v", norm, r, row, got)
				} else if got == isSolved && (sol.Theta[0] != 1 || sol.Objective != -3 || sol.Gap() > 1e-12) {
					t.Errorf("%+v", sol)
				}
			}
		}
	}
}

// Without rows, on the ball alone, the solution is known.
func TestSolveWithoutRows(t *testing.T) {
	p := Mixture{B: []float64{1, 2, 6}, Psi: Columns{{}, {}, {}}, R: 2}
	for norm, want := range map[Norm][]float64{
		L1:   {1.5, 0, -.5},
		LInf: {2, 1, -2},
		// 1/3 − √(R² − 1/3)·(−2, −1, 3)/√14
		L2: {1.0/3 + 2*math.Sqrt(11.0/42), 1.0/3 + math.Sqrt(11.0/42), 1.0/3 - 3*math.Sqrt(11.0/42)},
	} {
		p.Norm = norm
		sol, err := p.Solve(background, Settings{})
		if _, err := check(p, sol, err); err != nil {
			t.Fatal(err)
		}
		for j := range want {
			if math.Abs(sol.Theta[j]-want[j]) > 8*slack(3) {
				t.Errorf("%v: θ = %v, want %v", norm, sol.Theta, want)
			}
		}
	}
}

// The least R for which there is a point, 1/‖1‖⁎, leaves just θ = 1/d; rounding of R
// must not decide between a solution and none.
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
					if math.Abs(v-1/float64(d)) > 1e-7 { // √2⁻⁵², how far a ball of 1 ulp more reaches
						t.Errorf("d = %d, %v: θ = %v", d, norm, sol.Theta)
					}
				}
			}
			p := Mixture{B: costs(d, 1), Psi: psi, Norm: norm, R: norm.OnHyperplane(d) * (1 - 0x1p-40)}
			sol, err := p.Solve(background, Settings{})
			if _, bad := check(p, sol, err); classify(err) != isInfeasible || bad != nil {
				t.Errorf("d = %d, %v, R = %v: %v, %v", d, norm, p.R, err, bad)
			}
		}
	}
}

func TestSolveIsTheSameForAnyWorkers(t *testing.T) {
	psi := queueLike([]int{12, 9, 8, 11}, 3, 5, 3)
	for _, norm := range []Norm{L2, LInf, L1} {
		p := Mixture{B: costs(5, 2), Psi: psi, Norm: norm, R: 2}
		want, err := p.Solve(background, Settings{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if gap, err := check(p, want, nil); err != nil || gap > 1e-10*want.Objective {
			t.Fatal(gap, err)
		}
		for _, workers := range []int{2, 3, 8} {
			got, err := p.Solve(background, Settings{Workers: workers})
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%d workers: %+v, want %+v", workers, got, want)
			}
		}
		// The rows that matter are enough to begin with.
		warm, err := p.Solve(background, Settings{Warm: want.Active()})
		if err != nil || warm.Scans > 2 || math.Abs(warm.Objective-want.Objective) > 1e-12*want.Objective {
			t.Errorf("warm: %+v, want %+v", warm, want)
		}
	}
}

// A watched matrix calls a function at every block of a scan.
type watched struct {
	Rows
	calls *atomic.Int64
	at    func(call int64)
}

func (w watched) Apply(dst []float64, from int, theta []float64) {
	w.at(w.calls.Add(1))
	w.Rows.Apply(dst, from, theta)
}

func TestSolveStopsWhenToldTo(t *testing.T) {
	psi := queueLike([]int{20, 20, 20, 20}, 1, 6, 3)
	whole := Mixture{B: costs(6, 2), Psi: psi, R: 3}
	best, err := whole.Solve(background, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, stop := range []int64{1, 100, 200, 300, 400} {
		ctx, cancel := context.WithCancel(background)
		p := whole
		w := watched{Rows: psi, calls: new(atomic.Int64)}
		w.at = func(call int64) {
			if call == stop {
				cancel()
			}
		}
		p.Psi = w
		var last Progress
		sol, err := p.Solve(ctx, Settings{Workers: 2, Progress: func(now Progress) {
			if last.Scans > 0 && (now.Bound < last.Bound || now.Objective > last.Objective) || now.Scans <= last.Scans {
				t.Errorf("%+v after %+v", now, last)
			}
			last = now
		}})
		if stop < w.calls.Load() {
			if !errors.Is(err, context.Canceled) || sol == nil {
				t.Fatalf("stopped at block %d: %v", stop, err)
			}
			if calls := w.calls.Load(); calls > stop+2 {
				t.Errorf("told to stop at block %d, went on to %d", stop, calls)
			}
			if sol.Bound > best.Objective || last.Scans > 0 && sol.Bound < last.Bound {
				t.Errorf("bound %v after %v; optimum %v", sol.Bound, last.Bound, best.Objective)
			}
			// Measures have a feasible point from the first scan on.
			if last.Scans == 0 {
				continue
			}
			if err := checkRows(psi, sol.Theta, slack(6)); err != nil {
				t.Error(err)
			}
			if sol.Violation != 0 || sol.Objective > last.Objective || sol.Objective < best.Objective*(1-slack(6)) || L2.Of(sol.Theta) > 3 {
				t.Errorf("%+v; optimum %v", sol, best.Objective)
			}
		}
		cancel()
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if sol, err := whole.Solve(ctx, Settings{}); !errors.Is(err, context.Canceled) || sol == nil {
		t.Errorf("a dead context: %v", err)
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
		{Mixture{B: []float64{1, 2}, Psi: good, R: nan}, "R = NaN"},
		{Mixture{B: []float64{1, 2}, Psi: good, R: 0}, "R = 0"},
		{Mixture{B: []float64{1, 2}, Psi: good, R: -1}, "R = -1"},
		{Mixture{B: []float64{1, 2}, Psi: good, R: .5}, "infeasible: every θ"},
		{Mixture{B: []float64{1, 2}, Psi: Columns{{1, 0}, {0, nan}}, R: 2}, "Ψ[1,1] = NaN"},
		{Mixture{B: []float64{1, 2}, Psi: Columns{{1, -inf}, {0, 1}}, R: 2}, "Ψ[1,0] = -Inf"},
		{Mixture{B: []float64{1, 2}, Psi: Columns{{1, 1, -1}, {1, -2, 1}}, R: inf}, "infeasible: rows 1 2 of"},
		{Mixture{B: []float64{1, 2}, Psi: Columns{{1, 5}, {1, -1}}, R: inf}, "unbounded"},
	} {
		sol, err := c.p.Solve(background, Settings{})
		if err == nil || !strings.Contains(err.Error(), c.want) || sol != nil {
			t.Errorf("%+v: %v, %v; want %q", c.p, sol, err, c.want)
		}
	}
	for name, f := range map[string]func(){
		"b": func() { Mixture{B: []float64{1}, Psi: good, R: 1}.Solve(background, Settings{}) },
		"no columns": func() {
			Mixture{Psi: Columns{}, R: 1}.Solve(background, Settings{})
		},
		"ragged": func() {
			Mixture{B: []float64{1, 2}, Psi: Columns{{1}, {1, 2}}, R: 1}.Solve(background, Settings{})
		},
		"norm": func() { Mixture{B: []float64{1, 2}, Psi: good, R: 1, Norm: 7}.Solve(background, Settings{}) },
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "linprog: ") {
					t.Errorf("%s: panic %q", name, s)
				}
			}()
			f()
		}()
	}
}

// Rows of any size count alike: scaling a row by a power of two changes nothing but
// its multiplier.
func TestSolveIsHomogeneous(t *testing.T) {
	psi := measures(50, 4, .2, 5)
	scaled := make(Columns, 4)
	for j := range psi {
		scaled[j] = slices.Clone(psi[j])
		for i := range scaled[j] {
			scaled[j][i] = math.Ldexp(scaled[j][i], []int{-900, -40, 0, 900}[i%4])
		}
	}
	for _, norm := range []Norm{L2, LInf, L1} {
		p := Mixture{B: costs(4, 1), Psi: psi, Norm: norm, R: 4}
		want, err := p.Solve(background, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		p.Psi = scaled
		got, err := p.Solve(background, Settings{})
		if err != nil || math.Abs(got.Objective-want.Objective) > 1e-12*want.Objective {
			t.Errorf("%v: %v, want %v (%v)", norm, got, want.Objective, err)
		}
		if gap, err := check(p, got, nil); err != nil || gap > 1e-10*want.Objective {
			t.Error(gap, err)
		}
	}
}

// So do costs: θ is the same to the bit, and numbers that are costs are multiplied.
func TestSolveCostsOfAnySize(t *testing.T) {
	psi := measures(50, 4, .2, 5)
	for _, norm := range []Norm{L2, LInf, L1} {
		for _, r := range []float64{4, math.Inf(1)} {
			p := Mixture{B: costs(4, 1), Psi: psi, Norm: norm, R: r}
			want, err := p.Solve(background, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			for _, exponent := range []int{-1060, -950, -600, 600, 1000} {
				q := p
				q.B = slices.Clone(p.B)
				for j := range q.B {
					q.B[j] = math.Ldexp(q.B[j], exponent)
				}
				got, err := q.Solve(background, Settings{Progress: func(now Progress) {
					if f := math.Ldexp(want.Objective, exponent); now.Bound > f || now.Objective < f*(1-slack(4)) {
						t.Errorf("%+v, optimum %v", now, f)
					}
				}})
				if err != nil {
					t.Errorf("%v R = %v, 2^%d: %v", norm, r, exponent, err)
					continue
				}
				if exponent < -1022 { // b itself has lost digits
					continue
				}
				if _, err := check(q, got, nil); err != nil {
					t.Errorf("%v R = %v, 2^%d: %v", norm, r, exponent, err)
				}
				if !slices.Equal(got.Theta, want.Theta) || got.Objective != math.Ldexp(want.Objective, exponent) || got.Hyperplane != math.Ldexp(want.Hyperplane, exponent) {
					t.Errorf("%v R = %v, 2^%d: %+v, want %+v", norm, r, exponent, got, want)
				}
			}
		}
	}
	ray := Mixture{B: []float64{0x1p-900, 0x1p-899}, Psi: Columns{{1, 5}, {1, -1}}, R: math.Inf(1)}
	sol, err := ray.Solve(background, Settings{})
	if _, bad := check(ray, sol, err); classify(err) != isUnbounded || bad != nil {
		t.Errorf("%v, %v", err, bad)
	}
}

// No input makes a panic or a NaN, and every answer has its proof.
func FuzzSolve(f *testing.F) {
	f.Add(uint8(2), uint8(0), 1.5, []byte{200, 3, 4, 100, 100, 7})
	f.Add(uint8(1), uint8(2), 1.0, []byte{})
	f.Add(uint8(3), uint8(1), math.Inf(1), []byte{1, 128, 130, 255, 0, 127, 126, 128})
	f.Fuzz(func(t *testing.T, d, norm uint8, r float64, data []byte) {
		// A byte is a signed number of some sixteen sizes, down to the subnormal.
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
		if !(r > 0) {
			if err == nil {
				t.Fatal("R = ", r)
			}
			return
		}
		if _, err := check(p, sol, err); err != nil {
			t.Fatal(err)
		}
		// A solution has a closed gap, or is not returned as one.
		if sol != nil && (math.IsNaN(sol.Gap()) || math.IsNaN(L2.Of(sol.Theta))) {
			t.Fatalf("%+v", sol)
		}
	})
}

package mixpolicy_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// unit costs: a problem of which all quantities are of the order of 1.
func unit(tb testing.TB, d int) *mixpolicy.Problem {
	return small(tb, d, mixpolicy.Unbounded(), mixpolicy.AverageCost)
}

// reference is φ and ∇φ as the paper prints them, without a thought for rounding.
type reference struct {
	name     string
	modulus  bregman.Modulus
	value    func(x []float64) float64
	gradient func(x []float64) []float64
}

func references() []reference {
	const r = 2.
	return []reference{
		{"ball (3.7)", bregman.Ball{R: r}, func(x []float64) float64 {
			return -math.Sqrt(r*r - floats.Dot(x, x))
		}, func(x []float64) []float64 {
			y := make([]float64, len(x))
			floats.ScaleTo(y, 1/math.Sqrt(r*r-floats.Dot(x, x)), x)
			return y
		}},
		{"cube (3.10)", bregman.Cube(r), func(x []float64) (v float64) {
			for _, x := range x {
				v += (r+x)*math.Log(r+x) + (r-x)*math.Log(r-x)
			}
			return v
		}, func(x []float64) []float64 {
			y := make([]float64, len(x))
			for i, x := range x {
				y[i] = math.Log(r+x) - math.Log(r-x)
			}
			return y
		}},
		{"Euclidean", bregman.Euclidean(), func(x []float64) float64 {
			return floats.Dot(x, x) / 2
		}, func(x []float64) []float64 {
			return append([]float64(nil), x...)
		}},
		{"negative entropy", bregman.NegativeEntropy(), func(x []float64) (v float64) {
			for _, x := range x {
				v += x*math.Log(x) - x
			}
			return v
		}, func(x []float64) []float64 {
			y := make([]float64, len(x))
			for i, x := range x {
				y[i] = math.Log(x)
			}
			return y
		}},
	}
}

// minimise finds the minimum of a smooth convex F over the hyperplane 1ᵀθ = 1 from a
// point of it, by Newton's method in the first d−1 coordinates, with second derivatives
// by differences and a step halved until F falls: generic, slow, and ignorant of moduli.
func minimise(value func([]float64) float64, gradient func([]float64) []float64, from []float64) []float64 {
	d := len(from)
	theta := append([]float64(nil), from...)
	reduced := func(x []float64) []float64 {
		g := gradient(x)
		for j := range d - 1 {
			g[j] -= g[d-1]
		}
		return g[:d-1]
	}
	along := func(x []float64, j int, h float64) []float64 {
		y := append([]float64(nil), x...)
		y[j] += h
		y[d-1] -= h
		return y
	}
	for range 200 {
		g := reduced(theta)
		hessian := mat.NewDense(d-1, d-1, nil)
		const h = 1e-6
		for j := range d - 1 {
			up, down := reduced(along(theta, j, h)), reduced(along(theta, j, -h))
			for i := range up {
				hessian.Set(i, j, (up[i]-down[i])/(2*h))
			}
		}
		var step mat.VecDense
		if err := step.SolveVec(hessian, mat.NewVecDense(d-1, g)); err != nil {
			break
		}
		better := false
		for s := 1.; s > 1e-12; s /= 2 {
			next := append([]float64(nil), theta...)
			for j := range d - 1 {
				next = along(next, j, -s*step.AtVec(j))
			}
			n := reduced(next)
			if floats.HasNaN(n) || !(value(next) <= value(theta)+1e-14*math.Abs(value(theta))) || floats.Norm(n, 2) >= floats.Norm(g, 2) {
				continue
			}
			theta, better = next, true
			break
		}
		if !better {
			break
		}
	}
	return theta
}

// Algorithm 1, against itself transcribed: θ_{t+1} is the argmin of (3.13) with the
// estimate (3.5a), found by a minimiser that knows nothing of moduli; λ_{t+1} is (3.26)
// with the sign of −Ψθ and the non-negative part; averages are (3.27). That the mean of (3.5a) is the
// gradient (3.6), see paper.
func TestAlgorithm1_3_13(t *testing.T) {
	const d, steps = 3, 60
	other := make([]float64, 12)
	for i := range other {
		other[i] = float64(12+i) / 210
	}
	for _, ref := range references() {
		for _, beta := range []float64{0, .05} {
			for k := range 4 {
				kind, rowScaling := []mixpolicy.Multipliers{mixpolicy.DenseMultipliers, mixpolicy.LazyMultipliers}[k%2], k > 1
				p := unit(t, d)
				if rowScaling { // and a q that is not (1/d) Σ ψʲ
					p = mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(p.Features().SampledBy(other)), p.Class()))
				}
				f, c := p.Features(), p.MDP().Costs()
				const scale, eta0 = .1, .2
				m := start(t, p, mixpolicy.PrimalDual{Modulus: ref.modulus, Beta: beta, CostScale: scale, StepSize: mixpolicy.InverseSqrt(eta0), Multipliers: kind, RowScaling: rowScaling}).(mixpolicy.Insides)
				o := mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0)) // draws the same pairs
				lambda := make([]float64, len(c))
				sumTheta, sumLambda, weight := make([]float64, d), make([]float64, len(c)), 0.
				var s mixpolicy.Snapshot
				view := func() {
					s = view(t, m)
				}
				view()
				for step := range steps {
					theta := append([]float64(nil), s.Last...)
					eta := eta0 / math.Sqrt(float64(step+1))
					i, cost := o.Sample()
					if cost != c[i] {
						t.Fatalf("the oracle says %v for pair %d, want %v", cost, i, c[i])
					}
					estimate := make([]float64, d)
					q := (f.Column(0)[i] + f.Column(1)[i] + f.Column(2)[i]) / d
					if rowScaling {
						q = other[i]
					}
					for j := range d {
						estimate[j] = (cost/scale - lambda[i]) * f.Column(j)[i] / q
					}
					at := ref.gradient(theta)
					want := minimise(func(x []float64) float64 {
						return floats.Dot(estimate, x) + (ref.value(x)-floats.Dot(at, x))/eta
					}, func(x []float64) []float64 {
						g := ref.gradient(x)
						for j := range g {
							g[j] = estimate[j] + (g[j]-at[j])/eta
						}
						return g
					}, theta)

					// (3.27), before θ_t and λ_t are gone.
					weight += eta
					floats.AddScaled(sumTheta, eta, theta)
					floats.AddScaled(sumLambda, eta, lambda)
					// (3.26)
					var squares float64
					for i, v := range naive(f, theta) {
						r := 1.
						if rowScaling {
							r = f.Column(0)[i] + f.Column(1)[i] + f.Column(2)[i]
						}
						lambda[i] = math.Max(0, lambda[i]-eta*v/r)
						squares += r * lambda[i] * lambda[i]
					}
					if norm := math.Sqrt(squares); beta > 0 && norm > beta {
						floats.Scale(beta/norm, lambda)
					}

					advance(t, m, 1)
					view()
					// The minimiser stops where rounding of ∇F, some 10·u, times the
					// condition of the Hessian, below 10⁴ here, hides the descent.
					const tolerance = 1e-10
					if diff := floats.Distance(s.Last, want, 2); !(diff < tolerance) {
						t.Fatalf("%s, β = %v, %v: θ_%d = %v, the argmin of (3.13) is %v", ref.name, beta, kind, step+1, s.Last, want)
					}
					// λ is of the order of 1 and has had a few roundings a step.
					if diff := floats.Distance(m.CurrentMultipliers(), lambda, math.Inf(1)); diff > 8*steps*u*(1+floats.Max(lambda)) {
						t.Fatalf("%s, β = %v, %v: λ_%d is off by %v", ref.name, beta, kind, step+1, diff)
					}
					for j := range d {
						if math.Abs(s.Average[j]-sumTheta[j]/weight) > 4*steps*u*5 {
							t.Fatalf("%s: θ̂_%d = %v, want %v", ref.name, step+1, s.Average[j], sumTheta[j]/weight)
						}
					}
					if kind == mixpolicy.DenseMultipliers {
						for i := range lambda {
							if math.Abs(s.Lambda[i]-scale*sumLambda[i]/weight) > 8*steps*u*(1+floats.Max(lambda)) {
								t.Fatalf("%s: λ̂_%d of pair %d is %v, want %v", ref.name, step+1, i, s.Lambda[i], scale*sumLambda[i]/weight)
							}
						}
					}
				}
				if ref.name != "negative entropy" && floats.Max(lambda) == 0 {
					t.Errorf("%s: λ stayed 0: the test says nothing about it", ref.name)
				}
			}
		}
	}
}

// Algorithm 1 as printed, transcribed in primal coordinates: (3.4) with its sign, (3.26)
// without the non-negative part, z_t by the printed (3.22). It leaves the hyperplane.
func TestPrintedAlgorithm1_3_22_3_26(t *testing.T) {
	const d, r, beta, eta, steps = 2, 3., .5, .05, 60
	p := small(t, d, mixpolicy.Ball(r), mixpolicy.AverageCost)
	f := p.Features()
	m := start(t, p, mixpolicy.PrimalDual{Form: mixpolicy.Printed, Beta: beta, StepSize: mixpolicy.Constant(eta)}).(mixpolicy.Insides)
	o := mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0))
	theta, lambda := []float64{.5, .5}, make([]float64, p.MDP().Pairs())
	var s mixpolicy.Snapshot
	for t1 := range steps {
		i, cost := o.Sample()
		root := math.Sqrt(r*r - floats.Dot(theta, theta))
		var v [d]float64 // V of (3.22): ∇φ(θ̃), from which θ̃ = RV/√(1+‖V‖²)
		for j := range v {
			v[j] = theta[j]/root - eta*(cost-lambda[i])*f.Column(j)[i]/f.Sampling()[i]
		}
		one, vv := v[0]+v[1], v[0]*v[0]+v[1]*v[1]
		a, b := r*d*r*d-d, one*(r*r*d-1)
		z := (-b + math.Sqrt(b*b-a*r*r*(one-vv-1))) / a
		next := []float64{v[0] + z, v[1] + z}
		floats.Scale(r/math.Sqrt(1+floats.Dot(next, next)), next)

		floats.AddScaled(lambda, eta, naive(f, theta))
		if norm := floats.Norm(lambda, 2); norm > beta {
			floats.Scale(beta/norm, lambda)
		}
		theta = next
		advance(t, m, 1)
		s = view(t, m)
		// Rounding of V, some 4u a step, magnified by 1/(1 − ‖θ‖²/R²) in going to θ and back.
		if diff := floats.Distance(s.Last, theta, 2); !(diff < 1e-11) {
			t.Fatalf("θ_%d = %v, transcribed %v", t1+1, s.Last, theta)
		}
		if diff := floats.Distance(m.CurrentMultipliers(), lambda, 2); diff > 1e-11 {
			t.Fatalf("λ_%d is off by %v", t1+1, diff)
		}
	}
	if off := theta[0] + theta[1] - 1; math.Abs(off) < .01 {
		t.Errorf("1ᵀθ − 1 = %v: the printed (3.22) should miss the hyperplane", off)
	}
}

// (3.26), corrected: λ stays in {λ ⪰ 0 : ‖λ‖₂ ≤ G}, θ on the hyperplane and in the class.
func TestIteratesStayInside_3_26(t *testing.T) {
	for _, ref := range references() {
		for _, kind := range []mixpolicy.Multipliers{mixpolicy.DenseMultipliers, mixpolicy.LazyMultipliers} {
			p := unit(t, 3)
			const beta = .2
			m := start(t, p, mixpolicy.PrimalDual{Modulus: ref.modulus, Beta: beta, Multipliers: kind, StepSize: mixpolicy.Constant(.5)}).(mixpolicy.Insides)
			var s mixpolicy.Snapshot
			for range 2000 {
				advance(t, m, 1)
				s = view(t, m)
				lambda := m.CurrentMultipliers()
				if floats.Min(lambda) < 0 || floats.Norm(lambda, 2) > beta*(1+16*u) {
					t.Fatalf("%s, %v: min λ = %v, ‖λ‖ = %v", ref.name, kind, floats.Min(lambda), floats.Norm(lambda, 2))
				}
				if off := floats.Sum(s.Last) - 1; math.Abs(off) > 16*u*floats.Norm(s.Last, 1) {
					t.Fatalf("%s: 1ᵀθ − 1 = %v", ref.name, off)
				}
			}
		}
	}
}

// A ball so small that squares in it are 0.
func TestTinyBall(t *testing.T) {
	const beta = 1e-170
	for _, kind := range []mixpolicy.Multipliers{mixpolicy.DenseMultipliers, mixpolicy.LazyMultipliers} {
		m := start(t, unit(t, 3), mixpolicy.PrimalDual{Theta0: []float64{2.5, -1.75, .25}, Beta: beta, StepSize: mixpolicy.Constant(100 * beta), Multipliers: kind}).(mixpolicy.Insides)
		for range 5 {
			advance(t, m, 1)
			if norm := floats.Norm(m.CurrentMultipliers(), 2); math.Abs(norm-beta) > 16*u*beta {
				t.Errorf("%v: ‖λ‖ = %v, want %v", kind, norm, beta)
			}
		}
	}
}

// G_β = 1/(1−γ) ∨ β; with average cost the first is infinite and G is β alone.
func TestRadius_3_26(t *testing.T) {
	for _, c := range []struct {
		criterion mixpolicy.Criterion
		beta, g   float64
	}{
		{mixpolicy.Discounted(.75), 0, 4},
		{mixpolicy.Discounted(.75), 3, 4},
		{mixpolicy.Discounted(.75), 5, 5},
		{mixpolicy.AverageCost, 0, math.Inf(1)},
		{mixpolicy.AverageCost, 5, 5},
	} {
		m := mixpolicy.PrimalDual{Beta: c.beta}
		if g := m.Radius(c.criterion); g != c.g {
			t.Errorf("%v, β = %v: G = %v, want %v", c.criterion, c.beta, g, c.g)
		}
	}
}

// The printed form divides costs by nothing unless it is told to, the corrected one by c_max.
func TestScaleOfCosts(t *testing.T) {
	p := queue(t, 100, mixpolicy.Ball(2))
	_, most := p.MDP().CostRange()
	for _, c := range []struct {
		form       mixpolicy.Form
		told, want float64
	}{{mixpolicy.Printed, 0, 1}, {mixpolicy.Printed, 5, 5}, {mixpolicy.Corrected, 0, most}, {mixpolicy.Corrected, 5, 5}} {
		if a := mixpolicy.Must(mixpolicy.PrimalDual{Form: c.form, CostScale: c.told}.For(p)); a.CostScale != c.want {
			t.Errorf("%v, CostScale = %v: costs are divided by %v, want %v", c.form, c.told, a.CostScale, c.want)
		}
	}
}

// What cannot be run is refused, by name.
func TestPrimalDualErrors(t *testing.T) {
	ball := mixpolicy.Ball(2)
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		class mixpolicy.Class
		m     mixpolicy.PrimalDual
		says  []string
	}{
		{ball, mixpolicy.PrimalDual{Beta: -1}, []string{"β = -1"}},
		{ball, mixpolicy.PrimalDual{Beta: nan}, []string{"β = NaN"}},
		{ball, mixpolicy.PrimalDual{CostScale: -2}, []string{"CostScale = -2"}},
		{ball, mixpolicy.PrimalDual{CostScale: nan}, []string{"CostScale = NaN"}},
		{ball, mixpolicy.PrimalDual{CostScale: inf}, []string{"CostScale = +Inf"}},
		{ball, mixpolicy.PrimalDual{StepSize: mixpolicy.Constant(0)}, []string{"η₀ = 0"}},
		{ball, mixpolicy.PrimalDual{StepSize: mixpolicy.Constant(-1)}, []string{"η₀ = -1"}},
		{ball, mixpolicy.PrimalDual{StepSize: mixpolicy.InverseSqrt(nan)}, []string{"η₀ = NaN"}},
		{ball, mixpolicy.PrimalDual{StepSize: mixpolicy.Constant(inf)}, []string{"η₀ = +Inf"}},
		{ball, mixpolicy.PrimalDual{Theta0: []float64{1}}, []string{"θ₀ has 1 entries, want d = 2"}},
		{ball, mixpolicy.PrimalDual{Theta0: []float64{1, nan}}, []string{"θ₀ entry 1 is NaN"}},
		{ball, mixpolicy.PrimalDual{Theta0: []float64{.5, .6}}, []string{"θ₀ adds up to 1.1", "want 1"}},
		{ball, mixpolicy.PrimalDual{Theta0: []float64{.5, .5 + 9*u}}, []string{"θ₀ adds up to 1.0000000000000009"}}, // 8u; 4u is allowed
		{ball, mixpolicy.PrimalDual{Theta0: []float64{.5, .4}}, []string{"θ₀ adds up to 0.9"}},
		{mixpolicy.Unbounded(), mixpolicy.PrimalDual{Theta0: []float64{1e6 + .1 + 0x1p-32, .9 - 1e6}}, nil}, // as rounding may do to a size of 2·10⁶
		{ball, mixpolicy.PrimalDual{Theta0: []float64{1.5 + 4*u, 4*u - .5}}, nil},                           // and to one of 2
		{mixpolicy.Unbounded(), mixpolicy.PrimalDual{Theta0: []float64{.5, .6}}, []string{"θ₀ adds up to 1.1", "want 1"}},
		{ball, mixpolicy.PrimalDual{Theta0: []float64{3, -2}}, []string{"θ₀ has norm 3.6", "‖θ‖₂ ≤ 2"}},
		{mixpolicy.Cube(1), mixpolicy.PrimalDual{Theta0: []float64{1, 0}}, []string{"θ₀ is not in the interior"}},
		{mixpolicy.Simplex(), mixpolicy.PrimalDual{Theta0: []float64{1, 0}}, []string{"θ₀ is not in the interior"}},
		{ball, mixpolicy.PrimalDual{Modulus: bregman.Ball{R: .7}}, []string{"R = 0.7", "1/√d = 0.707106"}},
		{ball, mixpolicy.PrimalDual{Modulus: bregman.Cube(nan)}, []string{"R = NaN"}},
		{mixpolicy.Class{Norm: 2, R: 1.5}, mixpolicy.PrimalDual{}, []string{"no modulus is known", "want one of your own"}},
		{ball, mixpolicy.PrimalDual{Form: 7}, []string{"unknown Form 7"}},
		{ball, mixpolicy.PrimalDual{Multipliers: 7}, []string{"unknown Multipliers(7)"}},
		{ball, mixpolicy.PrimalDual{Form: mixpolicy.Printed, Beta: 3, Multipliers: mixpolicy.LazyMultipliers}, []string{"printed form have no ball", "radius 3"}},
		{ball, mixpolicy.PrimalDual{Form: mixpolicy.Printed, RowScaling: true}, []string{"row scaling is for the corrected form"}},
	} {
		p := small(t, 2, c.class, mixpolicy.AverageCost)
		_, err := c.m.Start(p, mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0)))
		if c.says != nil {
			wantError(t, err, c.says...)
		} else if err != nil {
			t.Errorf("%+v: %v", c.m, err)
		}
	}
}

// (3.27) before the first step: the averages are θ₀ and 0.
func TestViewBeforeSteps(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	for _, m := range []mixpolicy.Method{mixpolicy.PrimalDual{Theta0: []float64{.75, .25}}, mixpolicy.Penalty{Theta0: []float64{.75, .25}}} {
		s := view(t, start(t, p, m))
		if s.Average[0] != .75 || s.Last[1] != .25 || floats.Norm(s.Lambda, 1) != 0 || s.Queries != 0 {
			t.Errorf("%s: %+v", m.Name(), s)
		}
	}
}

// No method allocates in a step.
func TestStepAllocations(t *testing.T) {
	p, three := queue(t, 100, mixpolicy.Ball(2)), small(t, 3, mixpolicy.Ball(2), mixpolicy.AverageCost)
	for _, c := range []struct {
		p *mixpolicy.Problem
		m mixpolicy.Method
	}{
		{p, mixpolicy.PrimalDual{CostScale: cMax, Multipliers: mixpolicy.DenseMultipliers}},
		{p, mixpolicy.PrimalDual{CostScale: cMax, Multipliers: mixpolicy.DenseMultipliers, Beta: 2}},
		{p, mixpolicy.PrimalDual{CostScale: cMax, Multipliers: mixpolicy.LazyMultipliers}},
		{p, mixpolicy.PrimalDual{CostScale: cMax, Multipliers: mixpolicy.LazyMultipliers, Beta: 2}},
		{p, mixpolicy.PrimalDual{CostScale: cMax, Modulus: bregman.Cube(2)}},
		{three, mixpolicy.PrimalDual{Multipliers: mixpolicy.LazyMultipliers}},
		{three, mixpolicy.PrimalDual{Form: mixpolicy.Printed, Beta: 1, StepSize: mixpolicy.Constant(1e-4)}},
		{p, mixpolicy.Penalty{CostScale: cMax}},
		{three, mixpolicy.Penalty{}},
		{p, mixpolicy.PlugIn{}},
	} {
		run := start(t, c.p, c.m)
		var err error
		step := func() {
			if e := run.Step(); e != nil {
				err = e
			}
		}
		// A lazy path grows, by doubling: rarely, and less and less often.
		if n := testing.AllocsPerRun(1000, step); n != 0 || err != nil {
			t.Errorf("%T: %v allocations a step, error %v", c.m, n, err)
		}
	}
}

// Row scaling pays on the queue: after 2000 steps the penalised gap of the average is less than a
// tenth of the plain form's in every one of ten trials (in the mean, less than a
// hundredth). The saddle points are the same, and so is the optimum.
func TestRowScalingOnTheQueue(t *testing.T) {
	p := queue(t, 100, mixpolicy.Ball(2))
	gap := mixpolicy.Must(race.PenalisedGap(p))
	final := func(rowScaling bool) []float64 {
		trials := mixpolicy.Must(race.Trials(context.Background(), p, mixpolicy.PrimalDual{CostScale: cMax, RowScaling: rowScaling}, race.Settings{Trials: 10, Iterations: 2000, Seed: 1}))
		return trials.Final(gap)
	}
	plain, scaled := final(false), final(true)
	t.Logf("plain %.0f", plain)
	t.Logf("scaled %.0f", scaled)
	for k := range plain {
		if scaled[k] > plain[k]/10 {
			t.Errorf("trial %d: penalised gap %v with row scaling, %v without", k, scaled[k], plain[k])
		}
	}
}

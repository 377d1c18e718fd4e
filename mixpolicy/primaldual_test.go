package mixpolicy_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

// unit returns a problem in which all quantities are of the order of 1.
func unit(tb testing.TB, d int) *mixpolicy.Problem {
	return small(tb, d, mixpolicy.Unbounded(), mixpolicy.AverageCost)
}

// reference is ∇φ by its formula, without care for rounding.
type reference struct {
	name     string
	modulus  bregman.Modulus
	gradient func(x []float64) []float64
}

func references() []reference {
	const r = 2.
	entrywise := func(f func(x float64) float64) func(x []float64) []float64 {
		return func(x []float64) (y []float64) {
			for _, v := range x {
				y = append(y, f(v))
			}
			return y
		}
	}
	return []reference{
		{"ball (3.7)", bregman.Ball{R: r}, func(x []float64) []float64 {
			return floats.ScaleTo(make([]float64, len(x)), 1/math.Sqrt(r*r-floats.Dot(x, x)), x)
		}},
		{"cube (3.10)", bregman.Cube(r), entrywise(func(x float64) float64 { return math.Log(r+x) - math.Log(r-x) })},
		{"Euclidean", bregman.Euclidean(), entrywise(func(x float64) float64 { return x })},
		{"negative entropy", bregman.NegativeEntropy(), entrywise(math.Log)},
	}
}

// Algorithm 1 agrees with a transcription. θ_{t+1} is the argmin of (3.13) over 1ᵀθ = 1 with the estimate (3.5a): the
// vector ηĝ + ∇φ(θ_{t+1}) − ∇φ(θ_t) is a multiple of 1. λ_{t+1} is (3.26) with the sign of −Ψθ and the non-negative
// part. Averages are (3.27), or have the weights η_t(t+1)ᵖ for Recency p. Package paper tests that (3.5a) has the mean (3.6).
func TestAlgorithm1_3_13(t *testing.T) {
	const d, steps, scale, eta0 = 3, 60, .1, .2
	const dense, lazy = mixpolicy.DenseMultipliers, mixpolicy.LazyMultipliers
	other := make([]float64, 12)
	for i := range other {
		other[i] = float64(12+i) / 210
	}
	for _, ref := range references() {
		for _, m := range []mixpolicy.PrimalDual{
			{Multipliers: dense}, {Multipliers: dense, Beta: .05}, {Multipliers: lazy}, {Multipliers: lazy, Beta: .05},
			{Multipliers: dense, RowScaling: true}, {Multipliers: dense, RowScaling: true, Beta: .05, Recency: 2.5},
			{Multipliers: lazy, RowScaling: true, Recency: .5}, {Multipliers: lazy, RowScaling: true, Beta: .05},
		} {
			p := unit(t, d)
			theta0 := []float64{1. / d, 1. / d, 1. / d}
			if m.RowScaling { // also try another θ₀, and a q that is not (1/d) Σ ψʲ
				theta0 = []float64{.5, .25, .25}
				m.Theta0 = theta0
				p = mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(p.Features().SampledBy(other)), p.Class()))
			}
			m.Modulus, m.CostScale, m.StepSize = ref.modulus, scale, mixpolicy.InverseSqrt(eta0)
			f, c, run := p.Features(), p.MDP().Costs(), start(t, p, m)
			o := mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0)) // draws the same pairs as the run
			lambda := make([]float64, len(c))
			if s := view(t, run); !slices.Equal(s.Average, theta0) || !slices.Equal(s.Last, theta0) || !floats.Same(s.Lambda, lambda) {
				t.Errorf("%s, %+v: before the first step %+v", ref.name, m, s)
			}
			sumTheta, sumLambda, weight := make([]float64, d), make([]float64, len(c)), 0.
			for step := range steps {
				s := view(t, run)
				theta, eta := append([]float64(nil), s.Last...), eta0/math.Sqrt(float64(step+1))
				i, cost := o.Sample()
				rows := naive(f, []float64{1, 1, 1})
				q := rows[i] / d
				if m.RowScaling {
					q = other[i]
				}
				stationary := ref.gradient(theta)
				for j := range d {
					stationary[j] -= eta * (cost/scale - lambda[i]) * f.Column(j)[i] / q
				}

				w := eta * math.Pow(float64(step+1), m.Recency) // (3.27), before θ_t and λ_t change
				weight += w
				floats.AddScaled(sumTheta, w, theta)
				floats.AddScaled(sumLambda, w, lambda)

				var squares float64 // (3.26)
				for i, v := range naive(f, theta) {
					r := 1.
					if m.RowScaling {
						r = rows[i]
					}
					lambda[i] = max(0, lambda[i]-eta*v/r)
					squares += r * lambda[i] * lambda[i]
				}
				if norm := math.Sqrt(squares); m.Beta > 0 && norm > m.Beta {
					floats.Scale(m.Beta/norm, lambda)
				}

				advance(run, 1)
				s = view(t, run)
				next := ref.gradient(s.Last)
				floats.Sub(stationary, next)
				floats.AddConst(-stationary[0], stationary)
				// Here, ∇φ has a condition number of at most 10⁴ and a rounding error of about 10u.
				off := floats.Norm(stationary, math.Inf(1))
				if !(off < 1e-11*(1+floats.Norm(next, 1))) || math.Abs(floats.Sum(s.Last)-1) > 64*u {
					t.Fatalf("%s, %+v: θ_%d = %v is not the argmin of (3.13): off by %v", ref.name, m, step+1, s.Last, off)
				}
				for j, v := range s.Average {
					if math.Abs(v-sumTheta[j]/weight) > 4*steps*u*5 {
						t.Fatalf("%s, %+v: θ̂_%d = %v, want %v", ref.name, m, step+1, v, sumTheta[j]/weight)
					}
				}
				for i, v := range s.Lambda { // λ is of the order of 1, with a few roundings a step; multipliers_test.go tests lazy λ̂
					want := scale * sumLambda[i] / weight
					if m.Multipliers == dense && math.Abs(v-want) > 8*steps*u*(1+floats.Max(lambda)) {
						t.Fatalf("%s, %+v: λ̂_%d of pair %d is %v, want %v", ref.name, m, step+1, i, v, want)
					}
				}
			}
			if ref.name != "negative entropy" && floats.Max(lambda) == 0 {
				t.Errorf("%s: λ stayed 0: the test says nothing about λ", ref.name)
			}
		}
	}
}

// Algorithm 1 as printed agrees with a transcription in primal coordinates: (3.4) with its sign, (3.26)
// without the non-negative part, and z_t by the printed (3.22). Its iterates leave the hyperplane.
func TestPrintedAlgorithm1_3_22_3_26(t *testing.T) {
	const d, r, beta, eta, steps = 2, 3., .5, .05, 60
	p := small(t, d, mixpolicy.Ball(r), mixpolicy.AverageCost)
	f := p.Features()
	m := start(t, p, mixpolicy.PrimalDual{Form: mixpolicy.Printed, Beta: beta, StepSize: mixpolicy.Constant(eta)})
	o := mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0))
	theta, lambda, total := []float64{.5, .5}, make([]float64, p.MDP().Pairs()), make([]float64, p.MDP().Pairs())
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

		floats.Add(total, lambda)
		floats.AddScaled(lambda, eta, naive(f, theta))
		if norm := floats.Norm(lambda, 2); norm > beta {
			floats.Scale(beta/norm, lambda)
		}
		theta = next
		advance(m, 1)
		s := view(t, m)
		// Each step adds a rounding error of about 4u to V. The map from V to θ and back multiplies the error by 1/(1 − ‖θ‖²/R²).
		if diff := floats.Distance(s.Last, theta, 2); !(diff < 1e-11) {
			t.Fatalf("θ_%d = %v, transcribed %v", t1+1, s.Last, theta)
		}
		sum := floats.ScaleTo(make([]float64, len(lambda)), float64(t1+1), s.Lambda)
		if diff := floats.Distance(sum, total, 2); !(diff < 1e-11*steps) {
			t.Fatalf("λ̂_%d is off by %v", t1+1, diff)
		}
	}
	if off := theta[0] + theta[1] - 1; math.Abs(off) < .01 {
		t.Errorf("1ᵀθ − 1 = %v: the printed (3.22) should miss the hyperplane", off)
	}
}

// G_β = 1/(1−γ) ∨ β. With average cost, G is β, or +∞ if β = 0.
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

// If CostScale is 0, methods divide costs by max |c|, or by 1 if all costs are 0. The printed form divides by 1.
func TestScaleOfCosts(t *testing.T) {
	theta := func(p *mixpolicy.Problem, m mixpolicy.Method) []float64 {
		return solve(t, p, m, mixpolicy.Settings{Iterations: 50, Seed: 2, Uncertified: true}).Theta
	}
	const printed = mixpolicy.Printed
	f := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost).Features()
	for _, factor := range []float64{8, -16, 0} {
		x := priced(f.MDP(), func(c float64) float64 { return factor * c })
		psi := mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, f.Column(0), f.Column(1)))
		p := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(1.5)))
		most := floats.Norm(x.Costs(), math.Inf(1))
		if most == 0 {
			most = 1
		}
		for _, pair := range [][2]mixpolicy.Method{
			{mixpolicy.PrimalDual{}, mixpolicy.PrimalDual{CostScale: most}}, {mixpolicy.Penalty{}, mixpolicy.Penalty{CostScale: most}},
			{mixpolicy.PrimalDual{Form: printed}, mixpolicy.PrimalDual{Form: printed, CostScale: 1}},
		} {
			if a, b := theta(p, pair[0]), theta(p, pair[1]); !floats.Same(a, b) || floats.HasNaN(a) {
				t.Errorf("%s, costs times %v: θ̂ = %v, with the scale given %v", pair[0].Name(), factor, a, b)
			}
		}
	}
}

// Start refuses settings that cannot run, and names them.
func TestMethodErrors(t *testing.T) {
	ball := mixpolicy.Ball(2)
	nan := math.NaN()
	for _, c := range []struct {
		class mixpolicy.Class
		m     mixpolicy.Method
		says  []string
	}{
		{ball, mixpolicy.PrimalDual{Beta: -1}, []string{"β = -1"}},
		{ball, mixpolicy.Penalty{Weight: -1}, []string{"ω = -1"}},
		{ball, mixpolicy.Penalty{Weight: nan}, []string{"ω = NaN"}},
		{ball, mixpolicy.Penalty{Theta0: []float64{2, 0}}, []string{"θ₀ adds up to 2"}},
		{ball, mixpolicy.PrimalDual{CostScale: nan}, []string{"CostScale = NaN"}},
		{ball, mixpolicy.PrimalDual{Recency: -1}, []string{"recency p = -1"}},
		{ball, mixpolicy.PrimalDual{Recency: 31}, []string{"p = 31, want a number from 0 to 30"}},
		{ball, mixpolicy.PrimalDual{Recency: nan}, []string{"p = NaN"}},
		{ball, mixpolicy.PrimalDual{StepSize: mixpolicy.Constant(0)}, []string{"η₀ = 0"}},
		{ball, mixpolicy.PrimalDual{Theta0: []float64{1}}, []string{"θ₀ has 1 entries, want d = 2"}},
		{ball, mixpolicy.PrimalDual{Theta0: []float64{1, nan}}, []string{"θ₀ entry 1 is NaN"}},
		{ball, mixpolicy.PrimalDual{Theta0: []float64{.5, .5 + 9*u}}, []string{"θ₀ adds up to 1.0000000000000009"}}, // 8u off; 4u is allowed
		{mixpolicy.Unbounded(), mixpolicy.PrimalDual{Theta0: []float64{1e6 + .1 + 0x1p-32, .9 - 1e6}}, nil},         // rounding of 10⁶
		{ball, mixpolicy.PrimalDual{Theta0: []float64{1.5 + 4*u, 4*u - .5}}, nil},                                   // rounding of 1.5
		{ball, mixpolicy.PrimalDual{Theta0: []float64{3, -2}}, []string{"θ₀ has norm 3.6", "‖θ‖₂ ≤ 2"}},
		{mixpolicy.Cube(1), mixpolicy.PrimalDual{Theta0: []float64{1, 0}}, []string{"θ₀ is not in the interior"}},
		{ball, mixpolicy.PrimalDual{Modulus: bregman.Ball{R: .7}}, []string{"R = 0.7", "1/√d = 0.707106"}},
		{mixpolicy.Class{Norm: 2, R: 1.5}, mixpolicy.PrimalDual{}, []string{"no modulus is known", "want one of your own"}},
		{ball, mixpolicy.PrimalDual{Form: 7}, []string{"unknown Form 7"}},
		{ball, mixpolicy.PrimalDual{Multipliers: 7}, []string{"unknown Multipliers(7)"}},
		{ball, mixpolicy.PrimalDual{Form: mixpolicy.Printed, Beta: 3, Multipliers: mixpolicy.LazyMultipliers}, []string{"printed form allow no ball", "radius 3"}},
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

// No method allocates in a step. A lazy path grows by doubling, too rarely to show in the mean of 1000 steps.
func TestStepAllocations(t *testing.T) {
	three := unit(t, 3)
	for _, m := range []mixpolicy.Method{
		mixpolicy.PrimalDual{Multipliers: mixpolicy.DenseMultipliers, Beta: 2},
		mixpolicy.PrimalDual{Multipliers: mixpolicy.LazyMultipliers, Beta: 2},
		mixpolicy.PrimalDual{Modulus: bregman.Cube(2)},
		mixpolicy.PrimalDual{Form: mixpolicy.Printed, Beta: 1, StepSize: mixpolicy.Constant(1e-4)},
		mixpolicy.Penalty{}, mixpolicy.PlugIn{},
	} {
		run := start(t, three, m)
		if n := testing.AllocsPerRun(1000, func() { advance(run, 1) }); n != 0 {
			t.Errorf("%s: %v allocations a step", m.Name(), n)
		}
	}
}

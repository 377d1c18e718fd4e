package mixpolicy_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
)

// (4.14), (4.16): without a ball, the projection onto the hyperplane is affine, so the expectation of the penalty
// method's step is −ηP∇f_ω with P = I − 11ᵀ/d. The test sums the expectation exactly over all pairs. It computes
// ∇f_ω by difference quotients of f_ω(θ) = cᵀΨθ/k + ω‖[Ψθ]₋‖₁. No entry of Ψθ is near 0, where f_ω has a kink.
func TestPenaltyIsUnbiased_4_14(t *testing.T) {
	const d, scale, omega, eta = 3, .5, 4., .25
	p := unit(t, d)
	theta := []float64{2.5, -1.75, .25}
	if p.NegativeMass(theta) < .01 {
		t.Fatal("no entry is negative: the test says nothing about the penalty")
	}
	value := func(x []float64) float64 { return p.Objective(x)/scale + omega*p.NegativeMass(x) }
	mean := make([]float64, d)
	for i, q := range p.Features().Sampling() {
		method := mixpolicy.Penalty{Weight: omega, CostScale: scale, StepSize: mixpolicy.Constant(eta), Theta0: theta}
		m := mixpolicy.Must(method.Start(p, firstAt(p, i)))
		advance(m, 1)
		s := view(t, m)
		for j := range mean {
			mean[j] += q * (theta[j] - s.Last[j]) / eta
		}
		if !floats.EqualApprox(s.Average, theta, 4*u) {
			t.Errorf("average %v after one step, want θ₀ = %v", s.Average, theta)
		}
	}
	gradient := make([]float64, d)
	const h = 1. / 1024 // f_ω is linear within ±h, so the only error is rounding, u·|f|/h
	for j := range gradient {
		x := append([]float64(nil), theta...)
		x[j] += h
		up := value(x)
		x[j] -= 2 * h
		gradient[j] = (up - value(x)) / (2 * h)
	}
	centre := floats.Sum(gradient) / d
	for j := range mean {
		if want := gradient[j] - centre; math.Abs(mean[j]-want) > 64*1024*u {
			t.Errorf("E ĝ%d = %v, want %v", j+1, mean[j], want)
		}
	}
}

// Every iterate θ is in Θ_R ∩ Θ₂, and is the projection of the result y of a gradient
// step: ⟨y − θ, x − θ⟩ ≤ 0 for all x in this set. The average has the weights η(t+1)ᵖ.
func TestPenaltyProjects_4_16(t *testing.T) {
	for _, class := range []mixpolicy.Class{mixpolicy.Ball(1), mixpolicy.Cube(.9), mixpolicy.Simplex()} {
		p := small(t, 3, class, mixpolicy.AverageCost)
		const eta = .5
		m := start(t, p, mixpolicy.Penalty{StepSize: mixpolicy.Constant(eta), CostScale: .1, Recency: 1.5})
		o := mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0))
		s := view(t, m)
		row, sum, weights := make([]float64, 3), make([]float64, 3), 0.
		corners := [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {.9, .9, -.8}, {-.8, .9, .9}, {.9, -.8, .9}, {2. / 3, 2. / 3, -1. / 3}, {1. / 3, 1. / 3, 1. / 3}}
		for step := range 200 {
			y, w := append([]float64(nil), s.Last...), math.Pow(float64(step+1), 1.5)
			floats.AddScaled(sum, w, y)
			weights += w
			i, cost := o.Sample()
			p.Features().Row(row, i)
			slope := cost / .1
			if floats.Dot(row, y) < 0 {
				slope--
			}
			floats.AddScaled(y, -eta*slope/p.Features().Sampling()[i], row)
			advance(m, 1)
			s = view(t, m)
			tolerance := 64 * u * (1 + floats.Norm(y, 2))
			if math.Abs(floats.Sum(s.Last)-1) > tolerance || class.Size(s.Last) > class.R+tolerance {
				t.Fatalf("%v: θ_%d = %v is outside", class, step+1, s.Last)
			}
			if !floats.EqualApprox(floats.ScaleTo(row, 1/weights, sum), s.Average, 1e-13) {
				t.Fatalf("%v: θ̂_%d = %v, want %v", class, step+1, s.Average, row)
			}
			for _, x := range corners {
				if class.Size(x) > class.R {
					continue
				}
				var inner float64
				for j := range x {
					inner += (y[j] - s.Last[j]) * (x[j] - s.Last[j])
				}
				if inner > 4*tolerance*(1+floats.Norm(y, 2)) {
					t.Fatalf("%v: θ_%d = %v is not the projection of %v: ⟨y−θ, x−θ⟩ = %v for x = %v", class, step+1, s.Last, y, inner, x)
				}
			}
		}
	}
}

// A row where Ψθ is exactly 0 incurs no penalty: if its cost is 0, θ does not move.
func TestPenaltyAtZero(t *testing.T) {
	f := mixpolicy.Must(mixpolicy.FeaturesFromColumns(flip(), []float64{.25, .75}, []float64{.5, .5}))
	p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Unbounded()))
	m := mixpolicy.Must(mixpolicy.Penalty{Theta0: []float64{2, -1}}.Start(p, firstAt(p, 0)))
	advance(m, 1)
	if s := view(t, m); s.Last[0] != 2 || s.Last[1] != -1 {
		t.Errorf("θ₁ = %v", s.Last)
	}
}

// E b̂, summed exactly over all pairs with their probabilities, is b = cᵀΨ.
func TestPlugInIsUnbiased(t *testing.T) {
	p := small(t, 3, mixpolicy.Ball(2), mixpolicy.AverageCost)
	mean := make([]float64, 3)
	for i, q := range p.Features().Sampling() {
		m := mixpolicy.Must(mixpolicy.PlugIn{}.Start(p, firstAt(p, i)))
		advance(m, 1)
		view(t, m) // computes the estimate
		floats.AddScaled(mean, q, m.(mixpolicy.Estimator).Estimate())
	}
	for j, b := range p.BaseCosts() {
		if math.Abs(mean[j]-b) > 40*u {
			t.Errorf("E b̂%d = %v, want %v", j+1, mean[j], b)
		}
	}
}

// After 20,000 samples, b̂ differs from b by at most Hoeffding's bound for terms in [0, d·c_max]. The terms are in this
// range because ψʲ/q ≤ d. Moreover, θ̂ has no negative mass.
func TestPlugInConcentrates(t *testing.T) {
	const d, samples, delta = 3, 20_000, 1e-9
	p := small(t, d, mixpolicy.Ball(2), mixpolicy.AverageCost)
	m := start(t, p, mixpolicy.PlugIn{})
	var s mixpolicy.Snapshot
	if err := m.View(&s); err != nil || s.Average[0] != 1./3 {
		t.Fatalf("before the first sample: %+v, %v", s, err)
	}
	advance(m, samples)
	s = view(t, m)
	_, top := p.MDP().CostRange()
	tolerance := d * top * math.Sqrt(math.Log(2*d/delta)/(2*samples))
	for j, b := range p.BaseCosts() {
		if math.Abs(m.(mixpolicy.Estimator).Estimate()[j]-b) > tolerance {
			t.Errorf("b̂%d = %v, want %v ± %v", j+1, m.(mixpolicy.Estimator).Estimate()[j], b, tolerance)
		}
	}
	if mass := p.NegativeMass(s.Average); mass > 1e-14 {
		t.Errorf("negative mass %v", mass)
	}
}

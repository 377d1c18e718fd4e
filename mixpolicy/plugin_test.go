package mixpolicy_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
)

// E b̂ = b = cᵀΨ, exactly: the sum over all pairs with their probabilities.
func TestPlugInIsUnbiased(t *testing.T) {
	p := small(t, 3, mixpolicy.Ball(2), mixpolicy.AverageCost)
	mean := make([]float64, 3)
	for i, q := range p.Features().Sampling() {
		m := startOn(t, p, mixpolicy.PlugIn{}, firstAt(p, i))
		advance(t, m, 1)
		view(t, m) // which makes the estimate
		floats.AddScaled(mean, q, m.(mixpolicy.Estimator).Estimate())
	}
	for j, b := range p.BaseCosts() {
		if math.Abs(mean[j]-b) > 40*u {
			t.Errorf("E b̂%d = %v, want %v", j+1, mean[j], b)
		}
	}
}

// After t samples b̂ is within Hoeffding's bound: a term is in [0, d·c_max], for
// ψʲ/q ≤ d. And θ̂ is feasible and solves (2.18) for b̂.
func TestPlugInConcentrates(t *testing.T) {
	const d, samples, delta = 3, 20_000, 1e-9
	p := small(t, d, mixpolicy.Ball(2), mixpolicy.AverageCost)
	m := start(t, p, mixpolicy.PlugIn{})
	var s mixpolicy.Snapshot
	if err := m.View(&s); err != nil || s.Average[0] != 1./3 {
		t.Fatalf("before the first sample: %+v, %v", s, err)
	}
	advance(t, m, samples)
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
	if s.Queries != samples || s.Iteration != samples {
		t.Errorf("%+v", s)
	}
}

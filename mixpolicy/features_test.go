package mixpolicy_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Section 2.2: the columns of Ψ are the occupation measures of the base policies,
// 1ᵀψʲ = 1, ψʲ ⪰ 0, and the flow constraint holds for Ψθ whenever 1ᵀθ = 1.
func TestFeatures_2_2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, drawCriterion(t))
		d := rapid.IntRange(1, 3).Draw(t, "d")
		policies := make([]*mixpolicy.Policy, d)
		for j := range policies {
			policies[j] = drawPolicy(t, x)
		}
		f, err := mixpolicy.NewFeatures(x, policies...)
		if err != nil {
			t.Fatal(err)
		}
		theta := drawFinite(t, d, 5, "θ")
		theta[0] += 1 - floats.Sum(theta)
		mixed := make([]float64, x.Pairs())
		for j, p := range policies {
			c := f.Column(j)
			if math.Abs(floats.Sum(c)-1) > 64*u || floats.Min(c) < 0 {
				t.Fatalf("column %d adds up to %v, least entry %v", j, floats.Sum(c), floats.Min(c))
			}
			mu := luMeasure(t, x, p)
			for s := range x.States() {
				for a, w := range p.Row(s) {
					// Two solutions of 5 equations whose condition the MDP's common state bounds by
					// 16 (or the discount by 1000).
					if i := x.Pair(s, a); math.Abs(c[i]-w*mu[s]) > 1e-11 {
						t.Fatalf("ψ%d of pair %d is %v, want %v", j+1, i, c[i], w*mu[s])
					}
				}
			}
			if r := f.FlowResidual(j); r > 64*u {
				t.Fatalf("flow residual %v of column %d", r, j)
			}
			floats.AddScaled(mixed, theta[j], c)
		}
		if r := x.FlowResidual(mixed); r > 64*u*floats.Norm(theta, 1) {
			t.Fatalf("flow residual %v of Ψθ", r)
		}
	})
}

// FlowResidual is ‖ξᵀ(Q − γP) − (1−γ)αᵀ‖₁ with matrices written out.
func TestFlowResidual_2_13b(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, drawCriterion(t))
		xi := drawFinite(t, x.Pairs(), 1, "ξ")
		g := x.Gamma()
		var want float64
		for s2 := range x.States() {
			v := 0.
			if g < 1 {
				v = -(1 - g) * x.Initial()[s2]
			}
			for i, w := range xi {
				s, a := i/x.Actions(), i%x.Actions()
				if s == s2 {
					v += w
				}
				to, p := x.Next(s, a)
				for k, to := range to {
					if int(to) == s2 {
						v -= g * p[k] * w
					}
				}
			}
			want += math.Abs(v)
		}
		if got := x.FlowResidual(xi); math.Abs(got-want) > 200*u {
			t.Fatalf("residual %v, want %v", got, want)
		}
	})
}

// Ψθ, Ψᵀx, rows and the gonum matrix say the same.
func TestFeatureProducts(t *testing.T) {
	f := small(t, 3, mixpolicy.Ball(2), mixpolicy.AverageCost).Features()
	theta, x := []float64{2, -1.5, .5}, make([]float64, f.MDP().Pairs())
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	psi := f.Dense()
	if r, c := psi.Dims(); r != 12 || c != 3 || f.Dim() != 3 {
		t.Fatalf("Ψ is %d × %d, d = %d", r, c, f.Dim())
	}
	var want mat.VecDense
	got := make([]float64, 12)
	f.MulVec(got, theta)
	want.MulVec(psi, mat.NewVecDense(3, theta))
	if diff := floats.Distance(got, want.RawVector().Data, 1); diff > 12*8*u {
		t.Errorf("Ψθ is off by %v", diff)
	}
	got = make([]float64, 3)
	want.Reset()
	f.MulVecT(got, x)
	want.MulVec(psi.T(), mat.NewVecDense(12, x))
	if diff := floats.Distance(got, want.RawVector().Data, 1); diff > 3*24*u {
		t.Errorf("Ψᵀx is off by %v", diff)
	}
	for i := range 12 {
		f.Row(got, i)
		if !floats.Equal(got, mat.Row(nil, i, psi)) {
			t.Errorf("row %d is %v, want %v", i, got, mat.Row(nil, i, psi))
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for a θ of the wrong length")
		}
	}()
	f.MulVec(x, []float64{1})
}

// (2.20): π^θ is in proportion to [Ψθ]₊, and uniform where that is 0.
func TestPolicyOfFeatures_2_20(t *testing.T) {
	f := small(t, 3, mixpolicy.Ball(20), mixpolicy.AverageCost).Features()
	theta := []float64{6, -3, -2}
	p := mixpolicy.Must(f.PolicyOf(theta))
	psi := naive(f, theta)
	for s := range 6 {
		a, b := math.Max(0, psi[2*s]), math.Max(0, psi[2*s+1])
		want := .5
		if a+b > 0 {
			want = a / (a + b)
		}
		if got := p.Row(s)[0]; math.Abs(got-want) > 1e-12 {
			t.Errorf("state %d: π₀ = %v, want %v", s, got, want)
		}
	}
	_, err := f.PolicyOf([]float64{1, math.NaN(), 0})
	wantError(t, err, "θ2 is NaN", "want a finite number")
	_, err = f.PolicyOf([]float64{1, 0, math.Inf(1)})
	wantError(t, err, "θ3 is +Inf")
}

// Cancelled in the third measure, the first two come back, and with those of the rest of
// the policies they make the features of an undisturbed run.
func TestFeaturesStop(t *testing.T) {
	w := models.Network{Buffers: [4]int{3, 2, 2, 3}}
	x := mixpolicy.Must(w.MDP())
	policies := mixpolicy.Must(w.Policies(x, models.Longer, models.LastBuffer, models.AnyQueue, models.OldestJob))
	whole := mixpolicy.Must(mixpolicy.NewFeaturesContext(context.Background(), x, mixpolicy.MeasureSettings{Method: mixpolicy.Multilevel}, policies...))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started := 0
	set := mixpolicy.MeasureSettings{Method: mixpolicy.Multilevel, Progress: func(sweeps int, _ float64) {
		if sweeps == 0 {
			if started++; started == 3 {
				cancel()
			}
		}
	}}
	done, err := mixpolicy.NewFeaturesContext(ctx, x, set, policies...)
	wantError(t, err, "base policy 2")
	if !errors.Is(err, context.Canceled) || done == nil || done.Dim() != 2 || done.Policy(1) != policies[1] {
		t.Fatalf("cancelled in the third measure: features %v, error %v", done, err)
	}
	set.Progress = nil
	rest := mixpolicy.Must(mixpolicy.NewFeaturesContext(context.Background(), x, set, policies[2:]...))
	measures := []*mixpolicy.Measure{done.Measure(0), done.Measure(1), rest.Measure(0), rest.Measure(1)}
	both := mixpolicy.Must(mixpolicy.FeaturesFromMeasures(x, policies, measures, 1e-12))
	for j := range policies {
		if !slices.Equal(both.Column(j), whole.Column(j)) {
			t.Errorf("column %d is not that of an undisturbed run", j)
		}
	}

	// None is finished: there are no features.
	if f, err := mixpolicy.NewFeaturesContext(ctx, x, set, policies...); f != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: features %v, error %v", f, err)
	}
}

// What is wrong with features is named.
func TestFeatureErrors(t *testing.T) {
	x := flip()
	pairs := x.Pairs()
	column := func(v ...float64) []float64 {
		c := make([]float64, pairs)
		copy(c, v)
		return c
	}
	_, err := mixpolicy.NewFeatures(x)
	wantError(t, err, "no base policy")
	_, err = mixpolicy.FeaturesFromColumns(x)
	wantError(t, err, "no feature column")
	_, err = mixpolicy.FeaturesFromColumns(x, column(1), []float64{1})
	wantError(t, err, "feature column 1 has 1 entries")
	_, err = mixpolicy.FeaturesFromColumns(x, column(1), column(2, -1))
	wantError(t, err, "feature column 1", "-1", "want a probability")
	_, err = mixpolicy.FeaturesFromColumns(x, column(math.NaN()))
	wantError(t, err, "feature column 0", "NaN")
	_, err = mixpolicy.FeaturesFromColumns(x, column(.5, .4))
	wantError(t, err, "feature column 0 adds up to 0.9", "want 1")

	f := mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, column(.5, .5), column(1)))
	if f.Measure(0) != nil {
		t.Error("a given column has a measure")
	}
	_, err = f.SampledBy(column(1))
	wantError(t, err, "feature 0 is 0.5 there, but the row is never sampled")
	_, err = f.SampledBy([]float64{1})
	wantError(t, err, "1 entries")
	_, err = f.SampledBy(column(.5, .6))
	wantError(t, err, "sampling distribution", "1.1")
	_, err = f.SampledBy(column(.5, math.NaN(), .5))
	wantError(t, err, "sampling distribution", "NaN")
	g := mixpolicy.Must(f.SampledBy(column(.25, .75)))
	if g.Sampling()[1] != .75 || f.Sampling()[1] != .25 {
		t.Error("SampledBy changed the original, or not the copy")
	}

	two := islands(mixpolicy.AverageCost)
	_, err = mixpolicy.NewFeatures(two, mixpolicy.UniformPolicy(two))
	wantError(t, err, "base policy 0", "recurrent classes")
}

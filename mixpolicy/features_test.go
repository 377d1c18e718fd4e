package mixpolicy_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Section 2.2: the columns of Ψ are the occupation measures of the base policies,
// 1ᵀψʲ = 1, ψʲ ⪰ 0, and the flow constraint holds for Ψθ whenever 1ᵀθ = 1. (2.20): π^θ is the policy of Ψθ.
func TestFeatures_2_2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, drawCriterion(t))
		f := drawFeatures(t, x, 3)
		theta := drawFinite(t, f.Dim(), 5, "θ")
		theta[0] += 1 - floats.Sum(theta)
		mixed, columns := make([]float64, x.Pairs()), [][]float64{}
		for j := range f.Dim() {
			p, c := f.Policy(j), f.Column(j)
			if math.Abs(floats.Sum(c)-1) > 64*u || floats.Min(c) < 0 {
				t.Fatalf("column %d adds up to %v, least entry %v", j, floats.Sum(c), floats.Min(c))
			}
			mu := luMeasure(t, x, p)
			for s := range x.States() {
				for a, w := range p.Row(s) {
					// NewFeatures and luMeasure solve at most 5 equations. The condition number is at most 16,
					// because of the MDP's common state, or 1000, because of the discount.
					if i := x.Pair(s, a); math.Abs(c[i]-w*mu[s]) > 1e-11 {
						t.Fatalf("ψ%d of pair %d is %v, want %v", j+1, i, c[i], w*mu[s])
					}
				}
			}
			if r := f.FlowResidual(j); r > 64*u {
				t.Fatalf("flow residual %v of column %d", r, j)
			}
			floats.AddScaled(mixed, theta[j], c)
			columns = append(columns, c)
		}
		same(t, f, columns)
		p, want := mixpolicy.Must(f.PolicyOf(theta)), mixpolicy.Must(mixpolicy.PolicyOf(x, mixed))
		for s := range x.States() {
			if !slices.Equal(p.Row(s), want.Row(s)) {
				t.Fatalf("state %d: π = %v, want %v", s, p.Row(s), want.Row(s))
			}
		}
		if r := x.FlowResidual(mixed); r > 64*u*floats.Norm(theta, 1) {
			t.Fatalf("flow residual %v of Ψθ", r)
		}
	})
}

// FlowResidual equals ‖ξᵀ(Q − γP) − (1−γ)αᵀ‖₁, computed row by row from this definition.
func TestFlowResidual_2_13b(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, drawCriterion(t))
		xi := drawFinite(t, x.Pairs(), 1, "ξ")
		flow := floats.ScaleTo(make([]float64, x.States()), x.Gamma()-1, x.Initial())
		for i, v := range xi {
			s, a := x.StateAction(i)
			flow[s] += v
			floats.AddScaled(flow, -x.Gamma()*v, rowOf(x, s, a))
		}
		if got, want := x.FlowResidual(xi), floats.Norm(flow, 1); math.Abs(got-want) > 200*u {
			t.Fatalf("residual %v, want %v", got, want)
		}
		column := drawDistribution(t, x.Pairs(), 0, 0, "ψ")
		f := mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, column))
		if got, want := f.FlowResidual(0), x.FlowResidual(column); got != want {
			t.Fatalf("residual %v of the column, want %v", got, want)
		}
	})
}

// Errors name what is wrong with the features.
func TestFeatureErrors(t *testing.T) {
	x := flip()
	of := func(columns ...[]float64) error { return errOf(mixpolicy.FeaturesFromColumns(x, columns...)) }
	wantError(t, errOf(mixpolicy.NewFeatures(t.Context(), x)), "no base policy")
	wantError(t, of(), "no feature column")
	wantError(t, of([]float64{1, 0}, []float64{1}), "feature column 1 has 1 entries")
	wantError(t, of([]float64{1, 0}, []float64{2, -1}), "feature column 1", "-1", "want a probability")
	wantError(t, of([]float64{.5, .4}), "feature column 0 adds up to 0.9", "want 1")
	two := islands(mixpolicy.AverageCost)
	wantError(t, errOf(mixpolicy.NewFeatures(t.Context(), two, mixpolicy.UniformPolicy(two))), "base policy 0", "recurrent classes")

	f := mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, []float64{.5, .5}, []float64{1, 0}))
	if f.Measure(0) != nil {
		t.Error("a given column has a measure")
	}
	wantError(t, errOf(f.SampledBy([]float64{1, 0})), "feature 0 is 0.5 at this pair, which is never sampled")
	wantError(t, errOf(f.SampledBy([]float64{.5, .6})), "sampling distribution", "1.1")
	wantError(t, errOf(f.PolicyOf([]float64{1, math.NaN()})), "θ2 is NaN", "want a finite number")
	if g := mixpolicy.Must(f.SampledBy([]float64{.25, .75})); g.Sampling()[1] != .75 || f.Sampling()[1] != .25 {
		t.Error("SampledBy changed the original, or not the copy")
	}
}

// mixedPolicies returns d policies, of four kinds in turn: with a different random row in each
// state, with the same random row in each state, deterministic, and a mixture of the previous two.
func mixedPolicies(x *mixpolicy.MDP, d int, seed uint64) []*mixpolicy.Policy {
	rng := rand.New(rand.NewPCG(seed, 0))
	fill := func(_ int, row []float64) {
		for a := range row {
			row[a] = rng.ExpFloat64()
		}
		floats.Scale(1/floats.Sum(row), row)
	}
	var policies []*mixpolicy.Policy
	for len(policies) < d {
		row, actions := make([]float64, x.Actions()), make([]int, x.States())
		fill(0, row)
		for s := range actions {
			actions[s] = rng.IntN(x.Actions())
		}
		same, fixed := mixpolicy.Must(mixpolicy.StateIndependent(x, row...)), mixpolicy.Must(mixpolicy.Deterministic(x, actions))
		policies = append(policies, mixpolicy.Must(mixpolicy.PolicyFunc(x, fill)), same, fixed, mixpolicy.Must(mixpolicy.Mixture([]float64{.25, .75}, fixed, same)))
	}
	return policies[:d]
}

// same checks that f has the given columns, and that f and the columns give the same Ψθ and Ψᵀx.
func same(t failer, f *mixpolicy.Features, columns [][]float64) {
	t.Helper()
	n, d := f.MDP().Pairs(), len(columns)
	theta, x, row := make([]float64, d), make([]float64, n), make([]float64, d)
	for j := range theta {
		theta[j] = math.Sin(float64(j + 1))
	}
	for i := range x {
		x[i] = math.Cos(float64(i))
	}
	given := mixpolicy.Must(mixpolicy.FeaturesFromColumns(f.MDP(), columns...))
	want, q := naive(given, theta), make([]float64, n)
	transposed, psi := make([]float64, d), f.Dense()
	f.MulVecT(transposed, x)
	for j, c := range columns {
		floats.AddScaled(q, 1/float64(d), c)
		if !slices.Equal(f.Column(j), c) || !slices.Equal(mat.Col(nil, j, psi), c) {
			t.Fatalf("column %d differs from the given column", j)
		}
		// Both are sums of n products, with Σ|c| = 1 and |x| ≤ 1.
		if got, want := transposed[j], floats.Dot(c, x); math.Abs(got-want) > 2*float64(n)*u {
			t.Fatalf("Ψᵀx = %v, entry %d should be %v", transposed, j, want)
		}
	}
	got := make([]float64, n)
	f.MulVec(got, theta)
	part := make([]float64, n/2)
	f.Apply(part, n/3, theta)
	if !slices.Equal(got, want) || !slices.Equal(part, want[n/3:n/3+n/2]) || !slices.Equal(f.Sampling(), q) {
		t.Fatalf("Ψθ, some of its rows, or q differs")
	}
	for i := range n {
		f.Row(row, i)
		for j, v := range row {
			if v != columns[j][i] {
				t.Fatalf("Ψ[%d,%d] = %v, want %v", i, j, v, columns[j][i])
			}
		}
	}
}

// A large Ψ is stored as its factors π and μ, and equals π ⊙ μ. With 1 and with 3 processors, the runs, the optimum and
// the certificate are, bit by bit, the same as for a Ψ that is given as columns.
func TestLargeFeatures(t *testing.T) {
	x := mixpolicy.Must(models.Garnet{States: 20_000, Actions: 6, Branches: 2, Criterion: mixpolicy.Discounted(.8)}.MDP())
	f := mixpolicy.Must(mixpolicy.MeasureSettings{Method: mixpolicy.GaussSeidel}.Features(t.Context(), x, mixedPolicies(x, 9, 1)...))
	columns := make([][]float64, f.Dim())
	for j := range columns { // by definition, independently of the code
		for s, mu := range f.Measure(j).State {
			for _, p := range f.Policy(j).Row(s) {
				columns[j] = append(columns[j], p*mu)
			}
		}
	}
	same(t, f, columns)
	given := mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, columns...))
	for workers, m := range map[int]mixpolicy.PrimalDual{3: {Multipliers: mixpolicy.DenseMultipliers}, 1: {RowScaling: true, Beta: 8}} {
		run := func(f *mixpolicy.Features) *mixpolicy.Result {
			p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
			return solve(t, p, m, mixpolicy.Settings{Iterations: 60, Seed: 1})
		}
		want := run(given)
		before := runtime.GOMAXPROCS(workers)
		got := run(f)
		runtime.GOMAXPROCS(before)
		if !reflect.DeepEqual(got.Certificate, want.Certificate) || !slices.Equal(got.Theta, want.Theta) || !slices.Equal(got.Lambda, want.Lambda) {
			t.Errorf("%v, %d workers:\n%v\nwant\n%v", m, workers, &got.Certificate, &want.Certificate)
		}
	}
}

// NewFeatures refuses two policies with the same occupation measure, and names their numbers: equal policies in any
// form and, under average cost, policies that differ only in transient states.
func TestCopiesAreRefused(t *testing.T) {
	const want = "mixpolicy: base policies 0 and 2 have the same occupation measure, want each once"
	x := mixpolicy.Must(models.Machine{}.MDP())
	first := mixpolicy.Must(mixpolicy.Deterministic(x, []int{1, 1}))
	other := mixpolicy.Must(mixpolicy.StateIndependent(x, .5, .5))
	again := mixpolicy.Must(mixpolicy.NewPolicy(x, []float64{0, 1, 0, 1}))
	wantError(t, errOf(mixpolicy.NewFeatures(t.Context(), x, first, other, again)), want)
	near := mixpolicy.Must(mixpolicy.NewPolicy(x, []float64{0x1p-30, 1 - 0x1p-30, 0, 1}))
	mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, first, other, near))

	absorbing := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{States: 2, Actions: 2, Criterion: mixpolicy.AverageCost,
		Dynamics: func(int, int) (float64, transitions) { return 0, transitions{{To: 1, P: 1}} },
	}))
	var base []*mixpolicy.Policy
	for _, actions := range [][]int{{0, 1}, {0, 0}, {1, 1}} {
		base = append(base, mixpolicy.Must(mixpolicy.Deterministic(absorbing, actions)))
	}
	wantError(t, errOf(mixpolicy.NewFeatures(t.Context(), absorbing, base...)), want)
	discounted := mixpolicy.Must(absorbing.WithCriterion(mixpolicy.Discounted(.5))) // its chain may begin in state 0
	psi := mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), discounted, base...))
	mixpolicy.Must(mixpolicy.FeaturesFromColumns(discounted, psi.Column(0), psi.Column(0))) // accepts equal columns
}

package mixpolicy_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

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
		f := drawFeatures(t, x, 3)
		theta := drawFinite(t, f.Dim(), 5, "θ")
		theta[0] += 1 - floats.Sum(theta)
		mixed := make([]float64, x.Pairs())
		for j := range f.Dim() {
			p, c := f.Policy(j), f.Column(j)
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
		var flow mat.VecDense
		flow.MulVec(flowMatrix(x).T(), mat.NewVecDense(len(xi), xi))
		flow.AddScaledVec(&flow, x.Gamma()-1, mat.NewVecDense(x.States(), x.Initial()))
		if got, want := x.FlowResidual(xi), mat.Norm(&flow, 1); math.Abs(got-want) > 200*u {
			t.Fatalf("residual %v, want %v", got, want)
		}
		column := drawDistribution(t, x.Pairs(), 0, 0, "ψ")
		f := mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, column))
		if got, want := f.FlowResidual(0), x.FlowResidual(column); got != want {
			t.Fatalf("residual %v of the column, want %v", got, want)
		}
	})
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
	_, err = f.PolicyOf([]float64{math.NaN(), 1, 0})
	wantError(t, err, "θ1 is NaN")
	_, err = f.PolicyOf([]float64{1, 0, math.Inf(1)})
	wantError(t, err, "θ3 is +Inf")
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
	_, err := mixpolicy.NewFeatures(t.Context(), x)
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
	_, err = mixpolicy.NewFeatures(t.Context(), two, mixpolicy.UniformPolicy(two))
	wantError(t, err, "base policy 0", "recurrent classes")
}

// mixedPolicies returns d policies of each kind in turn: with rows of their own, the
// same in every state, deterministic, and mixtures of the last two.
func mixedPolicies(x *mixpolicy.MDP, d int, seed uint64) []*mixpolicy.Policy {
	rng := rand.New(rand.NewPCG(seed, 0))
	row := make([]float64, x.Actions())
	fill := func(_ int, row []float64) {
		var total float64
		for a := range row {
			row[a] = rng.ExpFloat64()
			total += row[a]
		}
		for a := range row {
			row[a] /= total
		}
	}
	policies := make([]*mixpolicy.Policy, d)
	for j := range policies {
		switch j % 4 {
		case 0:
			policies[j] = mixpolicy.Must(mixpolicy.PolicyFunc(x, fill))
		case 1:
			fill(0, row)
			policies[j] = mixpolicy.Must(mixpolicy.StateIndependent(x, row...))
		case 2:
			actions := make([]int, x.States())
			for s := range actions {
				actions[s] = rng.IntN(x.Actions())
			}
			policies[j] = mixpolicy.Must(mixpolicy.Deterministic(x, actions))
		case 3:
			policies[j] = mixpolicy.Must(mixpolicy.Mixture([]float64{.25, .75}, policies[j-1], policies[j-2]))
		}
	}
	return policies
}

// A policy gives back the rows it was made of, however it holds them: few different
// ones, as many as states, or the same everywhere.
func TestPolicyRows(t *testing.T) {
	for _, different := range []int{1, 2, 1024, 1025, 3000} {
		x := mixpolicy.Must(models.Garnet{States: 3000, Actions: 3, Branches: 1}.MDP())
		rng := rand.New(rand.NewPCG(1, uint64(different)))
		prob := make([]float64, 0, x.Pairs())
		for s := range x.States() {
			k := s
			if s >= different {
				k = rng.IntN(different)
			}
			p := float64(k) / 4096
			prob = append(prob, p, 1-p, 0)
		}
		p := mixpolicy.Must(mixpolicy.NewPolicy(x, prob))
		for s := range x.States() {
			if !slices.Equal(p.Row(s), prob[3*s:3*s+3]) {
				t.Fatalf("%d different rows: π(%d) = %v, want %v", different, s, p.Row(s), prob[3*s:3*s+3])
			}
		}
	}
}

// Ψ in factors is the stored Ψ to the bit, in each product and from any row on.
func TestFactoredFeatures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := models.Garnet{
			States: rapid.IntRange(1, 700).Draw(t, "n"), Actions: rapid.IntRange(1, 5).Draw(t, "m"), Branches: 1,
			Ring: true, Criterion: rapid.SampledFrom(criteria).Draw(t, "criterion"), Seed: rapid.Uint64().Draw(t, "seed"),
		}
		x := mixpolicy.Must(g.MDP())
		f := withoutCopies(t, x, mixedPolicies(x, rapid.IntRange(1, 6).Draw(t, "d"), g.Seed))
		columns := make([][]float64, f.Dim())
		for j := range columns { // by definition, not as the code has it
			columns[j] = make([]float64, x.Pairs())
			for i := range columns[j] {
				s, a := i/x.Actions(), i%x.Actions()
				columns[j][i] = f.Policy(j).Prob(s, a) * f.Measure(j).State[s]
			}
		}
		for _, g := range []*mixpolicy.Features{f, f.Factored()} {
			same(t, g, columns)
			for j, c := range columns {
				if q := g.Measure(j); !slices.Equal(q.Pair, c) || !slices.Equal(q.State, f.Measure(j).State) {
					t.Fatalf("ξ of policy %d is not its column, or μ another", j)
				}
			}
		}
	})
}

// same checks that the features have the columns, and multiply like them.
func same(t failer, f *mixpolicy.Features, columns [][]float64) {
	n, d := f.MDP().Pairs(), len(columns)
	theta, x, row := make([]float64, d), make([]float64, n), make([]float64, d)
	for j := range theta {
		theta[j] = math.Sin(float64(j + 1))
	}
	for i := range x {
		x[i] = math.Cos(float64(i))
	}
	want, q := make([]float64, n), make([]float64, n)
	for j, c := range columns {
		if !slices.Equal(f.Column(j), c) {
			t.Fatalf("column %d is not π ⊙ μ", j)
		}
		for i, v := range c {
			want[i] += theta[j] * v
			q[i] += 1 / float64(d) * v
		}
	}
	got := make([]float64, n)
	f.MulVec(got, theta)
	if !slices.Equal(got, want) {
		t.Fatalf("Ψθ differs")
	}
	if !slices.Equal(f.Sampling(), q) {
		t.Fatalf("q differs")
	}
	for i := range n {
		f.Row(row, i)
		for j := range row {
			if row[j] != columns[j][i] {
				t.Fatalf("Ψ[%d,%d] = %v, want %v", i, j, row[j], columns[j][i])
			}
		}
	}
	given := mixpolicy.Must(mixpolicy.FeaturesFromColumns(f.MDP(), columns...))
	transposed := make([]float64, d)
	given.MulVecT(row, x)
	f.MulVecT(transposed, x)
	if !slices.Equal(transposed, row) {
		t.Fatalf("Ψᵀx = %v, want %v", transposed, row)
	}
	psi := f.Dense()
	for j, c := range columns { // sums of n terms of size 1 at most, Σ|c| = 1
		if got, want := transposed[j], floats.Dot(c, x); math.Abs(got-want) > 2*float64(n)*u {
			t.Fatalf("Ψᵀx = %v, entry %d should be %v", transposed, j, want)
		}
		if f.Dim() != d || !slices.Equal(mat.Col(nil, j, psi), c) {
			t.Fatalf("column %d of the matrix, d = %d, is another", j, f.Dim())
		}
	}
	p, r := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Unbounded())), mixpolicy.Must(mixpolicy.NewProblem(given, mixpolicy.Unbounded()))
	if p.Violation(theta) != r.Violation(theta) || p.NegativeMass(theta) != r.NegativeMass(theta) {
		t.Fatalf("violations differ")
	}
	from := int(uint64(math.Float64bits(x[n-1])) % uint64(n)) // rows from anywhere to anywhere
	part := got[from : from+(n-from+1)/2]
	f.Apply(part, from, theta)
	if !slices.Equal(part, want[from:from+len(part)]) {
		t.Fatalf("rows %d to %d of Ψθ differ", from, from+len(part))
	}
}

// A large Ψ is in factors without being asked for, and runs, optimum and certificate
// are those of the stored one to the bit, whatever the number of processors.
func TestLargeFeatures(t *testing.T) {
	x := mixpolicy.Must(models.Garnet{States: 20_000, Actions: 6, Branches: 2, Criterion: mixpolicy.Discounted(.8)}.MDP())
	f := mixpolicy.Must(mixpolicy.MeasureSettings{Method: mixpolicy.GaussSeidel}.Features(t.Context(), x, mixedPolicies(x, 9, 1)...))
	if !f.IsFactored() {
		t.Fatalf("Ψ of %d numbers is stored", x.Pairs()*f.Dim())
	}
	columns := make([][]float64, f.Dim())
	for j := range columns {
		columns[j] = f.Column(j)
	}
	given := mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, columns...))
	for _, m := range []mixpolicy.PrimalDual{
		{Multipliers: mixpolicy.DenseMultipliers}, {RowScaling: true, Beta: 8},
	} {
		run := func(f *mixpolicy.Features) *mixpolicy.Result {
			m := m
			p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
			return mixpolicy.Must(mixpolicy.Solve(context.Background(), p, &m, mixpolicy.Settings{Iterations: 60, Seed: 1}))
		}
		want := run(given)
		for _, workers := range []int{1, 3} {
			before := runtime.GOMAXPROCS(workers)
			got := run(f)
			if workers > 1 {
				same(t, f, columns)
			}
			runtime.GOMAXPROCS(before)
			if !reflect.DeepEqual(got.Certificate, want.Certificate) || !slices.Equal(got.Theta, want.Theta) || !slices.Equal(got.Lambda, want.Lambda) {
				t.Errorf("%v, %d workers:\n%v\nwant\n%v", &m, workers, &got.Certificate, &want.Certificate)
			}
		}
	}
}

// The queue with 10⁷ lengths and 4 rates, discounted, with four thresholds as base
// policies: 4·10⁷ pairs, 1.2·10⁸ transitions. On two cores of an EPYC it takes half a
// minute and 8 GB, most of either for the measures; 4.7 GB are live at the end, 0.5 of
// them Ψ. (With MeasureSettings left alone, Multilevel, 13 GB.)
func BenchmarkTenMillionStates(b *testing.B) {
	largeModel(b, 10_000_000, 1_000_000)
}

// TestLargeModel is the benchmark in small.
func TestLargeModel(t *testing.T) {
	p := largeModel(t, 70_000, 20_000)
	theta := []float64{3, -1, -2, 1}
	var squares, mass float64
	for _, v := range naive(p.Features(), theta) {
		squares += math.Min(v, 0) * math.Min(v, 0)
		mass -= math.Min(v, 0)
	}
	// Ψθ has 2.8·10⁵ entries, whose plain sum errs by 2.8·10⁵ u at most.
	if v, m := p.Violation(theta), p.NegativeMass(theta); math.Abs(m-mass) > 3e-11*mass || math.Abs(v-math.Sqrt(squares)/2) > 3e-11*v || mass < .1 {
		t.Errorf("violation %v, negative mass %v, want %v and %v", v, m, math.Sqrt(squares)/2, mass)
	}
}

// largeModel runs everything once, and reports seconds and memory to a benchmark.
func largeModel(tb testing.TB, n, steps int) *mixpolicy.Problem {
	begin := time.Now()
	lap := func(string) {}
	if b, ok := tb.(*testing.B); ok {
		b.ReportMetric(0, "ns/op") // there is one op
		lap = func(what string) {
			b.ReportMetric(time.Since(begin).Seconds(), what+"-s")
			begin = time.Now()
		}
	}
	x := mixpolicy.Must(models.Queue{
		Buffer: n, Criterion: mixpolicy.Discounted(.9),
		Cost: func(length int, rate float64) float64 { return float64(length)/float64(n) + rate*rate*rate },
	}.MDP())
	lap("MDP")
	policies := make([]*mixpolicy.Policy, 4)
	for j := range policies { // the fast rate from a length on, and a slow one below
		actions := make([]int, n)
		for s := range actions {
			if actions[s] = 1; s > (j+1)*n/5 {
				actions[s] = 3
			}
		}
		policies[j] = mixpolicy.Must(mixpolicy.Deterministic(x, actions))
	}
	set := mixpolicy.MeasureSettings{Method: mixpolicy.GaussSeidel, Tolerance: 1e-10} // γ = .9 takes 40 sweeps
	f := mixpolicy.Must(set.Features(tb.Context(), x, policies...))
	lap("measures")
	p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
	r := mixpolicy.Must(mixpolicy.Solve(tb.Context(), p, mixpolicy.PrimalDual{}, mixpolicy.Settings{Iterations: steps, Seed: 1, Uncertified: true}))
	lap("steps")
	best := mixpolicy.Must(p.Optimum(tb.Context()))
	lap("optimum")
	violation := p.Violation(r.Theta)
	lap("violation")
	if !(violation >= 0 && best.Gap() < 1e-9) {
		tb.Errorf("violation %v, optimum within %v", violation, best.Gap())
	}
	if b, ok := tb.(*testing.B); ok {
		var peak, live runtime.MemStats
		runtime.ReadMemStats(&peak)
		runtime.GC()
		runtime.ReadMemStats(&live)
		b.ReportMetric(float64(peak.Sys)/1e6, "peak-MB")
		b.ReportMetric(float64(live.HeapAlloc)/1e6, "live-MB")
	}
	runtime.KeepAlive(r)
	return p
}

// Two policies with one measure are refused by their numbers: policies that are the same however
// they are given, and under average cost those that differ where the chain never is.
func TestCopiesAreRefused(t *testing.T) {
	x := mixpolicy.Must(models.Machine{}.MDP())
	first := mixpolicy.Must(mixpolicy.Deterministic(x, []int{1, 1}))
	other := mixpolicy.Must(mixpolicy.StateIndependent(x, .5, .5))
	again := mixpolicy.Must(mixpolicy.NewPolicy(x, []float64{0, 1, 0, 1}))
	const want = "base policies 0 and 2 have the same occupation measure, want each once"
	_, err := mixpolicy.NewFeatures(t.Context(), x, first, other, again)
	wantError(t, err, "mixpolicy: ", want)

	absorbing := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{States: 2, Actions: 2, Criterion: mixpolicy.AverageCost,
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			return float64(a), []mixpolicy.Transition{{To: 1, P: 1}}
		},
	}))
	var base []*mixpolicy.Policy
	for _, actions := range [][]int{{0, 1}, {0, 0}, {1, 1}} {
		base = append(base, mixpolicy.Must(mixpolicy.Deterministic(absorbing, actions)))
	}
	_, err = mixpolicy.NewFeatures(t.Context(), absorbing, base...)
	wantError(t, err, want)
	discounted := mixpolicy.Must(absorbing.WithCriterion(mixpolicy.Discounted(.5))) // which does begin in state 0
	psi := mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), discounted, base...))

	// Copies as columns are taken, and policies that are nearly the same: Ψ is then nearly of
	// lower rank, as far as the doc comment says.
	mixpolicy.Must(mixpolicy.FeaturesFromColumns(discounted, psi.Column(0), psi.Column(0)))
	near := mixpolicy.Must(mixpolicy.NewPolicy(x, []float64{0x1p-30, 1 - 0x1p-30, 0, 1}))
	psi = mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, first, other, near))
	var svd mat.SVD
	if !svd.Factorize(psi.Dense(), mat.SVDNone) {
		t.Fatal("no singular values")
	}
	distance := floats.Distance(psi.Column(0), psi.Column(2), 2)
	// Singular values have errors of some units of the greatest, which is below 1.5.
	if least := svd.Values(nil)[2]; least > distance/math.Sqrt2+64*u {
		t.Errorf("least singular value %v, want at most %v", least, distance/math.Sqrt2)
	}
}

package mixpolicy_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// (2.11): under every criterion, every method returns the μ of a dense LU decomposition, the right residual, and a
// valid error bound.
func TestMeasureEquation_2_11(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, drawCriterion(t))
		p := drawPolicy(t, x)
		want, rounding := luMeasure(t, x, p), float64(10*x.States())*u
		for method := mixpolicy.Auto; method <= mixpolicy.Multilevel; method++ {
			q, err := mixpolicy.Occupation(t.Context(), x, p, mixpolicy.MeasureSettings{Method: method})
			if err != nil {
				t.Fatalf("%v: %v", method, err)
			}
			// An iteration stops at a residual of 1e-12. Its error is at most the residual
			// times the condition number, at most 2000 (see luTolerance).
			off := close1(q.State, want)
			if off > luTolerance+min(q.Error, 1e-12*2000) || q.Residual > 1e-12+rounding || floats.Min(q.State) < 0 {
				t.Fatalf("%v: error %v, stated bound %v; residual %v, μ = %v", method, off, q.Error, q.Residual, q.State)
			}
			if x.Gamma() < 1 && q.Error > 2*(q.Residual+10*rounding)/(1-x.Gamma()) {
				t.Fatalf("%v: error %v, want at most 2‖r‖₁/(1−γ) for the residual %v", method, q.Error, q.Residual)
			}
			residual := mixpolicy.Must(x.Under(p)).FlowResidual(q.State)
			if math.Abs(residual-q.Residual) > rounding {
				t.Fatalf("%v: residual %v, but Residual is %v", method, residual, q.Residual)
			}
		}
	})
}

// (2.12): ξ_a(s) = π_a(s) μ(s); and (2.14) recovers π from ξ.
func TestOccupationMeasure_2_12_2_14(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, drawCriterion(t))
		p := drawPolicy(t, x)
		q := mixpolicy.Must(x.Occupation(t.Context(), p))
		back := mixpolicy.Must(mixpolicy.PolicyOf(x, q.Pair))
		var total, cost float64
		for s := range x.States() {
			for a := range x.Actions() {
				xi := q.Pair[x.Pair(s, a)]
				total += xi
				cost += xi * x.Cost(s, a)
				if xi != p.Prob(s, a)*q.State[s] {
					t.Fatalf("ξ(%d,%d) = %v", s, a, xi)
				}
				if q.State[s] > 0 && math.Abs(back.Prob(s, a)-p.Prob(s, a)) > 8*u {
					t.Fatalf("π(%d,%d) = %v came back as %v", s, a, p.Prob(s, a), back.Prob(s, a))
				}
			}
		}
		if slack := float64(x.Pairs()+2) * u; math.Abs(total-1) > slack || math.Abs(cost-q.Cost(x.Costs())) > 20*slack {
			t.Fatalf("Σξ = %v, cᵀξ = %v and %v", total, cost, q.Cost(x.Costs()))
		}
	})
}

// geometric returns the birth–death chain on n states that moves up and down with the
// given probabilities. Its stationary μ(s) is proportional to (up/down)ˢ.
func geometric(n int, up, down float64) *mixpolicy.MDP {
	return walk(n, mixpolicy.AverageCost, func(s int) transitions {
		return mixpolicy.Merge(transitions{{To: min(s+1, n-1), P: up}, {To: max(s-1, 0), P: down}, {To: s, P: max(0, 1-up-down)}})
	})
}

// Elimination has a small relative error in every entry. Here, the measures are
// geometric. One is uniform. The others extend over 300 orders of magnitude, about the
// range of float64 below 1, with the most mass at one end or the other.
func TestEliminationEntrywise(t *testing.T) {
	const n = 315
	for _, c := range []struct{ up, down float64 }{{0.1, 0.9}, {0.9, 0.1}, {0.09, 0.81}, {0.5, 0.5}} {
		x := geometric(n, c.up, c.down)
		q := occupation(t, x, mixpolicy.UniformPolicy(x), mixpolicy.MeasureSettings{Method: mixpolicy.Elimination})
		ratio, want := c.up/c.down, make([]float64, n)
		for s := range want {
			want[s] = math.Pow(ratio, float64(s))
		}
		floats.Scale(1/floats.Sum(want), want)
		for s, w := range want {
			// Each eliminated state costs one sum, one quotient, and one product each way. The ratio's error counts once per power.
			if e := math.Abs(q.State[s]/w - 1); !(e <= 5*n*u) {
				t.Fatalf("up %v, down %v: μ(%d) = %v, want %v, relative error %.2g", c.up, c.down, s, q.State[s], w, e)
			}
		}
		if spread := math.Abs(math.Log10(q.State[0] / q.State[n-1])); c.up != c.down && spread < 299 {
			t.Errorf("only %.0f orders of magnitude", spread)
		}
	}
}

// Under average cost, several recurrent classes make μ ambiguous, and the error names
// them; transient states have no mass. Under discounting, μ is always unique.
func TestMeasureClasses(t *testing.T) {
	x := islands(mixpolicy.AverageCost)
	for _, method := range []mixpolicy.MeasureMethod{mixpolicy.Elimination, mixpolicy.GaussSeidel, mixpolicy.PowerIteration} {
		err := errOf(mixpolicy.Occupation(t.Context(), x, mixpolicy.UniformPolicy(x), mixpolicy.MeasureSettings{Method: method}))
		wantError(t, err, "2 recurrent classes, {a, b} and {d}", "average cost depends on the first state")
	}
	y := mixpolicy.Must(x.WithCriterion(mixpolicy.Discounted(0.5)))
	q := mixpolicy.Must(y.Occupation(t.Context(), mixpolicy.UniformPolicy(y)))
	if d := close1(q.State, luMeasure(t, y, mixpolicy.UniformPolicy(y))); d > luTolerance {
		t.Errorf("discounted measure off by %v", d)
	}

	// The first chain has the class {1, 2}, of period 2, and the second the class {2}. The other states are transient.
	for _, c := range []struct {
		next []int
		want []float64
	}{{[]int{1, 2, 1}, []float64{0, 0.5, 0.5}}, {[]int{1, 2, 2}, []float64{0, 0, 1}}} {
		x = walk(3, mixpolicy.AverageCost, func(s int) transitions { return transitions{{To: c.next[s], P: 1}} })
		for _, method := range []mixpolicy.MeasureMethod{mixpolicy.Elimination, mixpolicy.GaussSeidel} {
			q, err := mixpolicy.Occupation(t.Context(), x, mixpolicy.UniformPolicy(x), mixpolicy.MeasureSettings{Method: method, Start: []float64{1, 2, 0}})
			if err != nil || !slices.Equal(q.State, c.want) {
				t.Errorf("%v: μ = %v, want %v, %v", method, q.State, c.want, err)
			}
		}
	}

	// The error abbreviates classes of many states.
	for size, want := range map[int]string{5: "{0, 1, 2, 3, 4} and {5, 6, 7, 8, 9}", 6: "{0, 1, 2, 3, … 2 more} and {6, 7, 8, 9, … 2 more}"} {
		x := walk(2*size, mixpolicy.AverageCost, func(s int) transitions { return transitions{{To: s/size*size + (s+1)%size, P: 1}} })
		wantError(t, errOf(x.Occupation(t.Context(), mixpolicy.UniformPolicy(x))), want)
	}
}

// If a method does not converge or is cancelled, it returns the measure so far with the error.
func TestMeasurePartial(t *testing.T) {
	x := mixpolicy.Must(models.Queue{Buffer: 200}.MDP())
	p := mixpolicy.Must(mixpolicy.StateIndependent(x, 0.3, 0.3, 0.2, 0.2))
	for method := mixpolicy.GaussSeidel; method <= mixpolicy.Multilevel; method++ {
		set := mixpolicy.MeasureSettings{Method: method, MaxSweeps: 3, Tolerance: 1e-300}
		q, err := mixpolicy.Occupation(t.Context(), x, p, set)
		wantError(t, err, fmt.Sprintf("not converged after %d sweeps", q.Sweeps), method.String(), "want 1e-300")
		if q.Sweeps < 3 || q.Sweeps > 3 && method != mixpolicy.Multilevel || len(q.Pair) != x.Pairs() {
			t.Errorf("%v: partial measure %+v", method, q)
		}

		ctx, cancel := context.WithCancel(t.Context())
		set.MaxSweeps, set.Progress = 0, func(sweep int, _ float64) {
			if sweep >= 16 {
				cancel()
			}
		}
		for _, least := range []int{16, 0} { // cancelled during the sweeps, then before the first
			q, err = mixpolicy.Occupation(ctx, x, p, set)
			if !errors.Is(err, context.Canceled) || q.Sweeps < least || q.Sweeps > 40 || math.Abs(floats.Sum(q.State)-1) > 1e-12 {
				t.Errorf("%v, cancelled: %+v, %v", method, q, err)
			}
			set.Start = slices.Repeat([]float64{2}, x.States())
		}
	}
	set := mixpolicy.MeasureSettings{Method: 17}
	wantError(t, errOf(mixpolicy.Occupation(t.Context(), x, p, set)), "unknown measure method MeasureMethod(17)")
	set = mixpolicy.MeasureSettings{Tolerance: math.NaN()}
	wantError(t, errOf(mixpolicy.Occupation(t.Context(), x, p, set)), "Tolerance: NaN", "want both ≥ 0")
	wantError(t, errOf(x.Occupation(t.Context(), mixpolicy.UniformPolicy(flip()))), "policy is for 2 states and 1 actions")
}

// Power iteration on two states with P(0,1) = ε and P(1,0) = 2ε, so μ = (⅔, ⅓). From the uniform measure, the error after
// k sweeps is (1−3ε)ᵏ/3, and the residual is 3ε times the error. The residual meets the tolerance long before the error
// is below the limit, √tolerance. Sweeps must go on until a bound below the limit is proved, at most 8 sweeps late.
func TestSweepsUntilProved(t *testing.T) {
	const epsilon, limit = 1e-3, 1e-2
	x := chain([]float64{1 - epsilon, epsilon}, []float64{2 * epsilon, 1 - 2*epsilon})
	set := mixpolicy.MeasureSettings{Method: mixpolicy.PowerIteration, Tolerance: limit * limit}
	q := occupation(t, x, mixpolicy.UniformPolicy(x), set)
	truth := func(sweeps int) float64 { return math.Pow(1-3*epsilon, float64(sweeps)) / 3 }
	off, before := close1(q.State, []float64{2. / 3, 1. / 3}), q.Error/math.Pow(1-3*epsilon, 8)
	if math.Abs(off-truth(q.Sweeps)) > 1e-9 || q.Error < off || q.Error > limit || before <= limit {
		t.Errorf("error %v after %d sweeps, said to be %v, and %v before; want %v", off, q.Sweeps, q.Error, before, truth(q.Sweeps))
	}
	// 200 sweeps fewer bring the residual below the tolerance, but not the error below the limit.
	set.MaxSweeps = q.Sweeps - 200
	wantError(t, errOf(mixpolicy.Occupation(t.Context(), x, mixpolicy.UniformPolicy(x), set)),
		fmt.Sprintf("accuracy of the measure not proved after %d sweeps of power iteration: residual %.3g", set.MaxSweeps, 3*epsilon*truth(set.MaxSweeps)))
}

// Multilevel agrees with elimination on random MDPs and networks, under both criteria,
// including states without mass.
func TestMultilevelAgainstElimination(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		criterion := mixpolicy.AverageCost
		if rapid.Bool().Draw(t, "discounted") {
			criterion = mixpolicy.Discounted(rapid.Float64Range(.5, .9999).Draw(t, "γ"))
		}
		n := rapid.IntRange(1, 400).Draw(t, "n")
		x := mixpolicy.Must(models.Garnet{States: n, Actions: 2, Branches: 1, Ring: true, Criterion: criterion}.MDP())
		p := mixpolicy.UniformPolicy(x)
		if rapid.Bool().Draw(t, "network") {
			w := models.Network{Buffers: [4]int{5, 3, 3, 4}, Criterion: criterion}
			w.Dynamics = rapid.SampledFrom([]models.Dynamics{models.IndependentEvents, models.PhantomJobs, models.OneEvent}).Draw(t, "dynamics")
			x = mixpolicy.Must(w.MDP())
			p = mixpolicy.Must(w.Policy(x, rapid.SampledFrom(models.Rules()).Draw(t, "rule")))
		}
		want := occupation(t, x, p, mixpolicy.MeasureSettings{Method: mixpolicy.Elimination})
		got := occupation(t, x, p, mixpolicy.MeasureSettings{Method: mixpolicy.Multilevel})
		if got.Residual > 1e-12 {
			t.Fatalf("residual %v", got.Residual)
		}
		// The error is at most the residual, 1e-12, times the mixing time, some 10³ steps in these networks.
		if off := floats.Distance(got.State, want.State, 1); off > 2*got.Error+1e-12 || off > 1e-9 {
			t.Fatalf("error %v, estimated %v", off, got.Error)
		}
		for i, v := range want.Pair {
			// Under discounting, a state that is never reached may keep the mass 2⁻¹⁰⁰⁰
			// that multilevel gives every state.
			if v == 0 && got.Pair[i] > 1e-290 {
				t.Fatalf("pair %d has mass %v, want none", i, got.Pair[i])
			}
		}
	})
}

// A start near the solution saves sweeps, and the residual still meets the tolerance.
func TestWarmStart(t *testing.T) {
	w := models.Network{Buffers: [4]int{6, 5, 5, 6}}
	x := mixpolicy.Must(w.MDP())
	base := mixpolicy.Must(w.Policies(x, models.Longer, models.AnyQueue))
	near := mixpolicy.Must(mixpolicy.Mixture([]float64{.99, .01}, base...))
	for _, method := range []mixpolicy.MeasureMethod{mixpolicy.Multilevel, mixpolicy.GaussSeidel} {
		set := mixpolicy.MeasureSettings{Method: method, Tolerance: 1e-10}
		cold := occupation(t, x, base[0], set)
		set.Start = occupation(t, x, near, set).State
		if warm := occupation(t, x, base[0], set); warm.Sweeps >= cold.Sweeps || warm.Residual > 1e-10 {
			t.Errorf("%v: %d sweeps from near, %d from far", method, warm.Sweeps, cold.Sweeps)
		}
	}
	for _, bad := range [][]float64{{1}, append(make([]float64, x.States()-1), math.NaN()), append(make([]float64, x.States()-1), -1)} {
		wantError(t, errOf(mixpolicy.Occupation(t.Context(), x, base[0], mixpolicy.MeasureSettings{Start: bad})), "Start")
	}
}

// Flows along cycles make chains with known measures. Let q(s,s′) be the total weight of the cycles through
// s → s′, and let P(s,s′) = q(s,s′)/(μ(s)Z) for a number Z. Then as much mass leaves each state as enters
// it, so μ is stationary. The relative error of each mass must be at most the error that Occupation returns.
func TestSparseElimination(t *testing.T) {
	const side = 45 // 2,025 states
	n := side * side
	step := func(s, by int) int { return (s + by + n) % n }
	for _, graph := range []struct {
		name   string
		cycles func(s int) [][]int // the cycles that begin at s
	}{
		{"path", func(s int) [][]int { return [][]int{{s, max(0, s-1)}} }},
		{"ring", func(s int) [][]int { return [][]int{{s, step(s, 1)}} }},
		{"tree", func(s int) [][]int { return [][]int{{s, max(0, s-1) / 2}} }},
		{"grid", func(s int) [][]int {
			return [][]int{{s, max(0, s-side)}, {s, s - min(1, s%side)}, {s, step(s, 1), step(s, side+1), step(s, side)}}
		}},
		{"hubs", func(s int) [][]int { return [][]int{{s, s % 3}, {s, step(s, 1), step(s, 2)}} }},
	} {
		for decades := range 3 {
			r := rand.New(rand.NewPCG(1, uint64(decades)))
			spread := func() float64 { return math.Pow(10, 4*float64(decades)*r.Float64()) }
			mu, total := make([]float64, n), 0.
			flow := make([]map[int]float64, n)
			for s := range n {
				mu[s], flow[s] = spread(), map[int]float64{}
				total += mu[s]
			}
			for s := range n {
				for _, cycle := range graph.cycles(s) {
					weight := spread()
					for k, from := range cycle {
						flow[from][cycle[(k+1)%len(cycle)]] += weight
					}
				}
			}
			most := 0.
			for s := range n {
				delete(flow[s], s)
				var out float64
				for _, q := range flow[s] {
					out += q
				}
				most = max(most, out/mu[s])
			}
			costs := make([]float64, n)
			x := walk(n, mixpolicy.AverageCost, func(s int) (next transitions) {
				stay := 1.
				for _, to := range slices.Sorted(maps.Keys(flow[s])) {
					p := flow[s][to] / mu[s] / (1.01 * most)
					next, stay = append(next, mixpolicy.Transition{To: to, P: p}), stay-p
				}
				costs[s] = float64(s)
				return append(next, mixpolicy.Transition{To: s, P: stay})
			})
			x = mixpolicy.Must(x.WithCosts(costs))
			q, err := mixpolicy.Occupation(t.Context(), x, mixpolicy.UniformPolicy(x), mixpolicy.MeasureSettings{})
			if err != nil || q.Method != mixpolicy.Elimination || q.Error > 1e-9 {
				t.Fatalf("%s: %v, %v, error %v", graph.name, err, q.Method, q.Error)
			}
			for s, v := range q.State {
				if want := mu[s] / total; !(math.Abs(v-want) <= q.Error*want) {
					t.Fatalf("%s, weights over 10^%d: μ(%d) = %v, want %v; error %v", graph.name, 4*decades, s, v, want, q.Error)
				}
			}
			cost := q.Cost(x.Costs())
			v, err := mixpolicy.Evaluate(t.Context(), x, mixpolicy.UniformPolicy(x), mixpolicy.ValuationSettings{MaxIterations: 3000})
			if v == nil || !(v.Lower <= cost*(1+q.Error) && cost*(1-q.Error) <= v.Upper) || decades == 0 && err != nil {
				t.Fatalf("%s, weights over 10^%d: cost %v, want %v; %v", graph.name, 4*decades, v, cost, err)
			}
		}
	}
}

// On a ring with rare steps back, and on a graph with rare edges, products of probabilities fall below
// the range of float64. The mean times that elimination also computes still prove the error bound.
func TestLostProducts(t *testing.T) {
	const n = 2000
	ring, edges := make([]map[int]float64, n), make([]map[int]float64, n)
	for s := range n {
		ring[s], edges[s] = map[int]float64{(s + 1) % n: .5, (s + n - 1) % n: .01}, map[int]float64{}
	}
	joined(edges, rand.New(rand.NewPCG(1, 1)), 30)
	for name, weights := range map[string][]map[int]float64{"ring": ring, "edges": edges} {
		x, want := onEdges(weights)
		q := occupation(t, x, mixpolicy.UniformPolicy(x), mixpolicy.MeasureSettings{Method: mixpolicy.Elimination})
		if off := close1(q.State, want); !(off <= q.Error && q.Error < 1e-8) {
			t.Errorf("%s: error %v, stated bound %v", name, off, q.Error)
		}
	}
}

// joined joins each state to the next state and to a random one. The weights of the edges spread over the given decades.
func joined(edges []map[int]float64, r *rand.Rand, decades float64) {
	n := len(edges)
	join := func(i, j int) {
		w := math.Pow(10, decades*r.Float64())
		edges[i][j], edges[j][i] = w, w
	}
	for s := range n {
		join(s, (s+1)%n)
		join(r.IntN(n), (s+n/2)%n)
	}
}

// onEdges returns the walk whose steps have probabilities proportional to weights, and the mu proportional to the total
// weight out of each state. If w(s,s′) = w(s′,s), or if every state has equal total weights in and out, mu is the walk's measure.
func onEdges(weights []map[int]float64) (x *mixpolicy.MDP, mu []float64) {
	total := make([]float64, len(weights))
	for s, w := range weights {
		total[s] = floats.Sum(slices.Sorted(maps.Values(w)))
	}
	x = walk(len(weights), mixpolicy.AverageCost, func(s int) (next transitions) {
		for to, w := range weights[s] {
			next = append(next, mixpolicy.Transition{To: to, P: w / total[s]})
		}
		return next
	})
	mu = slices.Clone(total)
	floats.Scale(1/floats.Sum(mu), mu)
	return x, mu
}

// On random graphs whose weights differ by factors of up to 10⁴, multilevel converges. Elimination solves a
// random chain of three permutations, although it ends in a large dense matrix. If weights differ by factors of
// up to 10⁹ and this matrix is too large, both methods give up after some seconds, and the error says what to do.
func TestRandomGraph(t *testing.T) {
	for _, c := range []struct {
		n       int
		decades float64
		method  mixpolicy.MeasureMethod
	}{{5000, 4, mixpolicy.Multilevel}, {4000, 0, mixpolicy.Elimination}, {30_000, 9, mixpolicy.Auto}} {
		if c.method != mixpolicy.Multilevel && testing.Short() {
			continue
		}
		r, edges := rand.New(rand.NewPCG(2, 2)), make([]map[int]float64, c.n)
		for s := range edges {
			edges[s] = map[int]float64{}
		}
		if c.decades > 0 {
			joined(edges, r, c.decades)
		} else {
			for _, w := range []float64{1, 10, 100} {
				for s, to := range r.Perm(c.n) {
					edges[s][to] += w
				}
			}
		}
		x, want := onEdges(edges)
		q, err := mixpolicy.Occupation(t.Context(), x, mixpolicy.UniformPolicy(x), mixpolicy.MeasureSettings{Method: c.method})
		if off := close1(q.State, want); !(off <= q.Error) || q.Sweeps > 2000 {
			t.Errorf("%d states: error %v, stated bound %v, after %d sweeps of %v", c.n, off, q.Error, q.Sweeps, q.Method)
		}
		if c.method == mixpolicy.Auto {
			wantError(t, err, "not converged after", "elimination fills", "as Start, with more than")
		} else if err != nil || q.Error > 1e-8 || q.Sweeps > 1000 {
			t.Errorf("%d states: error %v after %d sweeps of %v: %v", c.n, q.Error, q.Sweeps, q.Method, err)
		}
	}
}

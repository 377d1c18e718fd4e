package mixpolicy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// A chain of flows along cycles has the measure that it is made for: with q(s,s′) the weight of all cycles through
// s → s′ and P(s,s′) = q(s,s′)/(μ(s)Z), as much leaves each state as enters it. Each mass must be as near as is said.
func TestSparseElimination(t *testing.T) {
	const side = 45 // 2,025 states
	n := side * side
	step := func(s, by int) int { return (s + by + n) % n }
	for _, graph := range []struct {
		name   string
		cycles func(s int) [][]int // through s
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
			x := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
				States: n, Actions: 1, Criterion: mixpolicy.AverageCost,
				Dynamics: func(s, _ int) (float64, []mixpolicy.Transition) {
					var next []mixpolicy.Transition
					stay := 1.
					for to := range n {
						if q := flow[s][to]; q > 0 {
							p := q / mu[s] / (1.01 * most)
							next, stay = append(next, mixpolicy.Transition{To: to, P: p}), stay-p
						}
					}
					return float64(s), append(next, mixpolicy.Transition{To: s, P: stay})
				},
			}))
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
			if err != nil {
				t.Logf("%s, weights over 10^%d: %v", graph.name, 4*decades, err)
			}
		}
	}
}

// A ring whose steps back are lost below the range of numbers is proved by the times that elimination gives.
func TestLostProducts(t *testing.T) {
	const n = 2000
	x := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: n, Actions: 1, Criterion: mixpolicy.AverageCost,
		Dynamics: func(s, _ int) (float64, []mixpolicy.Transition) {
			return 1, []mixpolicy.Transition{{To: (s + 1) % n, P: .5}, {To: (s + n - 1) % n, P: .01}, {To: s, P: .49}}
		},
	}))
	q, err := mixpolicy.Occupation(t.Context(), x, mixpolicy.UniformPolicy(x), mixpolicy.MeasureSettings{})
	if err != nil {
		t.Fatal(err)
	}
	off := 0.
	for _, v := range q.State {
		off += math.Abs(v - 1./n)
	}
	if q.Method != mixpolicy.Elimination || !(off <= q.Error && q.Error < 1e-8) {
		t.Errorf("off by %v, said to be by %v; %v", off, q.Error, q.Method)
	}
}

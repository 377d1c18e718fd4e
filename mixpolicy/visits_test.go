package mixpolicy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// A policy from visits is the mean of the Dirichlet posterior, (v + κ)/(Σv + |A|κ), over the
// allowed actions.
func TestPolicyFromVisits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, x, allowed := drawSets(t)
		n, m := x.States(), x.Actions()
		kappa := rapid.SampledFrom([]float64{0, .5, 1, 3}).Draw(t, "κ")
		tables := make([][]int64, 2)
		total := make([]int64, n)
		for k := range tables {
			tables[k] = rapid.SliceOfN(rapid.Int64Range(0, 9), n*m, n*m).Draw(t, "visits")
			for i := range tables[k] {
				if !allowed[i] {
					tables[k][i] = 0
				}
				total[i/m] += tables[k][i]
			}
		}
		for _, uniform := range []bool{true, false} {
			p, err := mixpolicy.PolicyFromVisits(x, mixpolicy.VisitSettings{Smoothing: kappa, UniformUnseen: uniform}, tables...)
			for s, v := range total {
				if v == 0 && !uniform {
					wantError(t, err, fmt.Sprintf("mixpolicy: state %d was never visited", s))
					return
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, ok := range allowed {
				s := i / m
				actions := float64(count(allowed[s*m : (s+1)*m]))
				want := 0.0
				if ok && total[s] == 0 {
					want = 1 / actions
				} else if ok {
					want = (float64(tables[0][i]+tables[1][i]) + kappa) / (float64(total[s]) + actions*kappa)
				}
				if got := p.Prob(s, i%m); math.Abs(got-want) > u { // sums of halves are exact, a quotient rounds once
					t.Fatalf("pair %d: %v, want %v", i, got, want)
				}
			}
		}
	})
}

// Intervals from runs contain the measure as often as the level says, or more often if runs differ in length,
// although steps depend on each other. With 6000 trials, the share of intervals that contain the measure has
// a standard deviation of √(0.95·0.05/6000) = 0.0028; with 1500 trials, twice that. The share deviates by
// more than 5 standard deviations about once in 10⁶ times. The frequencies in 5 runs of 500 steps are not
// exactly normal. Because the interval is two-sided, this changes the coverage only by the order of 1/2500.
func TestIntervalsOfRunsHold(t *testing.T) {
	const level = .95
	trials, tolerance := 6000, .014
	if testing.Short() {
		trials, tolerance = 1500, .028
	}
	x := mixpolicy.Must(models.Machine{}.MDP())
	p := mixpolicy.Must(mixpolicy.StateIndependent(x, .4, .6))
	want := mixpolicy.Must(x.Occupation(t.Context(), p))
	rng := rand.New(rand.NewPCG(13, 0))
	below := func(q float64) int { // 0 with probability q, else 1
		if rng.Float64() < q {
			return 0
		}
		return 1
	}
	for k, lengths := range [][]int{{500, 500, 500, 500, 500}, {150, 300, 500, 800, 900}} {
		held := make([]int, x.Pairs())
		for range trials {
			var runs [][]int64
			for _, steps := range lengths {
				visits := make([]int64, x.Pairs())
				s := below(want.State[0])
				for range steps {
					a := below(p.Prob(s, 0))
					visits[x.Pair(s, a)]++
					to, prob := x.Next(s, a)
					s = int(to[0])
					if len(to) > 1 {
						s = int(to[below(prob[0])])
					}
				}
				runs = append(runs, visits)
			}
			e := mixpolicy.Must(mixpolicy.FeaturesFromRuns(x, level, runs))
			for i, v := range want.Pair {
				if e.Lo[0][i] <= v && v <= e.Hi[0][i] {
					held[i]++
				}
			}
		}
		for i, times := range held {
			share := float64(times) / float64(trials)
			if share < level-tolerance || k == 0 && share > level+tolerance {
				t.Errorf("runs of %d steps, pair %d: held in %.4f of the trials, want %v", lengths, i, share, level)
			}
		}
	}
}

// If some run never or always took a pair, the interval of the pair ends where the Kullback–Leibler divergence of m from
// the mean frequency reaches ln(2/(1−level))/K: −ln(1−m) from 0, −ln m from 1, and −½ ln(4m(1−m)) from ½.
func TestIntervalsOfPairsNotTaken(t *testing.T) {
	x := mixpolicy.Must(models.Machine{}.MDP())
	first, second := make([]int64, x.Pairs()), make([]int64, x.Pairs())
	first[0], second[1] = 10, 20
	for _, level := range []float64{.5, .95} {
		for _, k := range []int{2, 6} {
			limit := math.Log(2/(1-level)) / float64(k)
			never, root := -math.Expm1(-limit), math.Sqrt(-math.Expm1(-2*limit))
			for _, c := range []struct {
				other []int64   // the visits of every second run
				want  []float64 // the intervals of pairs 0, 1 and 2
			}{{first, []float64{1 - never, 1, 0, never, 0, never}}, {second, []float64{(1 - root) / 2, (1 + root) / 2, (1 - root) / 2, (1 + root) / 2, 0, never}}} {
				e := mixpolicy.Must(mixpolicy.FeaturesFromRuns(x, level, slices.Repeat([][]int64{first, c.other}, k/2)))
				got := []float64{e.Lo[0][0], e.Hi[0][0], e.Lo[0][1], e.Hi[0][1], e.Lo[0][2], e.Hi[0][2]}
				// The divergence is rounded to 4u, and its slope at the ends is more than ¼.
				if want := c.want; !floats.EqualApprox(got, want, 16*u) {
					t.Errorf("level %v, %d runs: %.17g, want %.17g", level, k, got, want)
				}
			}
		}
	}
}

func TestVisitsErrors(t *testing.T) {
	x := mixpolicy.Must(door(sensible))
	good := []int64{1, 2, 0, 0, 3, 4}
	policy := func(set mixpolicy.VisitSettings, visits ...[]int64) error {
		return errOf(mixpolicy.PolicyFromVisits(x, set, visits...))
	}
	wantError(t, policy(mixpolicy.VisitSettings{}), "no visits")
	wantError(t, policy(mixpolicy.VisitSettings{Smoothing: -1}, good), "κ = -1")
	wantError(t, policy(mixpolicy.VisitSettings{}, good, good[1:]), "5 counts of visits, want one per pair: 6")
	wantError(t, policy(mixpolicy.VisitSettings{}, good, []int64{0, -1, 0, 0, 0, 0}), "state shut, action wait: -1 visits")
	wantError(t, policy(mixpolicy.VisitSettings{}, []int64{1, 0, 0, 2, 0, 0}), "state open, action open it is not allowed: 2 visits")
	wantError(t, policy(mixpolicy.VisitSettings{Smoothing: 1}, []int64{1, 0, 0, 0, 0, 0}), "state open was never visited")

	wantError(t, errOf(mixpolicy.FeaturesFromRuns(x, 1, [][]int64{good, good})), "confidence level 1, want")
	wantError(t, errOf(mixpolicy.FeaturesFromRuns(x, .9)), "mixpolicy: no feature column")
	two := [][]int64{good, good}
	wantError(t, errOf(mixpolicy.FeaturesFromRuns(x, .9, two, two)), "base policies 0 and 1 have the same measured frequencies")
	wantError(t, errOf(mixpolicy.FeaturesFromRuns(x, .9, [][]int64{good})), "mixpolicy: base policy 0: 1 runs, want at least 2")
	wantError(t, errOf(mixpolicy.FeaturesFromRuns(x, .9, [][]int64{good, make([]int64, 6)})), "mixpolicy: base policy 0: run 1: no visit")
}

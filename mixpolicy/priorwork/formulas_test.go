package priorwork

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// (4.3), (4.5) and (4.13) agree with values computed by hand, for αᵀu = 3/2 and μᵀu = 7/4.
func TestLyapunovBoundsByHand(t *testing.T) {
	l := &Lyapunov{U: []float64{1, 2}, Beta: .5}
	alpha, mu := []float64{.5, .5}, []float64{.25, .75}
	for what, v := range map[string][2]float64{
		"(4.3)":  {l.ALPBound(alpha, 3), 2 * 1.5 / .5 * 3},
		"(4.13)": {l.SALPBound(alpha, mu, .75, 2), 2 * (1.5 + 2*1.75*1.5/.25)},
		"(4.5)":  {l.Zeta(alpha, mu, []float64{2, 4}, 3), .75 * 1.75 / 3 * 3},
	} {
		if math.Abs(v[0]-v[1]) > 8*u*v[1] {
			t.Errorf("%s: %v, want %v", what, v[0], v[1])
		}
	}
}

// A step does not allocate. (PDHG is left out because its test for a restart allocates a few vectors in ℝᵈ.)
func TestStepsDoNotAllocate(t *testing.T) {
	_, p := everyPair(mixpolicy.Discounted(.7))
	for _, m := range []mixpolicy.Method{
		RandomizedLP{Steps: 500}, DualALP{}, SmoothedPrimalDual{Basis: identity(2), Radius: 5}, MirrorProx{Modulus: bregman.Cube(2)}, VarianceReduced{}, ScaleFree{},
		OfflinePrimalDual{Steps: 500, Inner: 2, Coverage: 4},
	} {
		run := begin[mixpolicy.Run](p, m)
		if n := testing.AllocsPerRun(200, func() {
			mixpolicy.Must(0, run.Step())
		}); n != 0 {
			t.Errorf("%s: %v allocations a step", m.Name(), n)
		}
	}
}

// The error names the setting that is wrong.
func TestBadInput(t *testing.T) {
	_, discounted := everyPair(mixpolicy.Discounted(.5))
	_, average := everyPair(mixpolicy.AverageCost)
	nan, inf := math.NaN(), math.Inf(1)
	basis := identity(2)
	for _, tt := range []struct {
		p    *mixpolicy.Problem
		m    mixpolicy.Method
		says string
	}{
		{average, RandomizedLP{Steps: 1}, "discounted cost"},
		{discounted, PiLearning{Steps: 1, MixingTime: 1, Range: 1}, "average cost"},
		{discounted, RandomizedLP{}, "Steps = 0"},
		{average, PiLearning{Steps: 1, Range: 1}, "MixingTime = 0"}, {average, BoxMirror{Steps: 1}, "MixingTime = 0"},
		{average, PiLearning{Steps: 1, MixingTime: 1, Range: .5}, "at least 1"},
		{average, SmoothedPrimalDual{Basis: basis, Radius: 1}, "average cost"},
		{discounted, SmoothedPrimalDual{Basis: basis, Radius: 1, Weights: []float64{1}}, "state-relevance weights"},
		{discounted, SmoothedPrimalDual{Basis: basis, Radius: 1, Slack: []float64{1, -1}}, "weights of violations"},
		{discounted, SmoothedPrimalDual{Basis: basis, Radius: 1, Penalty: -1}, "penalty κ = -1"},
		{discounted, SmoothedPrimalDual{Basis: basis}, "radius R = 0"},
		{discounted, SmoothedPrimalDual{Basis: basis, Radius: 1, StepSize: mixpolicy.Constant(inf)}, "step size"},
		{discounted, SmoothedPrimalDual{Basis: basis, Radius: 1, CostScale: nan}, "CostScale = NaN"},
		{discounted, ConstraintSampling{}, "no basis"},
		{discounted, ConstraintSampling{Basis: basis, Sampling: []float64{1}}, "want one per pair: 4"},
		{discounted, DualALP{Weight: -1}, "penalty weight ω = -1"},
		{discounted, DualALP{CostScale: inf}, "CostScale = +Inf"},
		{discounted, DualALP{Batch: -1}, "a batch of -1"},
		{discounted, OfflinePrimalDual{Steps: 1}, "Coverage C = 0"},
		{average, OfflinePrimalDual{Steps: 1, Coverage: 1}, "MixingTime = 0"},
		{discounted, MedianPlugIn{Groups: -1}, "medians of -1 means"},
		{discounted, MirrorProx{Modulus: bregman.Cube(.1)}, ""},
		{discounted, VarianceReduced{Modulus: bregman.Cube(.1)}, ""},
		{discounted, ScaleFree{Modulus: bregman.Cube(.1)}, ""},
		{discounted, ScaleFree{Tolerance: -1}, "Tolerance = -1"},
		{discounted, VarianceReduced{CostScale: -1}, "CostScale = -1"},
		{discounted, VarianceReduced{StepSize: mixpolicy.StepFunc(func(t int) float64 { return []float64{.1, inf}[t] })}, "iteration 1 is +Inf"},
	} {
		_, err := learn(tt.p, tt.m, 2, 1)
		wantError(t, err, tt.says)
	}

	x := discounted.MDP()
	spoiled := identity(2)
	spoiled.Set(1, 0, nan)
	for what, err := range map[string]error{
		"basis Φ has 3 rows, want one per state: 2":        second(ALP{Basis: identity(3)}.Solve(background, x)),
		"basis function 0 is NaN in state broken":          second(ALP{Basis: spoiled}.Solve(background, x)),
		"priorwork: ALP of 1 constraints: unbounded along": second(ALP{Basis: basis, Pairs: []int{3}}.Solve(background, x)),
		"pair 4, want 0 to 3":                              second(ALP{Basis: basis, Pairs: []int{4}}.Solve(background, x)),
		"state-relevance weights add up to 0, want 1":      second(ALP{Basis: basis, Weights: []float64{0, 0}}.Solve(background, x)),
		"bound -1 of ν":                                    second(ALP{Basis: basis, Bound: -1}.Solve(background, x)),
		"bound +Inf of ν":                                  second(ALP{Basis: basis, Bound: inf}.Solve(background, x)),
		"penalty -1":                                       second(SALP{Basis: basis, Penalty: -1}.Solve(background, x)),
		"want less than 1":                                 second(NewLyapunov(x, []float64{1, 49})),
		"average":                                          second(LyapunovFactor(average.MDP(), []float64{1, 1})),
		"want one":                                         second(LyapunovFactor(x, []float64{1})),
		"+Inf in":                                          second(LyapunovFactor(x, []float64{1, inf})),
		"a discount factor":                                second(SALP{Basis: basis}.Solve(background, average.MDP())),
		"weights of violations":                            second(SALP{Basis: basis, Slack: []float64{2, -1}}.Solve(background, x)),
		"budget +Inf":                                      second(SALP{Basis: basis, Budget: inf}.Solve(background, x)),
		"without constraints":                              second(ALP{Basis: basis, Pairs: []int{}}.Solve(background, x)),
		"1 sampling weights":                               second((&Lyapunov{U: []float64{1, 1}}).Sampling(x, []float64{1})),
	} {
		wantError(t, err, what)
	}
	for what, f := range map[string]func(){
		"no variable": func() { sampleSize(0, .1, .1) },
		"δ is NaN":    func() { sampleSize(1, .1, nan) },
		"BestFit, v":  func() { _, _, _ = BestFit(background, basis, make([]float64, 3), make([]float64, 2)) },
		"no weight":   func() { drawRow(rand.NewPCG(1, 0), []float64{0, 0}) },
	} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "priorwork: ") {
					t.Errorf("%s: panic %q, want the package's own", what, s)
				}
			}()
			f()
		}()
	}
}

func second[T any](_ T, err error) error { return err }

// Seven steps make the expected number of queries, and View overwrites everything in its snapshot.
func TestViews(t *testing.T) {
	_, discounted := everyPair(mixpolicy.Discounted(.5))
	_, average := everyPair(mixpolicy.AverageCost)
	basis := identity(2)
	names, published := map[string]bool{}, map[string]bool{}
	for _, p := range Publications() {
		published[p.Method] = strings.HasSuffix(p.Source, ".") && len(p.Source) > 10
	}
	for _, c := range []struct {
		p       *mixpolicy.Problem
		m       mixpolicy.Method
		queries int
	}{
		{discounted, RandomizedLP{Steps: 7}, 7},
		{average, PiLearning{Steps: 7, MixingTime: 1, Range: 1}, 7},
		{average, BoxMirror{Steps: 7, MixingTime: 1}, 14},
		{discounted, ConstraintSampling{Basis: basis}, 7},
		{discounted, SmoothedPrimalDual{Basis: basis, Radius: 1}, 14},
		{discounted, CertaintyEquivalence{}, 7},
		{discounted, MedianPlugIn{}, 7},
		{discounted, DualALP{Batch: 3}, 21},
		{discounted, VarianceReduced{}, 7},
		{discounted, ScaleFree{}, 7},
		{discounted, OfflinePrimalDual{Steps: 7, Inner: 2, Coverage: 4}, 7},
		{discounted, MirrorProx{}, 0},
		{discounted, PDHG{}, 0},
		{discounted, HalpernPDHG{}, 0},
		{discounted, MixtureLP{}, 0},
		{discounted, FullLP{}, 0},
		{discounted, ApproximateLP{basis}, 0},
		{discounted, SmoothedLP{basis}, 0},
		{discounted, LastIterate{MixtureLP{}}, 0},
	} {
		run := begin[mixpolicy.Run](c.p, c.m)
		var s mixpolicy.Snapshot
		if err := run.View(&s); err != nil || floats.HasNaN(s.Average) {
			t.Errorf("%s at the start: %+v, %v", c.m.Name(), s, err)
		}
		iterations := 7
		for range 7 {
			if err := run.Step(); errors.Is(err, mixpolicy.ErrDone) {
				iterations = 0
			} else if err != nil {
				t.Fatal(err)
			}
		}
		r, err := mixpolicy.Solve(t.Context(), c.p, c.m, mixpolicy.Settings{Iterations: 7, Uncertified: true})
		if err != nil || r.Iterations != iterations || r.Queries != c.queries {
			t.Errorf("%s: %v, want %d queries; %v", c.m.Name(), r, c.queries, err)
		}
		old := []float64{math.NaN()}
		s = mixpolicy.Snapshot{Last: old, Average: old, Lambda: old}
		if err := run.View(&s); err != nil || floats.HasNaN(slices.Concat(s.Last, s.Average, s.Lambda)) {
			t.Errorf("%s: %+v, %v", c.m.Name(), s, err)
		}
		if name := c.m.Name(); name == "" || names[name] {
			t.Errorf("the name %q is empty, or another method has the same name", name)
		}
		names[c.m.Name()] = true
		if name := reflect.TypeOf(c.m).Name(); !published[name] {
			t.Errorf("publications.md has no source of %s", name)
		}
	}
	if got, want := fmt.Sprint(begin[*dualALP](discounted, DualALP{Weight: 2, Batch: 3, CostScale: 5})), "dual ALP, ω = 2, η = 1, 0.7071, 0.5774, …, 3 gradients a step, scale of costs 5"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Logits far from 0 do not overflow.
func TestSoftmaxExtremes(t *testing.T) {
	for _, c := range [][2][]float64{{{800, 0}, {1, 0}}, {{-800, -800}, {0, 0}}} {
		rho := zeros(2)
		if softmax(rho, c[0], 0); !floats.EqualApprox(rho, c[1], 1e-300) {
			t.Errorf("ρ = %v of the logits %v, want %v", rho, c[0], c[1])
		}
	}
}

// For the queue of section 6, t = 37 is enough for π-learning if only the optimal policy counts: its relative value
// function spans at most 4·37 ranges of the costs. Every bound on the mixing times of all policies is more than 3·10¹³:
// under the policy with rate 0.8 up to length 66 and 0.2 beyond, the queue rarely passes from one part to the other.
func TestMixingTimeOfQueue(t *testing.T) {
	x := section6(mixpolicy.Ball(2)).MDP()
	lo, hi := x.CostRange()
	h := mixpolicy.Must(mixpolicy.PolicyIteration(background, x, mixpolicy.ValuationSettings{})).Value
	if span := (floats.Max(h) - floats.Min(h)) / (hi - lo); !(span > 146.2 && span < 146.3 && span <= 4*37) {
		t.Errorf("h* spans %v ranges of the costs, want 146.2", span)
	}
	bistable := mixpolicy.Must(mixpolicy.PolicyFunc(x, func(s int, row []float64) { row[map[bool]int{true: 3}[s < 66]] = 1 }))
	if m := mixpolicy.Must(theory.MixingTime(t.Context(), x, bistable, .25)); m.Time < 3e13 {
		t.Errorf("τ_mix(¼) = %d, want more than 3·10¹³", m.Time)
	}
}

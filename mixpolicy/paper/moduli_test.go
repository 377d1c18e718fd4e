package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/theory"
	"github.com/mixpolicy/lab/plotting"
)

func families() []Family {
	return []Family{
		{"cube", func(r float64) bregman.Modulus { return bregman.Cube(r) }},
		{"log-cosine", func(r float64) bregman.Modulus { return bregman.LogCosine(r) }},
	}
}

func smallQueue() *mixpolicy.Problem { return mixpolicy.Must(QueueProblem(mixpolicy.Cube(2))) }

var brief = ModuliSettings{Iterations: 300, Trials: 3, TuningTrials: 2, Etas: []float64{4, 64}}

// A contender's step size is the best of its scores, and what the table shows of its
// trials is what plain runs with that step size come to.
func TestModuliAreRunWithTheBestOfTheGrid(t *testing.T) {
	p := smallQueue()
	m := mixpolicy.Must(CompareModuli(t.Context(), p, brief, families()...))
	table := mixpolicy.Must(m.Table())
	for i, c := range m.Contenders {
		k := slices.Index(m.Settings.Etas, c.Eta)
		for _, s := range c.Scores {
			if s.Mean < c.Scores[k].Mean {
				t.Errorf("%s: η₀ = %g scores %v, another %v", c.Family.Name, c.Eta, c.Scores[k], s)
			}
		}
		var merits []float64
		for stream := range brief.Trials {
			r := mixpolicy.Must(mixpolicy.Solve(t.Context(), p, mixpolicy.PrimalDual{
				Modulus: families()[i].At(2), StepSize: mixpolicy.InverseSqrt(c.Eta), CostScale: cMax,
			}, mixpolicy.Settings{Iterations: brief.Iterations, Stream: uint64(stream)}))
			merits = append(merits, r.Merit/r.Optimum)
		}
		if want := fmt.Sprintf("%.4f [", stat.Mean(merits, nil)); !strings.HasPrefix(table.Columns[2].Text[i], want) {
			t.Errorf("%s: the table says %s, runs %s", c.Family.Name, table.Columns[2].Text[i], want)
		}
	}
}

// At the problem's own radius nothing is chosen anew: both lines pass through the trials
// of the comparison.
func TestRadiusSensitivityPassesThroughTheComparison(t *testing.T) {
	p := smallQueue()
	m := mixpolicy.Must(CompareModuli(t.Context(), p, brief, families()...))
	f := mixpolicy.Must(m.RadiusSensitivity(t.Context(), 2, 4))
	merit := mixpolicy.Must(MeritCurve(p))
	for i, c := range m.Contenders {
		tuned, kept := f.Layers[2*i].(plotting.Line), f.Layers[2*i+1].(plotting.Line)
		want := interval(c.Trials.Final(merit))
		if tuned.Y[0] != want.Mean || tuned.Lo[0] != want.Lo || tuned.Hi[0] != want.Hi || kept.Y[0] != want.Mean {
			t.Errorf("%s: %v and %v at R = 2, want %v", c.Family.Name, tuned, kept, want)
		}
		if kept.Y[1] == kept.Y[0] {
			t.Errorf("%s: R makes no difference", c.Family.Name)
		}
	}
	if _, err := m.RadiusSensitivity(t.Context(), 0.25); err == nil {
		t.Error("no error for a class that does not meet the hyperplane")
	}
}

// The ends of a strip are where the divergence has the level of the strip, and between them
// it is smaller.
func TestStripsAreLevelSets(t *testing.T) {
	p := smallQueue()
	m := mixpolicy.Must(CompareModuli(t.Context(), p, brief, families()...))
	best := mixpolicy.Must(p.Optimum(t.Context())).Theta
	panels := mixpolicy.Must(m.Paths())
	for i, f := range panels.Figures {
		phi := families()[i].At(2)
		d := func(x float64) float64 { return bregman.Divergence(phi, best, []float64{x, 1 - x}) }
		strips := 0
		for _, l := range f.Layers {
			s, ok := l.(plotting.Span)
			if !ok {
				continue
			}
			level := 4 * d(0.5) / math.Pow(4, float64(strips))
			strips++
			for _, end := range []float64{s.From, s.To} {
				// The end is found to 10⁻⁹ of the axis, over which d changes by far less than 10⁻⁶.
				if inside := f.Y.Min < end && end < f.Y.Max; inside && math.Abs(d(end)/level-1) > 1e-6 || !inside && d(end) > level {
					t.Errorf("%s: D = %g at the end %g of the strip of %g", f.Title, d(end), end, level)
				}
			}
			for k := range 101 {
				if x := s.From + (s.To-s.From)*float64(k)/100; d(x) > level*(1+1e-6) {
					t.Errorf("%s: D = %g at %g, within the strip of %g", f.Title, d(x), x, level)
				}
			}
		}
		if strips != 5 {
			t.Errorf("%s: %d strips, want 5", f.Title, strips)
		}
	}
}

func TestPathsNeedALineOrAPlane(t *testing.T) {
	for d, want := range map[int]string{2: "", 3: "", 4: "for d = 4, want d = 2 or 3"} {
		x := mixpolicy.Must(smallMDP())
		var base []*mixpolicy.Policy
		for k := range d {
			e := 0.1 * float64(k)
			base = append(base, mixpolicy.Must(mixpolicy.StateIndependent(x, 0.5-e, 0.2+e, 0.3)))
		}
		p := mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, base...)), mixpolicy.Cube(2)))
		m := mixpolicy.Must(CompareModuli(t.Context(), p, brief, families()...))
		panels, err := m.Paths()
		if err == nil && want == "" {
			for _, f := range panels.Figures {
				err = errors.Join(err, f.Validate())
			}
		}
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("d = %d: %v, want %q", d, err, want)
		}
	}
}

// picky fails with large steps: where θ̃ is more than 30 from the origin in dual coordinates.
type picky struct{ bregman.Separable }

func (picky) String() string { return "picky" }
func (p picky) ConjugateGradient(dst, y []float64) {
	p.Separable.ConjugateGradient(dst, y)
	if floats.Norm(y, 2) > 30 {
		dst[0] = math.NaN()
	}
}

// A modulus that can't run, or not with every step size, says so and ends nobody else's runs.
func TestAComparisonNamesWhatCannotRun(t *testing.T) {
	p := smallQueue()
	tiny := Family{"tiny cube", func(float64) bregman.Modulus { return bregman.Cube(0.25) }}
	some := Family{"picky cube", func(r float64) bregman.Modulus { return picky{bregman.Cube(r)} }}
	set := brief
	set.Etas = []float64{4, 1e9}
	m := mixpolicy.Must(CompareModuli(t.Context(), p, set, tiny, some, families()[0]))
	if c := m.Contenders[0]; c.Err == nil || !math.IsNaN(c.Eta) || !strings.Contains(c.Err.Error(), "tiny cube: none of 2 settings") {
		t.Errorf("error %v", c.Err)
	}
	if c := m.Contenders[1]; c.Err != nil || c.Eta != 4 || math.IsNaN(c.Scores[0].Mean) || !math.IsNaN(c.Scores[1].Mean) || len(c.Trials.Finished()) != set.Trials {
		t.Errorf("%v, η₀ = %g, %v", c.Err, c.Eta, c.Scores)
	}
	if c := m.Contenders[2]; c.Err != nil || math.IsNaN(c.Scores[1].Mean) {
		t.Errorf("%v, %v", c.Err, c.Scores)
	}
	table := mixpolicy.Must(m.Table())
	if text := table.Columns[2].Text; !strings.HasPrefix(text[0], "failed: ") || !strings.Contains(table.String(), "failed: ") {
		t.Errorf("%q", text)
	}
	for _, f := range append([]plotting.Figure{mixpolicy.Must(m.Cost()), m.Violation(), m.Sensitivity()}, mixpolicy.Must(m.Paths()).Figures...) {
		if err := f.Validate(); err != nil {
			t.Errorf("%s: %v", f.Title, err)
		}
	}
	if _, err := CompareModuli(t.Context(), p, brief); err == nil {
		t.Error("no error for no modulus")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := CompareModuli(ctx, p, brief, families()...); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := Explore(ctx, p, Exploration{}, families()...); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A comparison that is ended returns within a second, with the moduli that have finished.
func TestAComparisonThatIsEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	set := brief
	set.Iterations = 1 << 30
	ended := make(chan time.Time, 1)
	time.AfterFunc(100*time.Millisecond, func() { ended <- time.Now(); cancel() })
	m, err := CompareModuli(ctx, smallQueue(), set, families()...)
	if !errors.Is(err, context.Canceled) || time.Since(<-ended) > time.Second || len(m.Contenders) != 0 {
		t.Errorf("error %v, %d moduli", err, len(m.Contenders))
	}
}

// The frame where the sliders stand is that of runs with what the sliders say.
func TestAnExplorationShowsTheRunsItNames(t *testing.T) {
	e := Exploration{Radii: []float64{1, 2}, Etas: []float64{4, 64}, Betas: []float64{10, 100}, Iterations: 200, Trials: 2}
	x := mixpolicy.Must(Explore(t.Context(), smallQueue(), e, families()...))
	for _, at := range [][]int{{0, 0, 0, 0}, {1, 0, 1, 1}, {0, 1, 0, 1}, {1, 1, 1, 0}} {
		r := e.Radii[at[0]]
		p := mixpolicy.Must(QueueProblem(mixpolicy.Cube(r)))
		lo, hi := math.Inf(1), math.Inf(-1)
		var last float64
		for stream := range 2 {
			q := mixpolicy.Must(mixpolicy.Solve(t.Context(), p, mixpolicy.PrimalDual{
				Modulus: families()[at[3]].At(r), StepSize: mixpolicy.InverseSqrt(e.Etas[at[1]]), Beta: e.Betas[at[2]], CostScale: cMax,
			}, mixpolicy.Settings{Iterations: 200, Stream: uint64(stream)}))
			lo, hi = min(lo, q.Merit/q.Optimum), max(hi, q.Merit/q.Optimum)
			if stream == 0 {
				last = q.Last[0] / r
			}
		}
		figures := x.Frame(at).Figures
		iterate, merit := figures[0].Layers[0].(plotting.Line), figures[1].Layers[0].(plotting.Line)
		end := len(merit.Y) - 1
		if iterate.Y[end] != last || merit.Lo[end] != lo || merit.Hi[end] != hi {
			t.Errorf("at %v: θ₁/R = %v and merits in [%v, %v], want %v and [%v, %v]", at, iterate.Y[end], merit.Lo[end], merit.Hi[end], last, lo, hi)
		}
	}
}

// Copies change the unit of θ and nothing else: the iterates, added up over copies, and the
// reach of the class stay what they were, while the norm grows.
func TestCopiesOfPoliciesChangeTheNormAndNothingElse(t *testing.T) {
	one := new(mixpolicy.History)
	var norm float64
	for _, k := range []int{1, 2, 5} {
		p := mixpolicy.Must(copies(k, mixpolicy.Cube(2/float64(k))))
		h := new(mixpolicy.History)
		mixpolicy.Must(mixpolicy.Solve(t.Context(), p, mixpolicy.PrimalDual{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(4)},
			mixpolicy.Settings{Iterations: 1000, Seed: 3, Recorder: h}))
		if k == 1 {
			one, norm = h, theory.SubordinateNorm(p.Features(), p.Class().Norm)
			continue
		}
		// Power-of-two copies are exact; the others round R and sums of k, and the error of
		// 10³ steps, each of a few ulp, stays far below 10⁻⁹.
		if got := theory.SubordinateNorm(p.Features(), p.Class().Norm); math.Abs(got-float64(k)*norm) > 1e-12 {
			t.Errorf("k = %d: ‖Ψ‖ = %v, want %v", k, got, float64(k)*norm)
		}
		for i, theta := range h.Last {
			var sum float64
			for j := 0; j < len(theta); j += 2 {
				sum += theta[j]
			}
			if math.Abs(sum-one.Last[i][0]) > 1e-9 {
				t.Fatalf("k = %d, iteration %d: θ₁ adds up to %v, want %v", k, h.Iteration[i], sum, one.Last[i][0])
			}
		}
	}
}

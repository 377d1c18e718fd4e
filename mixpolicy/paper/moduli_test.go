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
	"github.com/mixpolicy/lab/mixpolicy/race"
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

var brief = ModuliSettings{Iterations: 300, Trials: 3, TuningTrials: 2, Etas: []float64{0.25, 4, 64, 1024}}

// A contender's step size has the least mean score in tuning. The table shows the mean penalised gap of plain runs with
// this step size.
func TestModuliAreRunWithTheBestOfTheGrid(t *testing.T) {
	p := smallQueue()
	m := mixpolicy.Must(CompareModuli(t.Context(), p, brief, families()...))
	table := m.Table()
	for i, c := range m.Contenders {
		chosen := table.Columns[1].Numbers[i]
		if chosen != brief.Etas[c.Chosen] {
			t.Errorf("%s: η₀ = %g, want %g", c.Name, chosen, brief.Etas[c.Chosen])
		}
		for _, s := range c.Tuning {
			if stat.Mean(s.Scores, nil) < stat.Mean(c.Tuning[c.Chosen].Scores, nil) {
				t.Errorf("%s: η₀ = %g scores %v, but another η₀ scores %v", c.Name, chosen, c.Tuning[c.Chosen].Scores, s.Scores)
			}
		}
		var gaps []float64
		for stream := range brief.Trials {
			r := mixpolicy.Must(mixpolicy.Solve(t.Context(), p, mixpolicy.PrimalDual{
				Modulus: families()[i].At(2), StepSize: mixpolicy.InverseSqrt(chosen), CostScale: cMax,
			}, mixpolicy.Settings{Iterations: brief.Iterations, Stream: uint64(stream)}))
			gaps = append(gaps, r.PenalisedGap/r.Optimum)
		}
		if want := fmt.Sprintf("%.4f [", stat.Mean(gaps, nil)); !strings.HasPrefix(table.Columns[2].Text[i], want) {
			t.Errorf("%s: the table says %s, runs %s", c.Name, table.Columns[2].Text[i], want)
		}
	}
}

// At the problem's own radius, both lines pass through the mean of the comparison's trials. At another radius, they
// show the results of a comparison at that radius: one line with the step size chosen there, and one with the step size
// chosen at the problem's own radius.
func TestRadiusSensitivityPassesThroughTheComparison(t *testing.T) {
	m := mixpolicy.Must(CompareModuli(t.Context(), smallQueue(), brief, families()...))
	four := mixpolicy.Must(CompareModuli(t.Context(), mixpolicy.Must(QueueProblem(mixpolicy.Cube(4))), brief, families()...))
	f := mixpolicy.Must(m.RadiusSensitivity(t.Context(), 2, 4))
	for i, c := range m.Contenders {
		tuned, kept := f.Layers[2*i].(plotting.Line), f.Layers[2*i+1].(plotting.Line)
		for k, c := range []Contender{c, four.Contenders[i]} {
			want := interval(c.Runs.Final(c.gap))
			if tuned.Y[k] != want.Mean || tuned.Lo[k] != want.Lo || tuned.Hi[k] != want.Hi {
				t.Errorf("%s: %v at R = %g, want %v", c.Name, tuned, tuned.X[k], want)
			}
			same := want.Mean
			if own := m.Contenders[i].Chosen; own != c.Chosen {
				same = stat.Mean(c.Tuning[own].Scores, nil)
			}
			if kept.Y[k] != same {
				t.Errorf("%s: %v at R = %g, want %v", c.Name, kept.Y[k], kept.X[k], same)
			}
		}
		if tuned.Y[1] == tuned.Y[0] {
			t.Errorf("%s: R makes no difference", c.Name)
		}
	}
	if _, err := m.RadiusSensitivity(t.Context(), 0.25); err == nil {
		t.Error("no error for a class that does not meet the hyperplane")
	}
}

// A difference compares runs on the same stream after the same number of queries. Its line has the
// name and the colour of its modulus.
func TestDifferencesArePaired(t *testing.T) {
	m := mixpolicy.Must(CompareModuli(t.Context(), smallQueue(), brief, families()...))
	a, b := m.Contenders[0], m.Contenders[1]
	var want []float64
	for k, r := range b.Runs.Trials {
		want = append(want, b.gap(r.End())-a.gap(a.Runs.Trials[k].End()))
	}
	line := m.Differences(0).Layers[1].(plotting.Line)
	last := len(line.X) - 1
	if got, iv := line.Y[last], interval(want); got != iv.Mean || line.Lo[last] != iv.Lo || line.Hi[last] != iv.Hi {
		t.Errorf("%v [%v, %v], want %v", got, line.Lo[last], line.Hi[last], iv)
	}
	if line.Name != b.Name || line.Color != plotting.Vermilion {
		t.Errorf("%q in %v", line.Name, line.Color)
	}
}

// At the ends of a strip, to a thousandth of the axis, the divergence equals the level of the strip.
// Between the ends, it does not exceed the level.
func TestStripsAreLevelSets(t *testing.T) {
	p := smallQueue()
	m := mixpolicy.Must(CompareModuli(t.Context(), p, brief, families()...))
	best, panels := mixpolicy.Must(p.Optimum(t.Context())).Theta, mixpolicy.Must(m.Paths())
	for i, f := range panels.Figures {
		phi := families()[i].At(2)
		d := func(x float64) float64 { return bregman.Divergence(phi, best, []float64{x, 1 - x}) }
		strips, step := 0, (f.Y.Max-f.Y.Min)/1000
		for _, l := range f.Layers {
			s, ok := l.(plotting.Span)
			if !ok {
				continue
			}
			level := 4 * d(0.5) / math.Pow(4, float64(strips))
			strips++
			for _, end := range []float64{s.From, s.To} {
				outward := end + math.Copysign(1.001*step, end-best[0])
				if d(end) > level || f.Y.Min < outward && outward < f.Y.Max && d(outward) <= level { // NaN beyond the domain
					t.Errorf("%s: D = %g at the end %g of the strip of %g, and %g a step on", f.Title, d(end), end, level, d(outward))
				}
			}
			for k := range 101 {
				if x := s.From + (s.To-s.From)*float64(k)/100; d(x) > level {
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
		x := smallMDP()
		var base []*mixpolicy.Policy
		for k := range d {
			e := 0.1 * float64(k)
			base = append(base, mixpolicy.Must(mixpolicy.StateIndependent(x, 0.5-e, 0.2+e, 0.3)))
		}
		p := mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, base...)), mixpolicy.Cube(2)))
		m := mixpolicy.Must(CompareModuli(t.Context(), p, brief, families()...))
		panels, err := m.Paths()
		for _, f := range panels.Figures {
			err = errors.Join(err, f.Validate())
		}
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("d = %d: %v, want %q", d, err, want)
		}
	}
}

// picky fails with large steps: ∇φ*(y) is NaN if ‖y‖₂ > 30.
type picky struct{ bregman.Separable }

func (picky) String() string { return "picky" }
func (p picky) ConjugateGradient(dst, y []float64) {
	p.Separable.ConjugateGradient(dst, y)
	if floats.Norm(y, 2) > 30 {
		dst[0] = math.NaN()
	}
}

// The table names each modulus that cannot run, and each step size with which a modulus cannot run. The other moduli
// still run.
func TestAComparisonNamesWhatCannotRun(t *testing.T) {
	p, tiny := smallQueue(), Family{"tiny cube", func(float64) bregman.Modulus { return bregman.Cube(0.25) }}
	some, set := Family{"picky cube", func(r float64) bregman.Modulus { return picky{bregman.Cube(r)} }}, brief
	set.Etas = []float64{0.25, 4, 64, 1e9}
	m := mixpolicy.Must(CompareModuli(t.Context(), p, set, tiny, some, families()[0]))
	last := len(m.Settings.Etas) - 1
	if c := m.Contenders[0]; c.Err == nil || c.Chosen != -1 || !strings.Contains(c.Err.Error(), fmt.Sprintf("tiny cube: none of %d settings", last+1)) {
		t.Errorf("error %v", c.Err)
	}
	if c := m.Contenders[1]; c.Err != nil || c.Chosen < 1 || c.gaps(last) != nil || len(c.Runs.Finished()) != set.Trials {
		t.Errorf("%v, method %d, penalised gaps %v", c.Err, c.Chosen, c.gaps(last))
	}
	if c := m.Contenders[2]; c.Err != nil || c.gaps(0) == nil || c.gaps(1) == nil {
		t.Errorf("%v", c.Err)
	}
	table := m.Table()
	if text := table.Columns[2].Text; !strings.HasPrefix(text[0], "failed: ") || !strings.Contains(table.String(), "failed: ") {
		t.Errorf("%q", text)
	}
	if remarks := table.Columns[8].Text; !strings.HasPrefix(remarks[1], "diverges or fails at η₀ = 64, 1e+09") || remarks[2] != "" {
		t.Errorf("remarks %q", remarks)
	}
	drawable(t, m)
	if _, err := CompareModuli(t.Context(), p, brief); err == nil {
		t.Error("no error for no modulus")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := CompareModuli(ctx, p, brief, families()...); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := brief.Look(ctx, p, bregman.Cube(2), 1, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func drawable(t *testing.T, m *Moduli) {
	t.Helper()
	radius := mixpolicy.Must(m.RadiusSensitivity(t.Context(), m.Problem.Class().R))
	all := slices.Concat(m.Boundary().Figures, mixpolicy.Must(m.Paths()).Figures)
	for _, f := range append(all, m.Cost(), m.Differences(10), m.Sensitivity(), radius) {
		if err := f.Validate(); err != nil {
			t.Error(err)
		}
	}
	mixpolicy.Must(plotting.DisplayData(m.Table()))
}

// With large steps, runs of moduli with an unbounded domain diverge, to penalised gaps of up to 10¹⁹⁸ times the
// optimum. The table names the step sizes, and no figure shows such a number.
func TestDivergence(t *testing.T) {
	family := func(name string, phi bregman.Modulus) Family {
		return Family{name, func(float64) bregman.Modulus { return phi }}
	}
	set := ModuliSettings{Iterations: 3000, Trials: 4, TuningTrials: 2, Etas: []float64{0x1p-6, 1, 64, 256}}
	all := []Family{family("Euclidean", bregman.Euclidean()), family("entropy", bregman.NegativeEntropy()), family("cube", bregman.Cube(2))}
	m := mixpolicy.Must(CompareModuli(t.Context(), smallQueue(), set, all...))
	table := m.Table()
	for i, want := range []string{"diverges or fails at η₀ = 64, 256; 2η₀ is better; its domain is not within the class",
		"2η₀ is better; the class is not within its domain", ""} {
		c, tried := m.Contenders[i], 0
		if got := table.Columns[8].Text[i]; got != want {
			t.Errorf("%s: %q, want %q", c.Name, got, want)
		}
		for _, tuning := range c.Tuning {
			tried += len(tuning.Trials)
		}
		if tried != len(m.Settings.Etas)+2 { // one for each step size, and one more for each of the best two
			t.Errorf("%s: %d tuning trials", c.Name, tried)
		}
	}
	line := m.Sensitivity().Layers[0].(plotting.Line)
	if !strings.HasSuffix(line.Name, "64, 256") || !slices.Equal(line.X, m.Settings.Etas[:len(m.Settings.Etas)-2]) {
		t.Errorf("%q: %v", line.Name, line.X)
	}
	drawable(t, m)

	set.Etas = []float64{64, 256} // the Euclidean modulus diverges with both, so the grid grows
	m = mixpolicy.Must(CompareModuli(t.Context(), smallQueue(), set, all...))
	if c := m.Contenders[0]; c.Err != nil || m.Settings.Etas[c.Chosen] >= 64 {
		t.Errorf("Euclidean: η₀ %d of %v, %v", c.Chosen, m.Settings.Etas, c.Err)
	}

	set.Etas = []float64{64} // nothing to tune
	m = mixpolicy.Must(CompareModuli(t.Context(), smallQueue(), set, all...))
	if err := m.Contenders[0].Err; err == nil || err.Error() != "paper: Euclidean: 4 of 4 trials diverge" {
		t.Errorf("error %v", err)
	}
	table = m.Table()
	if want := "diverges or fails at η₀ = 64; η₀ is at an end of what was tried; its domain is not within the class"; table.Columns[8].Text[0] != want ||
		!strings.Contains(table.String(), "4 of 4 trials diverge   ") {
		t.Error(table)
	}
	if n := len(m.Cost().Layers); n != 3 { // two curves and the optimum
		t.Errorf("%d layers, want none of what diverges", n)
	}
	if f := mixpolicy.Must(m.RadiusSensitivity(t.Context(), 3)); len(f.Layers) != 4 {
		t.Errorf("%d lines", len(f.Layers))
	}
	drawable(t, m)

	m = mixpolicy.Must(CompareModuli(t.Context(), smallQueue(), set, all[0])) // the only modulus diverges: nothing to draw
	drawable(t, m)
	if title := m.Sensitivity().Title; !strings.HasSuffix(title, "no modulus ran to the end; the table says why") {
		t.Error(title)
	}
}

// A θ̂ outside the class counts as diverging only if it is worse than θ₀. A θ̂ in the class never does.
func TestGapOrInf(t *testing.T) {
	p := mixpolicy.Must(QueueProblem(mixpolicy.Cube(1.05)))
	gap, guarded := mixpolicy.Must(RelativeGap(p)), gapOrInf(p)
	for _, c := range []struct {
		first    float64
		diverges bool
	}{{.5, false}, {-.05, false}, {-.05 - 1e-9, false}, {1.06, false}, {1.4, true}, {-40, true}, {1e300, true}} {
		l := &race.Observation{Theta: []float64{c.first, 1 - c.first}}
		if got := guarded(l); math.IsInf(got, 1) != c.diverges || !c.diverges && got != gap(l) {
			t.Errorf("θ₁ = %g: %g, the penalised gap is %g", c.first, got, gap(l))
		}
	}
}

// A comparison whose context ends returns within a second, with the moduli that have finished.
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

// Look shows runs with the modulus, the step size and the β that it is given.
func TestALookShowsTheRunsItNames(t *testing.T) {
	p := smallQueue()
	panels := mixpolicy.Must(ModuliSettings{Iterations: 200, Trials: 2}.Look(t.Context(), p, bregman.LogCosine(2), 64, 10))
	lo, hi, last := math.Inf(1), math.Inf(-1), 0.0
	for stream := range 2 {
		q := mixpolicy.Must(mixpolicy.Solve(t.Context(), p, mixpolicy.PrimalDual{
			Modulus: bregman.LogCosine(2), StepSize: mixpolicy.InverseSqrt(64), Beta: 10, CostScale: cMax,
		}, mixpolicy.Settings{Iterations: 200, Stream: uint64(stream)}))
		lo, hi = min(lo, q.PenalisedGap/q.Optimum), max(hi, q.PenalisedGap/q.Optimum)
		if stream == 0 {
			last = q.Last[0] / 2
		}
	}
	iterate, gap := panels.Figures[0].Layers[0].(plotting.Points), panels.Figures[1].Layers[0].(plotting.Line)
	end := len(gap.Y) - 1
	if iterate.Y[end] != last || gap.Lo[end] != lo || gap.Hi[end] != hi {
		t.Errorf("θ₁/R = %v and penalised gaps in [%v, %v], want %v and [%v, %v]", iterate.Y[end], gap.Lo[end], gap.Hi[end], last, lo, hi)
	}
}

// With k copies of each policy and the radius R/k, the sum of an iterate over copies stays the same,
// while ‖Ψ‖ is k times as large.
func TestCopiesOfPoliciesChangeTheNormAndNothingElse(t *testing.T) {
	one, norm := new(mixpolicy.History), 0.0
	for _, k := range []int{1, 2, 5} {
		p, h := copies(k, mixpolicy.Cube(2/float64(k))), new(mixpolicy.History)
		mixpolicy.Must(mixpolicy.Solve(t.Context(), p, mixpolicy.PrimalDual{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(4)},
			mixpolicy.Settings{Iterations: 1000, Seed: 3, Recorder: h}))
		if k == 1 {
			one, norm = h, theory.SubordinateNorm(p.Features(), p.Class().Norm)
			continue
		}
		// If k is a power of two, R/k and sums over copies are exact. Otherwise they are rounded, and the error of 10³
		// steps of a few ulps each stays far below 10⁻⁹.
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

// A grid that grows gives the same table as its final grid, given at the start. The table contains the penalised gaps
// with half and with twice the step size, and a remark if the iterates hardly move.
func TestGridsGrow(t *testing.T) {
	p, cube := smallQueue(), families()[0]
	set := ModuliSettings{Iterations: 2000, Trials: 2, TuningTrials: 2, Etas: []float64{1, 2, 4}}
	m := mixpolicy.Must(CompareModuli(t.Context(), p, set, cube))
	if n := len(m.Settings.Etas); n < 4 || m.Contenders[0].Chosen == 0 || m.Contenders[0].Chosen == n-1 {
		t.Errorf("η₀ %d of %v", m.Contenders[0].Chosen, m.Settings.Etas)
	}
	table := m.Table()
	for k, factor := range []float64{1, 0.5, 2} {
		set.Etas = []float64{factor * table.Columns[1].Numbers[0]}
		one := mixpolicy.Must(CompareModuli(t.Context(), p, set, cube))
		want := fmt.Sprintf("%.4f", stat.Mean(one.Contenders[0].Runs.Final(one.Contenders[0].gap), nil))
		if got := table.Columns[2+k].Text[0]; !strings.HasPrefix(got, want) {
			t.Errorf("with η₀ = %v the gap is %s, and %s in the table", set.Etas, want, got)
		}
	}
	set.Etas = m.Settings.Etas
	if again := mixpolicy.Must(CompareModuli(t.Context(), p, set, cube)).Table(); again.String() != table.String() {
		t.Errorf("on its own grid\n%v\nwant\n%v", again, table)
	}
	set.Etas = []float64{1e-9}
	if still := mixpolicy.Must(CompareModuli(t.Context(), p, set, cube)).Table(); !strings.HasPrefix(still.Columns[8].Text[0], "hardly moves from θ₀") {
		t.Errorf("with η₀ = 1e-9\n%v", still)
	}
}

package priorwork

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// A feature for each pair, as everyPair has them.
func ExampleSparseDualALP() {
	w, p := everyPair(mixpolicy.AverageCost)
	x := p.MDP()
	best, _, _ := w.Optimum()
	a := mixpolicy.Must(NewSparseDualALP(x, x.Pairs(), func(i int, set func(int, float64)) { set(i, 1) }))
	theta := mixpolicy.Must(a.Run(context.Background(), DualALPRun{
		Weight: 10, CostScale: 1, StepSize: mixpolicy.InverseSqrt(0.02), Batch: 10, Steps: 20_000, Radius: 1, Start: barycentre(x.Pairs()),
	}, rand.NewPCG(1, 0)))
	policy := mixpolicy.Must(mixpolicy.PolicyOf(x, theta))
	fmt.Printf("optimal cost %.4f; its policy costs %.4f\n", best, mixpolicy.Must(x.Occupation(context.Background(), policy)).Cost(x.Costs()))
	// Output:
	// optimal cost 1.5556; its policy costs 1.5892
}

// Objective and expected gradient are those of the dense form, which is tested by
// differences.
func TestSparseDualALP_4_14(t *testing.T) {
	for _, criterion := range []mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(0.7)} {
		p, dense, columns := threeFeatures(t, criterion, func(i, j int) int { return (i*(j+2) + j) % 5 }) // some are 0
		x := p.MDP()
		a := mixpolicy.Must(NewSparseDualALP(x, 3, func(i int, set func(int, float64)) {
			for j, c := range columns {
				if c[i] != 0 {
					set(j, c[i])
				}
			}
		}))
		theta := []float64{2.5, -2.3, 0.8}
		objective, negative, flow := a.Parts(theta)
		if got, want := objective/2+3*(negative+flow), dense.objective(theta); math.Abs(got-want) > 1e-13*want || negative == 0 {
			t.Errorf("%v: f_ω = %v with negative mass %v, dense %v", criterion, got, negative, want)
		}
		xi := make([]float64, x.Pairs())
		if a.Measure(xi, theta); math.Abs(xi[3]-(2.5*columns[0][3]-2.3*columns[1][3]+.8*columns[2][3])) > 1e-15 {
			t.Errorf("%v: (Ψθ)₃ = %v", criterion, xi[3])
		}

		want, got := expectedGradient(dense, p, theta), make([]float64, 3)
		mean := func(m *sparse.Matrix, z float64, sign func(v float64) float64, target []float64) {
			for i := range m.Rows {
				v := m.RowDot(i, theta)
				if target != nil {
					v -= target[i]
				}
				_, val := m.Row(i)
				if length := floats.Norm(val, 2); length > 0 && sign(v) != 0 {
					row := make([]float64, 3)
					addRow(row, z*sign(v), m, i)
					floats.AddScaled(got, 3*length/z, row)
				}
			}
		}
		mean(a.psi, a.z1, func(v float64) float64 {
			if v < 0 {
				return -1
			}
			return 0
		}, nil)
		mean(a.flow, a.z2, func(v float64) float64 { return math.Copysign(1, v) }, a.target)
		floats.AddScaled(got, 0.5, a.b)
		if d := floats.Distance(got, want, math.Inf(1)); d > 1e-12 {
			t.Errorf("%v: E ĝ = %v, dense %v", criterion, got, want)
		}
		// And what is drawn has this mean: six standard errors of 10,000 batches.
		g := make([]float64, 3)
		samples := [3][]float64{}
		src := rand.NewPCG(3, 0)
		for range 10_000 {
			a.gradient(g, theta, DualALPRun{Weight: 3, CostScale: 2, Batch: 2}, src)
			for j, v := range g {
				samples[j] = append(samples[j], v)
			}
		}
		for j, x := range samples {
			iv := race.TInterval(x, .95)
			if standard := iv.Std / 100; math.Abs(iv.Mean-want[j]) > 6*standard+1e-12 {
				t.Errorf("%v: mean of ĝ%d is %v ± %v, want %v", criterion, j, iv.Mean, standard, want[j])
			}
		}
	}
}

func TestSparseDualALPErrors(t *testing.T) {
	_, p := everyPair(mixpolicy.AverageCost)
	x := p.MDP()
	for _, c := range []struct {
		row  func(int, func(int, float64))
		says string
	}{
		{func(i int, set func(int, float64)) { set(2, 1) }, "feature 2 of pair 0"},
		{func(i int, set func(int, float64)) { set(0, math.NaN()) }, "is NaN"},
		{func(i int, set func(int, float64)) { set(0, math.Inf(1)) }, "feature 0 of pair 0 is +Inf"},
		{func(i int, set func(int, float64)) { set(0, 1); set(0, 1) }, "feature 0 of pair 0 is set twice"},
	} {
		wantError(t, second(NewSparseDualALP(x, 2, c.row)), c.says)
	}
	a := mixpolicy.Must(NewSparseDualALP(x, x.Pairs(), func(i int, set func(int, float64)) { set(i, 1) }))
	wantError(t, second(a.Run(background, DualALPRun{}, rand.NewPCG(1, 0))), "ω = 0")
	set := DualALPRun{Weight: 1, CostScale: 1, StepSize: mixpolicy.Constant(.1), Batch: 1, Steps: 10, Radius: 1, Start: barycentre(x.Pairs())}
	for says, spoil := range map[string]func(*DualALPRun){
		"ω = 0":                     func(s *DualALPRun) { s.Weight = 0 },
		"scale of costs 0":          func(s *DualALPRun) { s.CostScale = 0 },
		"want positive":             func(s *DualALPRun) { s.StepSize = nil },
		"0 gradients a step":        func(s *DualALPRun) { s.Batch = 0 },
		"0 steps":                   func(s *DualALPRun) { s.Steps = 0 },
		"θ₀ of 0 entries":           func(s *DualALPRun) { s.Start = nil },
		"dual ALP, step 1: R = 0.1": func(s *DualALPRun) { s.Radius = .1 }, // the plane does not meet the ball
	} {
		spoiled := set
		spoil(&spoiled)
		wantError(t, second(a.Run(background, spoiled, rand.NewPCG(1, 0))), says)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	wantError(t, second(a.Run(ended, set, rand.NewPCG(1, 0))), "after 0 of 10 steps")
}

// Without a schedule the mean is shown once, after the last step, be it the first; it is the answer.
// Where Ψθ = 0 exactly there is no penalty of the negative part.
func TestSparseDualALPEnds(t *testing.T) {
	_, p := everyPair(mixpolicy.Discounted(.5))
	x := p.MDP()
	a := mixpolicy.Must(NewSparseDualALP(x, x.Pairs(), func(i int, set func(int, float64)) { set(i, 1) }))
	for _, steps := range []int{1, 3} {
		var shown []float64
		got := mixpolicy.Must(a.Run(background, DualALPRun{
			Weight: 1, CostScale: 1, StepSize: mixpolicy.Constant(.1), Batch: 1, Steps: steps, Radius: 1, Start: barycentre(x.Pairs()),
			Visit: func(step int, average []float64) error {
				if step != steps {
					t.Errorf("shown after step %d of %d", step, steps)
				}
				shown = append(shown, average...)
				return nil
			},
		}, rand.NewPCG(1, 0)))
		if a.flow.Cols != 4 || a.psi.Cols != 4 {
			t.Errorf("%d and %d columns, want 4", a.flow.Cols, a.psi.Cols)
		}
		if !floats.Equal(shown, got) || math.Abs(floats.Sum(got)-1) > 1e-14 {
			t.Errorf("%d steps: answer %v, shown %v", steps, got, shown)
		}
	}
	a.states = nil
	g := make([]float64, x.Pairs())
	if a.gradient(g, make([]float64, x.Pairs()), DualALPRun{Weight: 3, CostScale: 1, Batch: 5}, rand.NewPCG(1, 0)); !floats.Equal(g, x.Costs()) {
		t.Errorf("ĝ = %v at 0, want c = %v", g, x.Costs())
	}
}

package priorwork

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// smoothedProblem is a small MDP with costs in [0, 1), a basis of its dimension or less,
// and the optimal policy's measure.
func smoothedProblem(t *testing.T, d int) (*mixpolicy.Problem, SALP, []float64) {
	t.Helper()
	x := mixpolicy.Must(models.Garnet{States: 5, Actions: 3, Branches: 2, Seed: 11, Ring: true, Criterion: mixpolicy.Discounted(0.5)}.MDP())
	f := mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, mixpolicy.UniformPolicy(x)))
	p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
	best := mixpolicy.Must(mixpolicy.PolicyIteration(background, x, mixpolicy.ValuationSettings{}))
	basis := identity(5)
	if d < 5 {
		for s := range 5 {
			basis.Set(s, 0, math.Sqrt(0.2))
			basis.Set(s, 1, float64(s-2)/math.Sqrt(10))
		}
		basis = mat.DenseCopyOf(basis.Slice(0, 5, 0, d))
	}
	return p, SALP{
		Basis: basis, Slack: mixpolicy.Must(x.Occupation(t.Context(), best.Policy)).State, Penalty: PublishedPenalty(0.5),
	}, best.Value
}

// The average iterate converges to the optimum of the program that [SALP] solves exactly, and
// its error is far below the theorem's bound.
func TestSmoothedPrimalDual(t *testing.T) {
	for _, d := range []int{2, 5} {
		p, program, optimal := smoothedProblem(t, d)
		x := p.MDP()
		exact := mixpolicy.Must(program.Solve(background, x))
		value := func(nu []float64) float64 {
			v := values(program.Basis, nu)
			return sum.Dot(x.Initial(), v) - program.Penalty*slackOf(x, program.Slack, v)
		}
		best := value(exact.Nu)
		if d == 5 && math.Abs(best-sum.Dot(x.Initial(), optimal)) > 1e-9 {
			t.Fatalf("in a full basis the program's value is %v, want αᵀv* = %v", best, sum.Dot(x.Initial(), optimal))
		}
		radius := 1.5 * floats.Norm(exact.Nu, 2)
		excess := func(steps int) float64 {
			eta := 1 / math.Sqrt(float64(steps))
			var mean, bound float64
			for seed := range uint64(4) {
				a := SmoothedPrimalDual{Basis: program.Basis, Slack: program.Slack, Penalty: program.Penalty, Radius: radius, StepSize: mixpolicy.Constant(eta)}
				r := mixpolicy.Must(learn(p, a, steps, seed))
				e := best - value(r.Run.(Approximator).Nu())
				if e < -1e-9 {
					t.Fatalf("d = %d: better than the optimum by %v", d, -e)
				}
				mean, bound = mean+e/4, errorBound(a, x, eta, steps)
			}
			if mean > bound {
				t.Errorf("d = %d, T = %d: error %v, bound %v", d, steps, mean, bound)
			}
			return mean
		}
		// 1/√T makes a tenth of it.
		if short, long := excess(1000), excess(100_000); long > short/4 || long > best/20 {
			t.Errorf("d = %d: error %v after 1000 steps, %v after 100,000, of a value of %v", d, short, long, best)
		}
	}
}

// errorBound is the bound of the expected error after steps of constant η, from M² as the doc
// comment of [SmoothedPrimalDual] derives it.
func errorBound(a SmoothedPrimalDual, x *mixpolicy.MDP, eta float64, steps int) float64 {
	var f float64
	for s := range x.States() {
		f = max(f, floats.Norm(a.Basis.RawRowView(s), 2))
	}
	lo, hi := x.CostRange()
	g, h := f*(1+a.Penalty*(1+x.Gamma())), a.Penalty*(f*a.Radius*(1+x.Gamma())+max(-lo, hi))
	return 2*(a.Radius+float64(x.States())*math.Log(float64(x.Actions()+1)))/(eta*float64(steps)) + 2.5*eta*(a.Radius*g*g+h*h)
}

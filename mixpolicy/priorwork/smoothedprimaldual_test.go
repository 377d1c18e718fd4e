package priorwork

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// The average iterate converges to the optimum of the program that [SALP] solves exactly. With constant η, the mean
// error of four runs is below the bound on the expected error in the doc comment of [SmoothedPrimalDual].
func TestSmoothedPrimalDual(t *testing.T) {
	x := mixpolicy.Must(models.Garnet{States: 5, Actions: 3, Branches: 2, Seed: 11, Ring: true, Criterion: mixpolicy.Discounted(0.5)}.MDP())
	features := mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, mixpolicy.UniformPolicy(x)))
	p := mixpolicy.Must(mixpolicy.NewProblem(features, mixpolicy.Ball(2)))
	optimal := mixpolicy.Must(mixpolicy.PolicyIteration(background, x, mixpolicy.ValuationSettings{})).Policy
	mu := mixpolicy.Must(x.Occupation(t.Context(), optimal)).State
	program := SALP{Basis: mat.NewDense(5, 2, nil), Slack: mu, Penalty: PublishedPenalty(0.5)}
	for s := range 5 {
		program.Basis.SetRow(s, []float64{math.Sqrt(0.2), float64(s-2) / math.Sqrt(10)})
	}
	exact := mixpolicy.Must(program.Solve(background, x))
	value := func(nu []float64) float64 {
		v := values(program.Basis, nu)
		return sum.Dot(x.Initial(), v) - program.Penalty*slackOf(x, mu, v)
	}
	best, radius := value(exact.Nu), 1.5*floats.Norm(exact.Nu, 2)
	_, top := x.CostRange()
	row := math.Sqrt(0.6) // the length of the longest row of Φ
	g, h := row*(1+1.5*program.Penalty), program.Penalty*(1.5*row*radius+top)
	excess := func(steps int) (mean float64) {
		eta := 1 / math.Sqrt(float64(steps))
		for seed := range uint64(4) {
			a := SmoothedPrimalDual{Basis: program.Basis, Slack: mu, Penalty: program.Penalty, Radius: radius, StepSize: mixpolicy.Constant(eta)}
			e := best - value(mixpolicy.Must(learn(p, a, steps, seed)).Run.(Approximator).Nu())
			if mean += e / 4; e < -1e-9 {
				t.Fatalf("better than the optimum by %v", -e)
			}
		}
		if bound := 2*(radius+5*math.Log(4))/(eta*float64(steps)) + 2.5*eta*(radius*g*g+h*h); mean > bound {
			t.Errorf("T = %d: error %v, bound %v", steps, mean, bound)
		}
		return mean
	}
	// In proportion to 1/√T, the error would fall to a tenth.
	if short, long := excess(1000), excess(100_000); long > short/4 || long > best/20 {
		t.Errorf("error %v after 1000 steps, %v after 100,000, of a value of %v", short, long, best)
	}
}

func ExampleSmoothedPrimalDual() {
	x := mixpolicy.Must(models.Machine{Criterion: mixpolicy.Discounted(0.5)}.MDP())
	f := mixpolicy.Must(mixpolicy.NewFeatures(background, x, mixpolicy.UniformPolicy(x)))
	p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
	basis := mixpolicy.Must(models.Queue{Buffer: 2}.Monomials(1)) // 1 and the state
	s := SmoothedPrimalDual{
		Basis: basis, Slack: []float64{.5, .5}, Radius: 4, CostScale: 6, StepSize: mixpolicy.InverseSqrt(0.3),
	}
	a := mixpolicy.Must(mixpolicy.Solve(background, p, s, mixpolicy.Settings{Iterations: 100_000, Seed: 1}))
	exact := mixpolicy.Must(SALP{Basis: basis, Slack: s.Slack, Penalty: PublishedPenalty(0.5)}.Solve(background, x))
	fmt.Printf("ν = %.2f, exactly %.2f\n", a.Run.(Approximator).Nu(), exact.Nu)
	fmt.Printf("service while working with probability %v, while broken %v\n", a.Policy.Prob(models.Working, models.Attend), a.Policy.Prob(models.Broken, models.Attend))
	// Output:
	// ν = [-3.45 5.50], exactly [-4.00 5.71]
	// service while working with probability 0, while broken 1
}

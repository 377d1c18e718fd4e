package paper

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// SmallMDP is the discounted process on which statements about whole MDPs are checked by
// exact linear programs: 8 states, 3 actions, γ = 0.9, costs in [0, 1).
func SmallMDP() (*mixpolicy.MDP, error) {
	return models.Garnet{States: 8, Actions: 3, Branches: 4, Seed: 1, Ring: true, Criterion: mixpolicy.Discounted(0.9)}.MDP()
}

// SmallPolicies are three random policies of it.
func SmallPolicies(x *mixpolicy.MDP) ([]*mixpolicy.Policy, error) {
	rng := rand.New(rand.NewPCG(1, 1))
	var base []*mixpolicy.Policy
	for range 3 {
		p, err := mixpolicy.PolicyFunc(x, func(_ int, row []float64) {
			for a := range row {
				row[a] = 0.1 + rng.ExpFloat64()
			}
			floats.Scale(1/floats.Sum(row), row)
		})
		if err != nil {
			return nil, err
		}
		base = append(base, p)
	}
	return base, nil
}

// SmallProblem is (2.18) for them.
func SmallProblem(class mixpolicy.Class) (*mixpolicy.Problem, error) {
	x, err := SmallMDP()
	if err != nil {
		return nil, err
	}
	base, err := SmallPolicies(x)
	if err != nil {
		return nil, err
	}
	return mixtureProblem(x, class, base...)
}

// smallOptimum is SmallProblem with its solution.
func smallOptimum(class mixpolicy.Class) (*mixpolicy.Problem, *linprog.Solution, error) {
	p, err := SmallProblem(class)
	if err != nil {
		return nil, nil, err
	}
	best, err := p.Optimum()
	return p, best, err
}

// mixtureProblem is (2.18) for the measures of base policies.
func mixtureProblem(x *mixpolicy.MDP, class mixpolicy.Class, base ...*mixpolicy.Policy) (*mixpolicy.Problem, error) {
	psi, err := mixpolicy.NewFeatures(x, base...)
	if err != nil {
		return nil, err
	}
	return mixpolicy.NewProblem(psi, class)
}

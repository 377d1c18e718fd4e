package mixpolicy

import (
	"fmt"
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// Policy is a stationary randomised policy π (Definition 2.7): in state s, action
// a is taken with probability π_a(s). It is immutable.
type Policy struct {
	n, m int
	prob []float64 // n·m, or m when the same in every state
}

// NewPolicy returns the policy with π_a(s) = prob[s·m + a]. The error names the
// first state whose row is not a distribution.
func NewPolicy(x *MDP, prob []float64) (*Policy, error) {
	if len(prob) != x.Pairs() {
		return nil, fmt.Errorf("mixpolicy: policy has %d probabilities, want one per pair: %d", len(prob), x.Pairs())
	}
	for s := range x.n {
		if err := checkDistribution(prob[s*x.m:(s+1)*x.m], x.m); err != nil {
			return nil, fmt.Errorf("mixpolicy: policy in state %s: %w", x.StateName(s), err)
		}
	}
	return &Policy{x.n, x.m, slices.Clone(prob)}, nil
}

// StateIndependent returns the policy that draws actions from p, of length m,
// in every state, as π¹ and π² of (6.3) do.
func StateIndependent(x *MDP, p ...float64) (*Policy, error) {
	if err := checkDistribution(p, x.m); err != nil {
		return nil, fmt.Errorf("mixpolicy: state-independent policy: %w", err)
	}
	return &Policy{x.n, x.m, slices.Clone(p)}, nil
}

// UniformPolicy returns π_a(s) = 1/m.
func UniformPolicy(x *MDP) *Policy { return &Policy{x.n, x.m, constant(x.m, 1/float64(x.m))} }

// PolicyFunc returns the policy with π(s) as fill writes it, into a zeroed row.
func PolicyFunc(x *MDP, fill func(s int, row []float64)) (*Policy, error) {
	prob := make([]float64, x.Pairs())
	for s := range x.n {
		fill(s, prob[s*x.m:(s+1)*x.m])
	}
	return NewPolicy(x, prob)
}

// Deterministic returns the policy that takes actions[s] in state s.
func Deterministic(x *MDP, actions []int) (*Policy, error) {
	if len(actions) != x.n {
		return nil, fmt.Errorf("mixpolicy: %d actions, want one per state: %d", len(actions), x.n)
	}
	prob := make([]float64, x.Pairs())
	for s, a := range actions {
		if a < 0 || a >= x.m {
			return nil, fmt.Errorf("mixpolicy: policy in state %s: action %d, want 0 to %d", x.StateName(s), a, x.m-1)
		}
		prob[s*x.m+a] = 1
	}
	return &Policy{x.n, x.m, prob}, nil
}

// Mixture returns π^ω = Σ ωᵢ πⁱ, an element of Πᵈ (2.16): ω is a distribution
// over the policies.
func Mixture(omega []float64, policies ...*Policy) (*Policy, error) {
	if err := checkDistribution(omega, len(policies)); err != nil {
		return nil, fmt.Errorf("mixpolicy: mixing weights ω: %w", err)
	}
	first := policies[0]
	prob := make([]float64, first.n*first.m)
	for i, p := range policies {
		if p.n != first.n || p.m != first.m {
			return nil, fmt.Errorf("mixpolicy: policy %d is for %d states and %d actions, policy 0 for %d and %d", i, p.n, p.m, first.n, first.m)
		}
		for s := range p.n {
			for a, v := range p.Row(s) {
				prob[s*p.m+a] += omega[i] * v
			}
		}
	}
	return &Policy{first.n, first.m, prob}, nil
}

// PolicyOf returns the policy of a signed measure ξ over pairs (2.20),
//
//	π_a(s) = [ξ_a(s)]₊ / Σ_b [ξ_b(s)]₊,
//
// uniform in the states where ξ has no positive entry. The error names a pair
// where ξ is not finite.
func PolicyOf(x *MDP, xi []float64) (*Policy, error) {
	if len(xi) != x.Pairs() {
		return nil, fmt.Errorf("mixpolicy: measure has %d entries, want one per pair: %d", len(xi), x.Pairs())
	}
	prob := make([]float64, x.Pairs())
	for s := range x.n {
		from, row := xi[s*x.m:(s+1)*x.m], prob[s*x.m:(s+1)*x.m]
		top := 0.0 // rows are divided by their largest entry first: sums of tiny measures would lose digits
		for a, v := range from {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("mixpolicy: %s: measure is %v, want a finite number", x.pairName(s, a), v)
			}
			top = max(top, v)
		}
		if top == 0 {
			for a := range row {
				row[a] = 1 / float64(x.m)
			}
			continue
		}
		var total float64
		for a, v := range from {
			row[a] = max(v, 0) / top
			total += row[a]
		}
		for a := range row {
			row[a] /= total
		}
	}
	return &Policy{x.n, x.m, prob}, nil
}

// Row returns π(s), of length m, borrowed.
func (p *Policy) Row(s int) []float64 {
	if len(p.prob) == p.m {
		return p.prob
	}
	return p.prob[s*p.m : (s+1)*p.m]
}

// Prob returns π_a(s).
func (p *Policy) Prob(s, a int) float64 { return p.Row(s)[a] }

// Action returns an action of greatest probability in state s, the first of equals.
func (p *Policy) Action(s int) int {
	best, row := 0, p.Row(s)
	for a, v := range row {
		if v > row[best] {
			best = a
		}
	}
	return best
}

func (x *MDP) checkPolicy(p *Policy) error {
	if p == nil {
		return fmt.Errorf("mixpolicy: policy is nil")
	}
	if p.n != x.n || p.m != x.m {
		return fmt.Errorf("mixpolicy: policy is for %d states and %d actions, the MDP has %d and %d", p.n, p.m, x.n, x.m)
	}
	return nil
}

// chain returns P^π, with P^π(s, s′) = Σ_a π_a(s) P_a(s, s′), n × n.
func (x *MDP) chain(p *Policy) *sparse.Matrix {
	b := sparse.NewBuilder(x.n, x.n, x.p.NNZ()/x.m)
	// Rows are merged through a dense accumulator that is cleared entry by entry.
	acc, seen := make([]float64, x.n), make([]int32, 0, 64)
	for s := range x.n {
		seen = seen[:0]
		for a, w := range p.Row(s) {
			if w == 0 {
				continue
			}
			to, prob := x.Next(s, a)
			for k, s2 := range to {
				if acc[s2] == 0 {
					seen = append(seen, s2)
				}
				acc[s2] += w * prob[k]
			}
		}
		for _, s2 := range seen {
			if acc[s2] > 0 { // a product may underflow, and then be seen twice
				b.Set(int(s2), acc[s2])
				acc[s2] = 0
			}
		}
		b.EndRow()
	}
	return b.Matrix()
}

// PolicyCost returns c^π(s) = Σ_a π_a(s) c_a(s) for every state.
func (x *MDP) PolicyCost(p *Policy) ([]float64, error) {
	if err := x.checkPolicy(p); err != nil {
		return nil, err
	}
	return x.policyCost(p), nil
}

func (x *MDP) policyCost(p *Policy) []float64 {
	c := make([]float64, x.n)
	for s := range x.n {
		for a, w := range p.Row(s) {
			c[s] += w * x.cost[s*x.m+a]
		}
	}
	return c
}

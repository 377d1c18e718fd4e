package mixpolicy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Ergodicity holds the constant κ of (A.2),
//
//	1/(n√κ) ≤ μ^π(s) ≤ √κ/n  for all s,
//
// that is κ = max { 1/(n min μ)², (n max μ)² }: 1 for a uniform measure, +Inf where a
// state carries no mass. μ is that of the MDP's criterion.
type Ergodicity struct {
	// Lower and Upper enclose κ. Lower is attained, by Policy at State.
	Lower, Upper float64
	Policy       *Policy
	State        int

	// LeastMass and GreatestMass are the extremes of n·μ^π(s) that were found.
	LeastMass, GreatestMass float64
}

// ErgodicityOf returns the least κ of (2.25) that serves all the given policies,
// exactly: Lower = Upper.
func ErgodicityOf(x *MDP, policies ...*Policy) (*Ergodicity, error) {
	if len(policies) == 0 {
		return nil, errors.New("mixpolicy: κ of no policy, want at least one")
	}
	e := &Ergodicity{LeastMass: math.Inf(1)}
	for i, p := range policies {
		q, err := x.Occupation(p)
		if err != nil {
			return nil, located(fmt.Sprintf("policy %d", i), err)
		}
		e.include(p, q.State)
	}
	e.Upper = e.Lower
	return e, nil
}

// include widens the range by what a measure has.
func (e *Ergodicity) include(p *Policy, mu []float64) {
	for s, v := range mu {
		mass := float64(len(mu)) * v
		e.LeastMass, e.GreatestMass = min(e.LeastMass, mass), max(e.GreatestMass, mass)
		if k := kappa(mass, mass); k > e.Lower {
			e.Lower, e.Policy, e.State = k, p, s
		}
	}
}

func kappa(least, greatest float64) float64 { return max(1/(least*least), greatest*greatest) }

// UniformErgodicity encloses the κ of (2.25) for all stationary policies. The least
// and the greatest mass that any policy gives to a state s is the optimum of the
// same process with costs 1{s} and −1{s}, so policy iteration finds κ: 2n times.
//
// Its bounds carry an absolute rounding error of some 10⁻¹⁴ times the relative
// values. Where a mass may be smaller than that, Upper is +Inf, and Lower, which
// always holds since some policy attains it, need not be close; policies that take
// the same action everywhere are tried as well. Errors: a policy with several
// recurrent classes under average cost, for which (A.2) fails, and cancellation,
// with what was found so far, whose Upper is +Inf.
func UniformErgodicity(ctx context.Context, x *MDP, progress func(done, total int)) (*Ergodicity, error) {
	e := &Ergodicity{LeastMass: math.Inf(1), Upper: math.Inf(1)}
	try := func(p *Policy) error {
		q, err := x.Occupation(p)
		if err == nil {
			e.include(p, q.State)
		}
		return err
	}
	for a := range x.m {
		p, err := Deterministic(x, slices.Repeat([]int{a}, x.n))
		if err == nil {
			err = try(p)
		}
		if err != nil {
			return nil, located(fmt.Sprintf("(A.2) for action %s in every state", x.ActionName(a)), err)
		}
	}
	least, greatest := math.Inf(1), 0.0                                 // certified
	settle := ValuationSettings{Tolerance: math.SmallestNonzeroFloat64} // as far as rounding lets it
	y := *x
	y.cost = make([]float64, x.Pairs())
	for s := range x.n {
		for _, cost := range []float64{1, -1} {
			for a := range x.m {
				y.cost[x.Pair(s, a)] = cost
			}
			v, err := PolicyIteration(ctx, &y, settle)
			if err == nil {
				err = try(v.Policy)
			}
			if err != nil {
				return e, located("(A.2) for the mass of state "+x.StateName(s), err)
			}
			if cost > 0 {
				least = min(least, v.Lower)
			} else {
				greatest = max(greatest, -v.Lower)
			}
		}
		for a := range x.m {
			y.cost[x.Pair(s, a)] = 0
		}
		if progress != nil {
			progress(s+1, x.n)
		}
	}
	if least > 0 {
		n := float64(x.n)
		e.Upper = max(e.Lower, kappa(n*least, n*greatest))
	}
	return e, nil
}

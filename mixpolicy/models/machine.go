package models

import (
	"cmp"
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Machine is an MDP of two states and two actions: a machine works or is broken, and in either state, the machine is
// left alone or serviced. The measures and costs of its policies have closed forms. If Break and Repair are both
// zero, the machine breaks with probability 0.3 per step, or 0.1 when serviced, and recovers with probability 0.1, or
// 0.8 when serviced. If Outage and Service are both zero, a step costs 5 while the machine is broken, and service
// adds 1.
type Machine struct {
	Break  [2]float64 // probability that a working machine breaks in a step, by action
	Repair [2]float64 // probability that a broken machine recovers in a step, by action

	Outage  float64 // cost of a step in the broken state, if the machine is left alone
	Service float64 // cost that service adds to a step

	// Criterion is the cost to minimise; the zero value means mixpolicy.AverageCost.
	Criterion mixpolicy.Criterion
}

// The states and the actions of a [Machine].
const (
	Working, Broken    = 0, 1
	LeaveAlone, Attend = 0, 1
)

func (w Machine) complete() (Machine, error) {
	if w.Break == [2]float64{} && w.Repair == [2]float64{} {
		w.Break, w.Repair = [2]float64{0.3, 0.1}, [2]float64{0.1, 0.8}
	}
	if w.Outage == 0 && w.Service == 0 {
		w.Outage, w.Service = 5, 1
	}
	w.Criterion = cmp.Or(w.Criterion, mixpolicy.AverageCost)
	for a := range 2 {
		if p, q := w.Break[a], w.Repair[a]; !(p >= 0 && p <= 1 && q >= 0 && q <= 1) {
			return w, fmt.Errorf("models: machine, action %s: probability %v of breaking and %v of recovering, want both from 0 to 1",
				machineAction(a), p, q)
		}
	}
	return w, nil
}

func machineAction(a int) string { return [...]string{"leave alone", "service"}[a] }

// MDP builds the MDP of the machine, which works at the start.
func (w Machine) MDP() (*mixpolicy.MDP, error) {
	w, err := w.complete()
	if err != nil {
		return nil, err
	}
	return mixpolicy.New(mixpolicy.Spec{
		States: 2, Actions: 2, Criterion: w.Criterion, Initial: []float64{1, 0},
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			cost, change := w.Service*float64(a), w.Break[a]
			if s == Broken {
				cost, change = cost+w.Outage, w.Repair[a]
			}
			return cost, []mixpolicy.Transition{{To: s, P: 1 - change}, {To: 1 - s, P: change}}
		},
		StateLabel:  func(s int) string { return [...]string{"working", "broken"}[s] },
		ActionLabel: machineAction,
	})
}

// Measure returns the state distribution μ^π of the policy that services with probability serviced[s] in state s. Let p
// and q be the probabilities of breaking and of recovering under this policy, and γ the discount factor (1 for average
// cost). Then
//
//	μ(broken) = γp / (1 − γ + γ(p+q)),
//
// which is p/(p+q) for γ = 1. The result is NaN for γ = 1 and p = q = 0, because each state
// is then a recurrent class of its own.
func (w Machine) Measure(serviced [2]float64) ([2]float64, error) {
	w, err := w.complete()
	if err != nil {
		return [2]float64{}, err
	}
	p, q := blend(w.Break, serviced[Working]), blend(w.Repair, serviced[Broken])
	g := w.Criterion.Gamma()
	d := 1 - g + g*(p+q)
	return [2]float64{(1 - g + g*q) / d, g * p / d}, nil
}

// Cost returns cᵀξ^π for the policy that services with probability serviced[s] in state s. Depending on Criterion, this
// is the average cost or the discounted cost (1−γ) E Σ γᵗ c(sₜ, aₜ).
func (w Machine) Cost(serviced [2]float64) (float64, error) {
	mu, err := w.Measure(serviced)
	if err != nil {
		return 0, err
	}
	w, _ = w.complete()
	return mu[Working]*w.Service*serviced[Working] + mu[Broken]*(w.Outage+w.Service*serviced[Broken]), nil
}

// Optimum returns the least cost and a policy that attains it. Optimum tries the four deterministic policies, one of
// which is optimal, and skips any of the four whose cost is NaN (see [Machine.Measure]).
func (w Machine) Optimum() (cost float64, serviced [2]float64, err error) {
	cost = math.Inf(1)
	for _, where := range [][2]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
		c, err := w.Cost(where)
		if err != nil {
			return 0, serviced, err
		}
		if c < cost {
			cost, serviced = c, where
		}
	}
	return cost, serviced, nil
}

// blend returns the mean of p[a] if a = 1 with probability t, and a = 0 otherwise.
func blend(p [2]float64, t float64) float64 { return (1-t)*p[0] + t*p[1] }

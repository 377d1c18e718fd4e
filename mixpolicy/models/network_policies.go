package models

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Rule decides, for each server of a [Network], which of the server's two queues is served. If one of the queues is
// empty, the server works on the other queue. If both are empty, or the rule prefers neither, the server works on each
// with probability ½.
type Rule int

const (
	// Longer serves the longer queue. Both papers that [Network] names call the rule LONGER.
	Longer Rule = iota
	// LastBuffer serves the queue from which jobs leave the network: queue 4 for server 1, and queue 2 for server 2.
	// The rule is known as LBFS, last buffer first served.
	LastBuffer
	// OldestJob serves queue i of the server's queues i and j with probability xᵢ/(xᵢ+xⱼ). If all orders of arrival of
	// the jobs in both queues were equally likely, the oldest job would be in queue i with this probability. So the
	// rule approximates the discipline "first in, first out", although it knows only the lengths.
	OldestJob
	// CMu serves the queue with the greater hᵢdᵢ, the holding cost times the service probability. This is the cμ rule,
	// which is optimal for a single server if served jobs leave the system.
	CMu
	// MaxWeight serves the queue with the greater dᵢ(xᵢ − xₖ), where dᵢ is the service probability and k is the queue
	// to which the jobs of queue i go (xₖ = 0 if these jobs leave the network). This is the back-pressure rule of
	// Tassiulas and Ephremides (1992), except that a server with only one nonempty queue, i, serves this queue even if
	// xᵢ < xₖ.
	MaxWeight
	// AnyQueue serves each queue with probability ½.
	AnyQueue
)

var ruleNames = []string{
	Longer:     "LONGER",
	LastBuffer: "LBFS",
	OldestJob:  "FIFO-like",
	CMu:        "cμ",
	MaxWeight:  "MaxWeight",
	AnyQueue:   "random",
}

// Rules lists all rules.
func Rules() []Rule { return []Rule{Longer, LastBuffer, OldestJob, CMu, MaxWeight, AnyQueue} }

// String returns the rule's name.
func (r Rule) String() string { return nameOf("Rule", int(r), ruleNames) }

// Policy returns the policy of a rule on the MDP x, which must be the MDP of the network.
func (w Network) Policy(x *mixpolicy.MDP, rule Rule) (*mixpolicy.Policy, error) {
	w, err := w.complete()
	if err != nil {
		return nil, err
	}
	switch rule {
	case Longer:
		return w.indexPolicy(x, func(lengths [4]int, i int) float64 { return float64(lengths[i]) })
	case LastBuffer:
		return w.indexPolicy(x, func(_ [4]int, i int) float64 { return float64(i % 2) })
	case OldestJob:
		return w.policy(x, func(lengths [4]int, i, j int) float64 {
			return float64(lengths[i]) / float64(lengths[i]+lengths[j])
		})
	case CMu:
		return w.indexPolicy(x, func(_ [4]int, i int) float64 { return w.Holding[i] * w.Service[i] })
	case MaxWeight:
		return w.indexPolicy(x, func(lengths [4]int, i int) float64 {
			d := float64(lengths[i])
			if k := downstream[i]; k >= 0 {
				d -= float64(lengths[k])
			}
			return w.Service[i] * d
		})
	case AnyQueue:
		return w.indexPolicy(x, func([4]int, int) float64 { return 0 })
	}
	return nil, fmt.Errorf("models: network: unknown rule %v, want one of the constants of type Rule", rule)
}

// Policies returns the policies of several rules, as [Network.Policy] does for one.
func (w Network) Policies(x *mixpolicy.MDP, rules ...Rule) (policies []*mixpolicy.Policy, err error) {
	for _, r := range rules {
		p, err := w.Policy(x, r)
		if err != nil {
			return nil, err
		}
		policies = append(policies, p)
	}
	return policies, nil
}

// indexPolicy returns the policy under which each server works on its nonempty queue with the greater value of
// index(lengths, queue). If both queues are nonempty and their values are equal, the server works on each with
// probability ½. The numbers of queues start at 0.
func (w Network) indexPolicy(x *mixpolicy.MDP, index func(lengths [4]int, queue int) float64) (*mixpolicy.Policy, error) {
	return w.policy(x, func(lengths [4]int, i, j int) float64 {
		a, b := index(lengths, i), index(lengths, j)
		switch {
		case a > b:
			return 1
		case a < b:
			return 0
		case a == b:
			return 0.5
		}
		return math.NaN() // PolicyFunc refuses NaN, and names the state
	})
}

// policy returns the policy under which a server with jobs in both of its queues, i and j,
// works on i with probability share(lengths, i, j). The defaults of w must be filled in.
func (w Network) policy(x *mixpolicy.MDP, share func(lengths [4]int, i, j int) float64) (*mixpolicy.Policy, error) {
	g := w.grid()
	if x.States() != g.states() || x.Actions() != 4 {
		return nil, fmt.Errorf("models: network with buffers %v has %d states and 4 actions, the MDP has %d and %d",
			w.Buffers, g.states(), x.States(), x.Actions())
	}
	return mixpolicy.PolicyFunc(x, func(s int, row []float64) {
		lengths := g.lengths(s)
		var p [2]float64 // p[k] is the probability that server k works on the first of its queues
		for k, q := range served {
			switch {
			case lengths[q[0]] == 0 && lengths[q[1]] == 0:
				p[k] = 0.5
			case lengths[q[1]] == 0:
				p[k] = 1
			case lengths[q[0]] == 0:
				p[k] = 0
			default:
				p[k] = share(lengths, q[0], q[1])
			}
		}
		row[0], row[1] = p[0]*p[1], p[0]*(1-p[1])
		row[2], row[3] = (1-p[0])*p[1], (1-p[0])*(1-p[1])
	})
}

// Mixture returns a policy that mixes the base policies. In a state with lengths ℓ, the mixture follows base policy k
// with the probability weights(ℓ)[k]. The weights may differ between states, whereas [mixpolicy.Mixture] uses the same
// weights in all states. If the weights are not a distribution in some state, the error names the first such state.
func (w Network) Mixture(x *mixpolicy.MDP, weights func(lengths [4]int) []float64, base ...*mixpolicy.Policy) (*mixpolicy.Policy, error) {
	w, err := w.complete()
	if err != nil {
		return nil, err
	}
	g := w.grid()
	if x.States() != g.states() {
		return nil, fmt.Errorf("models: network with buffers %v has %d states, the MDP has %d", w.Buffers, g.states(), x.States())
	}
	var bad error
	p, err := mixpolicy.PolicyFunc(x, func(s int, row []float64) {
		if bad != nil {
			return
		}
		omega := weights(g.lengths(s))
		if sum.CheckDistribution(omega, len(base)) != nil {
			bad = fmt.Errorf("models: network: mixing weights %v in state %s, want %d weights from 0 to 1 that add up to 1",
				omega, x.StateName(s), len(base))
			return
		}
		for k, o := range omega {
			for a, v := range base[k].Row(s) {
				row[a] += o * v
			}
		}
	})
	if bad != nil {
		return nil, bad
	}
	return p, err
}

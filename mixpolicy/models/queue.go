// Package models holds Markov decision processes for experiments: the queue of section 6 of the paper, with seven
// readings of its transition law; a network of four queues; random MDPs; and two small examples.
//
// A model is a struct whose zero value is ready for use, except [Garnet], which needs sizes. The method MDP builds the
// [mixpolicy.MDP], or returns an error that names the invalid parameter, state or action. Models are independent of the
// methods that solve them.
package models

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// Queue is the single queue of section 6; its service rate is controlled. By (6.1), a job arrives in a step with
// probability ϱ, and a job departs with probability a, the chosen rate. The zero value is the paper's queue with
// average cost and the [Uniformised] reading of (6.1).
//
// Without Empty, the states are the lengths 1, …, L, and state index s is length s+1. With Empty, the states are the
// lengths 0, …, L, and state index s is length s. The actions are the rates. A departure from the shortest length and
// an arrival at length L are impossible, so the probability of the impossible event is added to the probability of
// staying. Hence, under a policy that is the same in every state, the chain goes up with the same probability p from
// every length below L, and down with the same probability q from every length above the shortest. If q > 0, the
// stationary distribution of this chain is geometric with ratio p/q.
type Queue struct {
	Buffer  int       // L; 0 means 100
	Arrival float64   // ϱ; 0 means 0.5 (0.2 under SlowArrivals)
	Rates   []float64 // the actions; nil means 0.2, 0.4, 0.6, 0.8
	Reading Reading   // the way to turn (6.1) into probabilities

	// Cost is the cost of a step at the given length and rate; nil means (6.2), length² + 60·rate³.
	Cost func(length int, rate float64) float64

	// Criterion is the cost to minimise; the zero value means mixpolicy.AverageCost, which is γ = 1
	// in the paper.
	Criterion mixpolicy.Criterion

	// Empty adds a state of length 0, with the state index 0. In this state, no job departs.
	Empty bool
}

// Reading is a way to turn (6.1) into probabilities. In (6.1), the queue goes up with probability ϱ and down with
// probability a. For ϱ = ½ and a = 0.8, these probabilities add up to 1.3, so they cannot be probabilities of exclusive
// events.
type Reading int

const (
	// Uniformised treats ϱ and a as rates in continuous time. Each step is a tick of a random clock of rate ϱ + max a:
	// up ϱ/(ϱ+max a), down a/(ϱ+max a). For every action, this reading divides both probabilities in (6.1) by the same
	// number, ϱ + max a. So it preserves the balance equations, and therefore the stationary measure, of every policy.
	Uniformised Reading = iota
	// Independent makes arrivals and departures independent. An arrival and a departure in the same step cancel each
	// other: up ϱ(1−a), down a(1−ϱ).
	Independent
	// ArrivalFirst keeps the probability of an arrival and limits the probability of a departure:
	// up ϱ, down min(a, 1−ϱ).
	ArrivalFirst
	// DepartureFirst keeps the probability of a departure and limits the probability of an arrival:
	// up min(ϱ, 1−a), down a.
	DepartureFirst
	// Renormalised divides both probabilities by max(1, ϱ+a), separately for each action.
	Renormalised
	// SlowArrivals is (6.1) as printed, but by default ϱ is 0.2, the arrival probability of de
	// Farias and Van Roy (2003). With this ϱ and the default rates, ϱ + a ≤ 1 for every rate a.
	SlowArrivals
	// Literal is (6.1) as printed. Under Literal and SlowArrivals, the methods Law, MDP and Monomials return an error
	// if ϱ + a > 1 for some rate a.
	Literal
)

// Readings lists the readings that give an MDP with the default parameters: all but Literal.
func Readings() []Reading {
	return []Reading{Uniformised, Independent, ArrivalFirst, DepartureFirst, Renormalised, SlowArrivals}
}

var readingNames = []string{
	Uniformised:    "uniformised",
	Independent:    "independent",
	ArrivalFirst:   "arrival first",
	DepartureFirst: "departure first",
	Renormalised:   "renormalised",
	SlowArrivals:   "slow arrivals",
	Literal:        "literal",
}

// String returns the reading's name.
func (r Reading) String() string { return nameOf("Reading", int(r), readingNames) }

// Law holds the probabilities of going up, staying and going down in a step, at a length strictly between the shortest
// and the longest.
type Law struct{ Up, Stay, Down float64 }

// Law returns the probabilities of a step under the given action, at a length strictly between the shortest and the
// longest.
func (q Queue) Law(action int) (Law, error) {
	q, err := q.complete()
	if err != nil {
		return Law{}, err
	}
	if action < 0 || action >= len(q.Rates) {
		return Law{}, fmt.Errorf("models: queue has no action %d, want 0 to %d", action, len(q.Rates)-1)
	}
	return q.law(action), nil
}

// law is like Law, but the defaults of q must be filled in.
func (q Queue) law(action int) Law {
	rho, a := q.Arrival, q.Rates[action]
	switch q.Reading {
	case Uniformised:
		top := slices.Max(q.Rates)
		clock := rho + top
		return Law{rho / clock, (top - a) / clock, a / clock}
	case Independent:
		return Law{rho * (1 - a), rho*a + (1-rho)*(1-a), a * (1 - rho)}
	case ArrivalFirst:
		down := min(a, 1-rho)
		return Law{rho, 1 - rho - down, down}
	case DepartureFirst:
		up := min(rho, 1-a)
		return Law{up, 1 - a - up, a}
	case Renormalised:
		total := max(1, rho+a)
		return Law{rho / total, max(0, 1-(rho+a)), a / total}
	default: // SlowArrivals, Literal
		return Law{rho, 1 - (rho + a), a}
	}
}

// cost returns the cost of a step: Cost, or (6.2) if Cost is nil.
func (q Queue) cost(length int, rate float64) float64 {
	if q.Cost != nil {
		return q.Cost(length, rate)
	}
	return float64(length*length) + 60*rate*rate*rate
}

// complete fills in the defaults and checks every parameter except Cost and Criterion, which mixpolicy.New checks.
func (q Queue) complete() (Queue, error) {
	q.Buffer = cmp.Or(q.Buffer, 100)
	if q.Reading == SlowArrivals {
		q.Arrival = cmp.Or(q.Arrival, 0.2)
	}
	q.Arrival = cmp.Or(q.Arrival, 0.5)
	if q.Rates == nil {
		q.Rates = []float64{0.2, 0.4, 0.6, 0.8}
	}
	q.Criterion = cmp.Or(q.Criterion, mixpolicy.AverageCost)
	if q.Buffer < 2 {
		return q, fmt.Errorf("models: queue with a buffer of %d, want at least 2", q.Buffer)
	}
	if !(q.Arrival > 0 && q.Arrival <= 1) {
		return q, fmt.Errorf("models: queue with arrival probability %v, want 0 < ϱ ≤ 1", q.Arrival)
	}
	if len(q.Rates) == 0 {
		return q, fmt.Errorf("models: queue with no service rate, want at least one")
	}
	for a, rate := range q.Rates {
		if !(rate >= 0 && rate <= 1) {
			return q, fmt.Errorf("models: queue: service rate %v of action %d, want a rate from 0 to 1", rate, a)
		}
	}
	switch q.Reading {
	case Uniformised, Independent, ArrivalFirst, DepartureFirst, Renormalised:
	case SlowArrivals, Literal:
		// The greatest ϱ + a may exceed 1 by one rounding. The error names the first state from
		// which the queue can go both up and down.
		a := slices.Max(q.Rates)
		if q.Arrival+a > 1+0x1p-52 {
			return q, fmt.Errorf("models: the %v reading of (6.1) is not a distribution: state %d, action %v: up %v + down %v = %v, "+
				"want at most 1; choose another Reading, such as models.Uniformised",
				q.Reading, q.first()+1, a, q.Arrival, a, q.Arrival+a)
		}
	default:
		return q, fmt.Errorf("models: unknown reading %v of (6.1), want one of the constants of type Reading", q.Reading)
	}
	return q, nil
}

// first returns the shortest length, which has state index 0.
func (q Queue) first() int {
	if q.Empty {
		return 0
	}
	return 1
}

// MDP builds the MDP of the queue. The states are labelled by length, and the actions by rate.
func (q Queue) MDP() (*mixpolicy.MDP, error) {
	q, err := q.complete()
	if err != nil {
		return nil, err
	}
	first, n := q.first(), q.Buffer-q.first()+1
	return mixpolicy.New(mixpolicy.Spec{
		States: n, Actions: len(q.Rates), Criterion: q.Criterion,
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			l := q.law(a)
			return q.cost(first+s, q.Rates[a]), mixpolicy.Merge([]mixpolicy.Transition{
				{To: max(s-1, 0), P: l.Down}, {To: min(s+1, n-1), P: l.Up}, {To: s, P: l.Stay},
			})
		},
		StateLabel:  func(s int) string { return strconv.Itoa(first + s) },
		ActionLabel: func(a int) string { return strconv.FormatFloat(q.Rates[a], 'g', -1, 64) },
	})
}

// Policies returns the base policies π¹ and π² of (6.3) for x, which must be the MDP of a queue with four rates. Policy
// π¹ uses every rate equally often, and π² uses each of the first two rates more often than each of the last two.
func (q Queue) Policies(x *mixpolicy.MDP) ([]*mixpolicy.Policy, error) {
	var base []*mixpolicy.Policy
	for _, row := range [][]float64{{.25, .25, .25, .25}, {.3, .3, .2, .2}} {
		p, err := mixpolicy.StateIndependent(x, row...)
		if err != nil {
			return nil, fault.At("models", "base policies (6.3) of a queue", err)
		}
		base = append(base, p)
	}
	return base, nil
}

// Monomials returns a matrix of features with a row for each state and a column for each power. The row of the state
// with length x is 1, x, …, xᵏ, where k = degree.
func (q Queue) Monomials(degree int) (*mat.Dense, error) {
	q, err := q.complete()
	if err != nil {
		return nil, err
	}
	if degree < 0 {
		return nil, fmt.Errorf("models: monomials of degree up to %d, want at least 0", degree)
	}
	n := q.Buffer - q.first() + 1
	phi := mat.NewDense(n, degree+1, nil)
	for s := range n {
		for k := range degree + 1 {
			phi.Set(s, k, math.Pow(float64(q.first()+s), float64(k)))
		}
	}
	return phi, nil
}

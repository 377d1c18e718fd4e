package models

import (
	"cmp"
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Network is the four-dimensional queueing network of de Farias and Van Roy (2003)
// and of Abbasi-Yadkori, Bartlett and Malek (2014). Jobs go through two
// lines, from queue 1 to queue 2 and out, and from queue 3 to queue 4 and out:
//
//	arrivals → [1] → [2] →        server 1 works on queue 1 or 4,
//	arrivals → [3] → [4] →        server 2 works on queue 2 or 3.
//
// An action chooses the queue that each server works on: the first queue of one line, or the last queue of the other
// line. A state consists of the four lengths x. With the holding costs h, a step costs Σ hᵢxᵢ, which is ‖x‖₁ by
// default.
//
// The zero value is the network of Abbasi-Yadkori et al. at full size, with 39·26·26·39 = 1,028,196 states and 4
// actions, but without the phantom jobs of their update (see [PhantomJobs]). Queues are numbered 1 to 4 in texts, and 0
// to 3 in arrays.
type Network struct {
	Dynamics Dynamics
	Buffers  [4]int     // greatest lengths of the queues; all zero means 38, 25, 25, 38
	Arrival  [2]float64 // probabilities that a job arrives in a step at queue 1, and at queue 3; both zero means 0.08 each
	Service  [4]float64 // probability that the service of a job ends in a step, by queue; all zero means 0.12, 0.12, 0.28, 0.28
	Holding  [4]float64 // cost of a job for each step that it spends in a queue, by queue; all zero means 1 each

	// Criterion is the cost to minimise; the zero value means mixpolicy.AverageCost.
	Criterion mixpolicy.Criterion
}

// Dynamics is the law of a step: which events can happen together, and what a server on an empty queue does.
type Dynamics int

const (
	// IndependentEvents: arrivals and services happen independently of each other, and several can happen in a step. A
	// server on an empty queue does nothing. If a buffer is still full after the departures of a step, a job that
	// arrives at this buffer in the same step is lost.
	IndependentEvents Dynamics = iota
	// PhantomJobs is the published update of Abbasi-Yadkori et al. It differs from IndependentEvents in one respect:
	// service does not test for an empty queue. A server on an empty queue 1 can send a nonexistent job to queue 2,
	// and a server on an empty queue 3 can send one to queue 4.
	PhantomJobs
	// OneEvent: at most one arrival or service happens in a step, as in de Farias and Van Roy (2003). In their network,
	// buffers are unbounded. In this package, a job that arrives at a full buffer is lost.
	OneEvent
)

var dynamicsNames = []string{IndependentEvents: "independent events", PhantomJobs: "phantom jobs", OneEvent: "one event a step"}

// String returns the name of the dynamics.
func (d Dynamics) String() string { return nameOf("Dynamics", int(d), dynamicsNames) }

// nameOf returns the name of number k, or the kind and the number if there is no name.
func nameOf(kind string, k int, names []string) string {
	if k >= 0 && k < len(names) {
		return names[k]
	}
	return fmt.Sprintf("%s(%d)", kind, k)
}

// served[k] holds the two queues of server k, and downstream[i] is the queue after queue i, or −1 if jobs leave.
var (
	served     = [2][2]int{{0, 3}, {1, 2}}
	downstream = [4]int{1, -1, 3, -1}
)

// serves returns the queues that the servers work on under action a = 2i + j: server 1 works
// on queue served[0][i], and server 2 on queue served[1][j].
func serves(a int) (first, second int) { return served[0][a/2], served[1][a%2] }

func (w Network) complete() (Network, error) {
	w.Buffers = cmp.Or(w.Buffers, [4]int{38, 25, 25, 38})
	w.Arrival = cmp.Or(w.Arrival, [2]float64{.08, .08})
	w.Service = cmp.Or(w.Service, [4]float64{.12, .12, .28, .28})
	w.Holding = cmp.Or(w.Holding, [4]float64{1, 1, 1, 1})
	w.Criterion = cmp.Or(w.Criterion, mixpolicy.AverageCost)
	states := 1.0
	for i, b := range w.Buffers {
		if b < 1 {
			return w, fmt.Errorf("models: network with a buffer of %d at queue %d, want at least 1", b, i+1)
		}
		states *= float64(b + 1)
	}
	if states > math.MaxInt32/4 {
		return w, fmt.Errorf("models: network with buffers %v has %.3g states, want fewer than 2²⁹", w.Buffers, states)
	}
	for i, p := range w.Arrival {
		if !(p >= 0 && p <= 1) {
			return w, fmt.Errorf("models: network with arrival probability %v at queue %d, want 0 to 1", p, 2*i+1)
		}
	}
	for i, p := range w.Service {
		if !(p >= 0 && p <= 1) {
			return w, fmt.Errorf("models: network with service probability %v at queue %d, want 0 to 1", p, i+1)
		}
	}
	switch w.Dynamics {
	case IndependentEvents, PhantomJobs:
	case OneEvent:
		d := w.Service
		// The sum may exceed 1 by the rounding of its terms and additions.
		if total := w.Arrival[0] + w.Arrival[1] + max(d[0], d[3]) + max(d[1], d[2]); total > 1+4*0x1p-53 {
			return w, fmt.Errorf("models: network with one event a step: the arrival probabilities %v and, for each server, "+
				"the larger of its two service probabilities (from %v) add up to %v, want at most 1",
				w.Arrival, d, total)
		}
	default:
		return w, fmt.Errorf("models: network with unknown dynamics %v, want one of the constants of type Dynamics", w.Dynamics)
	}
	return w, nil
}

// grid numbers the states, each given by four lengths from 0 up to the buffers. The length of queue 4 varies fastest.
type grid struct{ size, stride [4]int }

func (w Network) grid() grid {
	var g grid
	for i, k := 3, 1; i >= 0; i-- {
		g.size[i], g.stride[i] = w.Buffers[i]+1, k
		k *= g.size[i]
	}
	return g
}

func (g grid) states() int { return g.size[0] * g.stride[0] }

func (g grid) lengths(s int) (x [4]int) {
	for i := range x {
		x[i] = s / g.stride[i] % g.size[i]
	}
	return x
}

func (g grid) index(x [4]int) (s int) {
	for i := range x {
		s += x[i] * g.stride[i]
	}
	return s
}

// Lengths returns the lengths of the four queues in state s.
func (w Network) Lengths(s int) ([4]int, error) {
	w, err := w.complete()
	if err != nil {
		return [4]int{}, err
	}
	g := w.grid()
	if s < 0 || s >= g.states() {
		return [4]int{}, fmt.Errorf("models: network has no state %d, want 0 to %d", s, g.states()-1)
	}
	return g.lengths(s), nil
}

// State returns the state with the given lengths.
func (w Network) State(lengths [4]int) (int, error) {
	w, err := w.complete()
	if err != nil {
		return 0, err
	}
	for i, x := range lengths {
		if x < 0 || x > w.Buffers[i] {
			return 0, fmt.Errorf("models: network with length %d of queue %d, want 0 to %d", x, i+1, w.Buffers[i])
		}
	}
	return w.grid().index(lengths), nil
}

// MDP builds the MDP of the network, which is empty at the start. At full size, the MDP has about 60 million
// transitions, or 20 million under OneEvent.
func (w Network) MDP() (*mixpolicy.MDP, error) {
	w, err := w.complete()
	if err != nil {
		return nil, err
	}
	g := w.grid()
	initial := make([]float64, g.states())
	initial[0] = 1
	// The transitions, relative to the state, depend only on which queues are empty and which are
	// full. So there are 3⁴ kinds of states, and the transitions of a kind are computed at the
	// first state of that kind.
	var relative [81][4][]mixpolicy.Transition
	most := 1 << 4 // next states of a pair: two arrivals and two services may each happen or not
	if w.Dynamics == OneEvent {
		most = 5
	}
	next := make([]mixpolicy.Transition, 0, most)
	return mixpolicy.New(mixpolicy.Spec{
		States: g.states(), Actions: 4, Criterion: w.Criterion, Initial: initial,
		Transitions: most * 4 * g.states(),
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			x := g.lengths(s)
			kind, cost := 0, 0.0
			for i, length := range x {
				kind *= 3
				switch length {
				case 0:
				case w.Buffers[i]:
					kind += 2
				default:
					kind++
				}
				cost += w.Holding[i] * float64(length)
			}
			moves := &relative[kind][a]
			if *moves == nil {
				*moves = w.transitions(g, x, a)
				for k := range *moves {
					(*moves)[k].To -= s
				}
			}
			next = append(next[:0], *moves...)
			for k := range next {
				next[k].To += s
			}
			return cost, next
		},
		StateLabel: func(s int) string {
			x := g.lengths(s)
			return fmt.Sprintf("(%d, %d, %d, %d)", x[0], x[1], x[2], x[3])
		},
		ActionLabel: func(a int) string {
			i, j := serves(a)
			return fmt.Sprintf("serve %d and %d", i+1, j+1)
		},
	})
}

// transitions returns P_a(x, ·) by enumerating the events of a step.
func (w Network) transitions(g grid, x [4]int, a int) []mixpolicy.Transition {
	events := w.events(x, a)
	var next []mixpolicy.Transition
	add := func(p float64, happens ...event) {
		y := x
		for _, e := range happens {
			for i := range y {
				y[i] += e.change[i]
			}
		}
		for i := range y {
			y[i] = min(max(y[i], 0), w.Buffers[i])
		}
		if p > 0 {
			next = append(next, mixpolicy.Transition{To: g.index(y), P: p})
		}
	}
	if w.Dynamics == OneEvent {
		var total float64
		for _, e := range events {
			add(e.p, e)
			total += e.p
		}
		add(max(0, 1-total))
		return mixpolicy.Merge(next)
	}
	for subset := range 1 << len(events) {
		p := 1.0
		var happens []event
		for k, e := range events {
			if subset>>k&1 == 1 {
				p *= e.p
				happens = append(happens, e)
			} else {
				p *= 1 - e.p
			}
		}
		add(p, happens...)
	}
	return mixpolicy.Merge(next)
}

// event is an arrival or the end of a service, with its probability and its effect on the
// lengths.
type event struct {
	p      float64
	change [4]int
}

func (w Network) events(x [4]int, a int) []event {
	events := []event{{w.Arrival[0], [4]int{0: 1}}, {w.Arrival[1], [4]int{2: 1}}}
	first, second := serves(a)
	for _, i := range []int{first, second} {
		if x[i] == 0 && w.Dynamics != PhantomJobs {
			continue
		}
		e := event{p: w.Service[i]}
		e.change[i]--
		if j := downstream[i]; j >= 0 {
			e.change[j]++
		}
		events = append(events, e)
	}
	return events
}

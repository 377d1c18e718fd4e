package paper

import (
	"context"
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// mixing compares the two ways to mix two base policies, as policies (2.16) and as
// measures (2.17), and records a slice of what the mixture of measures does.
func (e FourQueues) mixing(ctx context.Context) (race.Record, error) {
	x, err := e.Network.MDP()
	if err != nil {
		return nil, err
	}
	r, err := e.begin(ctx, x, e.Base[0])
	if err != nil {
		return nil, err
	}
	f := r.p.Features()
	const steps = 5
	for k := range steps + 1 {
		w := float64(k) / steps
		r.tell(fmt.Sprintf("mixtures with weight %g", w))
		policies, measures := f.Measure(k/steps), f.Measure(k/steps) // at the ends they are the base policies'
		if 0 < k && k < steps {
			policy, err := mixpolicy.Mixture([]float64{1 - w, w}, f.Policy(0), f.Policy(1))
			if err != nil {
				return r.rows, err
			}
			if policies, err = mixpolicy.Occupation(ctx, x, policy, mixpolicy.MeasureSettings{Tolerance: e.Tolerance, Start: f.Measure(1).State}); err != nil {
				return r.rows, err
			}
			if _, measures, err = r.trueMeasure(ctx, []float64{1 - w, w}); err != nil {
				return r.rows, err
			}
		}
		for _, row := range []race.Row{r.exact(MixedPolicies, "", policies), r.exact(MixedMeasures, "", measures)} {
			row.At = w
			r.add(row)
		}
	}
	measures, err := f.PolicyOf([]float64{0.5, 0.5})
	if err != nil {
		return r.rows, err
	}
	policies, err := mixpolicy.Mixture([]float64{0.5, 0.5}, f.Policy(0), f.Policy(1))
	if err != nil {
		return r.rows, err
	}
	for k, p := range []*mixpolicy.Policy{f.Policy(0), f.Policy(1), policies, measures} {
		if err := r.slice(slicedPolicies[k], p); err != nil {
			return r.rows, err
		}
	}
	return r.rows, nil
}

// slicedPolicies are those of which a slice is recorded.
var slicedPolicies = [4]string{"LONGER", "LBFS", "even mixture of policies", "even mixture of measures"}

// The slice that is recorded has sliceLengths jobs in queues 2 and 3, and up to sliceReach
// in queues 1 and 4.
const (
	sliceLengths = 2
	sliceReach   = 15
)

// slice records where server 1 works, as a function of the lengths of its queues.
func (r *networkRun) slice(name string, p *mixpolicy.Policy) error {
	for x1 := range sliceReach + 1 {
		for x4 := range sliceReach + 1 {
			s, err := r.Network.State([4]int{x1, sliceLengths, sliceLengths, x4})
			if err != nil {
				return err
			}
			row := p.Row(s) // actions 0 and 1 have server 1 on queue 1
			v := row[0] + row[1]
			r.add(race.Row{Quantity: ServesFirst, Method: name, At: float64(s), Value: v, Lo: v, Hi: v})
		}
	}
	return nil
}

// room records how far below zero a weight may be, min θⱼ, as buffers grow. Measures are
// by elimination, which has every digit of the rarest state's probability. At full size
// those of the rarest states are below the error of any iteration, so that the least
// weights there are those of the computed Ψ.
func (e FourQueues) room(ctx context.Context) (race.Record, error) {
	var all race.Record
	for buffer := 1; buffer <= largestRoom; buffer++ {
		w := models.Network{Buffers: [4]int{buffer, buffer, buffer, buffer}}
		x, err := w.MDP()
		if err != nil {
			return all, err
		}
		for _, b := range []BaseSet{AllRules(), StateDependent()} {
			r := &networkRun{FourQueues: e, base: b, x: x}
			r.Network = w
			r.tell("room below zero with buffers " + r.buffers())
			policies, err := b.Policies(w, x)
			if err != nil {
				return all, err
			}
			psi, err := mixpolicy.NewFeaturesContext(ctx, x, mixpolicy.MeasureSettings{Method: mixpolicy.Elimination}, policies...)
			if err != nil {
				return all, err
			}
			if r.p, err = mixpolicy.NewProblem(psi, mixpolicy.Ball(e.Radius)); err != nil {
				return all, err
			}
			if err := r.leastWeights(ctx, buffer); err != nil {
				return all, err
			}
			all = append(all, r.rows...)
		}
	}
	return all, nil
}

// leastWeights records min θⱼ over the feasible set, for each j.
func (r *networkRun) leastWeights(ctx context.Context, buffer int) error {
	for j, name := range r.base.Members {
		unit := make([]float64, r.p.Dim()) // as the cost of a mixture, θⱼ
		unit[j] = 1
		least, err := r.p.Solve(ctx, unit)
		if err != nil {
			return err
		}
		r.add(race.Row{Quantity: LeastWeight, Method: name, At: float64(buffer), Value: least.Objective,
			Lo: math.Min(least.Bound, least.Objective), Hi: least.Objective, Residual: least.Violation})
	}
	return nil
}

// largestRoom keeps the n² numbers of elimination, n = (buffer+1)⁴, within 134 MB.
const largestRoom = 7

package mixpolicy

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

const featuresMagic = "mixpolicy features 1\n"

// FeaturesFromMeasures takes the measures of base policies, such as those of runs of
// [Occupation] that were interrupted and continued; of a measure it needs State. The
// error names a measure that is no distribution, or whose flow residual, which is
// computed again, is above the tolerance: it is of another policy or another MDP.
func FeaturesFromMeasures(x *MDP, policies []*Policy, measures []*Measure, tolerance float64) (*Features, error) {
	if len(policies) == 0 || len(policies) != len(measures) {
		return nil, fmt.Errorf("mixpolicy: %d base policies and %d measures, want as many, at least one", len(policies), len(measures))
	}
	own := make([]Measure, len(measures))
	for j, q := range measures {
		if err := x.checkMeasure(policies[j], q, tolerance); err != nil {
			return nil, located(fmt.Sprintf("base policy %d", j), err)
		}
		own[j] = *q
		own[j].Pair = nil
	}
	return newFeatures(x, policies, own), nil
}

// checkMeasure makes sure that q is the measure of p.
func (x *MDP) checkMeasure(p *Policy, q *Measure, tolerance float64) error {
	if err := x.checkPolicy(p); err != nil {
		return err
	}
	if q == nil {
		return errors.New("measure is nil")
	}
	if err := checkDistribution(q.State, x.n); err != nil {
		return fmt.Errorf("measure: %w", err)
	}
	chain := x.chain(p)
	if residual := x.flowResidual(chain, q.State); !(residual <= tolerance) {
		return fmt.Errorf("measure has the flow residual %.3g, want at most %.3g: it is not that of this policy in this MDP", residual, tolerance)
	}
	return nil
}

// writeBinary writes Ψ as large models have it: base policies and their measures, or
// columns if these were given.
func (f *Features) writeBinary(w io.Writer) error {
	b := appendInts(nil, f.x.n, f.x.m, f.Dim(), len(f.base))
	for j, p := range f.base {
		at := make([]byte, 0, 4*len(p.at))
		for _, k := range p.at {
			at = append(at, byte(k), byte(k>>8), byte(k>>16), byte(k>>24))
		}
		b = appendBytes(appendFloats(b, p.prob), at)
		q := f.measures[j]
		b = appendFloats(appendInts(b, int(q.Method), q.Sweeps), []float64{q.Residual, q.Error})
		state := q.State
		if psi, ok := f.psi.(*factored); ok {
			state = psi.state(j)
		}
		b = appendFloats(b, state)
	}
	if f.base == nil {
		for j := range f.Dim() {
			b = appendFloats(b, f.Column(j))
		}
	}
	return seal(w, featuresMagic, b)
}

// loadBinary reads what writeBinary wrote, and makes sure that the measures are those
// of the policies in x.
func loadBinary(x *MDP, path string) (*Features, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("mixpolicy: %w", err) // names the path
	}
	f, err := parseFeatures(x, text)
	if err != nil {
		return nil, located(path, err)
	}
	return f, nil
}

func parseFeatures(x *MDP, text []byte) (*Features, error) {
	body, err := unseal(text, featuresMagic)
	if err != nil {
		return nil, err
	}
	r := &reader{b: body}
	n, m := r.int(), r.int()
	if r.err == nil && (n != x.n || m != x.m) {
		return nil, fmt.Errorf("is for %d states and %d actions, the MDP has %d and %d", n, m, x.n, x.m)
	}
	d := r.within("number of features", 1, len(body))
	base := r.within("number of base policies", 0, d)
	if base == 0 {
		columns := make([][]float64, 0, d)
		for len(columns) < d && r.err == nil {
			columns = append(columns, r.floats())
		}
		if err := r.close(); err != nil {
			return nil, err
		}
		return FeaturesFromColumns(x, columns...)
	}
	if base != d {
		return nil, fmt.Errorf("has %d features of %d base policies, want as many", d, base)
	}
	var policies []*Policy
	var measures []Measure
	for j := range d {
		p := r.policy(x)
		q := Measure{Method: MeasureMethod(r.int()), Sweeps: r.within("sweeps", 0, math.MaxInt)}
		var numbers [2]float64
		r.into(numbers[:], "residual and error")
		q.Residual, q.Error = numbers[0], numbers[1]
		q.State = r.floats()
		if r.err != nil {
			return nil, fmt.Errorf("base policy %d: %w", j, r.err)
		}
		// In this MDP the residual is as it was, save for rounding: its terms are sums of
		// products, k for each state with k ways in, and add up to 2 before subtraction. So
		// 2⁻⁴⁰ ≈ 10⁻¹² is enough up to k = 1000.
		if err := x.checkMeasure(p, &q, q.Residual+0x1p-40); err != nil {
			return nil, located(fmt.Sprintf("base policy %d", j), err)
		}
		policies, measures = append(policies, p), append(measures, q)
	}
	if err := r.close(); err != nil {
		return nil, err
	}
	return newFeatures(x, policies, measures), nil
}

// policy reads a policy for x.
func (r *reader) policy(x *MDP) *Policy {
	p := &Policy{n: x.n, m: x.m, prob: r.floats()}
	at := r.bytes()
	if r.err != nil {
		return nil
	}
	switch {
	case len(at) == 0 && len(p.prob) != x.m && len(p.prob) != x.Pairs():
		r.fail("policy has %d probabilities, want one per pair: %d", len(p.prob), x.Pairs())
		return nil
	case len(at) > 0 && len(at) != 4*x.n:
		r.fail("policy has rows for %d states, want %d", len(at)/4, x.n)
		return nil
	}
	for s := 0; s < len(at)/4; s++ {
		k := int(at[4*s]) | int(at[4*s+1])<<8 | int(at[4*s+2])<<16 | int(int8(at[4*s+3]))<<24
		if k < 0 || k > len(p.prob)-x.m {
			r.fail("policy in state %s: row at %d, want 0 to %d", x.StateName(s), k, len(p.prob)-x.m)
			return nil
		}
		p.at = append(p.at, int32(k))
	}
	if p.deterministic() && !slices.Equal(p.prob, units(x.m)) {
		r.fail("deterministic policy has rows %v", p.prob)
		return nil
	}
	for s := range x.n {
		if err := checkDistribution(p.Row(s), x.m); err != nil {
			r.fail("policy in state %s: %w", x.StateName(s), err)
			return nil
		}
	}
	return p
}

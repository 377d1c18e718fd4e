package reduction

import "math"

// Measure returns a multiple of the stationary distribution. Starting from v(0) = 1, it computes v(k) = Σ_i v(i)f(i,k),
// the mass that flows into k divided by l_k. It then scales the masses, so that the greatest mass is between ½ and 1.
// Without scaling, masses could exceed the range of a float64: for example, the masses of a geometric measure of ratio
// ½ on 1,500 states.
func (c *Chain) Measure() []float64 {
	v := make([]wide, c.size)
	v[0] = wide{f: 1}
	for at := len(c.fronts) - 1; at >= 0; at-- {
		f := &c.fronts[at]
		end := len(f.into)
		for k := f.first; k < len(f.states); k++ {
			into := f.into[end-k : end]
			end -= k
			var sum wide
			for i, part := range into {
				if part != 0 {
					p, from := widen(part, 0), v[f.states[i]]
					sum = sum.plus(widen(p.f*from.f, p.e+from.e))
				}
			}
			v[f.states[k]] = sum
		}
	}
	out, largest := make([]float64, len(v)), 0
	for _, a := range v {
		_, more := math.Frexp(a.f)
		largest = max(largest, a.e+more)
	}
	for k, a := range v {
		out[k] = math.Ldexp(a.f, a.e-largest)
	}
	return out
}

// Error returns a bound on the relative error of each mass. The bound does not hold if Lost is set.
func (c *Chain) Error() float64 { return float64(16*(c.terms+c.size)) * 0x1p-53 }

// A wide number is f·2ᵉ, where 2⁻²⁵⁶ < f < 2²⁵⁶ or f = 0: it has the precision of a float64,
// but neither overflows nor underflows.
type wide struct {
	f float64
	e int
}

// widen returns x·2ᵉ.
func widen(x float64, e int) wide {
	if 0x1p-256 < x && x < 0x1p256 {
		return wide{x, e}
	}
	f, more := math.Frexp(x)
	return wide{f, e + more}
}

func (a wide) plus(b wide) wide {
	if a.f == 0 || b.f != 0 && a.e < b.e {
		a, b = b, a
	}
	return widen(a.f+math.Ldexp(b.f, b.e-a.e), a.e)
}

// Values returns the h with h = c − gt + Ph and h(0) = 0, for costs c, durations t and the transition matrix P. It also
// returns the gain g: the mean cost of a cycle from state 0 back to state 0, divided by the cycle's mean duration. With
// t = 0, the gain is 0, and h = c + Ph except in state 0. Values overwrites the slices cost and duration, because in
// elimination, the entries of a remaining state become the mean cost and the mean duration from this state to the next
// remaining state.
func (c *Chain) Values(cost, duration []float64) (h []float64, gain float64) {
	for at := range c.fronts {
		f := &c.fronts[at]
		begin := 0
		for k := len(f.states) - 1; k >= f.first; k-- {
			s := f.states[k]
			for i, part := range f.into[begin : begin+k] {
				if part != 0 {
					cost[f.states[i]] += part * cost[s]
					duration[f.states[i]] += part * duration[s]
				}
			}
			begin += k
		}
	}
	if duration[0] > 0 {
		gain = cost[0] / duration[0]
	}
	h = make([]float64, c.size)
	for at := len(c.fronts) - 1; at >= 0; at-- {
		f := &c.fronts[at]
		end := len(f.from)
		for k := f.first; k < len(f.states); k++ {
			var sum float64
			for j, p := range f.from[end-k : end] {
				sum += p * h[f.states[j]]
			}
			end -= k
			s := f.states[k]
			h[s] = (sum + cost[s] - gain*duration[s]) / f.leave[len(f.states)-1-k]
		}
	}
	return h, gain
}

package mixpolicy

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// reduced is a chain after the state reduction of Grassmann, Taksar and Heyman
// (1985). State k leaves for 0..k−1 with probability l_k = Σ_{j<k} a[k][j]; once
// that is divided out, the chain watched on 0..k−1 remains. No difference is ever
// formed, so every entry keeps a relative error of a few n·2⁻⁵³, however small.
//
// A discounted chain is made an undiscounted one by a further state ∗, number 0,
// that every state enters with probability 1−γ and that is left for s with
// probability α(s).
type reduced struct {
	states []int32     // states[k] is number first + k
	first  int         // 1 if ∗ is number 0, else 0
	a      [][]float64 // a[k][j], j < k: as watched on 0..k;  a[i][k], i < k: divided by l_k
	leave  []float64   // l_k
	lost   bool        // a product fell below the normal range and lost digits; the work ended there
}

// reduce eliminates the given states from the linear system of (2.11), the last first. Number 0
// must be reached from all others.
func (x *MDP) reduce(ctx context.Context, chain *sparse.Matrix, states []int32) (*reduced, error) {
	r := &reduced{states: states}
	if x.Gamma() < 1 {
		r.first = 1
	}
	size := r.first + len(states)
	r.a, r.leave = newSquare(size), make([]float64, size)
	number := make([]int, x.n)
	for k, s := range states {
		number[s] = r.first + k
	}
	for k, s := range states {
		row := r.a[r.first+k]
		col, val := chain.Row(int(s))
		for e, c := range col {
			row[number[c]] = r.product(x.Gamma(), val[e])
		}
		if r.first == 1 {
			row[0] = 1 - x.Gamma()
			r.a[0][1+k] = x.initial[s] // below the normal range it is lost where it is divided by l_k
		}
	}
	for k := size - 1; k > 0 && !r.lost; k-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row := r.a[k][:k]
		r.leave[k] = sum.Of(row)
		least := math.Inf(1) // entry that is not 0
		for _, p := range row {
			if p > 0 {
				least = min(least, p)
			}
		}
		for i := range k {
			f := r.a[i][k] / r.leave[k]
			r.a[i][k] = f
			if f == 0 {
				continue
			}
			r.product(f, least)
			floats.AddScaled(r.a[i][:k], f, row)
		}
	}
	return r, nil
}

// product returns fp of two positive numbers, and takes note if it lost digits that may matter.
// Where none did, all l_k are normal, and quotients are finite. Under discounting l_k ≥ 1−γ, and
// n³ entries that are off by 2⁻¹⁰²² put μ off by no more than n³2⁻¹⁰²¹/(1−γ).
func (r *reduced) product(f, p float64) float64 {
	const leastNormal = 0x1p-1022
	r.lost = r.lost || r.first == 0 && f*p < leastNormal
	return f * p
}

func newSquare(n int) [][]float64 {
	entries, rows := make([]float64, n*n), make([][]float64, n)
	for k := range rows {
		rows[k] = entries[k*n : (k+1)*n]
	}
	return rows
}

// measure returns what is proportional to the stationary distribution, by number:
// v(k) = Σ_{i<k} v(i) a(i,k), each the mass that flows into k, over l_k. The greatest is
// between ½ and 1. A geometric measure of ratio ½ on 1,500 states takes more than the range of a
// float64.
func (r *reduced) measure() []float64 {
	v := make([]wide, len(r.a))
	v[0] = wide{.5, 1}
	largest := v[0].e
	for k := 1; k < len(v); k++ {
		for i := range k {
			if a := r.a[i][k]; a != 0 {
				v[k] = v[k].plus(v[i].times(widen(a)))
			}
		}
		if v[k].f != 0 {
			largest = max(largest, v[k].e)
		}
	}
	out := make([]float64, len(v))
	for k, a := range v {
		out[k] = math.Ldexp(a.f, a.e-largest)
	}
	return out
}

// A wide number is f·2ᵉ, where ½ ≤ f < 1 or f = 0: a float64 that neither overflows nor
// underflows, for numbers that are not negative.
type wide struct {
	f float64
	e int
}

func widen(x float64) wide {
	f, e := math.Frexp(x)
	return wide{f, e}
}

func (a wide) times(b wide) wide {
	c := widen(a.f * b.f)
	c.e += a.e + b.e
	return c
}

func (a wide) plus(b wide) wide {
	if a.f == 0 || b.f != 0 && a.e < b.e {
		a, b = b, a
	}
	c := widen(a.f + math.Ldexp(b.f, b.e-a.e))
	c.e += a.e
	return c
}

// values returns v = c + γPv and 0; without a discount, h = c − g + Ph with h = 0
// in state number 0, and the gain g. Costs and durations are carried along with the
// chain that is watched: C_i and T_i are what it costs and how long it takes from i
// to the next state that is still watched.
func (r *reduced) values(cost []float64) (v []float64, gain float64) {
	size := len(r.a)
	c, t := make([]float64, size), make([]float64, size)
	for k, s := range r.states {
		c[r.first+k], t[r.first+k] = cost[s], 1
	}
	for k := size - 1; k > 0; k-- {
		for i := range k {
			if f := r.a[i][k]; f != 0 {
				c[i] += f * c[k]
				t[i] += f * t[k]
			}
		}
	}
	if r.first == 0 {
		gain = c[0] / t[0] // cost of a cycle over its length
	}
	h := make([]float64, size)
	for k := 1; k < size; k++ {
		for j, p := range r.a[k][:k] {
			h[k] += p * h[j]
		}
		h[k] = (h[k] + c[k] - gain*t[k]) / r.leave[k]
	}
	v = make([]float64, len(cost))
	for k, s := range r.states {
		v[s] = h[r.first+k]
	}
	return v, gain
}

// eliminate returns μ, which lives on the support.
func (x *MDP) eliminate(ctx context.Context, chain *sparse.Matrix, support []int32) ([]float64, error) {
	r, err := x.reduce(ctx, chain, support)
	if err != nil {
		return nil, fault.At("mixpolicy", "measure stopped", err)
	}
	if r.lost {
		return nil, fmt.Errorf("mixpolicy: products of probabilities of this chain fall below %.0e, where elimination loses digits; "+
			"want GaussSeidel or Multilevel", 0x1p-1022)
	}
	v := r.measure()
	total := sum.Of(v[r.first:])
	mu := make([]float64, x.n)
	for k, s := range support {
		mu[s] = v[r.first+k] / total
	}
	return mu, nil
}

// eliminationError bounds ‖μ̂ − μ‖₁ of elimination. By the matrix-tree theorem every μ(s) is
// proportional to a sum of products of k−1 entries of the chain on k states, so that entries
// which are off by a part η make masses that are off by 2(k−1)η. The step from k + 1 states to
// k rounds each entry four times, and l_{k+1} by 3u more; and v(k) rounds k products and sums.
// Added up over k this is less than 7n²u + 2nu.
func eliminationError(n int) float64 { return float64(8*(n+1)*(n+1)) * 0x1p-53 }

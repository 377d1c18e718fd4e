package multilevel

import (
	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// elimination is a small chain from which states are eliminated one by one, the last first (Grassmann, Taksar and
// Heyman 1985). From state k, the chain watched on 0, …, k moves to one of 0, …, k−1 with probability out[k].
// Eliminating k leaves the chain watched on 0, …, k−1, and subtracts nothing. The heaviest state is number 0, which
// remains to the end, because the masses of the other states are computed relative to its mass.
type elimination struct {
	order []int32     // number of each state: its own, except that 0 and the heaviest are exchanged
	p     [][]float64 // for j < k, in the chain watched on 0, …, k: p[k][j] is a probability, and p[j][k] a probability divided by out[k]
	out   []float64
	mu    []float64 // the stationary distribution, by number
}

func newElimination(n int) *elimination {
	x := &elimination{p: make([][]float64, n), out: make([]float64, n), mu: make([]float64, n)}
	for i := range x.p {
		x.p[i] = make([]float64, n)
	}
	return x
}

// factor reduces a chain whose states have approximately the given masses.
func (x *elimination) factor(in *sparse.Matrix, mass []float64) {
	n, heavy := len(x.p), floats.MaxIdx(mass)
	x.order = every(n)
	x.order[0], x.order[heavy] = int32(heavy), 0
	for i := range n {
		clear(x.p[i])
	}
	for i := range n {
		col, val := in.Row(i)
		for e, j := range col {
			x.p[x.order[j]][x.order[i]] = val[e]
		}
	}
	for k := n - 1; k > 0; k-- {
		from := x.p[k][:k]
		x.out[k] = floats.Sum(from)
		for i := range k {
			f := x.p[i][k]
			if f == 0 || x.out[k] == 0 { // out[k] is 0 after underflow
				continue
			}
			f /= x.out[k]
			x.p[i][k] = f
			floats.AddScaled(x.p[i][:k], f, from)
		}
	}
	clear(x.mu)
	x.mu[0] = 1
	for i := range n {
		floats.AddScaled(x.mu[i+1:], x.mu[i], x.p[i][i+1:])
	}
	normalise(x.mu)
}

func (x *elimination) stationary(z []float64) {
	for i := range z {
		z[i] = x.mu[x.order[i]]
	}
}

// solve sets e to the solution of e(I − P) = b with Σe = 0, where Σb = 0. The inflow into
// an eliminated state moves on: b(j) += b(k) p(k, j)/out(k).
func (x *elimination) solve(e, b []float64) {
	copy(e, b)
	heavy := x.order[0]
	e[0], e[heavy] = e[heavy], e[0]
	for k := len(e) - 1; k > 0; k-- {
		if x.out[k] == 0 {
			e[k] = 0
			continue
		}
		e[k] /= x.out[k]
		floats.AddScaled(e[:k], e[k], x.p[k][:k])
	}
	// Now e[k] is the flow into k from b and from higher states, divided by out[k]. The loop
	// adds the part from lower states; Σe = 0 determines e[0].
	e[0] = 0
	for i := range e {
		floats.AddScaled(e[i+1:], e[i], x.p[i][i+1:])
	}
	total := 0.0
	for _, v := range e {
		total += v
	}
	floats.AddScaled(e, -total, x.mu)
	e[0], e[heavy] = e[heavy], e[0]
}

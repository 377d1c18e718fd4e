// Package reduction eliminates the states of a Markov chain one by one, without a subtraction (Grassmann, Taksar
// and Heyman 1985), on the graph of the chain: state k leaves for others with probability l_k = Σ_j a(k,j); once
//
//	a(i,j) ← a(i,j) + f(i,k) a(k,j),  f(i,k) = a(i,k)/l_k
//
// is done for all i and j that k joins, the chain watched on the other states remains. The order keeps that graph
// sparse ([minimumDegree]). States that join the same others are eliminated together, in a dense matrix that is added
// to that of the next (the multifrontal method: Duff and Reid 1983).
//
// A sparse LU factorisation of I − P with an order of the same kind, such as SciPy's, can be a little faster on grids and
// flows in the plane: it neither adds up each l_k anew, which the proof below needs, nor keeps an exponent beside each mass.
// On blocks that hubs join, its order by columns fills less than this one. But it subtracts: on a deep double well its measure
// may have no right digit, at a residual of rounding.
//
// # The error
//
// By the matrix-tree theorem μ(s) is proportional to a sum over the trees that lead to s, of products with one entry
// of each row but s. So, if a part of at most η of each entry in one row is changed, each μ(s) changes by a part of at
// most 2η, whatever the chain. The step of k rounds each row i with f(i,k) > 0: the quotient, product and sum by
// 3u, u = 2⁻⁵³, l_k by 3u and u more for the products that the row begins with. Back from state 0, v(k) = Σ_i v(i)f(i,k)
// rounds twice for each f(i,k), and 5 times for k. Together, with N the number of f(i,k) > 0 and n that of states, all
// μ(s) have a relative error of at most 16(N+n)u, as long as no product falls below the normal range.
//
// Below it a quotient or a product loses at most 2⁻¹⁰⁷⁵ more: the step of k adds to the rates of the chain that remains a
// matrix E, |E(i,j)| ≤ δ = 2⁻¹⁰⁷⁴ beside the diagonal, so ‖E‖∞ ≤ 2nδ. If xQ = −yE, where x adds up to 0 and y is a
// distribution, then ‖x‖₁ ≤ 2‖E‖∞ max h with the mean times h to state 0. Let T be the greatest of those that are computed.
// Each step changes h little as long as nδT is small, so h ≤ 2T all the way, and ‖x‖₁ ≤ 8nδT. The states that are gone
// have at most 2T times the mass of the others, and each of their shares f(i,k) loses at most δ, too. So in all n steps ‖μ‖₁
// moves by at most 2(1+2T)(8n²δT + n²δ) < 2⁵n²(1+T)²δ.
package reduction

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// smallChain is a number of states up to which the order is that of the states, in one dense matrix.
const smallChain = 1501

// Work counts the entries that elimination makes, and its products.
type Work struct{ Entries, Products float64 }

// add counts a state that joins so many others, and reports whether that makes more than the given work.
func (w *Work) add(joined int, most Work) bool {
	k := float64(joined + 1)
	w.Entries += 2 * k
	w.Products += k * k
	return w.Entries > most.Entries || w.Products > most.Products
}

// ErrFill says that elimination would be more work than allowed.
var ErrFill = errors.New("elimination fills the matrix")

// Chain is what elimination of all states but 0 leaves.
type Chain struct {
	Lost              bool // a product fell below the normal range and lost digits
	fronts            []front
	from, into, leave []float64 // of all fronts
	size              int
	terms             int // f(i,k) > 0
}

// front is a set of states that are eliminated together, the last first.
type front struct {
	states      []int32   // 0, those that are joined, then those that are eliminated
	first       int       // place of the first that is eliminated
	from, leave []float64 // a(k,j), j < k, row after row; l_k
	into        []float64 // f(i,k), i < k, column after column
	update      []float64 // a(i,j), i, j < first, until the front that it is added to
}

// Reduce eliminates all states but 0, to which all others lead, from a chain with the transition matrix out, whose
// diagonal is not read. Errors: [ErrFill], cancellation.
func Reduce(ctx context.Context, out *sparse.Matrix, most Work) (*Chain, error) {
	in := out.Transpose()
	p := minimumDegree(out, in, most)
	if p == nil {
		return nil, ErrFill
	}
	n := out.Rows
	c := &Chain{size: n}
	for _, v := range out.Val {
		c.Lost = c.Lost || v > 0 && v < leastNormal
	}
	next, under := make([]int32, n), make([]int32, n) // the state of the joined ones that goes first; the one that goes with it
	with := make([]bool, n)                           // goes with next
	entries := 0
	for _, k := range p.order {
		entries += len(p.beyond[k]) + 1
		for _, j := range p.beyond[k] {
			if p.place[j] < p.place[next[k]] {
				next[k] = j
			}
		}
		if q := next[k]; q != 0 && under[q] == 0 && len(p.beyond[q]) == len(p.beyond[k])-1 {
			under[q], with[k] = k, true
		}
	}
	c.fronts = make([]front, 0, n)
	c.from, c.into, c.leave = make([]float64, 0, entries), make([]float64, 0, entries), make([]float64, 0, n)
	child, sibling := make([]int32, n), make([]int32, n) // fronts, plus 1
	local := make([]int32, n)
	for _, k := range p.order {
		if with[k] {
			continue
		}
		f := front{states: append(make([]int32, 1, len(p.beyond[k])+2), p.beyond[k]...)}
		slices.SortFunc(f.states[1:], func(i, j int32) int { return int(p.place[j] - p.place[i]) })
		f.first = len(f.states)
		for s := k; s != 0; s = under[s] {
			f.states = append(f.states, s)
		}
		m := len(f.states)
		for at, s := range f.states {
			local[s] = int32(at)
		}
		a := make([]float64, m*m)
		for at := f.first; at < m; at++ {
			s := f.states[at]
			col, val := out.Row(int(s))
			for e, j := range col {
				if p.place[j] > p.place[s] {
					a[at*m+int(local[j])] = val[e]
				}
			}
			col, val = in.Row(int(s))
			for e, i := range col {
				if p.place[i] > p.place[s] {
					a[int(local[i])*m+at] = val[e]
				}
			}
			for b := child[s]; b != 0; b = sibling[b-1] {
				c.fronts[b-1].add(a, m, local)
			}
		}
		if err := c.eliminate(ctx, &f, a); err != nil {
			return nil, err
		}
		if q := next[k]; q != 0 {
			f.update = a
			sibling[len(c.fronts)] = child[q]
			child[q] = int32(len(c.fronts) + 1)
		}
		c.fronts = append(c.fronts, f)
	}
	return c, nil
}

// add moves what the elimination of f has left to the matrix of m states.
func (f *front) add(a []float64, m int, local []int32) {
	for i, s := range f.states[:f.first] {
		row := a[int(local[s])*m:][:m]
		for j, v := range f.update[i*len(f.states):][:f.first] {
			row[local[f.states[j]]] += v
		}
	}
	f.update = nil
}

const leastNormal = 0x1p-1022

// eliminate eliminates the states of f.
func (c *Chain) eliminate(ctx context.Context, f *front, a []float64) error {
	m := len(f.states)
	begin, beginLeave := len(c.from), len(c.leave)
	for k := m - 1; k >= f.first; k-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := a[k*m:][:k]
		leave := sum.Of(row)
		least := math.Inf(1) // entry that is not 0
		for _, p := range row {
			if p > 0 {
				least = min(least, p)
			}
		}
		for i := range k {
			part := a[i*m+k] / leave
			c.into = append(c.into, part)
			if part == 0 {
				continue
			}
			c.terms++
			c.Lost = c.Lost || part*least < leastNormal
			floats.AddScaled(a[i*m:][:k], part, row)
		}
		c.from, c.leave = append(c.from, row...), append(c.leave, leave)
	}
	f.from, f.into, f.leave = c.from[begin:], c.into[begin:], c.leave[beginLeave:]
	return nil
}

// Package reduction eliminates the states of a Markov chain without subtractions (Grassmann, Taksar and Heyman 1985). It
// works on the graph of the chain. Let a(i,j) be the probability of a move from i to j ≠ i. State k leads to other
// states with probability l_k = Σ_j a(k,j). The elimination of k is the update
//
//	a(i,j) ← a(i,j) + f(i,k) a(k,j),  f(i,k) = a(i,k)/l_k
//
// for all remaining neighbours i ≠ j of k. What remains is the chain observed only in the other states. The order of
// elimination ([minimumDegree]) keeps the graph sparse. States that have the same neighbours outside their own group
// are eliminated together, in a dense matrix. The rest of this matrix is added to the matrix of a later group (the
// multifrontal method: Duff and Reid 1983).
//
// On grids and on flows in the plane, a sparse LU factorisation of I − P (such as SciPy's) with a similar order can be
// a little faster than this package. Unlike our elimination, LU does not sum each l_k again (the proof below needs
// these sums), and stores no exponent with each mass. On blocks that are joined by hubs, SciPy's column order fills the
// matrix less than our order does. But LU subtracts: on a chain with two deep wells, the measure that LU computes may
// have no correct digit at all, although the residual of this measure is as small as rounding errors.
//
// # The error
//
// By the matrix-tree theorem, the stationary probability μ(s) of a state s is proportional to a sum of products, one
// product for each tree that leads to s. Each product contains one entry of each row except row s. So if each entry of
// one row changes by a fraction of at most η, each μ(s) changes, to first order in η, by a fraction of at most 2η, for
// any chain. In the step that eliminates k, rounding changes each row i with f(i,k) > 0: the quotient, the product and
// the sum contribute 3u (with u = 2⁻⁵³), l_k contributes 3u, and the products in the row of the given matrix (such as
// γP(i,j)) contribute u. On the way back from state 0, the masses v(k) = Σ_i v(i)f(i,k) are computed, with two
// roundings for each f(i,k) and five more for each k. Let N be the number of f(i,k) > 0, and n the number of states. So
// every μ(s) has a relative error of at most 16(N+n)u, if no product falls below the normal range.
//
// Below the normal range, a quotient or a product loses at most 2⁻¹⁰⁷⁵ more. The step that eliminates k then adds a
// matrix E to the rate matrix Q of the remaining chain, with |E(i,j)| ≤ δ = 2⁻¹⁰⁷⁴ off the diagonal, so ‖E‖∞ ≤ 2nδ. If
// xQ = −yE, where x adds up to 0 and y is a distribution, then ‖x‖₁ ≤ 2‖E‖∞ max h, where h(s) is the mean time from s
// to 0. Let T be the greatest computed mean time to 0. Each step changes h little if nδT is small, so h ≤ 2T
// throughout, and ‖x‖₁ ≤ 8nδT. Together, the eliminated states have at most 2T times the mass of the remaining
// states. Each quotient f(i,k) also loses at most δ. So over the n steps together, μ moves in ℓ₁ by at most
// 2(1+2T)(8n²δT + n²δ) < 2⁵n²(1+T)²δ.
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

// smallChain is the greatest number of states of a chain that is eliminated in one dense matrix, in decreasing order of
// the numbers of the states.
const smallChain = 1501

// Work counts the entries that elimination stores, and the products that it computes.
type Work struct{ Entries, Products float64 }

// add counts a state that joins state 0 and the given number of other states, and reports whether the work now exceeds
// the limit.
func (w *Work) add(joined int, most Work) bool {
	k := float64(joined + 1)
	w.Entries += 2 * k
	w.Products += k * k
	return w.Entries > most.Entries || w.Products > most.Products
}

// ErrFill says that elimination would store more entries, or compute more products, than allowed.
var ErrFill = errors.New("elimination fills the matrix")

// Chain is a Markov chain from which all states but 0 have been eliminated.
type Chain struct {
	Lost              bool // whether an entry > 0, or a product of numbers > 0, is below the normal range, and may have lost digits
	fronts            []front
	from, into, leave []float64 // memory shared by all fronts
	size              int
	terms             int // number of f(i,k) > 0
}

// front is a set of states that are eliminated together, from the last to the first.
type front struct {
	states      []int32   // 0, the joined states, then the eliminated states
	first       int       // place in states where the eliminated states begin
	from, leave []float64 // from: a(k,j) for j < k, row after row; leave: l_k
	into        []float64 // f(i,k) for i < k, column after column
	update      []float64 // a(i,j) for i, j < first, until they are added to another front, then nil
}

// Reduce eliminates all states but 0 from the chain whose transition matrix is the parameter out. All states must lead
// to state 0. Reduce ignores the diagonal of out, except that a positive entry below the normal range sets Lost. Reduce
// returns [ErrFill] if elimination would take more work than the parameter most allows, and the error of ctx if ctx has
// ended.
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
	// next[k]: of the states that k joins, the first to be eliminated. with[k]: k is eliminated together with
	// next[k], in one front. under[q]: the state k with next[k] = q and with[k], or 0.
	next, under := make([]int32, n), make([]int32, n)
	with := make([]bool, n)
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
	child, sibling := make([]int32, n), make([]int32, n) // the first front that updates q, the next such front: numbers plus 1, or 0
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

// add adds f.update, which the elimination of f leaves, to the matrix a of m states; local[s] is the place of state s
// in a.
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

func (c *Chain) eliminate(ctx context.Context, f *front, a []float64) error {
	m := len(f.states)
	begin, beginLeave := len(c.from), len(c.leave)
	for k := m - 1; k >= f.first; k-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := a[k*m:][:k]
		leave := sum.Of(row)
		least := math.Inf(1) // least nonzero entry
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

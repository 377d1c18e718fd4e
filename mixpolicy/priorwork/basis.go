package priorwork

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// checkBasis returns an error unless Φ is n × d with finite entries.
func checkBasis(x *mixpolicy.MDP, phi *mat.Dense) error {
	if phi == nil || phi.IsEmpty() {
		return fmt.Errorf("priorwork: no basis Φ, want a matrix with a row per state")
	}
	n, d := phi.Dims()
	if n != x.States() {
		return fmt.Errorf("priorwork: basis Φ has %d rows, want one per state: %d", n, x.States())
	}
	for s := range n {
		for j := range d {
			if v := phi.At(s, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("priorwork: basis function %d is %v in state %s, want a finite number", j, v, x.StateName(s))
			}
		}
	}
	return nil
}

// stateWeights returns w, or byDefault if w is nil. It returns an error if both are nil, or if w is not nil and not a
// distribution over states. The string what is the name of w in error texts.
func stateWeights(x *mixpolicy.MDP, w, byDefault []float64, what string) ([]float64, error) {
	if w == nil && byDefault != nil {
		return byDefault, nil
	}
	if len(w) != x.States() {
		return nil, fmt.Errorf("priorwork: %d %s, want one per state: %d", len(w), what, x.States())
	}
	var total float64
	for s, v := range w {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("priorwork: %s: %v in state %s, want a finite number ≥ 0", what, v, x.StateName(s))
		}
		total += v
	}
	// The tolerance allows 2n + 2 roundings: one of each entry, one of each addition, and three to spare.
	if math.Abs(total-1) > float64(2*len(w)+2)*0x1p-53 {
		return nil, fmt.Errorf("priorwork: %s add up to %v, want 1", what, total)
	}
	return w, nil
}

// values returns Φν.
func values(phi *mat.Dense, nu []float64) []float64 {
	n, _ := phi.Dims()
	v := make([]float64, n)
	for s := range v {
		v[s] = floats.Dot(phi.RawRowView(s), nu)
	}
	return v
}

// bellmanRow stores φ(s) − γ Σ P_a(s,s′) φ(s′) in dst, where φ(s) is row s of Φ, and (s, a) is the pair. The result is
// the pair's row of the constraint matrix in (4.1) and, for Φ = I, in (2.9b).
func bellmanRow(dst []float64, x *mixpolicy.MDP, phi *mat.Dense, pair int) {
	s, a := pair/x.Actions(), pair%x.Actions()
	copy(dst, phi.RawRowView(s))
	to, prob := x.Next(s, a)
	for k, s2 := range to {
		floats.AddScaled(dst, -x.Gamma()*prob[k], phi.RawRowView(int(s2)))
	}
}

// constraints are rows aᵢᵀx ≤ cᵢ of an approximate LP or of [BestFit]. In an approximate LP, x is ν or, under average
// cost, (g, ν). Under average cost, the coefficient of g is 1 in the row of a pair, and 0 in a row that box adds.
type constraints struct {
	columns linprog.Columns // the columns of A
	rhs     []float64       // c
}

// bellmanConstraints returns the constraints (4.8) of the given pairs, with the given costs. Under average cost, the
// column of a constant basis function is 0, except for rounding. The k probabilities of a row of P add up to 1 within
// sum.Tolerance(k) = 16(k+1)2⁻⁵³, and at most k+2 roundings touch each term of an entry. For the basis function 1, the
// terms have magnitudes that add up to 2, so the magnitude of a computed entry is at most 16(k+1)2⁻⁵³ + 2(k+2)2⁻⁵³ ≤
// 2 sum.Tolerance(k). A column of such entries is set to 0; otherwise [whiten] would scale the column up, and rounding
// errors would determine the column's entry of ν.
func bellmanConstraints(x *mixpolicy.MDP, phi *mat.Dense, pairs []int, cost []float64) constraints {
	_, d := phi.Dims()
	extra := 0
	if x.Criterion().Average() {
		extra = 1
	}
	c := constraints{columns: zeroVectors(d+extra, len(pairs)), rhs: cost}
	row, differs := make([]float64, d), make([]bool, d)
	for k, i := range pairs {
		bellmanRow(row, x, phi, i)
		if extra == 1 {
			c.columns[0][k] = 1
		}
		s, a := x.StateAction(i)
		to, prob := x.Next(s, a)
		for j, v := range row {
			c.columns[extra+j][k] = v
			size := math.Abs(phi.At(s, j))
			for e, s2 := range to {
				size += prob[e] * math.Abs(phi.At(int(s2), j))
			}
			differs[j] = differs[j] || math.Abs(v) > sum.Tolerance(len(to))*size
		}
	}
	for j := range differs {
		if extra == 1 && !differs[j] {
			clear(c.columns[1+j])
		}
	}
	return c
}

// allPairs returns 0, …, nm−1.
func allPairs(x *mixpolicy.MDP) []int {
	pairs := make([]int, x.Pairs())
	for i := range pairs {
		pairs[i] = i
	}
	return pairs
}

// objective returns the b of the objective bᵀx that the approximate LPs (4.1), (4.7) and (4.10) maximise. For Φ = I,
// bᵀx is also the objective (2.9a). The vector b is Φᵀα, or (1, 0, …, 0) under average cost.
func objective(x *mixpolicy.MDP, phi *mat.Dense, alpha []float64) []float64 {
	n, d := phi.Dims()
	if x.Criterion().Average() {
		return append([]float64{1}, make([]float64, d)...)
	}
	b := make([]float64, d)
	for s := range n {
		floats.AddScaled(b, alpha[s], phi.RawRowView(s))
	}
	return b
}

// coordinates are a change of variables x = S y, S ∈ ℝ^{d×r}, after which constraint rows are distributed alike in all
// directions, and solutions have a length of about 1. The change makes solutions more accurate: without the change,
// solutions for the basis 1, x, x², x³ over a hundred states lose seven digits.
type coordinates struct {
	s     *mat.Dense  // S; a column of zeros if r = 0
	scale []float64   // whiten divides the rows of A, and then multiplies column j by scale[j]
	null  [][]float64 // directions x in which A x counts as 0 (see dependent); r = d − len(null)
}

// whiten scales the rows and columns of A. A direction counts as null if its singular value in the scaled A is at most
// dependent times the greatest singular value. The eigenvalues of the Gram matrix are the squares of the singular
// values. Relative to the greatest eigenvalue, the rounding errors of the eigenvalues are about d·2⁻⁵². The square of
// dependent, 2⁻⁴⁴, is at least d·2⁻⁵² for d up to 256.
const dependent = 0x1p-22

// whiten first divides each row aᵢ ≠ 0 of A, and the entry cᵢ of c, by ‖aᵢ‖. It skips rows that are 0. For the divided
// A and c, let S be such that A S has the Gram matrix I, and let y solve A S y = c by least squares. The result is the
// coordinates ‖y‖S, or S if y = 0.
func whiten(ctx context.Context, c constraints) (coordinates, error) {
	n, d := c.columns.Dims()
	gram, fit := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
	row := make([]float64, d)
	for i := range n {
		if i%1024 == 0 && ctx.Err() != nil {
			return coordinates{}, ctx.Err()
		}
		c.columns.Row(row, i)
		length := floats.Norm(row, 2)
		if length == 0 {
			continue
		}
		v := mat.NewVecDense(d, row)
		gram.SymRankOne(gram, 1/length/length, v)
		fit.AddScaledVec(fit, c.rhs[i]/length/length, v)
	}
	scale := make([]float64, d) // basis functions such as 1 and x³ differ by orders of magnitude
	for j := range scale {
		if scale[j] = 1; gram.At(j, j) > 0 {
			scale[j] = 1 / math.Sqrt(gram.At(j, j))
		}
	}
	for i := range d {
		for j := i; j < d; j++ {
			gram.SetSym(i, j, gram.At(i, j)*scale[i]*scale[j])
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		panic("priorwork: the eigenvalues of a Gram matrix were not found") // cannot happen: QL converges for finite entries
	}
	lambda := eigen.Values(nil) // increasing
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	k := coordinates{scale: scale}
	var columns [][]float64
	for j, l := range lambda {
		x := mat.Col(nil, j, &vectors)
		floats.Mul(x, scale)
		if l <= dependent*dependent*lambda[d-1] {
			k.null = append(k.null, x)
			continue
		}
		floats.Scale(1/math.Sqrt(l), x)
		columns = append(columns, x)
	}
	k.s = mat.NewDense(d, max(1, len(columns)), nil)
	for j, x := range columns {
		k.s.SetCol(j, x)
	}
	var y mat.VecDense
	y.MulVec(k.s.T(), fit)
	if length := mat.Norm(&y, 2); length > 0 {
		k.s.Scale(length, k.s)
	}
	return k, nil
}

// unbounded returns a null direction in which bᵀx grows, or nil.
func (k coordinates) unbounded(b []float64) []float64 {
	// x is a unit vector times scale, so bᵀx/‖scaled‖ is the cosine of the angle between this unit vector and scaled.
	scaled := floats.MulTo(make([]float64, len(b)), b, k.scale)
	for _, x := range k.null {
		if v := floats.Dot(b, x); math.Abs(v) > dependent*floats.Norm(scaled, 2) {
			floats.Scale(math.Copysign(1, v), x)
			return x
		}
	}
	return nil
}

// rows returns A S.
func (k coordinates) rows(ctx context.Context, a linprog.Columns) (linprog.Columns, error) {
	_, r := k.s.Dims()
	out := make(linprog.Columns, r)
	for j := range out {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[j] = make([]float64, len(a[0]))
		for i := range a {
			floats.AddScaled(out[j], k.s.At(i, j), a[i])
		}
	}
	return out, nil
}

// product returns Mx. For [coordinates], S y is the x that belongs to y, and (Sᵀb)ᵀy is the objective bᵀx.
func product(m mat.Matrix, x []float64) []float64 {
	var y mat.VecDense
	y.MulVec(m, mat.NewVecDense(len(x), x))
	return y.RawVector().Data
}

package bregman

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// LogBarrier is the logarithmic barrier φ(x) = −Σᵢ log(bᵢ − aᵢᵀx) of the polytope
// {x ∈ ℝᵈ : Ax ≤ b}, aᵢ the rows of A, with ∇φ(x) = Aᵀs⁻¹ for the slacks s = b − Ax and
// φ*(y) = ⟨x, y⟩ − φ(x) at x = ∇φ*(y).
//
// ∇φ*(y) has no closed form: it maximises ⟨x, y⟩ − φ(x). As φ is self-concordant the damped
// Newton iteration with step 1/(1 + λ), λ the Newton decrement, converges from any interior
// point without a line search; it takes about log₂‖y‖ steps of cost O(md² + d³) for m rows.
// Where y is so large that a slack falls below the rounding of bᵢ, the result is the face
// reached by then.
//
// On a bounded polytope φ is strongly convex in ℓ₂ with μ = λ_min(AᵀW⁻²A), W the diagonal of
// the largest slacks; NewLogBarrier computes it from upper bounds on those.
//
// Source: Nesterov and Nemirovskii (1994).
//
//	triangle := mat.NewDense(3, 2, []float64{-1, 0, 0, -1, 1, 2}) // θ₁ ≥ 0, θ₂ ≥ 0, θ₁ + 2θ₂ ≤ 1.8
//	m, err := bregman.NewLogBarrier(triangle, []float64{0, 0, 1.8}, []float64{0.5, 0.5})
type LogBarrier struct {
	a        blas64.General // m×d
	b        []float64
	interior []float64
	mu       float64
	pool     *sync.Pool // of *barrierState
}

var (
	_ Modulus        = (*LogBarrier)(nil)
	_ StrongConvexer = (*LogBarrier)(nil)
)

type barrierState struct {
	x, g, s, h, y []float64
}

// NewLogBarrier returns the barrier of {x : Ax ≤ b}. interior is a point with Ax < b; an error
// names the first row that it breaks. The rows of A must span ℝᵈ, or the polytope contains a
// line and φ is not strictly convex: that too is an error.
func NewLogBarrier(a mat.Matrix, b, interior []float64) (*LogBarrier, error) {
	m, d := a.Dims()
	if len(b) != m || len(interior) != d {
		return nil, fmt.Errorf("bregman: log barrier of a %d×%d matrix, %d bounds and an interior point of %d coordinates", m, d, len(b), len(interior))
	}
	l := &LogBarrier{
		a:        mat.DenseCopyOf(a).RawMatrix(),
		b:        append([]float64(nil), b...),
		interior: append([]float64(nil), interior...),
	}
	l.pool = &sync.Pool{New: func() any {
		return &barrierState{make([]float64, d), make([]float64, d), make([]float64, m), make([]float64, d*d), make([]float64, d)}
	}}
	st := l.state()
	defer l.pool.Put(st)
	l.slacks(st.s, interior)
	for i, s := range st.s {
		if !(s > 0) || math.IsInf(s, 1) {
			return nil, fmt.Errorf("bregman: log barrier: the interior point breaks row %d: b − aᵀx = %g, want it positive", i, s)
		}
	}
	l.hessian(st.h, st.s)
	if !factor(st.h, d) {
		return nil, fmt.Errorf("bregman: log barrier: the %d rows do not span ℝ^%d, so the polytope contains a line", m, d)
	}
	l.mu = l.strongConvexity(st)
	return l, nil
}

func (l *LogBarrier) state() *barrierState { return l.pool.Get().(*barrierState) }

// slacks stores b − Ax in s.
func (l *LogBarrier) slacks(s, x []float64) {
	checkLen(x, l.interior)
	for i, b := range l.b {
		row := l.a.Data[i*l.a.Stride : i*l.a.Stride+l.a.Cols]
		var r double
		r.addProduct(b, 1)
		for j, v := range row {
			r.addProduct(-v, x[j])
		}
		s[i] = r.value()
	}
}

// hessian stores AᵀS⁻²A in h.
func (l *LogBarrier) hessian(h, s []float64) {
	d := l.a.Cols
	clear(h)
	for i, v := range s {
		row := l.a.Data[i*l.a.Stride : i*l.a.Stride+d]
		for j, p := range row {
			for k := j; k < d; k++ {
				h[j*d+k] += (p / v) * (row[k] / v)
			}
		}
	}
}

// factor replaces the upper triangle of h by its Cholesky factor.
func factor(h []float64, d int) bool {
	_, ok := lapack64.Potrf(blas64.Symmetric{N: d, Stride: d, Data: h, Uplo: blas.Upper})
	return ok
}

// solveFactored replaces g by H⁻¹g, for H as factored.
func solveFactored(h, g []float64) {
	d := len(g)
	t := blas64.Triangular{N: d, Stride: d, Data: h, Uplo: blas.Upper, Diag: blas.NonUnit}
	v := blas64.Vector{N: d, Inc: 1, Data: g}
	blas64.Trsv(blas.Trans, t, v)
	blas64.Trsv(blas.NoTrans, t, v)
}

// strongConvexity bounds λ_min(AᵀW⁻²A) from below. The polytope is within the ellipsoid
// {‖x − c‖_H ≤ m + 2√m} about its analytic centre c, H = ∇²φ(c) (Nesterov and Nemirovskii), so
// the largest slack of row i is at most sᵢ(c) + (m + 2√m)‖aᵢ‖_{H⁻¹}.
func (l *LogBarrier) strongConvexity(st *barrierState) float64 {
	m, d := l.a.Rows, l.a.Cols
	clear(st.y)
	center := make([]float64, d)
	l.ConjugateGradient(center, st.y)
	grad := make([]float64, d)
	l.Gradient(grad, center)
	l.slacks(st.s, center)
	l.hessian(st.h, st.s)
	if Norm(2).Of(grad) > 1e-6*Norm(2).Of(st.h) || !factor(st.h, d) {
		return 0 // no centre: the polytope is unbounded
	}
	radius := float64(m) + 2*math.Sqrt(float64(m))
	w := mat.NewSymDense(d, nil)
	for i, s := range st.s {
		row := l.a.Data[i*l.a.Stride : i*l.a.Stride+d]
		copy(st.g, row)
		solveFactored(st.h, st.g)
		var q float64
		for j, v := range row {
			q += v * st.g[j]
		}
		w.SymRankOne(w, 1/math.Pow(s+radius*math.Sqrt(q), 2), mat.NewVecDense(d, row))
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(w, false) {
		return 0
	}
	return max(0, eigen.Values(nil)[0])
}

// Value returns −Σᵢ log(bᵢ − aᵢᵀx).
func (l *LogBarrier) Value(x []float64) float64 {
	st := l.state()
	defer l.pool.Put(st)
	l.slacks(st.s, x)
	var v float64
	for _, s := range st.s {
		if !(s > 0) {
			return math.Inf(1)
		}
		v -= math.Log(s)
	}
	return v
}

// Gradient stores Aᵀs⁻¹ in dst.
func (l *LogBarrier) Gradient(dst, x []float64) {
	checkLen(dst, x)
	st := l.state()
	l.slacks(st.s, x)
	l.gradient(dst, st.s)
	l.pool.Put(st)
}

func (l *LogBarrier) gradient(dst, s []float64) {
	clear(dst)
	for i, v := range s {
		for j, p := range l.a.Data[i*l.a.Stride : i*l.a.Stride+l.a.Cols] {
			dst[j] += p / v
		}
	}
}

// ConjugateGradient stores argmax ⟨x, y⟩ − φ(x) in dst, by damped Newton iterations. It needs
// a bounded polytope, or a y for which the maximum exists; otherwise the result runs away.
func (l *LogBarrier) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	checkLen(dst, l.interior)
	st := l.state()
	defer l.pool.Put(st)
	copy(st.y, y)
	copy(st.x, l.interior)
	d := len(y)
	// A y of size 2¹⁰⁰⁰ is a face to within rounding after some hundred halvings of its slack.
	for range 400 {
		l.slacks(st.s, st.x)
		l.gradient(st.g, st.s)
		for j := range st.g {
			st.g[j] = st.y[j] - st.g[j]
		}
		l.hessian(st.h, st.s)
		if !factor(st.h, d) {
			break
		}
		top := max(1, maxAbs(st.g)) // for ‖y‖ up to the largest number, work with g/top
		for j := range st.g {
			st.g[j] /= top
		}
		copy(dst, st.g)
		solveFactored(st.h, dst)
		var decrement float64 // (λ/top)²
		for j, v := range dst {
			decrement += v * st.g[j]
		}
		lambda := math.Sqrt(max(0, decrement)) * top
		step := top
		if lambda > 0.25 {
			step = 1 / (1/top + lambda/top)
		}
		moved := false
		for j, v := range dst {
			next := st.x[j] + step*v
			moved = moved || math.Abs(next-st.x[j]) > ulp*math.Abs(next)
			dst[j] = next
		}
		if !moved || !l.inside(st.s, dst) {
			break
		}
		copy(st.x, dst)
		if lambda < 0x1p-30 { // the next step would be of order λ²
			break
		}
	}
	copy(dst, st.x)
}

func (l *LogBarrier) inside(s, x []float64) bool {
	l.slacks(s, x)
	for _, v := range s {
		if !(v > 0) {
			return false
		}
	}
	return true
}

// InDomain reports whether Ax < b.
func (l *LogBarrier) InDomain(x []float64) bool {
	st := l.state()
	defer l.pool.Put(st)
	return firstNonFinite(x) < 0 && l.inside(st.s, x)
}

// StrongConvexity returns a lower bound on the constant in ℓ₂, 0 if the polytope is
// unbounded.
func (l *LogBarrier) StrongConvexity() (mu float64, norm Norm) { return l.mu, 2 }

// String tells the size of the polytope.
func (l *LogBarrier) String() string {
	return fmt.Sprintf("log barrier of %d half-spaces in ℝ^%d", l.a.Rows, l.a.Cols)
}

package priorwork

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// system returns the constraints rowᵀx ≤ right.
func system(rows [][]float64, right ...float64) constraints {
	c := constraints{columns: make(linprog.Columns, len(rows[0])), rhs: right}
	for _, row := range rows {
		for j, v := range row {
			c.columns[j] = append(c.columns[j], v)
		}
	}
	return c
}

// In the coordinates the rows, made of length 1, have the Gram matrix I, times a square that makes
// the y of the best fit one of length 1.
func TestWhiten(t *testing.T) {
	c := system([][]float64{{3, 4}, {1, 0}, {0, -2}, {5, 1e6}}, 10, 2, 3, 1)
	k, _ := whiten(context.Background(), c)
	rows, _ := k.rows(context.Background(), c.columns)
	var gram [2][2]float64
	fit := []float64{0, 0}
	for i, right := range c.rhs {
		size := math.Hypot(c.columns[0][i], c.columns[1][i])
		for j := range 2 {
			for l := range 2 {
				gram[j][l] += rows[j][i] * rows[l][i] / (size * size)
			}
			fit[j] += rows[j][i] * right / (size * size)
		}
	}
	unit := gram[0][0] // Σ (row/size)² = length²
	if math.Abs(gram[1][1]/unit-1) > 1e-13 || math.Abs(gram[0][1])/unit > 1e-13 {
		t.Errorf("Gram matrix %v, want a multiple of I", gram)
	}
	// Least squares: y = Gram⁻¹ fit.
	if y := math.Hypot(fit[0], fit[1]) / unit; math.Abs(y-1) > 1e-12 {
		t.Errorf("the fit has length %v, want 1", y)
	}

	// Of costs 0 the fit says nothing, and rows of 0 leave every direction.
	if k, _ := whiten(context.Background(), system([][]float64{{1, 0}, {1, 1}}, 0, 0)); mat.Norm(k.s, 1) == 0 || len(k.null) != 0 {
		t.Errorf("costs of 0: S = %v, %d directions without rows", mat.Formatted(k.s), len(k.null))
	}
	if k, _ := whiten(context.Background(), system([][]float64{{0, 0}}, 1)); len(k.null) != 2 {
		t.Errorf("a row of 0: %d directions without rows, want 2", len(k.null))
	}
	// Columns at an angle of ε/2 have the eigenvalues 2 and ε²/8: dependent below 2⁻⁴⁴ of the
	// greater, 2⁻⁴³.
	for exponent, null := range map[float64]int{-43.5: 1, -42.5: 0} {
		epsilon := math.Sqrt(8 * math.Exp2(exponent))
		if k, _ := whiten(context.Background(), system([][]float64{{1, 1}, {1, 1 + epsilon}}, 1, 1)); len(k.null) != null {
			t.Errorf("ε = %g: %d directions without rows, want %d", epsilon, len(k.null), null)
		}
	}
}

// A direction is unbounded where no row differs and b is not at a right angle to it, to 2⁻²² of
// b's length in scaled columns; b grows along it.
func TestUnboundedDirection(t *testing.T) {
	// The second column is scaled by 10⁸/√5, so that for b₂ = 1 the limit is at 10.7.
	k, _ := whiten(context.Background(), system([][]float64{{1e8, 1, 0}, {1e8, 2, 0}}, 1, 1))
	for _, c := range []struct {
		b    []float64
		sign float64
	}{{[]float64{0, 1, 20}, 1}, {[]float64{0, 1, -20}, -1}, {[]float64{0, 1, 5}, 0}, {[]float64{0, 1, 0}, 0}, {[]float64{0, 0, 0}, 0}} {
		ray := k.unbounded(c.b)
		if (ray == nil) != (c.sign == 0) || ray != nil && (floats.Norm(ray[:2], 2) > 1e-7*math.Abs(ray[2]) || ray != nil && ray[2]*c.sign <= 0) {
			t.Errorf("b = %v: direction %v, want the sign %v of the last entry", c.b, ray, c.sign)
		}
	}
}

// A distribution over n states may be off by (2n+2)·2⁻⁵³; numbers near 1 are 2⁻⁵² apart.
func TestStateWeightsTolerance(t *testing.T) {
	x := mixpolicy.Must(models.Machine{Criterion: mixpolicy.Discounted(.5)}.MDP())
	for off, ok := range map[float64]bool{0: true, 6 * u: true, -6 * u: true, 8 * u: false, -8 * u: false} {
		if _, err := stateWeights(x, []float64{.5, .5 + off}, nil, "weights"); (err == nil) != ok {
			t.Errorf("off by %v·2⁻⁵³: %v", off/u, err)
		}
	}
}

// What σ(y) is measured by: Σ μ(s) max_a ‖a_{sa}‖ and Σ μ(s) max_a |c_a(s)|, by hand; and 16 roundings
// of d + 8 terms of that size, with ‖y‖ = 5.
func TestSlackSizes(t *testing.T) {
	f := newSlack(2, []float64{.25, .75}, linprog.Columns{{3, 0, 1, 0}, {4, 20, 0, -7}}, []float64{1, -2, 3, -1})
	if f.size != .25*20+.75*7 || f.unit != .25*2+.75*3 {
		t.Errorf("sizes %v and %v, want 10.25 and 2.75", f.size, f.unit)
	}
	if got, want := f.rounding([]float64{3, -4}), 160*u*(10.25*5+2.75); math.Abs(got/want-1) > 8*u {
		t.Errorf("rounding %v, want %v", got, want)
	}
	if f := newSlack(1, []float64{1}, linprog.Columns{{3}}, []float64{0}); f.unit != 1 {
		t.Errorf("costs of 0: unit %v, want 1", f.unit)
	}
}

// A row without features keeps its λ: nothing is known of it.
func TestAscend(t *testing.T) {
	_, p := everyPair(mixpolicy.Discounted(.5))
	s := newSaddle(p)
	s.weights[2] = 0
	dst := make([]float64, 4)
	s.ascend(dst, []float64{1, 2, 3, 4}, 2, []float64{.25, -1, 5, 3})
	if want := []float64{.5, 4, 3, 0}; !floats.Equal(dst, want) {
		t.Errorf("λ = %v, want %v", dst, want)
	}
}

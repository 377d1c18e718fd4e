package priorwork

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy/linprog"
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

// In the coordinates of whiten, the rows, scaled to length 1, have a multiple of I as Gram matrix. The
// multiple makes the best fit y a vector of length 1.
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
	unit := gram[0][0] // the multiple
	if math.Abs(gram[1][1]/unit-1) > 1e-13 || math.Abs(gram[0][1])/unit > 1e-13 {
		t.Errorf("Gram matrix %v, want a multiple of I", gram)
	}
	// Least squares: y = Gram⁻¹ fit.
	if y := math.Hypot(fit[0], fit[1]) / unit; math.Abs(y-1) > 1e-12 {
		t.Errorf("the fit has length %v, want 1", y)
	}

	// If all costs are 0, the fit sets no scale. With only a row of zeros, every direction is null.
	if k, _ := whiten(context.Background(), system([][]float64{{1, 0}, {1, 1}}, 0, 0)); mat.Norm(k.s, 1) == 0 || len(k.null) != 0 {
		t.Errorf("costs of 0: S = %v, %d directions without rows", mat.Formatted(k.s), len(k.null))
	}
	if k, _ := whiten(context.Background(), system([][]float64{{0, 0}}, 1)); len(k.null) != 2 {
		t.Errorf("a row of 0: %d directions without rows, want 2", len(k.null))
	}
	// For columns at an angle of ε/2, the Gram matrix has the eigenvalues 2 and ε²/8. The columns
	// are dependent if ε²/8 is below 2⁻⁴⁴ times the greater eigenvalue, 2⁻⁴³.
	for exponent, null := range map[float64]int{-43.5: 1, -42.5: 0} {
		epsilon := math.Sqrt(8 * math.Exp2(exponent))
		if k, _ := whiten(context.Background(), system([][]float64{{1, 1}, {1, 1 + epsilon}}, 1, 1)); len(k.null) != null {
			t.Errorf("ε = %g: %d directions without rows, want %d", epsilon, len(k.null), null)
		}
	}
}

package linprog

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
)

// Rows is a matrix Ψ ∈ ℝᴺˣᵈ of very many rows, stored or computed on demand. Its
// methods are called concurrently.
type Rows interface {
	// Dims returns N ≥ 0 and d ≥ 1.
	Dims() (n, d int)

	// Apply stores (Ψθ)ᵢ for from ≤ i < from + len(dst) in dst, each with an error of at
	// most d·2⁻⁵² ‖Ψᵢ‖₂‖θ‖₂. Solving is a few dozen passes over Ψ by this method.
	Apply(dst []float64, from int, theta []float64)

	// Row stores Ψᵢ in dst, of length d.
	Row(dst []float64, i int)
}

// Columns is Ψ = [ψ¹ … ψᵈ] given by its columns: Columns[j][i] = ψʲᵢ.
type Columns [][]float64

var _ Rows = Columns(nil)

// Dims implements [Rows]. It panics if there is no column or their lengths differ.
func (c Columns) Dims() (n, d int) {
	if len(c) == 0 {
		panic("linprog: Ψ has no columns")
	}
	n = len(c[0])
	for j, col := range c {
		if len(col) != n {
			panic(fmt.Sprintf("linprog: column %d of Ψ has length %d, column 0 has %d", j, len(col), n))
		}
	}
	return n, len(c)
}

// Apply implements [Rows].
func (c Columns) Apply(dst []float64, from int, theta []float64) {
	floats.ScaleTo(dst, theta[0], c[0][from:from+len(dst)])
	for j := 1; j < len(c); j++ {
		floats.AddScaled(dst, theta[j], c[j][from:from+len(dst)])
	}
}

// Row implements [Rows].
func (c Columns) Row(dst []float64, i int) {
	for j, col := range c {
		dst[j] = col[i]
	}
}

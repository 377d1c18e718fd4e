// Package sparse holds matrices in compressed sparse row form, which gonum lacks.
package sparse

import "slices"

// Matrix is a Rows × Cols matrix. The entries of row i are in the columns Col[Ptr[i]:Ptr[i+1]], and have the values
// Val[Ptr[i]:Ptr[i+1]]. A [Builder] sorts each row by column. Column indices have 32 bits, so an entry takes 12 bytes.
type Matrix struct {
	Rows, Cols int
	Ptr        []int
	Col        []int32
	Val        []float64
}

// Builder builds a [Matrix] row by row.
type Builder struct{ m Matrix }

// NewBuilder returns a builder of a matrix with the given number of columns, at most 2³¹−1. It reserves memory for
// rowHint rows and entryHint entries.
func NewBuilder(cols, rowHint, entryHint int) *Builder {
	b := &Builder{m: Matrix{Cols: cols}}
	b.m.Ptr = append(make([]int, 0, rowHint+1), 0)
	b.m.Col = make([]int32, 0, entryHint)
	b.m.Val = make([]float64, 0, entryHint)
	return b
}

// Set adds an entry to the row that the next [Builder.EndRow] closes.
func (b *Builder) Set(col int, val float64) {
	b.m.Col = append(b.m.Col, int32(col))
	b.m.Val = append(b.m.Val, val)
}

// Append adds entries to the row that the next [Builder.EndRow] closes.
func (b *Builder) Append(col []int32, val []float64) {
	b.m.Col = append(b.m.Col, col...)
	b.m.Val = append(b.m.Val, val...)
}

// EndRow sorts the entries of the row by column, and closes the row. If a column was set twice, EndRow returns this
// column and false, and the row keeps both entries.
func (b *Builder) EndRow() (duplicate int, ok bool) {
	start := b.m.Ptr[len(b.m.Ptr)-1]
	col, val := b.m.Col[start:], b.m.Val[start:]
	// Insertion sort: rows are short and usually nearly sorted.
	for i := 1; i < len(col); i++ {
		c, v, j := col[i], val[i], i
		for ; j > 0 && col[j-1] > c; j-- {
			col[j], val[j] = col[j-1], val[j-1]
		}
		col[j], val[j] = c, v
	}
	b.m.Ptr = append(b.m.Ptr, len(b.m.Col))
	for i := 1; i < len(col); i++ {
		if col[i] == col[i-1] {
			return int(col[i]), false
		}
	}
	return 0, true
}

// Matrix returns the built matrix.
func (b *Builder) Matrix() *Matrix {
	b.m.Rows = len(b.m.Ptr) - 1
	m := b.m
	m.Col, m.Val = slices.Clip(m.Col), slices.Clip(m.Val)
	return &m
}

// Row returns the columns and values of row i, without copying them.
func (m *Matrix) Row(i int) ([]int32, []float64) {
	lo, hi := m.Ptr[i], m.Ptr[i+1]
	return m.Col[lo:hi], m.Val[lo:hi]
}

// NNZ returns the number of stored entries.
func (m *Matrix) NNZ() int { return len(m.Col) }

// MulVec sets dst = M x.
func (m *Matrix) MulVec(dst, x []float64) {
	for i := range dst {
		dst[i] = m.RowDot(i, x)
	}
}

// MulVecT sets dst = Mᵀ x.
func (m *Matrix) MulVecT(dst, x []float64) {
	if len(dst) != m.Cols || len(x) != m.Rows {
		panic("sparse: vector length does not match the matrix")
	}
	clear(dst)
	for i, xi := range x {
		if xi == 0 {
			continue
		}
		col, val := m.Row(i)
		for k, c := range col {
			dst[c] += val[k] * xi
		}
	}
}

// RowDot returns row i times x.
func (m *Matrix) RowDot(i int, x []float64) float64 {
	var s float64
	col, val := m.Row(i)
	for k, c := range col {
		s += val[k] * x[c]
	}
	return s
}

// Transpose returns Mᵀ by a counting sort, in O(rows + columns + entries).
func (m *Matrix) Transpose() *Matrix {
	t := &Matrix{Rows: m.Cols, Cols: m.Rows, Ptr: make([]int, m.Cols+1), Col: make([]int32, m.NNZ()), Val: make([]float64, m.NNZ())}
	for _, c := range m.Col {
		t.Ptr[c+1]++
	}
	for c := 0; c < m.Cols; c++ {
		t.Ptr[c+1] += t.Ptr[c]
	}
	next := slices.Clone(t.Ptr[:m.Cols])
	for i := 0; i < m.Rows; i++ {
		col, val := m.Row(i)
		for k, c := range col {
			t.Col[next[c]], t.Val[next[c]] = int32(i), val[k]
			next[c]++
		}
	}
	return t
}

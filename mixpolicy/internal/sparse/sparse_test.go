package sparse

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// draw returns a random matrix as a Matrix and as a gonum matrix. Entries are integers,
// so sums are exact in any order.
func draw(t *rapid.T, rows, cols int) (*Matrix, *mat.Dense) {
	dense := mat.NewDense(rows, cols, nil)
	b := NewBuilder(cols, rows, 0)
	for i := range rows {
		columns := rapid.SliceOfNDistinct(rapid.IntRange(0, cols-1), 0, cols, rapid.ID[int]).Draw(t, "columns")
		for _, j := range columns { // in any order
			v := float64(rapid.IntRange(-9, 9).Draw(t, "value"))
			b.Set(j, v)
			dense.Set(i, j, v)
		}
		if c, ok := b.EndRow(); !ok {
			t.Fatalf("column %d is said to repeat in %v", c, columns)
		}
	}
	return b.Matrix(), dense
}

func TestMatrixAgainstDense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 7).Draw(t, "rows"), rapid.IntRange(1, 7).Draw(t, "cols")
		m, dense := draw(t, rows, cols)
		if m.Rows != rows || m.Cols != cols || m.NNZ() != len(m.Val) {
			t.Fatalf("%d × %d with %d entries", m.Rows, m.Cols, m.NNZ())
		}
		ints := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = float64(rapid.IntRange(-9, 9).Draw(t, "x"))
			}
			return x
		}
		x, y := ints(cols), ints(rows)
		got, want := make([]float64, rows), mat.NewVecDense(rows, nil)
		m.MulVec(got, x)
		want.MulVec(dense, mat.NewVecDense(cols, x))
		if !slices.Equal(got, want.RawVector().Data) {
			t.Fatalf("Mx = %v, want %v", got, want.RawVector().Data)
		}
		gotT, wantT := ints(cols), mat.NewVecDense(cols, nil)
		m.MulVecT(gotT, y)
		wantT.MulVec(dense.T(), mat.NewVecDense(rows, y))
		if !slices.Equal(gotT, wantT.RawVector().Data) {
			t.Fatalf("Mᵀy = %v, want %v", gotT, wantT.RawVector().Data)
		}
		tr := m.Transpose()
		for j := range cols {
			col, val := tr.Row(j)
			row := make([]float64, rows)
			for k, i := range col {
				row[i] = val[k]
				if k > 0 && col[k-1] >= i {
					t.Fatalf("columns of Mᵀ are not increasing: %v", col)
				}
			}
			if !slices.Equal(row, mat.Col(nil, j, dense)) {
				t.Fatalf("row %d of Mᵀ = %v", j, row)
			}
		}
		back := tr.Transpose()
		if !slices.Equal(back.Ptr, m.Ptr) || !slices.Equal(back.Col, m.Col) || !slices.Equal(back.Val, m.Val) {
			t.Fatal("Mᵀᵀ ≠ M")
		}
	})
}

func TestMatrixMisuse(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("MulVecT accepts wrong sizes")
		}
	}()
	NewBuilder(2, 0, 0).Matrix().MulVecT(make([]float64, 3), nil)
}

// closedClasses finds recurrent classes by reachability, from the definition: s is recurrent if every state that s
// reaches also reaches s.
func closedClasses(m *Matrix) (classes [][]int32) {
	n := m.Rows
	reach := make([][]bool, n)
	for s := range n {
		reach[s] = make([]bool, n)
		reach[s][s] = true
		next, _ := m.Row(s)
		for _, s2 := range next {
			reach[s][s2] = true
		}
	}
	for by := range n {
		for s := range n {
			for s2 := range n {
				reach[s][s2] = reach[s][s2] || reach[s][by] && reach[by][s2]
			}
		}
	}
	for s := range n {
		var class []int32
		closed := true
		for s2 := range n {
			if reach[s][s2] {
				class = append(class, int32(s2))
				closed = closed && reach[s2][s]
			}
		}
		if closed && int(class[0]) == s {
			classes = append(classes, class)
		}
	}
	return classes
}

// drawChain draws the pattern of a random chain. The arguments bound the number of states, and the number of next
// states of each state.
func drawChain(t *rapid.T, states, branches int) *Matrix {
	n := rapid.IntRange(1, states).Draw(t, "n")
	b := NewBuilder(n, n, 0)
	for range n {
		for _, j := range rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, min(n, branches), rapid.ID[int]).Draw(t, "next") {
			b.Set(j, 1)
		}
		b.EndRow()
	}
	return b.Matrix()
}

func TestClosedClasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawChain(t, 9, 3)
		if got, want := m.ClosedClasses(), closedClasses(m); !slices.EqualFunc(got, want, slices.Equal[[]int32]) {
			t.Fatalf("classes %v, want %v", got, want)
		}
	})
}

// On a path of a million states, ClosedClasses does not exhaust the stack.
func TestClosedClassesDeep(t *testing.T) {
	const n = 1_000_000
	b := NewBuilder(n, n, n)
	for s := range n {
		b.Set(min(s+1, n-1), 1)
		b.EndRow()
	}
	if c := b.Matrix().ClosedClasses(); len(c) != 1 || len(c[0]) != 1 || c[0][0] != n-1 {
		t.Errorf("%d classes", len(c))
	}
}

// The states of the rings are in random order, so mere passes over the rows would make
// little progress. The first chain has two rings: one ring leads to the other, but not
// back. The second chain is one ring, with a shortcut from every state to the same state.
func TestClosedClassesOfRings(t *testing.T) {
	const n = 2000
	at := rand.New(rand.NewPCG(1, 8)).Perm(n) // the state at each place
	two, one := make([][]int, n), make([][]int, n)
	for k, s := range at {
		two[s] = []int{at[k/(n/2)*(n/2)+(k+1)%(n/2)]}
		one[s] = []int{at[(k+1)%n], at[1]}
	}
	two[at[7]] = append(two[at[7]], at[n-1])
	for want, next := range map[int][][]int{n / 2: two, 0: one} { // want: the place at which the class begins
		b := NewBuilder(n, n, 2*n)
		for _, to := range next {
			for _, j := range slices.Compact(to) {
				b.Set(j, 1)
			}
			b.EndRow()
		}
		c := b.Matrix().ClosedClasses()
		class := slices.Sorted(slices.Values(at[want:]))
		if len(c) != 1 || !slices.EqualFunc(c[0], class, func(got int32, want int) bool { return int(got) == want }) {
			t.Errorf("%d closed classes, want one class, of %d states", len(c), len(class))
		}
	}
}

// The period is the greatest common divisor of all times at which a recurrent state can return to itself.
func TestPeriod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawChain(t, 7, 2)
		n, root := m.Rows, m.ClosedClasses()[0][0]
		at := make([]float64, n)
		at[root] = 1
		want := 0
		for time := 1; time <= 2*n*n; time++ { // from n² on, the state can return at all multiples of the period
			next := make([]float64, n)
			m.MulVecT(next, at)
			for s := range next {
				next[s] = min(next[s], 1)
			}
			at = next
			if at[root] > 0 {
				a, b := want, time
				for b != 0 {
					a, b = b, a%b
				}
				want = a
			}
		}
		if got := m.Period(root); got != want {
			t.Fatalf("period %d, want %d", got, want)
		}
	})
}

package linprog

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func ExampleInequalities() {
	// The corner of x ≥ 1, y ≥ 2, x + y ≥ 4 that is cheapest at prices 1 and 3.
	p, err := Inequalities{
		B: []float64{1, 3},
		A: Columns{{1, 0, 1}, {0, 1, 1}},
		H: []float64{1, 2, 4},
	}.Solve(context.Background(), Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("x = %.6f, objective %.6f\n", p.X, p.Objective)
	for _, m := range p.Rows {
		fmt.Printf("row %d: λ = %.6f\n", m.Row, m.Lambda())
	}
	// Output:
	// x = [2.000000 2.000000], objective 8.000000
	// row 1: λ = 2.000000
	// row 2: λ = 1.000000
}

// The vertices of A x ⪰ h, by solving every square subsystem: its least bᵀx if the
// minimum is attained, +∞ if no vertex is feasible.
func leastVertex(p Inequalities, slack float64) float64 {
	n, d := p.A.Dims()
	best := math.Inf(1)
	rows := make([]int, d)
	a := make([]float64, d)
	var visit func(k, from int)
	visit = func(k, from int) {
		if k < d {
			for i := from; i < n; i++ {
				rows[k] = i
				visit(k+1, i+1)
			}
			return
		}
		m, rhs := mat.NewDense(d, d, nil), mat.NewVecDense(d, nil)
		for k, i := range rows {
			p.A.Row(a, i)
			m.SetRow(k, a)
			rhs.SetVec(k, p.H[i])
		}
		x := mat.NewVecDense(d, nil)
		if math.Abs(mat.Det(m)) < 0.5 || x.SolveVec(m, rhs) != nil { // integers: 0 or at least 1
			return
		}
		for i := range n {
			p.A.Row(a, i)
			if floats.Dot(a, x.RawVector().Data) < p.H[i]-slack {
				return
			}
		}
		best = min(best, floats.Dot(p.B, x.RawVector().Data))
	}
	visit(0, 0)
	return best
}

// Against the enumeration of vertices; bounded by the rows −3 ≤ xⱼ ≤ 3, full of ties.
func TestInequalitiesAgainstVertices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 3).Draw(t, "d")
		n := rapid.IntRange(0, 5).Draw(t, "n")
		a := make(Columns, d)
		for j := range a {
			a[j] = make([]float64, n+2*d)
		}
		h := make([]float64, n+2*d)
		for i := range n {
			for j := range a {
				a[j][i] = float64(rapid.IntRange(-2, 2).Draw(t, "a"))
			}
			h[i] = float64(rapid.IntRange(-3, 2).Draw(t, "h"))
		}
		for j := range a {
			a[j][n+2*j], a[j][n+2*j+1] = 1, -1
			h[n+2*j], h[n+2*j+1] = -3, -3
		}
		b := make([]float64, d)
		for j := range b {
			b[j] = float64(rapid.IntRange(-3, 3).Draw(t, "b"))
		}
		p := Inequalities{B: b, A: a, H: h}
		// Entries and solutions are integers and fractions of small denominators: what
		// rounding makes of them is far below 1e-9.
		want := leastVertex(p, 1e-9)
		got, err := p.Solve(background, Settings{})
		if math.IsInf(want, 1) {
			if classify(err) != isInfeasible {
				t.Fatalf("error %v, want infeasible", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Objective-want) > 1e-9 {
			t.Fatalf("objective %v, want %v", got.Objective, want)
		}
		if got.Gap() > 1e-9 || got.Gap() < -1e-9 {
			t.Fatalf("gap %v of an objective of %v", got.Gap(), got.Objective)
		}
		// b = Aᵀλ, λ ⪰ 0, and slackness.
		rest := append([]float64(nil), b...)
		row := make([]float64, d)
		for _, m := range got.Rows {
			a.Row(row, m.Row)
			if m.Value < 0 || math.Abs(m.Lambda()*(floats.Dot(row, got.X)-h[m.Row])) > 1e-9 {
				t.Fatalf("row %d: λ = %v at slack %v", m.Row, m.Lambda(), floats.Dot(row, got.X)-h[m.Row])
			}
			floats.AddScaled(rest, -m.Lambda(), row)
		}
		if floats.Norm(rest, 2) > 1e-9 {
			t.Fatalf("b − Aᵀλ = %v", rest)
		}
	})
}

// An unbounded problem is told by a ray in x.
func TestInequalitiesUnbounded(t *testing.T) {
	_, err := Inequalities{B: []float64{-1, 0}, A: Columns{{1, 0}, {0, 1}}, H: []float64{1, 2}}.Solve(background, Settings{})
	if classify(err) != isUnbounded {
		t.Fatalf("error %v, want unbounded", err)
	}
}

// A cut whose partial step is as long as its full one must still become active: dropping
// it made the method go round for ever.
func TestInequalitiesTiedSteps(t *testing.T) {
	p, err := Inequalities{
		B: []float64{2, -3, 0},
		A: Columns{{2, 1, -1, 0, 0, 0, 0}, {1, 0, 0, 1, -1, 0, 0}, {-2, 0, 0, 0, 0, 1, -1}},
		H: []float64{-3, -3, -3, -3, -3, -3, -3},
	}.Solve(background, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	// (−3, 3, z) with z ≤ 0 is optimal, and z = 0 has the least norm.
	if d := floats.Distance(p.X, []float64{-3, 3, 0}, 2); d > 1e-12 {
		t.Fatalf("x = %v, want (−3, 3, 0)", p.X)
	}
}

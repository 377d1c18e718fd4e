package linprog

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// problem draws a small problem with integer data: many ties, duplicates, opposite
// and zero rows, and rows scaled to where squares under- or overflow.
func problem(t *rapid.T) Mixture {
	d := rapid.IntRange(1, 4).Draw(t, "d")
	n := rapid.IntRange(0, 6).Draw(t, "n")
	low := rapid.SampledFrom([]int{-3, -1, 0}).Draw(t, "low")
	psi := make(Columns, d)
	for j := range psi {
		psi[j] = make([]float64, n)
		for i := range n {
			psi[j][i] = float64(rapid.IntRange(low, 3).Draw(t, "psi"))
		}
	}
	b := make([]float64, d)
	for j := range b {
		b[j] = float64(rapid.IntRange(-3, 3).Draw(t, "b"))
	}
	norm := rapid.SampledFrom([]Norm{L2, LInf, L1}).Draw(t, "norm")
	r := rapid.SampledFrom([]float64{.3, .5, .75, 1, 1.5, 2, 5, 100, math.Inf(1)}).Draw(t, "R")
	return Mixture{B: b, Psi: psi, Norm: norm, R: r}
}

func TestSolveAgainstEnumeration(t *testing.T) {
	count := map[verdict]int{}
	rapid.Check(t, func(t *rapid.T) {
		p := problem(t)
		want, f := oracle(p)
		sol, err := p.Solve(context.Background(), Settings{})
		got := isSolved
		var inf *InfeasibleError
		var unb *UnboundedError
		switch {
		case errors.As(err, &inf):
			got = isInfeasible
		case errors.As(err, &unb):
			got = isUnbounded
		case err != nil:
			t.Fatal(err)
		}
		count[got]++
		if got != want {
			t.Fatalf("%v, want %v (err %v)", got, want, err)
		}
		if got == isSolved {
			tol := 1e-11 * (1 + math.Abs(f))
			if math.Abs(sol.Objective-f) > tol {
				t.Fatalf("objective %v, want %v; %+v", sol.Objective, f, sol)
			}
			if sol.Gap() > 1e-6*(1+math.Abs(f)) {
				t.Fatalf("gap %v", sol.Gap())
			}
		}
	})
	t.Log(count)
}

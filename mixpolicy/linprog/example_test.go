package linprog_test

import (
	"context"
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// Two occupation measures over four state–action pairs. Mixing them with weights
// outside [0, 1] is allowed as long as the result is a measure: here the last pair stops
// θ₁ at 4/3.
func ExampleMixture_Solve() {
	p := linprog.Mixture{
		B: []float64{2, 5}, // the costs of the two measures
		Psi: linprog.Columns{
			{.4, .3, .2, .1},
			{.1, .2, .3, .4},
		},
		Norm: linprog.L2,
		R:    10,
	}
	sol, err := p.Solve(context.Background(), linprog.Settings{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("θ = %.4f, cost %.4f\n", sol.Theta, sol.Objective)
	fmt.Printf("λ = %.4f at row %d, μ = %.4f\n", sol.Rows[0].Lambda(), sol.Rows[0].Row, sol.Hyperplane)
	fmt.Printf("certified to within 1e-12: %v\n", sol.Gap() < 1e-12)
	// Output:
	// θ = [1.3333 -0.3333], cost 1.0000
	// λ = 10.0000 at row 3, μ = 1.0000
	// certified to within 1e-12: true
}

// No mixture of these columns is ≥ 0 in both rows: the rows of Ψθ add up to −1ᵀθ = −1.
func ExampleInfeasibleError() {
	p := linprog.Mixture{
		B:   []float64{1, 1},
		Psi: linprog.Columns{{1, -2}, {-2, 1}},
		R:   math.Inf(1),
	}
	_, err := p.Solve(context.Background(), linprog.Settings{})
	fmt.Println(err)
	// Output:
	// linprog: infeasible: rows 0 1 of Ψθ ⪰ 0 and 1ᵀθ = 1 exclude each other
}

func ExampleNorm_Project() {
	y := []float64{1.2, .6, -.8}
	theta := make([]float64, 3)
	for _, norm := range []linprog.Norm{linprog.L2, linprog.LInf, linprog.L1} {
		if err := norm.Project(theta, y, 1); err != nil {
			panic(err)
		}
		fmt.Printf("%v %.3f\n", norm, theta)
	}
	// Output:
	// ‖·‖₂ [0.821 0.483 -0.304]
	// ‖·‖_∞ [1.000 0.700 -0.700]
	// ‖·‖₁ [0.800 0.200 0.000]
}

func ExampleInequalities() {
	// The corner of x ≥ 1, y ≥ 2, x + y ≥ 4 that is cheapest at prices 1 and 3.
	p, err := linprog.Inequalities{
		B: []float64{1, 3},
		A: linprog.Columns{{1, 0, 1}, {0, 1, 1}},
		H: []float64{1, 2, 4},
	}.Solve(context.Background(), linprog.Settings{})
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

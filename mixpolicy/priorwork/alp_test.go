package priorwork

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

func ExampleALP() {
	q := models.Queue{Reading: models.SlowArrivals, Criterion: mixpolicy.Discounted(0.98), Empty: true, Buffer: 200,
		Cost: func(length int, rate float64) float64 { return float64(length) + 60*rate*rate*rate }}
	x := mixpolicy.Must(q.MDP())
	a, err := ALP{
		Basis:   mixpolicy.Must(q.Monomials(3)),
		Weights: mixpolicy.Must(q.GeometricWeights(0.9)),
	}.Solve(context.Background(), x)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("αᵀΦν = %.3f\n", a.Objective)
	for _, length := range []int{0, 5, 20} {
		fmt.Printf("length %d: rate %s\n", length, x.ActionName(a.Policy.Action(length)))
	}
	// Output:
	// αᵀΦν = 352.276
	// length 0: rate 0.2
	// length 5: rate 0.4
	// length 20: rate 0.4
}

// The optimum is at a vertex of {v ⪯ 𝒮v}: the best of all choices of d constraints, for any
// state-relevance weights.
func TestALPByVertices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := random(t, mixpolicy.Discounted(rapid.SampledFrom([]float64{0.5, 0.9}).Draw(t, "γ")))
		phi, alpha := randomBasis(t, x.States()), randomWeights(t, x.States())
		got := mixpolicy.Must(ALP{Basis: phi, Weights: alpha}.Solve(background, x))
		_, d := phi.Dims()
		best := math.Inf(-1)
		rows, rhs := mat.NewDense(d, d, nil), mat.NewVecDense(d, nil)
		var choose func(k, from int)
		choose = func(k, from int) {
			for i := from; k < d && i < x.Pairs(); i++ {
				to, prob := x.Next(i/x.Actions(), i%x.Actions())
				for j := range d {
					v := phi.At(i/x.Actions(), j)
					for l, s := range to {
						v -= x.Gamma() * prob[l] * phi.At(int(s), j)
					}
					rows.Set(k, j, v)
				}
				rhs.SetVec(k, x.Costs()[i])
				choose(k+1, i+1)
			}
			if k < d {
				return
			}
			var nu, v mat.VecDense
			if nu.SolveVec(rows, rhs) != nil { // singular, or nearly so: no vertex, or another choice's
				return
			}
			v.MulVec(phi, &nu)
			q, value := make([]float64, x.Pairs()), 0.
			x.ActionValues(q, v.RawVector().Data)
			for i, w := range q {
				if v.AtVec(i/x.Actions()) > w+1e-9 {
					return
				}
			}
			for s, w := range alpha {
				value += w * v.AtVec(s)
			}
			best = max(best, value)
		}
		choose(0, 0)
		// gonum solves systems up to a condition number of 10¹⁶ with an error, and the values are
		// below 20; what is feasible to 10⁻⁹ is better by at most 10⁻⁹/(1−γ).
		if math.Abs(got.Objective-best) > 1e-7 || got.Violation > 1e-9 {
			t.Fatalf("value %v with violation %v, the best vertex has %v", got.Objective, got.Violation, best)
		}
	})
}

// With a bound on ν the program over any constraints, be it one, has a solution: within
// the bound, above the value over all constraints, and proved optimal.
func TestALPOfFewConstraints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		criterion := rapid.SampledFrom([]mixpolicy.Criterion{mixpolicy.Discounted(0.9), mixpolicy.AverageCost}).Draw(t, "criterion")
		x := random(t, criterion)
		p := ALP{Basis: randomBasis(t, x.States()), Bound: 100}
		all := mixpolicy.Must(p.Solve(background, x))
		p.Pairs = rapid.SliceOfNDistinct(rapid.IntRange(0, x.Pairs()-1), 1, 3, rapid.ID).Draw(t, "pairs")
		some := mixpolicy.Must(p.Solve(background, x))
		// Values are below 300, whiten's coordinates have a condition number up to 2²², and the
		// solver does some dozen roundings.
		const slack = 300 * 0x1p22 * 64 * u
		// The violation, over all states, is by how much Φν̂ is above what it may be.
		next, violation := make([]float64, x.States()), 0.
		x.Bellman(next, some.Value)
		for s, v := range some.Value {
			violation = max(violation, v+some.Gain-next[s])
		}
		if math.Abs(some.Violation-violation) > 300*8*u {
			t.Fatalf("violation %v, want %v", some.Violation, violation)
		}
		for _, i := range p.Pairs { // but not in those that were imposed
			q := make([]float64, x.Pairs())
			x.ActionValues(q, some.Value)
			if over := some.Value[i/x.Actions()] + some.Gain - q[i]; over > slack {
				t.Fatalf("constraint %d is broken by %v", i, over)
			}
		}
		if some.Objective < all.Objective-slack || some.Gap > slack || floats.Norm(some.Nu, math.Inf(1)) > 100+slack {
			t.Fatalf("%d constraints: %+v, all: value %v", len(p.Pairs), some, all.Objective)
		}
	})
}

// In a corner of Γ that is far beyond what the costs would suggest, the bound is as sharp
// as elsewhere: its error is that of 2¹⁰ times the solution's length, in a few roundings.
func TestALPInADistantCorner(t *testing.T) {
	x := mixpolicy.Must(models.Garnet{States: 3, Actions: 1, Branches: 1, Ring: true, Seed: 1, Criterion: mixpolicy.Discounted(0.9)}.MDP())
	for _, bound := range []float64{1, 100, 1e6, 1e9} {
		a := mixpolicy.Must(ALP{Basis: identity(3), Pairs: []int{2}, Bound: bound}.Solve(background, x))
		if a.Objective < bound/2 || !(a.Gap <= 1024*64*u*a.Objective) {
			t.Errorf("bound %g: objective %v, gap %v", bound, a.Objective, a.Gap)
		}
	}
}

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
	q := deFariasVanRoy(200)
	x := mixpolicy.Must(q.MDP())
	a, err := ALP{
		Basis:   mixpolicy.Must(q.Monomials(3)),
		Weights: geometric(x),
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

// With a bound on ν, the program over any constraints, even over one, has a solution. The
// solution is within the bound and proved optimal, and its value is not below the value over
// all constraints.
func TestALPOfFewConstraints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		criterion := rapid.SampledFrom([]mixpolicy.Criterion{mixpolicy.Discounted(0.9), mixpolicy.AverageCost}).Draw(t, "criterion")
		x := random(t, criterion)
		p := ALP{Basis: randomBasis(t, x.States()), Bound: 100}
		all := mixpolicy.Must(p.Solve(background, x))
		p.Pairs = rapid.SliceOfNDistinct(rapid.IntRange(0, x.Pairs()-1), 1, 3, rapid.ID).Draw(t, "pairs")
		some := mixpolicy.Must(p.Solve(background, x))
		// Values are below 300, whiten's coordinates have a condition number up to 2²², and the
		// solver does a few dozen roundings.
		const slack = 300 * 0x1p22 * 64 * u
		// The violation is the greatest amount, over all states, by which Φν̂ + ĝ exceeds 𝒮Φν̂.
		next, violation := make([]float64, x.States()), 0.
		x.Bellman(next, some.Value)
		for s, v := range some.Value {
			violation = max(violation, v+some.Gain-next[s])
		}
		if math.Abs(some.Violation-violation) > 300*8*u {
			t.Fatalf("violation %v, want %v", some.Violation, violation)
		}
		q := make([]float64, x.Pairs())
		x.ActionValues(q, some.Value)
		for _, i := range p.Pairs { // the imposed constraints hold
			if over := some.Value[i/x.Actions()] + some.Gain - q[i]; over > slack {
				t.Fatalf("constraint %d is broken by %v", i, over)
			}
		}
		if some.Objective < all.Objective-slack || some.Gap > slack || floats.Norm(some.Nu, math.Inf(1)) > 100+slack {
			t.Fatalf("%d constraints: %+v, all: value %v", len(p.Pairs), some, all.Objective)
		}
	})
}

// Even if the solution is in a corner of Γ, with entries far larger than the costs, the
// certified gap is small: at most 2¹⁶ roundings of the objective.
func TestALPInADistantCorner(t *testing.T) {
	x := mixpolicy.Must(models.Garnet{States: 3, Actions: 1, Branches: 1, Ring: true, Seed: 1, Criterion: mixpolicy.Discounted(0.9)}.MDP())
	for _, bound := range []float64{1, 100, 1e6, 1e9} {
		a := mixpolicy.Must(ALP{Basis: identity(3), Pairs: []int{2}, Bound: bound}.Solve(background, x))
		if a.Objective < bound/2 || !(a.Gap <= 1024*64*u*a.Objective) {
			t.Errorf("bound %g: objective %v, gap %v", bound, a.Objective, a.Gap)
		}
	}
}

// Under average cost, a constant in the basis adds only rounding errors to a row. The solver must not scale them up:
// the answer equals the answer without the constant. whiten's coordinates have a condition number up to 2²², and the
// solver does a few dozen roundings.
func TestALPWithAConstant(t *testing.T) {
	q := deFariasVanRoy(99)
	q.Criterion = mixpolicy.AverageCost
	x, phi := mixpolicy.Must(q.MDP()), mixpolicy.Must(q.Monomials(3))
	a := mixpolicy.Must(ALP{Basis: phi}.Solve(background, x))
	b := mixpolicy.Must(ALP{Basis: mat.DenseCopyOf(phi.Slice(0, 100, 1, 4))}.Solve(background, x))
	slack := floats.Norm(b.Value, math.Inf(1)) * 0x1p22 * 64 * u
	if math.Abs(a.Gain-b.Gain) > slack || a.Violation > slack || floats.Distance(a.Value, b.Value, math.Inf(1)) > slack {
		t.Errorf("gain %v, violation %v, ν = %v; without the constant %v, %v, %v", a.Gain, a.Violation, a.Nu, b.Gain, b.Violation, b.Nu)
	}
}

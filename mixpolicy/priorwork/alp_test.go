package priorwork

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

var background = context.Background()

const u = 0x1p-53

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
	fmt.Printf("αᵀΦν = %.3f, binding constraints: %d of %d\n", a.Objective, len(a.Binding), x.Pairs())
	for _, length := range []int{0, 5, 20} {
		fmt.Printf("length %d: rate %s\n", length, x.ActionName(a.Policy.Action(length)))
	}
	// Output:
	// αᵀΦν = 352.276, binding constraints: 4 of 804
	// length 0: rate 0.2
	// length 5: rate 0.4
	// length 20: rate 0.4
}

// identity is the basis that loses nothing.
func identity(n int) *mat.Dense {
	phi := mat.NewDense(n, n, nil)
	for s := range n {
		phi.Set(s, s, 1)
	}
	return phi
}

// random returns a small MDP of positive costs.
func random(t *rapid.T, criterion mixpolicy.Criterion) *mixpolicy.MDP {
	n := rapid.IntRange(2, 8).Draw(t, "n")
	return mixpolicy.Must(models.Garnet{
		States: n, Actions: rapid.IntRange(1, 3).Draw(t, "m"), Branches: rapid.IntRange(1, min(3, n)).Draw(t, "branches"),
		Seed: rapid.Uint64().Draw(t, "seed"), Ring: true, Criterion: criterion,
	}.MDP())
}

func randomBasis(t *rapid.T, n int) *mat.Dense {
	d := rapid.IntRange(1, min(n, 3)).Draw(t, "d")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "basis"), 0))
	phi := mat.NewDense(n, d, nil)
	for s := range n {
		for j := range d {
			phi.Set(s, j, rng.NormFloat64())
		}
		phi.Set(s, 0, 1)
	}
	return phi
}

// With the identity for a basis the program is the exact one: its value is policy
// iteration's, and its multipliers an optimal occupation measure, whose mass is 1/(1−γ).
func TestALPIsExactInAFullBasis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		criterion := rapid.SampledFrom([]mixpolicy.Criterion{mixpolicy.Discounted(0.5), mixpolicy.Discounted(0.95), mixpolicy.AverageCost}).Draw(t, "criterion")
		x := random(t, criterion)
		want := mixpolicy.Must(mixpolicy.PolicyIteration(background, x, mixpolicy.ValuationSettings{}))
		got, err := ALP{Basis: identity(x.States())}.Solve(background, x)
		if err != nil {
			t.Fatal(err)
		}
		// Values are below 1/(1−γ) ≤ 20, or 8 steps of a ring for relative ones; the solver
		// is exact to some dozen roundings of them in the coordinates of whiten, whose
		// condition number is that of I − γP, at most (1+γ)/(1−γ).
		const tolerance = 20 * 40 * 64 * u * 64
		objective := got.Objective
		if !criterion.Average() {
			objective *= 1 - criterion.Gamma()
		}
		if math.Abs(objective-want.Cost()) > tolerance {
			t.Fatalf("value %v, want %v", objective, want.Cost())
		}
		if got.Violation > tolerance {
			t.Fatalf("violation %v", got.Violation)
		}
		var mass, cost float64
		for _, b := range got.Binding {
			mass += b.Lambda
			cost += b.Lambda * x.Costs()[b.Pair]
		}
		if scale := 1 - criterion.Gamma(); scale > 0 {
			mass, cost = mass*scale, cost*scale
		}
		if math.Abs(mass-1) > tolerance || math.Abs(cost-want.Cost()) > tolerance {
			t.Fatalf("multipliers have mass %v and cost %v, want 1 and %v", mass, cost, want.Cost())
		}
	})
}

// Theorem 3 of de Farias and Van Roy (2003), (4.4), with u = 1: and Φν* is a lower bound.
func TestALPBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gamma := rapid.SampledFrom([]float64{0.5, 0.9, 0.99}).Draw(t, "γ")
		x := random(t, mixpolicy.Discounted(gamma))
		phi := randomBasis(t, x.States())
		optimal := mixpolicy.Must(mixpolicy.PolicyIteration(background, x, mixpolicy.ValuationSettings{})).Value
		a, err := ALP{Basis: phi}.Solve(background, x)
		if err != nil {
			t.Fatal(err)
		}
		ones := make([]float64, x.States())
		for s := range ones {
			ones[s] = 1
		}
		l := mixpolicy.Must(NewLyapunov(x, ones))
		if math.Abs(l.Beta-gamma) > 16*u {
			t.Fatalf("β of the constant is %v, want γ = %v", l.Beta, gamma)
		}
		distance, _, err := BestFit(background, phi, optimal, ones)
		if err != nil {
			t.Fatal(err)
		}
		const slack = 1e-9 // far above what rounding does to values below 100
		if got, bound := WeightedError(x.Initial(), optimal, a.Value), l.ALPBound(x.Initial(), distance); got > bound+slack {
			t.Fatalf("error %v, bound %v", got, bound)
		}
		for s, v := range a.Value {
			if v > optimal[s]+slack {
				t.Fatalf("(Φν)(%d) = %v above v* = %v", s, v, optimal[s])
			}
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
		some, err := p.Solve(background, x)
		if err != nil {
			t.Fatal(err)
		}
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
		a, err := ALP{Basis: identity(3), Pairs: []int{2}, Bound: bound}.Solve(background, x)
		if err != nil {
			t.Fatal(err)
		}
		if a.Objective < bound/2 || !(a.Gap <= 1024*64*u*a.Objective) {
			t.Errorf("bound %g: objective %v, gap %v", bound, a.Objective, a.Gap)
		}
	}
}

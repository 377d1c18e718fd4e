package priorwork

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// expanded solves the smoothed program as printed, with a slack variable for every state. This
// is practical for few states only.
func expanded(t *rapid.T, p SALP, x *mixpolicy.MDP) (value float64) {
	n, d := p.Basis.Dims()
	m := x.Actions()
	mu, alpha := p.Slack, p.Weights
	if alpha == nil {
		alpha = x.Initial()
	}
	if mu == nil {
		mu = alpha
	}
	rows := x.Pairs() + n + 1
	a, h := make(linprog.Columns, d+n), make([]float64, rows)
	for j := range a {
		a[j] = make([]float64, rows)
	}
	row := make([]float64, d)
	b := make([]float64, d+n) // −Φᵀα
	for j := range d {
		for s, w := range alpha {
			b[j] -= w * p.Basis.At(s, j)
		}
	}
	for i := range x.Pairs() { // s(s) − aᵀν ≥ −c
		bellmanRow(row, x, p.Basis, i)
		for j, v := range row {
			a[j][i] = -v
		}
		a[d+i/m][i] = 1
		h[i] = -x.Costs()[i]
	}
	for s := range n {
		a[d+s][x.Pairs()+s] = 1
		if p.Penalty > 0 {
			b[d+s] = p.Penalty * mu[s]
		} else {
			a[d+s][rows-1] = -mu[s]
		}
	}
	if p.Penalty == 0 {
		h[rows-1] = -p.Budget
	}
	point := mixpolicy.Must(linprog.Inequalities{B: b, A: a, H: h}.Solve(background, linprog.Settings{}))
	return -point.Objective
}

// slackOf returns μᵀs for the least feasible slack s.
func slackOf(x *mixpolicy.MDP, mu, v []float64) float64 {
	next := make([]float64, len(v))
	x.Bellman(next, v)
	for s := range next {
		next[s] = max(0, v[s]-next[s])
	}
	return sum.Dot(mu, next)
}

// Here, the first tangents make a program whose objective equals one of its rows up to rounding, so the
// optimum may be far away. TestSALP found this case in 10⁵ draws.
func TestSALPBesideARow(t *testing.T) {
	x := mixpolicy.Must(models.Garnet{States: 6, Actions: 3, Branches: 1, Seed: 0x584d39, Ring: true, Criterion: mixpolicy.Discounted(.9)}.MDP())
	best := mixpolicy.Must(mixpolicy.PolicyIteration(background, x, mixpolicy.ValuationSettings{}))
	mu := mixpolicy.Must(x.Occupation(t.Context(), best.Policy)).State
	a := mixpolicy.Must(SALP{Basis: normalBasis(6, 3, 0x19), Slack: mu, Budget: .3}.Solve(background, x))
	if spent := slackOf(x, mu, a.Value); spent > .3+1e-8 || math.Abs(a.Gap) > 1e-8 {
		t.Errorf("slack %v of 0.3, gap %v", spent, a.Gap)
	}
}

// The cutting planes reach the value of the expanded program. With the published penalty, the error
// is within the bound (4.13) of Desai, Farias and Moallemi with u = 1.
func TestSALP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gamma := rapid.SampledFrom([]float64{0.5, 0.9}).Draw(t, "γ")
		x := random(t, mixpolicy.Discounted(gamma))
		best := mixpolicy.Must(mixpolicy.PolicyIteration(background, x, mixpolicy.ValuationSettings{}))
		mu := mixpolicy.Must(x.Occupation(t.Context(), best.Policy)).State
		p := SALP{Basis: randomBasis(t, x.States()), Slack: mu}
		ownWeights := rapid.Bool().Draw(t, "weights") // if true, Weights is a random mu, the default of Slack
		if !ownWeights && rapid.Bool().Draw(t, "penalty") {
			p.Penalty = PublishedPenalty(gamma)
		} else {
			p.Budget = rapid.SampledFrom([]float64{0, 0.01, 0.3}).Draw(t, "budget")
		}
		if ownWeights {
			mu = randomWeights(t, x.States())
			p.Weights, p.Slack = mu, nil
		}
		a := mixpolicy.Must(p.Solve(background, x))
		const slack = 1e-8 // values are below 20, and lengths in the expanded program below 10³
		spent := slackOf(x, mu, a.Value)
		value := a.Objective - p.Penalty*spent
		if want := expanded(t, p, x); math.Abs(value-want) > slack {
			t.Fatalf("value %v, expanded program %v", value, want)
		}
		if math.Abs(a.Gap) > slack {
			t.Fatalf("gap %v", a.Gap)
		}
		if p.Penalty == 0 && p.Budget == 0 { // the ALP
			alp := mixpolicy.Must(ALP{Basis: p.Basis, Weights: p.Weights}.Solve(background, x))
			if math.Abs(alp.Objective-value) > slack || alp.Violation > slack {
				t.Fatalf("value %v of the ALP with violation %v, expanded program %v", alp.Objective, alp.Violation, value)
			}
		}
		if p.Penalty == 0 {
			if spent > p.Budget+slack {
				t.Fatalf("slack %v, budget %v", spent, p.Budget)
			}
			return
		}
		ones := mat.Col(nil, 0, p.Basis)
		l := mixpolicy.Must(NewLyapunov(x, ones))
		distance, _, err := BestFit(background, p.Basis, best.Value, ones)
		if err != nil {
			t.Fatal(err)
		}
		if got, bound := WeightedError(x.Initial(), best.Value, a.Value), l.SALPBound(x.Initial(), mu, gamma, distance); got > bound+slack {
			t.Fatalf("error %v, bound %v", got, bound)
		}
	})
}

// The value αᵀΦν of the ALP is a lower bound on αᵀv*. The αᵀΦν of the smoothed program is greater than this lower
// bound.
func ExampleSALP() {
	q := deFariasVanRoy(200)
	x := mixpolicy.Must(q.MDP())
	phi, alpha := mixpolicy.Must(q.Monomials(2)), geometric(x)
	alp := mixpolicy.Must(ALP{Basis: phi, Weights: alpha}.Solve(background, x))
	smoothed := mixpolicy.Must(SALP{
		Basis: phi, Weights: alpha, Penalty: PublishedPenalty(x.Gamma()),
	}.Solve(background, x))
	optimal := mixpolicy.Must(mixpolicy.PolicyIteration(background, x, mixpolicy.ValuationSettings{})).Value
	fmt.Printf("ALP %.1f, smoothed %.1f\n", alp.Objective, smoothed.Objective)
	fmt.Printf("E|v* − Φν|: %.1f and %.1f\n", WeightedError(alpha, optimal, alp.Value), WeightedError(alpha, optimal, smoothed.Value))
	// Output:
	// ALP 234.6, smoothed 409.4
	// E|v* − Φν|: 154.7 and 52.6
}

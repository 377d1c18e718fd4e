package models

import (
	"encoding/csv"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Every number of data/reference.csv about the queue of section 6 is computed here
// in the two ways that its row names. They agree to 1e-12, and the file with them.
func TestQueueReferenceValues(t *testing.T) {
	exact := exactly()
	numeric := numerically(t)
	seen := map[string]bool{}
	for _, row := range readReference(t) {
		name, ok := strings.CutPrefix(row.name, "queue/")
		if !ok {
			continue
		}
		seen[name] = true
		for i, values := range []map[string]float64{exact, numeric} {
			got, ok := values[name]
			if !ok {
				t.Errorf("%s: not computed by %s", row.name, row.methods[i])
				continue
			}
			if math.Abs(got-row.value) > 1e-12*math.Abs(row.value) {
				t.Errorf("%s: %s gives %.17g, the file has %.17g", row.name, row.methods[i], got, row.value)
			}
		}
	}
	for name, v := range exact {
		if !seen[name] {
			t.Errorf("queue/%s = %.17g is not in the file", name, v)
		}
	}
}

// reference is a row of data/reference.csv.
type reference struct {
	name    string
	value   float64
	methods [2]string
}

func readReference(t *testing.T) []reference {
	t.Helper()
	f, err := os.Open("../../data/reference.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"name", "value", "unit", "method", "other_method", "source"}; !slices.Equal(records[0], want) {
		t.Fatalf("columns %v, want %v", records[0], want)
	}
	var rows []reference
	for _, rec := range records[1:] {
		v, err := strconv.ParseFloat(rec[1], 64)
		if err != nil {
			t.Fatalf("%s: %v", rec[0], err)
		}
		rows = append(rows, reference{rec[0], v, [2]string{rec[3], rec[4]}})
	}
	return rows
}

// exactly computes the values in rational arithmetic from the closed forms: μ¹ is
// uniform, μ² geometric of ratio .5/.46 = 25/23. The best average cost comes from
// shooting instead.
func exactly() map[string]float64 {
	rat := big.NewRat
	mul := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }
	add := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) }
	sub := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Sub(x, y) }
	quo := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }
	float := func(x *big.Rat) float64 { v, _ := x.Float64(); return v }

	const n = 100
	policies := [2][4]*big.Rat{
		{rat(1, 4), rat(1, 4), rat(1, 4), rat(1, 4)},
		{rat(3, 10), rat(3, 10), rat(1, 5), rat(1, 5)},
	}
	var mu [2][n]*big.Rat
	for i, ratio := range []*big.Rat{rat(1, 1), rat(25, 23)} {
		total, power := new(big.Rat), rat(1, 1)
		for s := range n {
			mu[i][s] = power
			total.Add(total, power)
			power = mul(power, ratio)
		}
		for s := range n {
			mu[i][s] = quo(mu[i][s], total)
		}
	}
	// ψⁱ(s,a) = μⁱ(s) πⁱ(a); the cost is s² + 60(a/5)³ for a = 1, …, 4.
	var cost [2]*big.Rat
	// Ψθ ⪰ 0 on 1ᵀθ = 1 is θ₁(ψ¹ − ψ²) ≥ −ψ²: a bound on θ₁ from every pair.
	var low, high *big.Rat
	for i := range cost {
		cost[i] = new(big.Rat)
		for s := range n {
			for a := range 4 {
				c := add(rat(int64(s+1)*int64(s+1), 1), rat(60*int64(a+1)*int64(a+1)*int64(a+1), 125))
				cost[i] = add(cost[i], mul(c, mul(mu[i][s], policies[i][a])))
			}
		}
	}
	for s := range n {
		for a := range 4 {
			psi1, psi2 := mul(mu[0][s], policies[0][a]), mul(mu[1][s], policies[1][a])
			slope := sub(psi1, psi2)
			if slope.Sign() == 0 {
				continue
			}
			bound := quo(new(big.Rat).Neg(psi2), slope)
			if slope.Sign() > 0 && (low == nil || bound.Cmp(low) > 0) {
				low = bound
			}
			if slope.Sign() < 0 && (high == nil || bound.Cmp(high) < 0) {
				high = bound
			}
		}
	}
	// cᵀψ¹ < cᵀψ², so the most of ψ¹ is best.
	optimum := add(mul(high, cost[0]), mul(sub(rat(1, 1), high), cost[1]))
	return map[string]float64{
		"cost of policy 1":     float(cost[0]),
		"cost of policy 2":     float(cost[1]),
		"measure 1 of state 1": float(mu[0][0]),
		"measure 2 of state 1": float(mu[1][0]),
		"measure 2 of state L": float(mu[1][n-1]),
		"least theta 1":        float(low),
		"greatest theta 1":     float(high),
		"optimum":              float(optimum),
		"best average cost":    shoot(),
	}
}

// shoot finds the least average cost g of the uniformised queue by shooting. With
// Δ(s) = h(s+1) − h(s) the optimality equation is
//
//	g = min_a { c(s,a) + up Δ(s) − down_a Δ(s−1) },
//
// where up is the same for all actions. So a g gives Δ(1), Δ(2), … in turn, and it
// is right when the last state, which has no Δ(L), balances as well. An error in g
// grows by more than a half in each state: g is sharp to the last bits, which 200
// bits of working precision leave no doubt about.
func shoot() float64 {
	const bits = 200
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }
	op := func() *big.Float { return new(big.Float).SetPrec(bits) }
	clock := num(13) // 1.3 in tenths
	up := op().Quo(num(5), clock)
	tooSmall := func(g *big.Float) bool {
		delta := num(0)
		for s := 1; ; s++ {
			var least *big.Float
			for a := 1; a <= 4; a++ {
				c := op().Quo(num(float64(60*a*a*a)), num(125))
				c.Add(c, num(float64(s*s)))
				if s > 1 { // down_a = (2a/10)/1.3
					d := op().Quo(num(float64(2*a)), clock)
					c.Sub(c, d.Mul(d, delta))
				}
				if least == nil || c.Cmp(least) < 0 {
					least = c
				}
			}
			if s == 100 {
				return g.Cmp(least) < 0
			}
			delta = op().Quo(op().Sub(g, least), up)
		}
	}
	lo, hi := num(0), num(10_060) // the costs lie between
	for range 120 {
		g := op().Add(lo, hi)
		g.Quo(g, num(2))
		if tooSmall(g) {
			lo = g
		} else {
			hi = g
		}
	}
	g, _ := lo.Float64()
	return g
}

// numerically computes the same values from the MDP: measures by elimination, the
// LP (2.18) of d = 2 by its bounds on θ₁, and the best cost by policy iteration
// with dense linear algebra.
func numerically(t *testing.T) map[string]float64 {
	t.Helper()
	q := Queue{}
	x, err := q.MDP()
	if err != nil {
		t.Fatal(err)
	}
	base, err := q.Policies(x)
	if err != nil {
		t.Fatal(err)
	}
	var psi [2]*mixpolicy.Measure
	for i, p := range base {
		if psi[i], err = x.Occupation(p); err != nil {
			t.Fatal(err)
		}
	}
	cost := [2]float64{psi[0].Cost(x.Costs()), psi[1].Cost(x.Costs())}
	low, high := math.Inf(-1), math.Inf(1)
	for i, v := range psi[0].Pair {
		w := psi[1].Pair[i]
		if v > w {
			low = max(low, -w/(v-w))
		} else {
			high = min(high, w/(w-v))
		}
	}
	return map[string]float64{
		"cost of policy 1":     cost[0],
		"cost of policy 2":     cost[1],
		"measure 1 of state 1": psi[0].State[0],
		"measure 2 of state 1": psi[1].State[0],
		"measure 2 of state L": psi[1].State[x.States()-1],
		"least theta 1":        low,
		"greatest theta 1":     high,
		"optimum":              high*cost[0] + (1-high)*cost[1],
		"best average cost":    howard(t, x),
	}
}

// howard returns the least average cost by policy iteration (Howard 1960): solve
// g + h = c + P h with h(0) = 0, and improve until nothing changes.
func howard(t *testing.T, x *mixpolicy.MDP) float64 {
	t.Helper()
	n := x.States()
	actions := make([]int, n)
	for range 100 {
		a, b := mat.NewDense(n+1, n+1, nil), mat.NewVecDense(n+1, nil)
		for s := range n {
			to, p := x.Next(s, actions[s])
			for k, s2 := range to {
				a.Set(s, int(s2), a.At(s, int(s2))-p[k])
			}
			a.Set(s, s, a.At(s, s)+1)
			a.Set(s, n, 1)
			b.SetVec(s, x.Cost(s, actions[s]))
		}
		a.Set(n, 0, 1)
		var h mat.VecDense
		if err := h.SolveVec(a, b); err != nil {
			t.Fatal(err)
		}
		changed := false
		for s := range n {
			q := make([]float64, x.Actions())
			for u := range q {
				q[u] = x.Cost(s, u)
				to, p := x.Next(s, u)
				for k, s2 := range to {
					q[u] += p[k] * h.AtVec(int(s2))
				}
			}
			// A change must gain more than the roundings of h, below 1e6 here.
			if best := floats.MinIdx(q); q[best] < q[actions[s]]-1e-8 {
				actions[s], changed = best, true
			}
		}
		if !changed {
			// The policy's cost, from its measure: elimination has more digits than h.
			p, err := mixpolicy.Deterministic(x, actions)
			if err != nil {
				t.Fatal(err)
			}
			m, err := x.Occupation(p)
			if err != nil {
				t.Fatal(err)
			}
			return m.Cost(x.Costs())
		}
	}
	t.Fatal("policy iteration does not end")
	return 0
}

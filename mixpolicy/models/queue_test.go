package models

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

func ExampleQueue() {
	x := mixpolicy.Must(Queue{}.MDP())
	fmt.Println(x.States(), "states,", x.Actions(), "actions,", x.Criterion())
	s, a := 41, 3
	to, p := x.Next(s, a)
	for k, s2 := range to {
		fmt.Printf("length %s at rate %s → %s with probability %.4f\n", x.StateName(s), x.ActionName(a), x.StateName(int(s2)), p[k])
	}
	fmt.Printf("cost %.2f\n", x.Cost(s, a))
	// Output:
	// 100 states, 4 actions, average cost
	// length 42 at rate 0.8 → 41 with probability 0.6154
	// length 42 at rate 0.8 → 43 with probability 0.3846
	// cost 1794.72
}

func ExampleQueue_literal() {
	_, err := Queue{Reading: Literal}.MDP()
	fmt.Println(err)
	// Output:
	// models: the literal reading of (6.1) is not a distribution: state 2, action 0.8: up 0.5 + down 0.8 = 1.3, want at most 1; choose another Reading, such as models.Uniformised
}

// events returns the probabilities of going up and down at service rate d, from the events that the reading r assumes.
func events(r Reading, d float64) (up, down float64) {
	rho := .5
	switch r {
	case Uniformised: // a clock of rate 1.3: arrival, departure, or nothing
		return rho / 1.3, d / 1.3
	case Independent:
		return rho * (1 - d), (1 - rho) * d
	case ArrivalFirst: // the arrival takes ϱ, and the departure at most the rest
		return take(rho, d)
	case DepartureFirst:
		down, up = take(d, rho)
		return up, down
	case Renormalised:
		total := max(1, rho+d)
		return rho / total, d / total
	}
	return .2, d // SlowArrivals
}

func take(first, second float64) (float64, float64) { return first, min(second, 1-first) }

// close16 reports whether two numbers of size at most 1 differ by at most 16 roundings.
func close16(x, y float64) bool { return math.Abs(x-y) <= 16*0x1p-53 }

// Each reading has the transition probabilities that events returns. At a boundary, the probability of the impossible
// event is added to the probability of staying.
func TestReadings(t *testing.T) {
	for _, r := range Readings() {
		for _, first := range []string{"1", "0"} {
			x := mixpolicy.Must(Queue{Reading: r, Empty: first == "0", Buffer: 7}.MDP())
			last := x.States() - 1
			if x.StateName(0) != first || x.StateName(last) != "7" {
				t.Errorf("states %s to %s, want %s to 7", x.StateName(0), x.StateName(last), first)
			}
			for s := range x.States() {
				for a, d := range []float64{.2, .4, .6, .8} {
					want, row := make([]float64, x.States()), make([]float64, x.States())
					up, down := events(r, d)
					want[max(s-1, 0)] += down
					want[min(s+1, last)] += up
					want[s] += 1 - up - down
					to, p := x.Next(s, a)
					for k := range to {
						row[to[k]] = p[k]
					}
					if !slices.EqualFunc(row, want, close16) {
						t.Errorf("%v: from %s at rate %s: %v, want %v", r, x.StateName(s), x.ActionName(a), row, want)
					}
				}
			}
		}
	}
}

// Every value in data/reference.csv about the queue of section 6 is computed here in the two ways that its row
// names. Both results agree with the file to a relative error of 1e-12.
func TestQueueReferenceValues(t *testing.T) {
	exact := inRationals()
	numeric := fromMDP(t)
	for _, row := range readReference(t) {
		name, ok := strings.CutPrefix(row.name, "queue/")
		if !ok {
			continue
		}
		for i, values := range []map[string]float64{exact, numeric} {
			if got, ok := values[name]; !ok || math.Abs(got-row.value) > 1e-12*math.Abs(row.value) {
				t.Errorf("%s: %s gives %.17g, the file has %.17g", row.name, row.methods[i], got, row.value)
			}
		}
		delete(exact, name)
	}
	if len(exact) > 0 {
		t.Errorf("not in the file: %v", exact)
	}
}

// reference is a row of data/reference.csv.
type reference struct {
	name    string
	value   float64
	methods [2]string
}

func readReference(t *testing.T) (rows []reference) {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(mixpolicy.Must(os.ReadFile("../../data/reference.csv"))))
	r.Comment = '#'
	records := mixpolicy.Must(r.ReadAll())
	if want := []string{"name", "value", "unit", "method", "other_method", "source"}; !slices.Equal(records[0], want) {
		t.Fatalf("columns %v, want %v", records[0], want)
	}
	for _, rec := range records[1:] {
		rows = append(rows, reference{rec[0], mixpolicy.Must(strconv.ParseFloat(rec[1], 64)), [2]string{rec[3], rec[4]}})
	}
	return rows
}

// inRationals computes the values in rational arithmetic from the closed forms: μ¹ is uniform, μ² is geometric with
// ratio .5/.46 = 25/23, and the cost is s² + 12a³/25 for a = 1, …, 4. Only the best average cost comes from shoot.
func inRationals() map[string]float64 {
	rat := big.NewRat
	mul := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }
	add := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) }
	quo := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }
	float := func(x *big.Rat) float64 { v, _ := x.Float64(); return v }

	const n = 100
	var cost [2]*big.Rat
	var first, last [2]*big.Rat                                                                           // masses of states 1 and L
	ratio, policy := [2]*big.Rat{rat(1, 1), rat(25, 23)}, [2][4]int64{{25, 25, 25, 25}, {30, 30, 20, 20}} // policy in hundredths
	for i := range cost {
		power, total, squares := rat(1, 1), new(big.Rat), new(big.Rat)
		for s := int64(1); s <= n; s++ {
			last[i] = power
			total, squares = add(total, power), add(squares, mul(rat(s*s, 1), power))
			power = mul(power, ratio[i])
		}
		first[i], last[i], cost[i] = quo(rat(1, 1), total), quo(last[i], total), quo(squares, total)
		for k, p := range policy[i] {
			a := int64(k + 1)
			cost[i] = add(cost[i], rat(p*12*a*a*a, 100*25))
		}
	}
	// On 1ᵀθ = 1, Ψθ ⪰ 0 says that 1 + (r−1)θ₁ ≥ 0 for the ratio r = ψ¹/ψ² of every pair. The ratio is greatest in
	// state 1 at the fast rates, and least in state L at the slow rates.
	bound := func(ratio *big.Rat) *big.Rat { return quo(rat(1, 1), add(rat(1, 1), ratio.Neg(ratio))) }
	low, high := bound(mul(rat(25, 20), quo(first[0], first[1]))), bound(mul(rat(25, 30), quo(last[0], last[1])))
	// cᵀψ¹ < cᵀψ², so the greatest θ₁ is optimal.
	optimum := add(mul(high, cost[0]), mul(add(rat(1, 1), new(big.Rat).Neg(high)), cost[1]))
	return map[string]float64{
		"cost of policy 1":     float(cost[0]),
		"cost of policy 2":     float(cost[1]),
		"measure 1 of state 1": float(first[0]),
		"measure 2 of state 1": float(first[1]),
		"measure 2 of state L": float(last[1]),
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
// where up = 5/13 is the same for all actions, down_a = 2a/13 and Δ(0) = 0. So g determines
// Δ(1), Δ(2), … in turn, and g is right if the equation of the last state, in which Δ(L) does
// not occur, also holds. From one state to the next, an error in Δ grows at most by the factor
// 8/5, so 200 bits of working precision are more than enough for the last bit of g.
func shoot() float64 {
	num := func(p, q int64) *big.Float { return new(big.Float).SetPrec(200).SetRat(big.NewRat(p, q)) }
	tooSmall := func(g *big.Float) bool {
		delta := num(0, 1)
		for s := int64(1); ; s++ {
			least := num(0, 1).SetInf(false)
			for a := int64(1); a <= 4; a++ {
				c, down := num(25*s*s+12*a*a*a, 25), num(2*a, 13)
				if c.Sub(c, down.Mul(down, delta)); c.Cmp(least) < 0 {
					least = c
				}
			}
			if s == 100 {
				return g.Cmp(least) < 0
			}
			delta.Mul(num(13, 5), least.Sub(g, least))
		}
	}
	lo, hi := num(0, 1), num(10_060, 1) // bounds of the costs
	for range 120 {
		g := num(1, 2)
		if g.Mul(g, num(0, 1).Add(lo, hi)); tooSmall(g) {
			lo = g
		} else {
			hi = g
		}
	}
	g, _ := lo.Float64()
	return g
}

// fromMDP computes the values of inRationals from the MDP: the measures by elimination, the LP (2.18) for d = 2 by
// its bounds on θ₁, and the best average cost from the measure of the policy that policy iteration finds.
func fromMDP(t *testing.T) map[string]float64 {
	t.Helper()
	x := mixpolicy.Must(Queue{}.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, mixpolicy.Must(Queue{}.Policies(x))...))
	one, two := psi.Measure(0), psi.Measure(1)
	low, high := math.Inf(-1), math.Inf(1)
	for i, v := range one.Pair {
		if w := two.Pair[i]; v > w {
			low = max(low, -w/(v-w))
		} else {
			high = min(high, w/(w-v))
		}
	}
	v := mixpolicy.Must(mixpolicy.PolicyIteration(t.Context(), x, mixpolicy.ValuationSettings{}))
	return map[string]float64{
		"cost of policy 1":     one.Cost(x.Costs()),
		"cost of policy 2":     two.Cost(x.Costs()),
		"measure 1 of state 1": one.State[0],
		"measure 2 of state 1": two.State[0],
		"measure 2 of state L": two.State[x.States()-1],
		"least theta 1":        low,
		"greatest theta 1":     high,
		"optimum":              high*one.Cost(x.Costs()) + (1-high)*two.Cost(x.Costs()),
		"best average cost":    mixpolicy.Must(x.Occupation(t.Context(), v.Policy)).Cost(x.Costs()),
	}
}

package mixpolicy

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/floats"
)

// For a value of each exported type below, fmt.Println prints a few lines, but never
// one number per state.

// String shows the numbers of states, actions and transitions, the criterion and the range of costs.
func (x *MDP) String() string {
	lo, hi := x.CostRange()
	return fmt.Sprintf("MDP of %d states and %d actions, %v\n%d transitions, costs from %.6g to %.6g",
		x.n, x.m, x.criterion, x.Transitions(), lo, hi)
}

// String shows the numbers of states and actions, and up to 8 entries of π(0). It calls π deterministic only if π comes
// from [Deterministic] or from a greedy step, such as [MDP.Greedy].
func (p *Policy) String() string {
	kind := "randomised"
	if p.deterministic() {
		kind = "deterministic"
	}
	return fmt.Sprintf("%s policy of %d states and %d actions\nin state 0 with probabilities %.4g", kind, p.n, p.m, vector(p.Row(0)))
}

// String shows the numbers of states and pairs, the state of greatest mass, its mass, the flow residual and the method.
func (q Measure) String() string {
	s := floats.MaxIdx(q.State)
	return fmt.Sprintf("occupation measure of %d states and %d pairs\nmost mass in state %d: %.4g; flow residual %.2g, by %v",
		len(q.State), len(q.Pair), s, q.State[s], q.Residual, q.Method)
}

// String shows the numbers of states and pairs, the number of steps, and the mean cost with its standard error.
func (q *Empirical) String() string {
	return fmt.Sprintf("occupation measure of %d states and %d pairs, estimated from %d steps\nmean cost %.4g, standard error %.2g",
		len(q.State), len(q.Pair), q.Steps, q.MeanCost, q.CostError)
}

// String shows the sizes of Ψ and the costs cᵀψʲ of the first columns, at most 8.
func (f *Features) String() string {
	pairs, d := f.Dims()
	cost := make([]float64, d)
	f.MulVecT(cost, f.x.cost)
	return fmt.Sprintf("Ψ of %d pairs and %d columns\ncᵀΨ = %.6g", pairs, d, vector(cost))
}

// String shows the program (2.18) with its class, its sizes and up to 8 entries of cᵀΨ.
func (p *Problem) String() string {
	return fmt.Sprintf("min cᵀΨθ over Ψθ ⪰ 0, 1ᵀθ = 1, %v\nd = %d, %d pairs, cᵀΨ = %.6g", p.class, p.Dim(), p.MDP().Pairs(), vector(p.b))
}

// String shows the method, how the run ended, up to 8 entries of θ̂ (if HasTheta is true), and the text of
// [Certificate.String].
func (r Result) String() string {
	theta := ""
	if r.HasTheta {
		theta = fmt.Sprintf("θ̂ = %.6g\n", vector(r.Theta))
	}
	return fmt.Sprintf("%s, %v after %d iterations\n%s%v", r.Method, r.Status, r.Iterations, theta, r.Certificate)
}

// A vector prints its first 8 entries, and its length if it has more entries.
type vector []float64

// Format implements [fmt.Formatter].
func (v vector) Format(f fmt.State, verb rune) {
	const shown = 8
	format := fmt.FormatString(f, verb)
	parts := make([]string, 0, shown+1)
	for _, x := range v[:min(len(v), shown)] {
		parts = append(parts, fmt.Sprintf(format, x))
	}
	if len(v) > shown {
		parts = append(parts, fmt.Sprintf("… (%d in all)", len(v)))
	}
	fmt.Fprintf(f, "[%s]", strings.Join(parts, " "))
}

// named returns names[k] or, if k is out of range, a text such as "Status(7)".
func named(kind string, k int, names ...string) string {
	if k >= 0 && k < len(names) {
		return names[k]
	}
	return fmt.Sprintf("%s(%d)", kind, k)
}

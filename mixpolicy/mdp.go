package mixpolicy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"gonum.org/v1/gonum/floats"
)

// Criterion is the quantity to minimise: the discounted cost (1−γ) E Σ γᵗ c(sₜ, aₜ), or the
// long-run average cost per step. The zero value is invalid.
type Criterion struct{ gamma float64 }

// AverageCost is the criterion lim_{T→∞} (1/T) E Σ_{t<T} c(sₜ, aₜ), which the paper's section 6
// writes as γ = 1.
var AverageCost = Criterion{1}

// Discounted returns the criterion with discount factor γ. [New] returns an error if γ ∉ (0, 1).
func Discounted(gamma float64) Criterion {
	if gamma == 1 {
		gamma = math.Inf(1) // average cost must be chosen by name: γ = 1 may be a mistake
	}
	return Criterion{gamma}
}

// Gamma returns γ, which is 1 for average cost.
func (c Criterion) Gamma() float64 { return c.gamma }

// Average reports whether c is [AverageCost].
func (c Criterion) Average() bool { return c == AverageCost }

// String returns "average cost" or, for example, "discount 0.9".
func (c Criterion) String() string {
	if c.Average() {
		return "average cost"
	}
	return fmt.Sprintf("discount %v", c.gamma)
}

func (c Criterion) validate() error {
	if c.Average() || c.gamma > 0 && c.gamma < 1 {
		return nil
	}
	g := c.gamma
	if math.IsInf(g, 1) {
		g = 1
	}
	return fmt.Errorf("mixpolicy: discount γ = %v, want 0 < γ < 1, or AverageCost", g)
}

// Transition is one entry of P_a(s, ·): the next state is To with probability P.
type Transition struct {
	To int
	P  float64
}

// Spec describes an MDP (S, A, P, c, γ), as in Definition 2.6. [New] builds the MDP.
type Spec struct {
	States, Actions int // n and m
	Criterion       Criterion

	// Dynamics returns c_a(s) and P_a(s, ·). The list for one pair must not contain a next state twice ([Merge] adds up
	// the probabilities of events that lead to the same state). Dynamics may use one slice for the lists of all pairs,
	// and overwrite it in each call.
	Dynamics func(s, a int) (cost float64, next []Transition)

	// Allowed reports whether action a is allowed in state s. Each state must have an allowed
	// action, and each action must be allowed in some state. A nil function allows all actions in
	// all states. New calls Dynamics for allowed pairs only. See [MDP.Allowed].
	Allowed func(s, a int) bool

	// Transitions is an estimate of the total number of transitions of all pairs. The estimate need
	// not be exact, but with millions of transitions, a good estimate saves time and memory; 0
	// means 4 per pair.
	Transitions int

	// Initial is α, the distribution of the first state; nil means uniform. The average cost of a
	// policy with one recurrent class does not depend on α, but simulations start from α.
	Initial []float64

	// StateLabel and ActionLabel name states and actions in messages and tables. If a function is
	// nil, numbers serve as names.
	StateLabel, ActionLabel func(int) string
}

// MDP is a finite Markov decision process with n states and m actions
// (Definition 2.6). It is immutable and safe for concurrent use.
type MDP struct {
	n, m                    int
	criterion               Criterion
	p                       *sparse.Matrix // nm × n, row i = s·m + a
	cost                    []float64      // nm entries
	initial                 []float64      // α
	acts                    []int32        // for (s, a): a if allowed in s, else the first allowed action of s; nil if Spec.Allowed is nil
	stateLabel, actionLabel func(int) string
}

// New builds and validates an MDP of at most 2³¹−1 pairs. New returns an error if some P_a(s, ·) is
// not a distribution: a next state is out of range or listed twice, a probability is not in [0, 1],
// or the sum is not 1. The error names the first such state s and action a. New also returns an
// error if a cost is not finite, if a state has no allowed action, if an action is allowed in no
// state, or if another field of spec is invalid.
func New(spec Spec) (*MDP, error) {
	if spec.States < 1 || spec.Actions < 1 {
		return nil, fmt.Errorf("mixpolicy: MDP of %d states and %d actions, want at least one of each", spec.States, spec.Actions)
	}
	if spec.States > math.MaxInt32/spec.Actions {
		return nil, fmt.Errorf("mixpolicy: MDP of %d states and %d actions, want at most 2³¹−1 pairs", spec.States, spec.Actions)
	}
	if err := spec.Criterion.validate(); err != nil {
		return nil, err
	}
	if spec.Dynamics == nil {
		return nil, errors.New("mixpolicy: Spec.Dynamics is nil, want a function (s, a) → cost, transitions")
	}
	x := &MDP{
		n: spec.States, m: spec.Actions, criterion: spec.Criterion,
		cost:       make([]float64, spec.States*spec.Actions),
		stateLabel: spec.StateLabel, actionLabel: spec.ActionLabel,
	}
	if x.initial = slices.Clone(spec.Initial); x.initial == nil {
		x.initial = constant(x.n, 1/float64(x.n))
	}
	if err := sum.CheckDistribution(x.initial, x.n); err != nil {
		return nil, fmt.Errorf("mixpolicy: initial distribution: %w", err)
	}
	if spec.Allowed != nil {
		if err := x.allow(spec.Allowed); err != nil {
			return nil, err
		}
	}
	expected := max(0, spec.Transitions)
	b := sparse.NewBuilder(x.n, x.Pairs(), min(cmp.Or(expected, 4*x.Pairs()), math.MaxInt32)) // the builder grows as needed
	for s := range x.n {
		for k := range x.m {
			a := x.Taken(s, k)
			cost, next := spec.Dynamics(s, a)
			if math.IsNaN(cost) || math.IsInf(cost, 0) {
				return nil, fmt.Errorf("mixpolicy: %s: cost %v, want a finite number", x.pairName(s, a), cost)
			}
			x.cost[s*x.m+k] = cost
			total, positive := sum.Accumulator{}, 0
			for _, t := range next {
				switch {
				case t.To < 0 || t.To >= x.n:
					return nil, fmt.Errorf("mixpolicy: %s: next state %d, want 0 to %d", x.pairName(s, a), t.To, x.n-1)
				case !(t.P >= 0 && t.P <= 1+sum.Tolerance(len(next))):
					return nil, fmt.Errorf("mixpolicy: %s: probability %v of next state %s, want a number in [0, 1]",
						x.pairName(s, a), t.P, x.StateName(t.To))
				}
				total.Add(t.P)
				if t.P > 0 {
					b.Set(t.To, t.P)
					positive++
				}
			}
			if s2, ok := b.EndRow(); !ok {
				return nil, fmt.Errorf("mixpolicy: %s: next state %s is listed twice, "+
					"want once (mixpolicy.Merge adds the probabilities up)", x.pairName(s, a), x.StateName(s2))
			}
			if v := total.Value(); math.Abs(v-1) > sum.Tolerance(positive) {
				return nil, fmt.Errorf("mixpolicy: %s: probabilities add up to %v, want 1; the difference is %.3g",
					x.pairName(s, a), v, math.Abs(v-1))
			}
		}
	}
	x.p = b.Matrix()
	return x, nil
}

// allow sets acts: in each state, the first allowed action replaces all actions that are not allowed. A state
// without an allowed action is an error, as is an action that is allowed in no state.
func (x *MDP) allow(allowed func(s, a int) bool) error {
	x.acts = make([]int32, x.Pairs())
	somewhere := make([]bool, x.m)
	for s := range x.n {
		first := -1
		for a := x.m - 1; a >= 0; a-- {
			if x.acts[s*x.m+a] = -1; allowed(s, a) {
				x.acts[s*x.m+a], somewhere[a], first = int32(a), true, a
			}
		}
		if first < 0 {
			return fmt.Errorf("mixpolicy: state %s has no allowed action, want at least one", x.StateName(s))
		}
		for a := range x.m {
			if x.acts[s*x.m+a] < 0 {
				x.acts[s*x.m+a] = int32(first)
			}
		}
	}
	if a := slices.Index(somewhere, false); a >= 0 {
		return fmt.Errorf("mixpolicy: action %s is allowed in no state, want at least one", x.ActionName(a))
	}
	return nil
}

// Taken returns action a if this action is allowed in state s, and otherwise a₀, the first action allowed in s (see
// [MDP.Allowed]).
func (x *MDP) Taken(s, a int) int {
	if x.acts == nil {
		return a
	}
	return int(x.acts[s*x.m+a])
}

// Allowed reports whether a ∈ A(s), the set of actions that [Spec].Allowed allows in state s.
//
// Computations still run over all nm pairs: a pair that is not allowed gets its cost and its row of
// P from a₀, the first allowed action of its state. Let Fπ be the policy that takes a₀ wherever π
// takes an action outside A(s),
//
//	(Fπ)_{a₀}(s) = π_{a₀}(s) + Σ_{a ∉ A(s)} π_a(s),   (Fπ)_a(s) = 0 for a ∉ A(s).
//
// Because a₀ has the same cost and row as the actions outside A(s), c^{Fπ} = c^π and P^{Fπ} = P^π. So π and Fπ have the
// same μ, the same cost and the same value function. Moreover, ξ^{Fπ} = Fξ^π, where Fξ is defined in the same way as
// Fπ, and the minimum in (2.8) is the minimum over A(s). So pairs that are not allowed change none of these results:
// they only enter counts of pairs, such as nm in a bound. A policy must give probability 0 to pairs that are not
// allowed; [PolicyOf] and [MDP.Greedy] apply F to ensure this. So Ψ and Ψθ are 0 at these pairs.
func (x *MDP) Allowed(s, a int) bool { return x.Taken(s, a) == a }

// moved returns Fξ of [MDP.Allowed], which is ξ if all actions are allowed.
func (x *MDP) moved(xi []float64) []float64 {
	if x.acts == nil {
		return xi
	}
	to := make([]float64, x.Pairs())
	for i, v := range xi {
		s, a := x.StateAction(i)
		to[x.Pair(s, x.Taken(s, a))] += v
	}
	return to
}

// checkAction returns an error if row is not 0 at an action that is not allowed in s. Here, row holds the
// entries of a policy, or of a vector over pairs, in state s.
func (x *MDP) checkAction(s int, row []float64) error {
	if x.acts == nil {
		return nil
	}
	for a, p := range row {
		if p != 0 && !x.Allowed(s, a) {
			return fmt.Errorf("mixpolicy: %s is not allowed: probability %v, want 0", x.pairName(s, a), p)
		}
	}
	return nil
}

// checkAllowed returns an error if ξ is not 0 at a pair that is not allowed.
func (x *MDP) checkAllowed(xi []float64) error {
	for s := range x.n {
		if err := x.checkAction(s, xi[s*x.m:(s+1)*x.m]); err != nil {
			return err
		}
	}
	return nil
}

func constant(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

// Merge adds up the probabilities of transitions to the same state, and returns the list without
// repetitions, in order of first appearance. Merge overwrites the given list.
func Merge(next []Transition) []Transition {
	out := next[:0]
	for _, t := range next {
		if k := slices.IndexFunc(out, func(o Transition) bool { return o.To == t.To }); k >= 0 {
			out[k].P += t.P
		} else {
			out = append(out, t)
		}
	}
	return out
}

// States returns n.
func (x *MDP) States() int { return x.n }

// Actions returns m.
func (x *MDP) Actions() int { return x.m }

// Pairs returns nm, the number of state–action pairs.
func (x *MDP) Pairs() int { return x.n * x.m }

// Pair returns the index i = s·m + a of the pair (s, a).
func (x *MDP) Pair(s, a int) int { return s*x.m + a }

// StateAction returns the state and action of pair i; it inverts [MDP.Pair].
func (x *MDP) StateAction(i int) (s, a int) { return i / x.m, i % x.m }

// Criterion returns the criterion.
func (x *MDP) Criterion() Criterion { return x.criterion }

// Gamma returns the discount factor γ, which is 1 for average cost.
func (x *MDP) Gamma() float64 { return x.criterion.gamma }

// Initial returns α, which the caller must not change.
func (x *MDP) Initial() []float64 { return x.initial }

// Costs returns c, the costs of all nm pairs, which the caller must not change. A method that
// learns the costs must not call Costs: it sees costs only through the [Oracle].
func (x *MDP) Costs() []float64 { return x.cost }

// Cost returns c_a(s).
func (x *MDP) Cost(s, a int) float64 { return x.cost[s*x.m+a] }

// Next returns the next states of (s, a) in increasing order, and their probabilities P_a(s, ·).
// The caller must not change these slices.
func (x *MDP) Next(s, a int) (states []int32, p []float64) { return x.p.Row(s*x.m + a) }

// Transitions returns the number of stored positive probabilities.
func (x *MDP) Transitions() int { return x.p.NNZ() }

// CostRange returns the least and the greatest cost over all pairs. By assumption (A.3)(i), the
// learner knows both numbers.
func (x *MDP) CostRange() (lo, hi float64) { return floats.Min(x.cost), floats.Max(x.cost) }

// WithCosts returns the same process with other costs. The slice must have nm entries; WithCosts
// keeps the slice without copying it. Costs must be finite. A pair that is not allowed must have the
// same cost as the first allowed action of its state.
func (x *MDP) WithCosts(cost []float64) (*MDP, error) {
	if len(cost) != x.Pairs() {
		return nil, fmt.Errorf("mixpolicy: %d costs, want one per pair: %d", len(cost), x.Pairs())
	}
	for i, c := range cost {
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return nil, fmt.Errorf("mixpolicy: %s: cost %v, want a finite number", x.pairName(i/x.m, i%x.m), c)
		}
		if s, a := x.StateAction(i); c != cost[x.Pair(s, x.Taken(s, a))] {
			return nil, fmt.Errorf("mixpolicy: %s is not allowed: cost %v, want the cost of action %s, %v",
				x.pairName(s, a), c, x.ActionName(x.Taken(s, a)), cost[x.Pair(s, x.Taken(s, a))])
		}
	}
	y := *x
	y.cost = cost
	return &y, nil
}

// WithCriterion returns the same process under another criterion.
func (x *MDP) WithCriterion(c Criterion) (*MDP, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	y := *x
	y.criterion = c
	return &y, nil
}

// StateName returns the label of state s, or the number of the state if there are no labels.
func (x *MDP) StateName(s int) string { return label(x.stateLabel, s) }

// ActionName returns the label of action a, or the number of the action if there are no labels.
func (x *MDP) ActionName(a int) string { return label(x.actionLabel, a) }

func label(f func(int) string, i int) string {
	if f == nil {
		return fmt.Sprint(i)
	}
	return f(i)
}

func (x *MDP) pairName(s, a int) string {
	return fmt.Sprintf("state %s, action %s", x.StateName(s), x.ActionName(a))
}

// Must returns v, or panics if err is not nil. Must is meant for notebook cells and example
// programs, which end at the first error anyway. For instance:
//
//	queue := mixpolicy.Must(models.Queue{}.MDP())
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

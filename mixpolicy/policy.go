package mixpolicy

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Policy is a stationary randomised policy π (Definition 2.7): in state s, action
// a is taken with probability π_a(s). It is immutable.
type Policy struct {
	n, m int
	// π(s) consists of the m entries of prob from index at[s] on. If at is nil, the
	// index is s·m, or 0 if prob has only m entries. States may share a row: for large
	// models, one row per state would take too much memory.
	prob []float64
	at   []int32
}

// NewPolicy returns the policy with π_a(s) = prob[s·m + a]. It returns an error if prob does not have nm entries, or if
// a row is not a distribution over the allowed actions. In the second case, the error names the first such state.
func NewPolicy(x *MDP, prob []float64) (*Policy, error) {
	if len(prob) != x.Pairs() {
		return nil, fmt.Errorf("mixpolicy: policy has %d probabilities, want one per pair: %d", len(prob), x.Pairs())
	}
	return PolicyFunc(x, func(s int, row []float64) { copy(row, prob[s*x.m:(s+1)*x.m]) })
}

// StateIndependent returns the policy that draws its action in every state from the same
// distribution p, of length m. For example, π¹ and π² of (6.3) are two such policies, with
// different p.
func StateIndependent(x *MDP, p ...float64) (*Policy, error) {
	if err := sum.CheckDistribution(p, x.m); err != nil {
		return nil, fmt.Errorf("mixpolicy: state-independent policy: %w", err)
	}
	for s := range x.n {
		if err := x.checkAction(s, p); err != nil {
			return nil, err
		}
	}
	return &Policy{n: x.n, m: x.m, prob: slices.Clone(p)}, nil
}

// UniformPolicy returns the policy with π_a(s) = 1/|A(s)| for a ∈ A(s), where A(s) is the set of actions
// allowed in s. If all actions are allowed, this probability is 1/m.
func UniformPolicy(x *MDP) *Policy {
	if x.acts != nil {
		t := newTable(x.n, x.m)
		row := make([]float64, x.m)
		for s := range x.n {
			x.uniform(row, s)
			t.add(row)
		}
		return t.policy()
	}
	return &Policy{n: x.n, m: x.m, prob: constant(x.m, 1/float64(x.m))}
}

// uniform sets row to the uniform distribution over the actions allowed in s.
func (x *MDP) uniform(row []float64, s int) {
	count := 0
	for a := range row {
		if x.Allowed(s, a) {
			count++
		}
	}
	for a := range row {
		if row[a] = 0; x.Allowed(s, a) {
			row[a] = 1 / float64(count)
		}
	}
}

// PolicyFunc returns the policy that the function fill describes: for each state s, fill(s, row) writes π(s) into row,
// which is all 0 before the call. If a row is not a distribution over the allowed actions, PolicyFunc returns an error
// that names the first such state.
func PolicyFunc(x *MDP, fill func(s int, row []float64)) (*Policy, error) {
	t := newTable(x.n, x.m)
	row := make([]float64, x.m)
	for s := range x.n {
		clear(row)
		fill(s, row)
		if err := sum.CheckDistribution(row, x.m); err != nil {
			return nil, fmt.Errorf("mixpolicy: policy in state %s: %w", x.StateName(s), err)
		}
		if err := x.checkAction(s, row); err != nil {
			return nil, err
		}
		t.add(row)
	}
	return t.policy(), nil
}

// Deterministic returns the policy that takes the action actions[s] in each state s.
func Deterministic(x *MDP, actions []int) (*Policy, error) {
	if len(actions) != x.n {
		return nil, fmt.Errorf("mixpolicy: %d actions, want one per state: %d", len(actions), x.n)
	}
	for s, a := range actions {
		if a < 0 || a >= x.m {
			return nil, fmt.Errorf("mixpolicy: policy in state %s: action %d, want 0 to %d", x.StateName(s), a, x.m-1)
		}
		if !x.Allowed(s, a) {
			return nil, fmt.Errorf("mixpolicy: policy takes a pair that is not allowed: %s", x.pairName(s, a))
		}
	}
	return deterministic(x, actions), nil
}

func deterministic[action int | int32](x *MDP, actions []action) *Policy {
	at := make([]int32, x.n)
	for s, a := range actions {
		at[s] = int32(x.m - 1 - x.Taken(s, int(a)))
	}
	units := make([]float64, 2*x.m-1) // 0 … 0 1 0 … 0, which contains every unit vector
	units[x.m-1] = 1
	return &Policy{x.n, x.m, units, at}
}

// deterministic reports whether the function deterministic made the policy; only then may unit be called.
func (p *Policy) deterministic() bool { return p.at != nil && len(p.prob) == 2*p.m-1 }

// unit returns the action of a deterministic policy in state s.
func (p *Policy) unit(s int) int { return p.m - 1 - int(p.at[s]) }

// Mixture returns π^ω = Σ ωᵢ πⁱ, an element of Πᵈ (2.16). The weights ω must be a distribution over
// the policies.
func Mixture(omega []float64, policies ...*Policy) (*Policy, error) {
	if err := sum.CheckDistribution(omega, len(policies)); err != nil {
		return nil, fmt.Errorf("mixpolicy: mixing weights ω: %w", err)
	}
	first := policies[0]
	for i, p := range policies {
		if p.n != first.n || p.m != first.m {
			return nil, fmt.Errorf("mixpolicy: policy %d is for %d states and %d actions, policy 0 for %d and %d",
				i, p.n, p.m, first.n, first.m)
		}
	}
	t := newTable(first.n, first.m)
	row := make([]float64, first.m)
	for s := range first.n {
		clear(row)
		for i, p := range policies {
			for a, v := range p.Row(s) {
				row[a] += omega[i] * v
			}
		}
		t.add(row)
	}
	return t.policy(), nil
}

// PolicyOf returns the policy (2.20) of a signed measure ξ over pairs,
//
//	π_a(s) = [ξ_a(s)]₊ / Σ_b [ξ_b(s)]₊.
//
// If a pair is not allowed, PolicyOf first moves the pair's mass to the first allowed action in the
// pair's state (see [MDP.Allowed]). In states where ξ then has no positive entry, the policy is uniform
// over the allowed actions. If ξ is not finite at some pair, the error names the first such pair.
func PolicyOf(x *MDP, xi []float64) (*Policy, error) {
	if len(xi) != x.Pairs() {
		return nil, fmt.Errorf("mixpolicy: measure has %d entries, want one per pair: %d", len(xi), x.Pairs())
	}
	for i, v := range xi {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("mixpolicy: %s: measure is %v, want a finite number", x.pairName(i/x.m, i%x.m), v)
		}
	}
	prob := make([]float64, x.Pairs())
	xi = x.moved(xi)
	for s := range x.n {
		from, row := xi[s*x.m:(s+1)*x.m], prob[s*x.m:(s+1)*x.m]
		top := 0.0 // rows are first divided by their largest entry, because sums of large entries could overflow
		for _, v := range from {
			top = max(top, v)
		}
		if top == 0 {
			x.uniform(row, s)
			continue
		}
		var total float64
		for a, v := range from {
			row[a] = max(v, 0) / top
			total += row[a]
		}
		for a := range row {
			row[a] /= total
		}
	}
	return &Policy{n: x.n, m: x.m, prob: prob}, nil
}

// table collects the rows of a policy. While the distinct rows are few, it stores each of
// them once, and a state takes 4 bytes instead of 8m.
type table struct {
	n, m  int
	prob  []float64
	at    []int32 // nil once more than fewRows rows are distinct
	index map[string]int32
	key   []byte
}

// fewRows is the greatest number of distinct rows that a table shares among states; with more,
// every state gets its own row. A policy given by a rule usually has fewer distinct rows.
const fewRows = 1 << 10

func newTable(n, m int) *table {
	return &table{n: n, m: m, at: make([]int32, 0, n), index: map[string]int32{}}
}

func (t *table) add(row []float64) {
	if t.at == nil {
		t.prob = append(t.prob, row...)
		return
	}
	t.key = t.key[:0]
	for _, v := range row {
		t.key = binary.LittleEndian.AppendUint64(t.key, math.Float64bits(v))
	}
	start, known := t.index[string(t.key)]
	if !known {
		if len(t.index) == fewRows {
			t.spread()
			t.add(row)
			return
		}
		start = int32(len(t.prob))
		t.index[string(t.key)] = start
		t.prob = append(t.prob, row...)
	}
	t.at = append(t.at, start)
}

// spread gives every state its own row.
func (t *table) spread() {
	prob := make([]float64, 0, t.n*t.m)
	for _, start := range t.at {
		prob = append(prob, t.prob[start:][:t.m]...)
	}
	t.prob, t.at = prob, nil
}

func (t *table) policy() *Policy {
	if len(t.index) == 1 {
		t.at = nil // the row is the same in every state
	}
	return &Policy{t.n, t.m, t.prob, t.at}
}

// Row returns π(s), of length m, which the caller must not change.
func (p *Policy) Row(s int) []float64 {
	if p.at != nil {
		return p.prob[p.at[s]:][:p.m]
	}
	if len(p.prob) == p.m {
		return p.prob
	}
	return p.prob[s*p.m : (s+1)*p.m]
}

// Prob returns π_a(s).
func (p *Policy) Prob(s, a int) float64 { return p.Row(s)[a] }

// Action returns the most probable action in state s, or the first of several such actions.
func (p *Policy) Action(s int) int { return floats.MaxIdx(p.Row(s)) }

// Under returns the Markov chain of a policy, with the policy's costs, as an MDP with one action:
// P^π(s, s′) = Σ_a π_a(s) P_a(s, s′) and c^π(s) = Σ_a π_a(s) c_a(s). It returns an error if the
// policy is nil, if the policy and the MDP differ in their number of states or actions, or if the
// policy takes an action that is not allowed.
func (x *MDP) Under(p *Policy) (*MDP, error) {
	cost, err := x.PolicyCost(p)
	if err != nil {
		return nil, err
	}
	y := *x
	y.m, y.p, y.cost, y.acts = 1, x.chain(p), cost, nil
	y.actionLabel = func(int) string { return "of the policy" }
	return &y, nil
}

func (x *MDP) checkPolicy(p *Policy) error {
	if p == nil {
		return fmt.Errorf("mixpolicy: policy is nil")
	}
	if p.n != x.n || p.m != x.m {
		return fmt.Errorf("mixpolicy: policy is for %d states and %d actions, but the MDP has %d and %d", p.n, p.m, x.n, x.m)
	}
	if x.acts == nil {
		return nil
	}
	for s := range x.n {
		if err := x.checkAction(s, p.Row(s)); err != nil {
			return err
		}
	}
	return nil
}

// chain returns the n × n matrix P^π with the entries P^π(s, s′) = Σ_a π_a(s) P_a(s, s′). The
// caller must not change P^π: with one action, P^π can be P itself.
func (x *MDP) chain(p *Policy) *sparse.Matrix {
	if x.m == 1 && len(p.prob) == 1 && p.prob[0] == 1 {
		return x.p
	}
	b := sparse.NewBuilder(x.n, x.n, x.p.NNZ()/x.m)
	// Rows are merged through a dense accumulator that is cleared entry by entry.
	acc, seen := make([]float64, x.n), make([]int32, 0, 64)
	for s := range x.n {
		row := p.Row(s)
		if a := only(row); a >= 0 {
			b.Append(x.Next(s, a))
			b.EndRow()
			continue
		}
		seen = seen[:0]
		for a, w := range row {
			if w == 0 {
				continue
			}
			to, prob := x.Next(s, a)
			for k, s2 := range to {
				if acc[s2] == 0 {
					seen = append(seen, s2)
				}
				acc[s2] += w * prob[k]
			}
		}
		for _, s2 := range seen {
			if acc[s2] > 0 { // if a product underflows, seen may list the state twice
				b.Set(int(s2), acc[s2])
				acc[s2] = 0
			}
		}
		b.EndRow()
	}
	return b.Matrix()
}

// The result of only is the action that the row takes with probability 1, or −1 if there is none.
func only(row []float64) int {
	at := slices.IndexFunc(row, func(w float64) bool { return w != 0 })
	if row[at] != 1 || slices.ContainsFunc(row[at+1:], func(w float64) bool { return w != 0 }) {
		return -1
	}
	return at
}

// PolicyCost returns c^π(s) = Σ_a π_a(s) c_a(s) for every state.
func (x *MDP) PolicyCost(p *Policy) ([]float64, error) {
	if err := x.checkPolicy(p); err != nil {
		return nil, err
	}
	c := make([]float64, x.n)
	for s := range x.n {
		for a, w := range p.Row(s) {
			c[s] += w * x.cost[s*x.m+a]
		}
	}
	return c, nil
}

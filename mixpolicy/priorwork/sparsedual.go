package priorwork

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// SparseDualALP minimises the f_ω of [DualALP] for sparse features: at each pair, only a few features are nonzero. For
// example, the features can be the indicators of sets of pairs. Abbasi-Yadkori et al. (2014) use 366 features for the
// four-queue network; with these features, a dense Ψ would take 12 GB. Ψ and W = (Q − γP)ᵀΨ are stored as sparse rows.
// The time to compute the two sampled terms of a gradient estimate is proportional to the number of nonzero entries in
// the two rows that these terms use.
//
// As in the source, b = cᵀΨ is known, and only the gradients of the penalties are sampled:
//
//	ĝ = b − ω 1{Ψ_iθ < 0} Ψ_i/q₁(i) + ω sign(W_sθ − (1−γ)α(s)) W_s/q₂(s),
//
// with independent pairs i ~ q₁ ∝ ‖Ψ_i‖₂ and states s ~ q₂ ∝ ‖W_s‖₂. So Ψ_i/q₁(i) has the same length for every i that
// can be drawn, and W_s/q₂(s) has the same length for every s that can be drawn.
//
// Source: Abbasi-Yadkori, Bartlett and Malek, ICML 2014 (arXiv 1402.6763). We did not have the text.
//
// Deviations: see [Publications].
type SparseDualALP struct {
	x         *mixpolicy.MDP
	psi, flow *sparse.Matrix
	b         []float64    // cᵀΨ
	target    []float64    // (1−γ)α
	pairs     *alias.Table // q₁
	states    *alias.Table // q₂
	z1, z2    float64      // Σ‖Ψ_i‖₂, Σ‖W_s‖₂
}

// NewSparseDualALP computes W, q₁ and q₂ for d features. For each pair i, the function row must call the function set
// once for every nonzero entry of Ψ_i, in any order.
func NewSparseDualALP(x *mixpolicy.MDP, d int, row func(pair int, set func(feature int, value float64))) (*SparseDualALP, error) {
	a := &SparseDualALP{x: x, b: make([]float64, d), target: flowTarget(x)}
	psi := sparse.NewBuilder(d, x.Pairs(), 0)
	w := lists{first: slices.Repeat([]int32{-1}, x.States())}
	n, gamma := x.Actions(), x.Gamma()
	var bad error
	for i := range x.Pairs() {
		c := x.Cost(i/n, i%n)
		to, prob := x.Next(i/n, i%n)
		row(i, func(j int, v float64) {
			if j < 0 || j >= d || math.IsNaN(v) || math.IsInf(v, 0) {
				bad = fmt.Errorf("priorwork: feature %d of pair %d is %v, want an index from 0 to %d and a finite value", j, i, v, d-1)
				return
			}
			psi.Set(j, v)
			a.b[j] += c * v
			w.add(i/n, j, v)
			for k, s := range to {
				w.add(int(s), j, -gamma*prob[k]*v)
			}
		})
		if j, ok := psi.EndRow(); !ok && bad == nil {
			bad = fmt.Errorf("priorwork: feature %d of pair %d is set twice, want at most once", j, i)
		}
		if bad != nil {
			return nil, bad
		}
	}
	a.psi, a.flow = psi.Matrix(), w.matrix(d)
	var err error
	if a.pairs, a.z1, err = byLength(a.psi); err != nil {
		return nil, err
	}
	a.states, a.z2, err = byLength(a.flow)
	return a, err
}

// byLength returns the distribution over rows that is proportional to the lengths of the rows, and the sum of these
// lengths. It returns no distribution if all lengths are 0.
func byLength(m *sparse.Matrix) (*alias.Table, float64, error) {
	q := make([]float64, m.Rows)
	for i := range q {
		_, v := m.Row(i)
		q[i] = floats.Norm(v, 2)
	}
	z := sum.Of(q)
	if z == 0 {
		return nil, 0, nil
	}
	t, err := alias.New(q)
	return t, z, err
}

// lists are sparse rows that grow in any order: the entries of a row are a linked list.
type lists struct {
	first   []int32 // −1 ends a list
	entries []listEntry
}

type listEntry struct {
	next, column int32
	value        float64
}

func (l *lists) add(row, column int, v float64) {
	for k := l.first[row]; k >= 0; k = l.entries[k].next {
		if e := &l.entries[k]; e.column == int32(column) {
			e.value += v
			return
		}
	}
	l.entries = append(l.entries, listEntry{l.first[row], int32(column), v})
	l.first[row] = int32(len(l.entries) - 1)
}

func (l *lists) matrix(columns int) *sparse.Matrix {
	b := sparse.NewBuilder(columns, len(l.first), len(l.entries))
	for _, k := range l.first {
		for ; k >= 0; k = l.entries[k].next {
			b.Set(int(l.entries[k].column), l.entries[k].value)
		}
		b.EndRow()
	}
	return b.Matrix()
}

// Dim returns d, the number of features.
func (a *SparseDualALP) Dim() int { return len(a.b) }

// Entries returns the numbers of stored entries of Ψ and of W. All nonzero entries are stored, and perhaps some zeros.
func (a *SparseDualALP) Entries() (psi, flow int) { return a.psi.NNZ(), a.flow.NNZ() }

// Parts returns the three parts of f_ω, without the weight ω: cᵀΨθ, ‖[Ψθ]₋‖₁ and ‖(Q − γP)ᵀΨθ − (1−γ)α‖₁.
func (a *SparseDualALP) Parts(theta []float64) (objective, negative, flow float64) {
	var neg, off sum.Accumulator
	for i := range a.psi.Rows {
		neg.Add(max(0, -a.psi.RowDot(i, theta)))
	}
	for s := range a.flow.Rows {
		off.Add(math.Abs(a.flow.RowDot(s, theta) - a.target[s]))
	}
	return sum.Dot(a.b, theta), neg.Value(), off.Value()
}

// Measure stores Ψθ in dst, which has one entry for each pair.
func (a *SparseDualALP) Measure(dst, theta []float64) { a.psi.MulVec(dst, theta) }

// DualALPRun holds the settings of a run of [SparseDualALP].
type DualALPRun struct {
	Weight    float64 // the penalty weight ω, for costs divided by CostScale
	CostScale float64 // the divisor of the costs
	StepSize  mixpolicy.StepSize
	Batch     int // number of gradient estimates that a step averages
	Steps     int
	Radius    float64   // R₂ in ‖θ‖₂ ≤ R₂; each step also enforces 1ᵀθ = 1
	Start     []float64 // θ₀
	// After each step that Schedule names, and after the last step, Visit (if set) receives the mean of the iterates.
	// Visit must copy the mean to keep it.
	Visit    func(step int, average []float64) error
	Schedule mixpolicy.Schedule
}

// Run runs the method, and returns the mean of the iterates. If ctx ends, or if a step or Visit fails, Run returns an
// error and the mean of the iterates so far, which is 0 before the first step. If a setting other than Radius is
// invalid, Run returns nil and an error.
func (a *SparseDualALP) Run(ctx context.Context, set DualALPRun, rng *rand.PCG) ([]float64, error) {
	d := a.Dim()
	if !(set.Weight > 0) || !(set.CostScale > 0) || set.StepSize == nil || set.Batch < 1 || set.Steps < 1 || len(set.Start) != d {
		return nil, fmt.Errorf("priorwork: dual ALP with ω = %v, scale of costs %v, %d gradients a step, %d steps, θ₀ of %d entries; "+
			"want positive numbers, a StepSize that is not nil, and %d entries",
			set.Weight, set.CostScale, set.Batch, set.Steps, len(set.Start), d)
	}
	theta, total, average, g := append([]float64(nil), set.Start...), make([]float64, d), make([]float64, d), make([]float64, d)
	due := 0
	if set.Schedule != nil {
		due = set.Schedule(0)
	}
	for t := range set.Steps {
		if err := ctx.Err(); err != nil {
			return average, fmt.Errorf("priorwork: dual ALP stopped after %d of %d steps: %w", t, set.Steps, err)
		}
		a.gradient(g, theta, set, rng)
		floats.AddScaled(theta, -set.StepSize.At(t), g)
		if err := linprog.L2.Project(theta, theta, set.Radius); err != nil {
			return average, fault.At("priorwork", fmt.Sprintf("dual ALP, step %d", t+1), err)
		}
		floats.Add(total, theta)
		floats.ScaleTo(average, 1/float64(t+1), total)
		if set.Visit != nil && (t+1 == due || t+1 == set.Steps) {
			if err := set.Visit(t+1, average); err != nil {
				return average, err
			}
			if set.Schedule != nil {
				due = set.Schedule(due)
			}
		}
	}
	return average, nil
}

// gradient sets g to the mean of set.Batch estimates.
func (a *SparseDualALP) gradient(g, theta []float64, set DualALPRun, rng *rand.PCG) {
	clear(g)
	for range set.Batch {
		if a.pairs != nil {
			if i := a.pairs.Draw(rng); a.psi.RowDot(i, theta) < 0 {
				addRow(g, -a.z1, a.psi, i)
			}
		}
		if a.states != nil {
			s := a.states.Draw(rng)
			if off := a.flow.RowDot(s, theta) - a.target[s]; off != 0 {
				addRow(g, math.Copysign(a.z2, off), a.flow, s)
			}
		}
	}
	floats.Scale(set.Weight/float64(set.Batch), g)
	floats.AddScaled(g, 1/set.CostScale, a.b)
}

// addRow adds z·(row i)/‖row i‖₂ to g. If z is the sum of the lengths of all rows, the added vector is row i divided by
// its probability in [byLength].
func addRow(g []float64, z float64, m *sparse.Matrix, i int) {
	col, val := m.Row(i)
	z /= floats.Norm(val, 2)
	for k, j := range col {
		g[j] += z * val[k]
	}
}

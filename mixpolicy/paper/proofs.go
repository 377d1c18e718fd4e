package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/plotting"
)

// Step is an equality or inequality of section 5 evaluated along runs of the algorithm, at the
// place where its slack, relative to the size of its terms, is least.
type Step struct {
	Equation string
	Form     mixpolicy.Form // as printed, or corrected
	Equality bool           // LHS = RHS; else LHS ≤ RHS
	LHS, RHS float64
	Slack    float64 // RHS − LHS, or −|RHS − LHS|
	Size     float64 // of the terms, with which the slack is compared
	Run      string
	At       int // iteration; −1 for a sum over all
	// Evaluations is the number of evaluations: over iterations, runs, and the points θ and λ.
	Evaluations int
	// Beside is, of a printed form that has a corrected one, the corrected form at the same place.
	Beside *Step
}

// stepTolerance is the rounding error of a slack relative to the size of its terms: sums of 10³
// steps of a few operations each, 10⁴ · 2⁻⁵³, and half of the digits of the distance to the
// boundary, which are lost at points projected onto it.
const stepTolerance = 1e-10

// Holds reports whether the slack is not negative, up to rounding.
func (s Step) Holds() bool { return s.Slack >= -stepTolerance*s.Size }

// relative is Slack/Size, and 0 if both are 0.
func (s Step) relative() float64 {
	if s.Size == 0 {
		return 0
	}
	return s.Slack / s.Size
}

// step is what the sides of a law come to at a place.
func (s Sides) step(number string, form mixpolicy.Form, run string, at int) *Step {
	slack := s.Right - s.Left
	if s.Relation == "=" {
		slack = -math.Abs(slack)
	}
	return &Step{Equation: number, Form: form, Equality: s.Relation == "=", LHS: s.Left, RHS: s.Right, Slack: slack,
		Size: sizeOf(s.Left, s.Right, s.Size), Run: run, At: at}
}

// evaluations keeps the worst evaluation of each equation and form.
type evaluations map[stepKey]*Step

type stepKey struct {
	equation string
	form     mixpolicy.Form
}

// add returns whether the step is the worst so far. Differences within rounding are ignored, so that the
// result does not depend on them.
func (all evaluations) add(s *Step) (worst bool) {
	key := stepKey{s.Equation, s.Form}
	old, seen := all[key]
	if worst = !seen || s.relative() < old.relative()-stepTolerance || math.IsNaN(s.Slack); !worst {
		old.Evaluations++
		return false
	}
	if s.Evaluations = 1; seen {
		s.Evaluations += old.Evaluations
	}
	all[key] = s
	return true
}

// ProofRuns returns the runs along which [Proofs] evaluates section 5: the queue of section 6 with
// moderate and with large R, the queue with the cheapest pair as every sample, and a discounted
// random MDP with the cube's modulus. Samples that are all the same pair are improbable, and an
// inequality that holds surely must hold for them.
func ProofRuns() (runs []*Trace, err error) {
	defer catch(&err)
	eta := mixpolicy.InverseSqrt(1)
	for _, r := range []struct {
		class mixpolicy.Class
		set   TraceSettings
	}{
		{mixpolicy.Ball(2), TraceSettings{Name: "queue, R = 2", StepSize: eta, Beta: 50}},
		{mixpolicy.Ball(100), TraceSettings{Name: "queue, R = 100", StepSize: mixpolicy.Constant(0.01), Beta: 50}},
		{mixpolicy.Ball(2), TraceSettings{Name: "queue, small ball of λ", StepSize: eta, Beta: 0.05}},
		{mixpolicy.Ball(2), TraceSettings{Name: "queue, unlucky", StepSize: eta, Beta: 50, Pair: func(int) int { return 0 }}},
	} {
		r.set.Iterations, r.set.CostScale = 400, cMax
		runs = append(runs, must(NewTrace(must(QueueProblem(r.class)), r.set)))
	}
	small := TraceSettings{Name: "random MDP, cube", Iterations: 400, StepSize: eta, Beta: 20}
	return append(runs, must(NewTrace(smallProblem(mixpolicy.Cube(1.5)), small))), nil
}

// proofRuns are those of [ProofRuns], made once.
var proofRuns = sync.OnceValues(ProofRuns)

// evaluate returns the worst cases of the laws that are chosen, each in the printed and then in the corrected form.
func evaluate(ctx context.Context, chosen func(number string) bool) (steps []Step) {
	all := evaluations{}
	for _, r := range must(proofRuns()) {
		points, prices := r.comparators(), r.multipliers()
		for _, l := range Laws() {
			noError(ctx.Err())
			if !chosen(l.Number) {
				continue
			}
			r.Visit(l, points, prices, func(t int, printed, corrected Sides) {
				var beside *Step
				if corrected.Relation != "" {
					beside = corrected.step(l.Number, mixpolicy.Corrected, r.Name, t)
				}
				if printed.Relation != "" {
					if s := printed.step(l.Number, mixpolicy.Printed, r.Name, t); all.add(s) && beside != nil {
						other := *beside
						s.Beside = &other
					}
				}
				if beside != nil {
					all.add(beside)
				}
			})
		}
	}
	for _, l := range Laws() {
		for _, form := range []mixpolicy.Form{mixpolicy.Printed, mixpolicy.Corrected} {
			if s, ok := all[stepKey{l.Number, form}]; ok {
				steps = append(steps, *s)
			}
		}
	}
	return steps
}

// Proofs evaluates every equality and inequality of section 5 that is about a run, (5.1) to
// (5.18) and (5.22) to (5.36), as printed and as corrected, and returns the worst case of
// each in the order of the paper. An equation that is correct as printed has one row.
func Proofs(ctx context.Context) (steps []Step, err error) {
	defer catch(&err)
	return evaluate(ctx, func(number string) bool { return number[0] == '5' }), nil
}

// ProofTable shows equations of section 5 where [Proofs] found them nearest to failing, or to fail
// most: one that has a corrected form in both forms at that place. The verdict is on all evaluations.
func ProofTable(ctx context.Context, caption string, numbers ...string) (t plotting.Table, err error) {
	t = plotting.Table{Caption: caption, Columns: []plotting.Column{
		{Head: "equation"}, {Head: "left side"}, {Head: ""}, {Head: "right side"}, {Head: "slack"}, {Head: "in all"}, {Head: "worst in"},
	}}
	steps, err := Proofs(ctx)
	for i, s := range steps {
		if !slices.Contains(numbers, s.Equation) {
			continue
		}
		if i > 0 && steps[i-1].Beside != nil { // the corrected form, of which the place is that of the printed one
			s = *steps[i-1].Beside
			s.Evaluations = steps[i].Evaluations
		}
		t.Row(s.cells(steps[i].Holds())...)
	}
	return t, err
}

// cells are a row of the table.
func (s Step) cells(holds bool) []any {
	slack, place := "0", s.Run
	if math.Abs(s.Slack) > stepTolerance*s.Size {
		slack = fmt.Sprintf("%.2g", s.Slack)
	}
	if s.At >= 0 {
		place += fmt.Sprintf(", step %d", s.At)
	}
	return []any{fmt.Sprintf("(%s) %v", s.Equation, s.Form),
		fmt.Sprintf("%.4g", s.LHS), map[bool]string{true: "=", false: "≤"}[s.Equality], fmt.Sprintf("%.4g", s.RHS), slack,
		fmt.Sprintf("%s, %d ×", map[bool]string{true: "holds", false: "fails"}[holds], s.Evaluations), place}
}

// checkAlongRuns checks an equation by [evaluate]. A form that no run evaluates is NaN, but that the printed form
// is right if there is no corrected one.
func checkAlongRuns(number string) check {
	return func(ctx context.Context) Finding {
		f := Finding{Printed: math.NaN(), Corrected: math.NaN(), Tolerance: stepTolerance}
		var numbers []string
		for _, s := range evaluate(ctx, func(n string) bool { return n == number }) {
			sign, deviation := "≤", max(0, -s.relative())
			if s.Equality {
				sign = "="
			}
			if s.Form == mixpolicy.Printed {
				f.Printed = deviation
			} else {
				f.Corrected = deviation
			}
			numbers = append(numbers, fmt.Sprintf("%v: %.6g %s %.6g (%s)", s.Form, s.LHS, sign, s.RHS, s.Run))
		}
		if len(numbers) == 1 && math.IsNaN(f.Corrected) {
			f.Corrected = f.Printed
		}
		f.Numbers = strings.Join(numbers, "; ")
		return f
	}
}

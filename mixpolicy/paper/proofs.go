package paper

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/theory"
	"github.com/mixpolicy/lab/plotting"
)

// Trace is a run of Algorithm 1 that stores, for each step, all quantities of the proofs of section 5. It comes from a
// second implementation of the algorithm, written for clarity: λ is a dense vector, and θ̃_t is computed first and then
// projected.
type Trace struct {
	Name    string
	Problem *mixpolicy.Problem
	Phi     bregman.Modulus
	// Mu is the constant of strong convexity of φ in the norm of the class, G is the radius of the ball of λ, and Scale is
	// the divisor of the costs.
	Mu, G, Scale float64
	K            *theory.Constants
	Form         mixpolicy.Form

	Steps         []TraceStep
	Sums          theory.StepSums
	Theta, Lambda []float64 // θ̂ and λ̂ (3.27)

	sumTheta, sumLambda []float64 // Σηθ and Σηλ
	before              TraceStep // the state before the first step
}

// TraceStep holds the quantities of iteration t.
type TraceStep struct {
	Eta                 float64
	Theta, Lambda       []float64 // θ_t and λ_t
	Pair                int       // the sampled pair
	Sample, Mean, Error []float64 // ĝ_t of (3.5a), its mean ∇_θ𝓛(θ_t, λ_t), and its error e_t = ĝ_t − ∇_θ𝓛(θ_t, λ_t)
	Ascent              []float64 // ∇_λ𝓛(θ_t, λ_t) = −Ψθ_t

	Tilde            []float64 // θ̃_t
	Z                float64   // z_t
	Next, NextLambda []float64 // θ_{t+1} and λ_{t+1}

	dual []float64 // ∇φ(θ_{t+1})
}

// TraceSettings describe a run. The function Pair, if not nil, replaces the oracle: Pair(t) is the sampled pair of
// iteration t. So we can choose any sequence of samples, and an inequality that always holds must hold for each
// sequence.
type TraceSettings struct {
	Name            string
	Iterations      int
	StepSize        mixpolicy.StepSize
	Beta, CostScale float64
	Start           []float64
	Form            mixpolicy.Form // the proofs are about the corrected form
	Seed, Stream    uint64
	Pair            func(t int) int
}

// NewTrace carries out the run that the settings describe.
func NewTrace(p *mixpolicy.Problem, set TraceSettings) (r *Trace, err error) {
	defer at("run "+strconv.Quote(set.Name), &err)
	defer catch(&err)
	if set.CostScale = cmp.Or(set.CostScale, 1); set.Start == nil {
		set.Start = uniform(p.Dim())
	}
	k := must(theory.NewConstants(p, mixpolicy.PrimalDual{Beta: set.Beta, CostScale: set.CostScale, Theta0: set.Start}))
	if set.Pair == nil {
		o := must(mixpolicy.NewOracle(p, set.Seed, set.Stream))
		set.Pair = func(int) int {
			i, _ := o.Sample()
			return i
		}
	}
	phi := mixpolicy.DefaultModulus(p.Class())
	r = &Trace{Name: set.Name, Problem: p, Phi: phi, Mu: k.Mu, G: k.G, Scale: set.CostScale, K: k, Form: set.Form,
		sumTheta: make([]float64, p.Dim()), sumLambda: make([]float64, k.Pairs),
		before: TraceStep{Next: set.Start, NextLambda: make([]float64, k.Pairs), dual: slope(phi, set.Start)}}
	for t := range set.Iterations {
		noError(r.Extend(set.StepSize.At(t), set.Pair(t)))
	}
	return r, nil
}

// Last returns the last iteration. Before the first iteration, only Next and NextLambda of the result are set.
func (r *Trace) Last() TraceStep {
	if n := len(r.Steps); n > 0 {
		return r.Steps[n-1]
	}
	return r.before
}

// Extend adds an iteration with the step size eta and the given sampled pair.
func (r *Trace) Extend(eta float64, pair int) error {
	s, err := r.After(r.Last(), eta, pair)
	if err != nil {
		return err
	}
	r.Steps = append(r.Steps, s)
	r.Sums.T, r.Sums.Sum = r.Sums.T+1, r.Sums.Sum+eta
	r.Sums.Squares, r.Sums.Fourth = r.Sums.Squares+eta*eta, r.Sums.Fourth+eta*eta*eta*eta
	floats.AddScaled(r.sumTheta, eta, s.Theta)
	floats.AddScaled(r.sumLambda, eta, s.Lambda)
	r.Theta, r.Lambda = scaled(1/r.Sums.Sum, r.sumTheta), scaled(1/r.Sums.Sum, r.sumLambda)
	return nil
}

// After returns the iteration that would follow the given iteration, with the step size eta and the given sampled pair.
// After does not change the run.
func (r *Trace) After(last TraceStep, eta float64, pair int) (TraceStep, error) {
	f, d, pairs := r.Problem.Features(), r.Problem.Dim(), r.K.Pairs
	s := TraceStep{Eta: eta, Theta: last.Next, Lambda: last.NextLambda, Pair: pair,
		Sample: make([]float64, d), Mean: make([]float64, d), Ascent: make([]float64, pairs), NextLambda: make([]float64, pairs)}
	f.Row(s.Sample, pair)
	floats.Scale((r.Problem.MDP().Costs()[pair]/r.Scale-s.Lambda[pair])/f.Sampling()[pair], s.Sample)
	r.gradient(s.Mean, s.Lambda)
	s.Error = difference(s.Sample, s.Mean)
	r.Problem.GradLambda(s.Ascent, s.Theta)

	s.dual = floats.AddScaledTo(make([]float64, d), last.dual, -eta, s.Sample)
	s.Tilde = inverse(r.Phi, s.dual)
	floats.AddScaledTo(s.NextLambda, s.Lambda, eta, s.Ascent)
	var err error
	if r.Form == mixpolicy.Printed { // (3.22) and (3.26) to the letter
		if s.Z, err = (bregman.Ball{R: r.Problem.Class().R}).PrintedShift(s.dual); err == nil {
			floats.AddConst(s.Z, s.dual)
		}
		floats.AddScaledTo(s.NextLambda, s.Lambda, -eta, s.Ascent)
		floats.Scale(r.G/max(r.G, floats.Norm(s.NextLambda, 2)), s.NextLambda)
	} else {
		s.Z, err = bregman.ProjectDual(r.Phi, s.dual, nil)
		projectLambda(s.NextLambda, r.G)
	}
	s.Next = inverse(r.Phi, s.dual)
	return s, err
}

// projectLambda projects onto {λ ⪰ 0, ‖λ‖₂ ≤ G}: onto the orthant, then onto the ball. For a cone and a ball about its
// apex, this is the projection onto their intersection.
func projectLambda(lambda []float64, g float64) {
	for i, v := range lambda {
		lambda[i] = max(v, 0)
	}
	if norm := floats.Norm(lambda, 2); norm > g {
		floats.Scale(g/norm, lambda)
	}
}

// gradient sets dst = ∇_θ𝓛 = Ψᵀ(c/scale − λ).
func (r *Trace) gradient(dst, lambda []float64) {
	r.Problem.Features().MulVecT(dst, lambda)
	for j, b := range r.Problem.BaseCosts() {
		dst[j] = b/r.Scale - dst[j]
	}
}

// lagrangian is 𝓛(θ, λ) for the scaled costs, and lagrangians is Ση(𝓛(θ_t, λ) − 𝓛(θ, λ_t)).
func (r *Trace) lagrangian(theta, lambda []float64) float64 {
	g := make([]float64, len(theta))
	r.gradient(g, lambda)
	return floats.Dot(g, theta)
}

func (r *Trace) lagrangians(theta, lambda []float64) float64 {
	return r.total(func(s TraceStep) float64 {
		return s.Eta * (r.lagrangian(s.Theta, lambda) - r.lagrangian(theta, s.Lambda))
	})
}

func (r *Trace) divergence(x, y []float64) float64 { return bregman.Divergence(r.Phi, x, y) }

// norm and dual are ‖·‖ of the class and ‖·‖⁎.
func (r *Trace) norm(x []float64) float64 { return r.Problem.Class().Norm.Of(x) }
func (r *Trace) dual(x []float64) float64 { return r.Problem.Class().Norm.Dual().Of(x) }

// optimum returns θ* and λ* for the scaled costs.
func (r *Trace) optimum() (theta, lambda []float64) {
	return must(r.Problem.Optimum(context.Background())).Theta, scaled(1/r.Scale, must(theory.Multipliers(r.Problem)))
}

func (r *Trace) total(f func(s TraceStep) float64) (sum float64) {
	for _, s := range r.Steps {
		sum += f(s)
	}
	return sum
}

// noise is Ση⟨e_t, θ_t−θ⟩.
func (r *Trace) noise(theta []float64) float64 {
	return r.total(func(s TraceStep) float64 { return s.Eta * floats.Dot(s.Error, difference(s.Theta, theta)) })
}

// squares are Ση²(‖∇_θ𝓛‖⁎² + ‖e_t‖⁎²), and ascents are Ση²‖∇_λ𝓛‖₂².
func (r *Trace) squares() float64 {
	return r.total(func(s TraceStep) float64 { return sq(s.Eta) * (sq(r.dual(s.Mean)) + sq(r.dual(s.Error))) })
}

func (r *Trace) ascents() float64 {
	return r.total(func(s TraceStep) float64 { return sq(s.Eta * floats.Norm(s.Ascent, 2)) })
}

// inward returns x, moved towards the point c by 2⁻⁴⁰ of the distance, into the open domain.
func inward(x, c []float64) []float64 {
	return floats.AddScaledTo(make([]float64, len(x)), c, 1-0x1p-40, difference(x, c))
}

// target is θ*, moved slightly into the open domain.
func (r *Trace) target() []float64 {
	best, _ := r.optimum()
	return inward(best, r.before.Next)
}

// comparators returns points θ of Θ₂ ∩ Θ_R: the optimum, the base policies with ‖θ‖ < R, and extreme points, each moved
// slightly into the open domain.
func (r *Trace) comparators() [][]float64 {
	centre, class, points := r.before.Next, r.Problem.Class(), [][]float64{r.target()}
	for j := range centre {
		for _, far := range []float64{1, 0x1p40 * class.R, -0x1p40 * class.R} {
			theta := scaled(far, unit(len(centre), j))
			if far == 1 && r.norm(theta) >= class.R {
				continue
			}
			noError(class.Norm.Project(theta, theta, class.R))
			points = append(points, inward(theta, centre))
		}
	}
	return points
}

// multipliers returns points λ ∈ Λ: 0, the projection of λ*, a multiple of Ψθ₀, and the maximiser of −λᵀΨθ̂.
func (r *Trace) multipliers() [][]float64 {
	_, best := r.optimum()
	along, against := combination(r.Problem, r.before.Next), scaled(-0x1p40, combination(r.Problem, r.Theta))
	all := [][]float64{make([]float64, len(best)), slices.Clone(best), scaled(1/floats.Norm(along, 2), along), against}
	for _, l := range all {
		projectLambda(l, r.G)
	}
	return all
}

// slope is ∇φ(x).
func (r *Trace) slope(x []float64) []float64 { return slope(r.Phi, x) }

func slope(phi bregman.Modulus, x []float64) []float64 {
	g := make([]float64, len(x))
	phi.Gradient(g, x)
	return g
}

// inverse is ∇φ*(y).
func inverse(phi bregman.Modulus, y []float64) []float64 {
	x := make([]float64, len(y))
	phi.ConjugateGradient(x, y)
	return x
}

// Step is an equality or inequality of section 5, or (A.2), evaluated at its worst place along runs of the algorithm.
// The worst place is the place where the slack, divided by the size of the terms, is least.
type Step struct {
	Equation string
	Form     mixpolicy.Form // as printed, or corrected
	Equality bool           // true for LHS = RHS, false for LHS ≤ RHS
	LHS, RHS float64
	// Slack is RHS − LHS or, for an equality, −|RHS − LHS|. Size is the size of the terms; Slack is judged relative to
	// Size.
	Slack, Size float64
	Run         string
	At          int // iteration, or −1 for a law about all iterations
	// Evaluations counts the evaluations in all runs, iterations and coordinates, and at all points θ and λ.
	Evaluations int
	// If Form is printed, Beside is the Step of the corrected form at the same place, or nil without a corrected form.
	Beside *Step
}

// stepTolerance bounds the rounding error of a slack, relative to the size of its terms. A sum of 10³ steps of a few
// operations each has an error of about 10⁴ · 2⁻⁵³. For points projected onto the boundary, the distance to the
// boundary is only accurate to half of the digits.
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

// step returns the Step for the sides of a law at a place.
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

// add adds an evaluation, and returns whether it is the worst so far of its equation and form. A difference within
// rounding does not make an evaluation worse, so the result does not depend on rounding.
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

// ProofRuns returns the runs along which [Proofs] evaluates section 5. Four runs are on the queue of section 6: with
// moderate R, with large R, with a small ball for λ, and with the cheapest pair as every sample. The fifth run is on a
// discounted random MDP, with the modulus of the cube. An oracle is unlikely to draw the same pair every time, but an
// inequality that always holds must hold even then.
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

// proofRuns are the runs of [ProofRuns], made once.
var proofRuns = sync.OnceValues(ProofRuns)

// evaluate returns the worst case of each chosen law, in the printed form and then in the corrected form.
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

// Proofs evaluates equalities and inequalities of section 5 along [ProofRuns]: those from (5.1) to (5.18) and from
// (5.22) to (5.36) that are about a run. It returns the worst case of each form, in the order of the paper. An equation
// that is evaluated as printed and as corrected has two Steps; any other equation has one.
func Proofs(ctx context.Context) (steps []Step, err error) {
	defer catch(&err)
	return evaluate(ctx, func(number string) bool { return number[0] == '5' }), nil
}

// ProofTable shows each of the given equations at the place where the equation comes nearest to failing, or fails most.
// If an equation is evaluated as printed and as corrected, the table shows both forms at the worst place of the printed
// form. The verdict in the column "in all" is about all evaluations.
func ProofTable(ctx context.Context, caption string, numbers ...string) (t plotting.Table, err error) {
	defer catch(&err)
	t = plotting.Table{Caption: caption, Columns: []plotting.Column{
		{Head: "equation"}, {Head: "left side"}, {Head: ""}, {Head: "right side"}, {Head: "slack"}, {Head: "in all"}, {Head: "worst in"},
	}}
	steps := evaluate(ctx, func(number string) bool { return slices.Contains(numbers, number) })
	for i, s := range steps {
		if i > 0 && steps[i-1].Beside != nil { // the corrected form, evaluated where the printed form is worst
			s = *steps[i-1].Beside
			s.Evaluations = steps[i].Evaluations
		}
		t.Row(s.cells(steps[i].Holds())...)
	}
	return t, nil
}

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

// checkAlongRuns checks an equation by [evaluate]. If a form is never evaluated, its deviation is NaN. If the equation
// has no corrected form, the printed form counts as the corrected one.
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
			numbers = append(numbers, fmt.Sprintf("(%s), %v: %.6g %s %.6g (%s)", number, s.Form, s.LHS+0, sign, s.RHS+0, s.Run))
		}
		if len(numbers) == 1 && math.IsNaN(f.Corrected) {
			f.Corrected = f.Printed
		}
		f.Numbers = strings.Join(numbers, "; ")
		return f
	}
}

// Law is a numbered equality or inequality of section 5, or (A.2). [Entry.Check] evaluates the law along [ProofRuns].
// For some laws, package adversary searches for a run that violates the law.
type Law struct {
	Number string
	// Sides returns the sides at a place, as printed and as corrected. If the Relation of a form is "", the form is not
	// evaluated. This is so in three cases: the corrected form of a law that is right as printed; the printed form of a
	// law that holds only with high probability; and both forms where the condition of the law fails.
	Sides func(*Trace, Place) (printed, corrected Sides)
	each  places
}

// places states where a law is evaluated: at the end of a run or at every iteration; for every θ, for every λ, in every
// coordinate, or twice if it has two cases.
type places int

const (
	iterations places = 1 << iota
	points
	prices
	coordinates
	twice
	end places = 0
)

// Place is an iteration of a run, with points to compare with the iterates. If a law is about all iterations, the
// TraceStep is empty.
type Place struct {
	TraceStep
	Point []float64 // θ ∈ Θ₂ ∩ Θ_R
	Price []float64 // λ ∈ Λ
	Part  int       // for a law about coordinates, the coordinate; for a law with two cases, 0 or 1
}

// Sides are the two sides of an equality, Left = Right, or of an inequality, Left ≤ Right.
type Sides struct {
	Relation    string // "=", "≤", or "" for none
	Left, Right float64
	Size        float64 // size of the terms that cancel within a side; the rounding error is proportional to this size
}

func equal(left, right, size float64) Sides { return Sides{"=", left, right, size} }
func below(left, right, size float64) Sides { return Sides{"≤", left, right, size} }

// where removes the relation unless the condition holds.
func (s Sides) where(holds bool) Sides { return map[bool]Sides{true: s}[holds] }

var laws = []Law{
	{"5.1a", (*Trace).gradientStep, iterations | coordinates}, {"5.1b", (*Trace).projectionStep, iterations | coordinates},
	{"5.2", (*Trace).gradientDifference, iterations | points}, {"5.3", (*Trace).cosines, iterations | points},
	{"5.4", (*Trace).pythagoras, iterations | points}, {"5.5", (*Trace).stepCosines, iterations | points},
	{"5.6", (*Trace).projectionIsNearer, iterations | points}, {"5.7", (*Trace).oneStep, iterations | points},
	{"5.8", (*Trace).symmetrised, iterations | twice}, {"5.9", (*Trace).fenchelYoung, iterations},
	{"5.10", (*Trace).strongConvexity, iterations}, {"5.11", (*Trace).stepDivergence, iterations},
	{"5.12", (*Trace).stepAgainst, iterations | points}, {"5.13", (*Trace).gradientSum, points},
	{"5.14", (*Trace).lagrangianSum, points}, {"5.15", (*Trace).multiplierProjection, iterations | prices | twice},
	{"5.16", (*Trace).multiplierSum, prices}, {"5.17a", (*Trace).convexity, iterations | points},
	{"5.17b", (*Trace).concavity, iterations | prices}, {"5.18", (*Trace).gapSum, points | prices},
	{"5.22", (*Trace).averages, points | prices}, {"5.23", (*Trace).writtenOut, end},
	{"5.24", (*Trace).writtenOut, end}, {"5.25", (*Trace).bestMultipliers, end},
	{"5.26", (*Trace).bracketAtThem, end}, {"5.27", (*Trace).bracketSign, end},
	{"5.28", (*Trace).gapAlone, end}, {"5.30", (*Trace).gradientSize, iterations},
	{"5.33", (*Trace).firstCase, end}, {"5.34", (*Trace).secondCase, end},
	{"5.35", (*Trace).gapFromBelow, end}, {"5.36", (*Trace).violationThen, end},
	{"A.2", (*Trace).hoelder, iterations | points},
}

// Laws returns the laws in the order of the paper.
func Laws() []Law { return laws }

// Visit evaluates a law along the run, at the given points θ and λ, and calls the function f with the sides at each
// place. The argument t of f is the iteration, or −1 for a law about all iterations.
func (r *Trace) Visit(l Law, thetas, lambdas [][]float64, f func(t int, printed, corrected Sides)) {
	steps, first, parts := []TraceStep{{}}, -1, 1
	if l.each&iterations != 0 {
		steps, first = r.Steps, 0
	}
	if l.each&points == 0 {
		thetas = [][]float64{nil}
	}
	if l.each&prices == 0 {
		lambdas = [][]float64{nil}
	}
	if l.each&coordinates != 0 {
		parts = r.Problem.Dim()
	} else if l.each&twice != 0 {
		parts = 2
	}
	for t, s := range steps {
		for _, theta := range thetas {
			for _, lambda := range lambdas {
				for part := range parts {
					printed, corrected := l.Sides(r, Place{s, theta, lambda, part})
					f(first+t, printed, corrected)
				}
			}
		}
	}
}

// away is θ − θ_t, move is θ_t − θ̃_t, turn is ∇φ(θ_t) − ∇φ(θ̃_t), and along is η⟨ĝ_t, x⟩.
func (at Place) away() []float64           { return difference(at.Point, at.Theta) }
func (at Place) move() []float64           { return difference(at.Theta, at.Tilde) }
func (r *Trace) turn(at Place) []float64   { return difference(r.slope(at.Theta), r.slope(at.Tilde)) }
func (at Place) along(x []float64) float64 { return at.Eta * floats.Dot(at.Sample, x) }

// slopes is the size of the gradients of φ at an iteration.
func (r *Trace) slopes(at Place) float64 {
	return sizeOf(r.slope(at.Theta)...) + sizeOf(r.slope(at.Tilde)...) + sizeOf(r.slope(at.Next)...)
}

// size returns the size of the divergences at an iteration, for the rounding of their differences.
func (r *Trace) size(at Place) float64 {
	return sizeOf(r.divergence(at.Point, at.Theta), r.divergence(at.Point, at.Tilde), r.divergence(at.Point, at.Next),
		r.divergence(at.Theta, at.Tilde))
}

func (r *Trace) gradientStep(at Place) (printed, corrected Sides) {
	j := at.Part
	return equal(r.slope(at.Tilde)[j], r.slope(at.Theta)[j]-at.Eta*at.Sample[j], r.slopes(at)), corrected
}

func (r *Trace) projectionStep(at Place) (printed, corrected Sides) {
	next := make([]float64, len(at.Tilde))
	noError(bregman.Project(r.Phi, next, at.Tilde))
	return equal(at.Next[at.Part], next[at.Part], r.K.R), corrected
}

func (r *Trace) gradientDifference(at Place) (printed, corrected Sides) {
	size := r.slopes(at) * (sizeOf(at.Point...) + sizeOf(at.Theta...))
	return equal(at.along(at.away()), floats.Dot(r.turn(at), at.away()), size), corrected
}

// cosines: the printed right side has the opposite sign.
func (r *Trace) cosines(at Place) (printed, corrected Sides) {
	return r.cosinesOf(at, floats.Dot(r.turn(at), at.away()))
}

func (r *Trace) stepCosines(at Place) (printed, corrected Sides) {
	return r.cosinesOf(at, at.along(at.away()))
}

func (r *Trace) cosinesOf(at Place, left float64) (printed, corrected Sides) {
	from, fromTilde, back := r.divergence(at.Point, at.Theta), r.divergence(at.Point, at.Tilde), r.divergence(at.Theta, at.Tilde)
	return equal(left, from-fromTilde+back, r.size(at)), equal(left, fromTilde-from-back, r.size(at))
}

// pythagoras holds with equality, because Θ₂ is affine.
func (r *Trace) pythagoras(at Place) (printed, corrected Sides) {
	return below(r.divergence(at.Next, at.Tilde)+r.divergence(at.Point, at.Next), r.divergence(at.Point, at.Tilde), r.size(at)), corrected
}

func (r *Trace) projectionIsNearer(at Place) (printed, corrected Sides) {
	return below(r.divergence(at.Point, at.Next), r.divergence(at.Point, at.Tilde), r.size(at)), corrected
}

func (r *Trace) oneStep(at Place) (printed, corrected Sides) {
	next, sum := r.divergence(at.Point, at.Next), r.divergence(at.Point, at.Theta)+r.divergence(at.Theta, at.Tilde)
	slope := at.along(at.away())
	return below(next, sum-slope, r.size(at)), below(next, sum+slope, r.size(at))
}

// symmetrised: the law has two right sides.
func (r *Trace) symmetrised(at Place) (printed, corrected Sides) {
	right := at.along(at.move())
	if at.Part == 0 {
		right = floats.Dot(r.turn(at), at.move())
	}
	return equal(r.divergence(at.Theta, at.Tilde)+r.divergence(at.Tilde, at.Theta), right, r.slopes(at)*sizeOf(at.move()...)), corrected
}

func (r *Trace) fenchelYoung(at Place) (printed, corrected Sides) {
	return below(at.along(at.move()), sq(at.Eta*r.dual(at.Sample))/2+sq(r.norm(at.move()))/2, 0), corrected
}

func (r *Trace) strongConvexity(at Place) (printed, corrected Sides) {
	square := sq(r.norm(at.move()))
	return below(square/2, r.divergence(at.Theta, at.Tilde), 0), below(r.Mu/2*square, r.divergence(at.Tilde, at.Theta), 0)
}

func (r *Trace) stepDivergence(at Place) (printed, corrected Sides) {
	back, square := r.divergence(at.Theta, at.Tilde), sq(at.Eta*r.dual(at.Sample))
	return below(back, square/2, 0), below(back, square/(2*r.Mu), 0)
}

func (r *Trace) stepAgainst(at Place) (printed, corrected Sides) {
	slope, square := at.along(at.away()), sq(at.Eta*r.dual(at.Sample))
	less := r.divergence(at.Point, at.Theta) - r.divergence(at.Point, at.Next)
	return below(slope, less+square/2, r.size(at)), below(-slope, less+square/(2*r.Mu), r.size(at))
}

// start is D(θ; θ₀).
func (r *Trace) start(theta []float64) float64 { return r.divergence(theta, r.before.Next) }

func (r *Trace) gradientSum(at Place) (printed, corrected Sides) {
	left := r.total(func(s TraceStep) float64 { return s.Eta * floats.Dot(s.Mean, difference(s.Theta, at.Point)) })
	return r.sumOf(at, -left, left)
}

// sumOf compares left sides with the sum of (5.12) over the steps: the argument left with the printed sum, and the
// argument proved with the corrected sum.
func (r *Trace) sumOf(at Place, left, proved float64) (printed, corrected Sides) {
	start, noise, squares := r.start(at.Point), r.noise(at.Point), r.squares()
	return below(left, start+noise+squares, noise), below(proved, start-noise+squares/r.Mu, noise)
}

func (r *Trace) lagrangianSum(at Place) (printed, corrected Sides) {
	left := r.total(func(s TraceStep) float64 {
		return s.Eta * (r.lagrangian(s.Theta, s.Lambda) - r.lagrangian(at.Point, s.Lambda))
	})
	return r.sumOf(at, left, left)
}

// multiplierProjection: the printed map, the projection onto the whole ball, does not increase distances either.
func (r *Trace) multiplierProjection(at Place) (printed, corrected Sides) {
	free, onto := floats.AddScaledTo(make([]float64, len(at.Lambda)), at.Lambda, at.Eta, at.Ascent), at.NextLambda
	if at.Part == 0 {
		onto = scaled(r.G/max(r.G, floats.Norm(free, 2)), free)
	}
	return below(floats.Distance(onto, at.Price, 2), floats.Distance(free, at.Price, 2), 0), corrected
}

func (r *Trace) multiplierSum(at Place) (printed, corrected Sides) {
	left := r.total(func(s TraceStep) float64 { return s.Eta * floats.Dot(s.Ascent, difference(at.Price, s.Lambda)) })
	half, ascents := floats.Dot(at.Price, at.Price)/2, r.ascents()
	return below(-left, half+ascents, 0), below(left, half+ascents/2, 0)
}

// convexity and concavity are equalities, because 𝓛 is affine in each argument. The printed left sides have the
// opposite sign.
func (r *Trace) convexity(at Place) (printed, corrected Sides) {
	slope, here := floats.Dot(at.Mean, at.away()), r.lagrangian(at.Theta, at.Lambda)
	right := here - r.lagrangian(at.Point, at.Lambda)
	return below(slope, right, here), equal(-slope, right, here)
}

func (r *Trace) concavity(at Place) (printed, corrected Sides) {
	slope, here := floats.Dot(at.Ascent, difference(at.Lambda, at.Price)), r.lagrangian(at.Theta, at.Lambda)
	right := r.lagrangian(at.Theta, at.Price) - here
	return below(slope, right, here), equal(-slope, right, here)
}

func (r *Trace) gapSum(at Place) (printed, corrected Sides) {
	left, start := r.lagrangians(at.Point, at.Price), r.start(at.Point)+floats.Dot(at.Price, at.Price)/2
	noise, squares, ascents := r.noise(at.Point), r.squares(), r.ascents()
	return below(left, start+noise+squares+ascents, noise), below(left, start-noise+squares/r.Mu+ascents/2, noise)
}

// averages: 𝓛 is affine in each argument, so 𝓛(θ̂, λ) is the average of 𝓛(θ_t, λ), and 𝓛(θ, λ̂) is the average of
// 𝓛(θ, λ_t).
func (r *Trace) averages(at Place) (printed, corrected Sides) {
	here := r.lagrangian(r.Theta, at.Price)
	return equal(here-r.lagrangian(at.Point, r.Lambda), r.lagrangians(at.Point, at.Price)/r.Sums.Sum, here), corrected
}

// ending holds the quantities of (5.23)–(5.36). The right side of (5.24) is computed from the run itself, by the
// corrected (5.18), so no concentration inequality hides an error; [Coin] evaluates the printed right side.
type ending struct {
	*Trace
	sum, v        float64   // S = Ση and V(θ̂)
	gap           float64   // cᵀΨ(θ̂ − θ*)
	complementary float64   // λ̂ᵀΨθ*
	short         []float64 // −[Ψθ̂]₋
	rhs           float64   // the right side of (5.24)
	noise         float64   // Ση⟨e_t, θ_t−θ*⟩/S, which rhs contains with a minus sign
}

func (r *Trace) ending() ending {
	best, f := r.target(), func(theta []float64) float64 { return r.Problem.Objective(theta) / r.Scale }
	e := ending{Trace: r, sum: r.Sums.Sum, v: r.Problem.Violation(r.Theta), gap: f(r.Theta) - f(best),
		complementary: f(best) - r.lagrangian(best, r.Lambda), short: combination(r.Problem, r.Theta), noise: r.noise(best) / r.Sums.Sum}
	for i, x := range e.short {
		e.short[i] = max(-x, 0)
	}
	e.rhs = (r.start(best)+r.squares()/r.Mu+r.ascents()/2)/e.sum - e.noise
	return e
}

// bracket is −λᵀ[Ψθ̂]₋ − ‖λ‖²/2S, the negative of the bracket of (5.23), at λ = −factor·S[Ψθ̂]₋, scaled into Λ.
func (e ending) bracket(factor float64) float64 {
	l := scaled(factor*e.sum, e.short)
	projectLambda(l, e.G)
	return floats.Dot(l, e.short) - floats.Dot(l, l)/(2*e.sum)
}

// printedBracket is the bracket of (5.26) and (5.27).
func (e ending) printedBracket() float64 {
	return 2*e.G*sq(e.v)*e.sum/max(e.G, e.sum*e.v) - sq(e.G*e.v)*e.sum/max(sq(e.G), sq(e.sum*e.v))
}

// with returns the sides of (5.23) and (5.24) for a given value of the bracket.
func (e ending) with(bracket float64) Sides {
	return below(e.gap+e.complementary+bracket, e.rhs, e.noise)
}

func (r *Trace) writtenOut(Place) (printed, corrected Sides) {
	e := r.ending()
	return printed, e.with(e.bracket(1))
}

// bestMultipliers: among the multiples of [Ψθ̂]₋ in Λ, [ending.bracket] is greatest at −S[Ψθ̂]₋, scaled into Λ. At half
// of −S[Ψθ̂]₋, as printed, it may be smaller.
func (r *Trace) bestMultipliers(Place) (printed, corrected Sides) {
	e, top := r.ending(), 0.0
	for k := range 4000 {
		top = max(top, e.bracket(float64(k)/1000))
	}
	return below(top, e.bracket(0.5), top), equal(top, e.bracket(1), top)
}

func (r *Trace) bracketAtThem(Place) (printed, corrected Sides) {
	e := r.ending()
	return printed, e.with(e.printedBracket())
}

func (r *Trace) bracketSign(Place) (printed, corrected Sides) {
	return below(0, r.ending().printedBracket(), 0), corrected
}

func (r *Trace) gapAlone(Place) (printed, corrected Sides) {
	e := r.ending()
	return printed, below(e.gap, e.rhs, e.noise)
}

// gradientSize: the printed chain begins with ‖∇_θ𝓛‖⁎ = ‖cᵀΨ + λᵀΨ‖⁎, where the sign of λ is wrong. The corrected sides
// are the two ends of the chain.
func (r *Trace) gradientSize(at Place) (printed, corrected Sides) {
	plus := make([]float64, len(at.Theta))
	r.Problem.Features().MulVecT(plus, at.Lambda)
	floats.AddScaled(plus, 1/r.Scale, r.Problem.BaseCosts())
	return equal(r.dual(at.Mean), r.dual(plus), 0), below(r.dual(at.Mean), r.K.GradientBound(), 0)
}

// inverseSquareRoots reports whether η_t = 1/√(t+1), judged by η₀ alone.
func (r *Trace) inverseSquareRoots() bool { return r.Steps[0].Eta == 1 }

// leastSum is the lower bound 2(√T − 1) on Ση for η_t = 1/√(t+1).
func (r *Trace) leastSum() float64 { return 2 * (math.Sqrt(float64(len(r.Steps))) - 1) }

func (r *Trace) firstCase(Place) (printed, corrected Sides) {
	e := r.ending()
	return below(e.v, r.G/r.leastSum(), 0).where(r.inverseSquareRoots() && r.G/e.sum > e.v), corrected
}

func (r *Trace) secondCase(Place) (printed, corrected Sides) {
	e := r.ending()
	return printed, e.with(2*r.G*e.v - sq(r.G)/e.sum).where(r.G/e.sum <= e.v)
}

// trivial is R c_max√(nm)‖Ψ‖, with max|c| for c_max.
func (r *Trace) trivial() float64 {
	return r.K.R * r.K.Cost * math.Sqrt(float64(r.K.Pairs)) * r.K.PsiNorm
}

func (r *Trace) gapFromBelow(Place) (printed, corrected Sides) {
	return below(-2*r.trivial(), r.ending().gap, 0), corrected
}

// violationThen compares V with the bound that follows from (5.34), (5.35) and the lower bound 2(√T − 1) on S.
func (r *Trace) violationThen(Place) (printed, corrected Sides) {
	e := r.ending()
	return below(e.v, (r.trivial()+e.rhs/2)/r.G+r.G/(2*r.leastSum()), 0).where(r.inverseSquareRoots() && e.v != 0), corrected
}

// hoelder is (A.2).
func (r *Trace) hoelder(at Place) (printed, corrected Sides) {
	return below(math.Abs(floats.Dot(at.Error, at.away())), 2*r.K.R*r.dual(at.Error), 0), corrected
}

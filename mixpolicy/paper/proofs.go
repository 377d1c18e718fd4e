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
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/theory"
	"github.com/mixpolicy/lab/plotting"
)

// Trace is a run of Algorithm 1 with all quantities of the proofs of section 5, step
// by step. It is a second implementation for clarity: each line is one of the paper's, λ is a
// dense vector, and θ̃_t is computed and then projected.
type Trace struct {
	Name    string
	Problem *mixpolicy.Problem
	Phi     bregman.Modulus
	Mu      float64 // strong convexity of φ in the norm of the class
	G       float64 // radius of the ball of λ
	Scale   float64 // divisor of costs
	K       *theory.Constants
	Form    mixpolicy.Form

	Steps  []TraceStep
	Sums   theory.StepSums
	Theta  []float64 // θ̂ (3.27)
	Lambda []float64 // λ̂
}

// TraceStep is iteration t.
type TraceStep struct {
	Eta    float64
	Theta  []float64 // θ_t
	Lambda []float64 // λ_t
	Pair   int       // sampled
	Sample []float64 // ĝ_t, (3.5a)
	Mean   []float64 // ∇_θ𝓛(θ_t, λ_t) = E ĝ_t
	Error  []float64 // e_t = ĝ_t − ∇_θ𝓛
	Ascent []float64 // ∇_λ𝓛(θ_t, λ_t) = −Ψθ_t

	Tilde      []float64 // θ̃_t
	Z          float64   // z_t
	Next       []float64 // θ_{t+1}
	NextLambda []float64 // λ_{t+1}
}

// TraceSettings choose the run. Pair, if not nil, replaces the oracle: it returns the sampled
// pair of iteration t. An inequality that holds surely must hold for any sequence of samples.
type TraceSettings struct {
	Name       string
	Iterations int
	StepSize   mixpolicy.StepSize
	Beta       float64
	CostScale  float64
	Start      []float64
	Form       mixpolicy.Form // the proofs are about the corrected one
	Seed       uint64
	Stream     uint64
	Pair       func(t int) int
}

// NewTrace makes the run.
func NewTrace(p *mixpolicy.Problem, set TraceSettings) (*Trace, error) {
	if set.CostScale == 0 {
		set.CostScale = 1
	}
	if set.Start == nil {
		set.Start = make([]float64, p.Dim())
		floats.AddConst(1/float64(p.Dim()), set.Start)
	}
	k, err := theory.NewConstants(p, mixpolicy.PrimalDual{Beta: set.Beta, CostScale: set.CostScale, Theta0: set.Start})
	if err != nil {
		return nil, fault.At("paper", "run "+strconv.Quote(set.Name), err)
	}
	pair := set.Pair
	if pair == nil {
		o, err := mixpolicy.NewOracle(p, set.Seed, set.Stream)
		if err != nil {
			return nil, fault.At("paper", "run "+strconv.Quote(set.Name), err)
		}
		pair = func(int) int {
			i, _ := o.Sample()
			return i
		}
	}
	r := &Trace{
		Name: set.Name, Problem: p, Phi: mixpolicy.DefaultModulus(p.Class()), Mu: k.Mu, G: k.G, Scale: set.CostScale, K: k, Form: set.Form,
		Sums:  theory.SumSteps(set.StepSize, set.Iterations),
		Theta: make([]float64, p.Dim()), Lambda: make([]float64, k.Pairs),
	}
	theta, lambda := set.Start, make([]float64, k.Pairs)
	for t := range set.Iterations {
		s, err := r.step(set.StepSize.At(t), theta, lambda, pair(t))
		if err != nil {
			return nil, fault.At("paper", fmt.Sprintf("run %q, iteration %d", set.Name, t), err)
		}
		r.Steps = append(r.Steps, s)
		floats.AddScaled(r.Theta, s.Eta/r.Sums.Sum, theta)
		floats.AddScaled(r.Lambda, s.Eta/r.Sums.Sum, lambda)
		theta, lambda = s.Next, s.NextLambda
	}
	return r, nil
}

func (r *Trace) step(eta float64, theta, lambda []float64, pair int) (TraceStep, error) {
	f, d, pairs := r.Problem.Features(), len(theta), len(lambda)
	s := TraceStep{
		Eta: eta, Theta: theta, Lambda: lambda, Pair: pair,
		Sample: make([]float64, d), Mean: make([]float64, d), Error: make([]float64, d), Ascent: make([]float64, pairs),
		Tilde: make([]float64, d), Next: make([]float64, d), NextLambda: make([]float64, pairs),
	}
	f.Row(s.Sample, pair)
	floats.Scale((r.cost(pair)-lambda[pair])/f.Sampling()[pair], s.Sample)
	r.gradient(s.Mean, lambda)
	floats.SubTo(s.Error, s.Sample, s.Mean)
	r.Problem.GradLambda(s.Ascent, theta)

	y := make([]float64, d)
	r.Phi.Gradient(y, theta)
	floats.AddScaled(y, -eta, s.Sample)
	r.Phi.ConjugateGradient(s.Tilde, y)
	floats.AddScaledTo(s.NextLambda, lambda, eta, s.Ascent)
	var err error
	if r.Form == mixpolicy.Printed { // (3.22) and (3.26) to the letter
		s.Z, err = bregman.Ball{R: r.Problem.Class().R}.PrintedShift(y)
		floats.AddScaledTo(s.NextLambda, lambda, -eta, s.Ascent)
		floats.Scale(r.G/max(r.G, floats.Norm(s.NextLambda, 2)), s.NextLambda)
	} else {
		s.Z, err = bregman.Shift(r.Phi, y, nil)
		projectLambda(s.NextLambda, r.G)
	}
	floats.AddConst(s.Z, y)
	r.Phi.ConjugateGradient(s.Next, y)
	return s, err
}

// projectLambda projects onto {λ ⪰ 0, ‖λ‖₂ ≤ G}: onto the orthant, then onto the ball. For a
// cone and a ball about its apex that is the projection onto their intersection.
func projectLambda(lambda []float64, g float64) {
	for i, v := range lambda {
		lambda[i] = max(v, 0)
	}
	if norm := floats.Norm(lambda, 2); norm > g {
		floats.Scale(g/norm, lambda)
	}
}

// cost is c/scale of a pair.
func (r *Trace) cost(pair int) float64 { return r.Problem.MDP().Costs()[pair] / r.Scale }

// gradient sets dst = ∇_θ𝓛 = Ψᵀ(c/scale − λ).
func (r *Trace) gradient(dst, lambda []float64) {
	r.Problem.Features().MulVecT(dst, lambda)
	for j, b := range r.Problem.BaseCosts() {
		dst[j] = b/r.Scale - dst[j]
	}
}

// lagrangian is 𝓛(θ, λ) for the scaled costs.
func (r *Trace) lagrangian(theta, lambda []float64) float64 {
	g := make([]float64, len(theta))
	r.gradient(g, lambda)
	return floats.Dot(g, theta)
}

// divergence is D_φ(x; y).
func (r *Trace) divergence(x, y []float64) float64 { return bregman.Divergence(r.Phi, x, y) }

// norm and dual are ‖·‖ of the class and ‖·‖⁎.
func (r *Trace) norm(x []float64) float64 { return r.Problem.Class().Norm.Of(x) }
func (r *Trace) dual(x []float64) float64 { return r.Problem.Class().Norm.Dual().Of(x) }

// optimum returns θ* and λ* for the scaled costs.
func (r *Trace) optimum() (theta, lambda []float64) {
	best := must(r.Problem.Optimum(context.Background()))
	lambda = multipliersOf(r.Problem, best)
	for i := range lambda {
		lambda[i] /= r.Scale
	}
	return best.Theta, lambda
}

// total is the sum of f over the iterations.
func (r *Trace) total(f func(s TraceStep) float64) float64 {
	var sum float64
	for _, s := range r.Steps {
		sum += f(s)
	}
	return sum
}

// inward returns x moved towards the point c by the fraction 2⁻⁴⁰, into the open domain.
func inward(x, c []float64) []float64 {
	y := make([]float64, len(x))
	for j := range y {
		y[j] = c[j] + (1-0x1p-40)*(x[j]-c[j])
	}
	return y
}

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

// evaluations keeps the worst evaluation of each equation and form, in order of appearance.
type evaluations struct {
	equation, run string
	at            int
	worst         map[stepKey]*Step
	order         []stepKey
	printed       *Step // if the last evaluation is the worst of a printed form so far
}

type stepKey struct {
	equation string
	form     mixpolicy.Form
}

// sides are the two sides of an equation or inequality. Difference is rhs − lhs by another
// derivation: 0 for an equality that is true, a sum of terms that are not negative for an
// inequality that is, and what is wrong with a form that is false. If it is another number than
// rhs − lhs, one of the three is wrong. Size is that of terms which the sides do not show.
type sides struct{ lhs, rhs, difference, size float64 }

// equal adds equations lhs = rhs and atMost adds lhs ≤ rhs of the given form.
func (c *evaluations) equal(form mixpolicy.Form, all ...sides) {
	for _, s := range all {
		c.add(Step{Form: form, Equality: true, LHS: s.lhs, RHS: s.rhs, Slack: -math.Abs(s.rhs - s.lhs)}, s)
	}
}

func (c *evaluations) atMost(form mixpolicy.Form, s sides) {
	c.add(Step{Form: form, LHS: s.lhs, RHS: s.rhs, Slack: s.rhs - s.lhs}, s)
}

func (c *evaluations) add(s Step, e sides) {
	s.Equation, s.Run, s.At = c.equation, c.run, c.at
	s.Size = math.Abs(e.lhs) + math.Abs(e.rhs) + math.Abs(e.size)
	if !(math.Abs(e.rhs-e.lhs-e.difference) <= stepTolerance*(s.Size+math.Abs(e.difference))) {
		s.Slack = math.NaN() // it does not hold
	}
	if s.Form == mixpolicy.Corrected && c.printed != nil && c.printed.Equation == s.Equation {
		beside := s
		c.printed.Beside = &beside
	}
	c.printed = nil
	key := stepKey{s.Equation, s.Form}
	old, seen := c.worst[key]
	if !seen {
		c.order = append(c.order, key)
		s.Evaluations = 1
		c.worst[key] = &s
		c.noteIfPrinted(&s)
		return
	}
	s.Evaluations = old.Evaluations + 1
	// Differences within rounding are ignored, so that the result does not depend on them.
	if s.relative() < old.relative()-stepTolerance || math.IsNaN(s.Slack) {
		*old = s
		c.noteIfPrinted(old)
	}
	old.Evaluations = s.Evaluations
}

// noteIfPrinted keeps the worst of a printed form for the corrected one, which is evaluated next.
func (c *evaluations) noteIfPrinted(s *Step) {
	if s.Form == mixpolicy.Printed {
		c.printed = s
	}
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
	return append(runs, must(NewTrace(must(smallProblem(mixpolicy.Cube(1.5))), small))), nil
}

// proofRuns are those of [ProofRuns], made once.
var proofRuns = sync.OnceValues(ProofRuns)

// equation is a numbered equation with the method that evaluates it along a run.
type equation struct {
	number, method string
	evaluate       func(*Trace, *evaluations)
}

var equations = []equation{
	{"5.1a", "gradientStep", (*Trace).gradientStep},
	{"5.1b", "projectionStep", (*Trace).projectionStep},
	{"5.2", "gradientDifference", (*Trace).gradientDifference},
	{"5.3", "cosines", (*Trace).cosines},
	{"5.4", "pythagoras", (*Trace).pythagoras},
	{"5.5", "stepCosines", (*Trace).stepCosines},
	{"5.6", "projectionIsNearer", (*Trace).projectionIsNearer},
	{"5.7", "oneStep", (*Trace).oneStep},
	{"5.8", "symmetrised", (*Trace).symmetrised},
	{"5.9", "fenchelYoung", (*Trace).fenchelYoung},
	{"5.10", "strongConvexity", (*Trace).strongConvexity},
	{"5.11", "stepDivergence", (*Trace).stepDivergence},
	{"5.12", "stepAgainst", (*Trace).stepAgainst},
	{"5.13", "gradientSum", (*Trace).gradientSum},
	{"5.14", "lagrangianSum", (*Trace).lagrangianSum},
	{"5.15", "multiplierProjection", (*Trace).multiplierProjection},
	{"5.16", "multiplierSum", (*Trace).multiplierSum},
	{"5.17a", "convexity", (*Trace).convexity},
	{"5.17b", "concavity", (*Trace).concavity},
	{"5.18", "gapSum", (*Trace).gapSum},
	{"5.22", "averages", (*Trace).averages},
	{"5.23", "writtenOut", (*Trace).writtenOut},
	{"5.24", "writtenOut", (*Trace).writtenOut},
	{"5.25", "bestMultipliers", (*Trace).bestMultipliers},
	{"5.26", "bracketAtThem", (*Trace).bracketAtThem},
	{"5.27", "bracketSign", (*Trace).bracketSign},
	{"5.28", "gapAlone", (*Trace).gapAlone},
	{"5.30", "gradientSize", (*Trace).gradientSize},
	{"5.33", "firstCase", (*Trace).firstCase},
	{"5.34", "secondCase", (*Trace).secondCase},
	{"5.35", "gapFromBelow", (*Trace).gapFromBelow},
	{"5.36", "violationThen", (*Trace).violationThen},
	{"A.2", "hoelder", (*Trace).hoelder},
}

// methodOf returns the symbol that evaluates an equation.
func methodOf(number string) string {
	i := slices.IndexFunc(equations, func(e equation) bool { return e.number == number })
	return "mixpolicy/paper.Trace." + equations[i].method
}

// evaluate returns the worst cases of the equations that are chosen.
func evaluate(ctx context.Context, chosen func(number string) bool) []Step {
	c := &evaluations{worst: map[stepKey]*Step{}}
	for _, r := range must(proofRuns()) {
		noError(ctx.Err())
		c.run = r.Name
		for _, e := range equations {
			if chosen(e.number) {
				c.equation, c.at = e.number, -1
				e.evaluate(r, c)
			}
		}
	}
	var steps []Step
	for _, key := range c.order {
		steps = append(steps, *c.worst[key])
	}
	return steps
}

// Proofs evaluates every equality and inequality of section 5 that is about a run, (5.1) to
// (5.18) and (5.22) to (5.36), as printed and as corrected, and returns the worst case of
// each in the order of the paper. An equation that is correct as printed has one row.
func Proofs(ctx context.Context) (steps []Step, err error) {
	defer catch(&err)
	steps = evaluate(ctx, func(number string) bool { return number[0] == '5' })
	slices.SortStableFunc(steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(len(strings.TrimRight(a.Equation, "ab")), len(strings.TrimRight(b.Equation, "ab"))), // 5.9 before 5.10
			cmp.Compare(a.Equation, b.Equation), cmp.Compare(b.Form, a.Form)) // printed first
	})
	return steps, nil
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
	slack := "0"
	if math.Abs(s.Slack) > stepTolerance*s.Size {
		slack = fmt.Sprintf("%.2g", s.Slack)
	}
	place := s.Run
	if s.At >= 0 {
		place += fmt.Sprintf(", step %d", s.At)
	}
	return []any{
		fmt.Sprintf("(%s) %v", s.Equation, s.Form),
		fmt.Sprintf("%.4g", s.LHS), map[bool]string{true: "=", false: "≤"}[s.Equality], fmt.Sprintf("%.4g", s.RHS), slack,
		fmt.Sprintf("%s, %d times", map[bool]string{true: "holds", false: "fails"}[holds], s.Evaluations), place,
	}
}

// checkAlongRuns checks an equation that holds surely by [alongRuns].
func checkAlongRuns(number string) check {
	return func(ctx context.Context) Finding {
		f := alongRuns(number)(ctx)
		if math.IsNaN(f.Printed) {
			noError(fmt.Errorf("paper: no run evaluates (%s) as printed", number))
		}
		return f
	}
}

// alongRuns checks an equation by [evaluate]. What is evaluated as printed only is right, and what is
// evaluated as corrected only is NaN as printed.
func alongRuns(number string) check {
	return func(ctx context.Context) Finding {
		f := Finding{Printed: math.NaN(), Corrected: math.NaN(), Tolerance: stepTolerance}
		var numbers []string
		steps := evaluate(ctx, func(n string) bool { return n == number })
		slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(b.Form, a.Form) }) // printed first
		for _, s := range steps {
			if math.IsNaN(s.Slack) {
				noError(fmt.Errorf("paper: (%s) %v, run %q: %v and %v do not differ by what is derived", number, s.Form, s.Run, s.LHS, s.RHS))
			}
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
		if numbers == nil {
			noError(fmt.Errorf("paper: no run evaluates (%s)", number))
		}
		if math.IsNaN(f.Corrected) {
			f.Corrected = f.Printed
		}
		f.Numbers = strings.Join(numbers, "; ")
		return f
	}
}

// comparators are points θ of Θ₂ ∩ Θ_R: the optimum, base policies, and extreme points.
func (r *Trace) comparators() [][]float64 {
	centre := r.Steps[0].Theta
	points := [][]float64{r.target()}
	class := r.Problem.Class()
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

// target is θ*, inside of the domain.
func (r *Trace) target() []float64 {
	best, _ := r.optimum()
	return inward(best, r.Steps[0].Theta)
}

// multipliers are points λ ∈ Λ: 0, the projection of λ*, one along Ψθ₀, and the worst for θ̂.
func (r *Trace) multipliers() [][]float64 {
	_, best := r.optimum()
	along := combination(r.Problem, r.Steps[0].Theta)
	floats.Scale(1/floats.Norm(along, 2), along)
	against := make([]float64, len(best))
	r.Problem.GradLambda(against, r.Theta)
	all := [][]float64{make([]float64, len(best)), best, along, scaled(0x1p40, against)}
	for _, l := range all {
		projectLambda(l, r.G)
	}
	return all
}

// each calls f with every iteration, and against with every comparator θ as well.
func (r *Trace) each(c *evaluations, f func(s TraceStep)) {
	for t, s := range r.Steps {
		c.at = t
		f(s)
	}
}

func (r *Trace) against(c *evaluations, f func(s TraceStep, theta []float64)) {
	points := r.comparators()
	r.each(c, func(s TraceStep) {
		for _, theta := range points {
			f(s, theta)
		}
	})
}

// turn is ∇φ(θ_t) − ∇φ(θ̃_t), and move is θ_t − θ̃_t.
func (r *Trace) turn(s TraceStep) []float64 {
	return difference(r.slope(s.Theta), r.slope(s.Tilde))
}

func (s TraceStep) move() []float64 { return difference(s.Theta, s.Tilde) }

// slope is ∇φ(x).
func (r *Trace) slope(x []float64) []float64 { return slope(r.Phi, x) }

func slope(phi bregman.Modulus, x []float64) []float64 {
	g := make([]float64, len(x))
	phi.Gradient(g, x)
	return g
}

// slopes is the size of the gradients of φ at iteration t, and pairing that of their products with x.
func (r *Trace) slopes(s TraceStep) float64 {
	return sizeOf(r.slope(s.Theta)...) + sizeOf(r.slope(s.Tilde)...) + sizeOf(r.slope(s.Next)...)
}

func (r *Trace) pairing(s TraceStep, x []float64) float64 { return r.slopes(s) * sizeOf(x...) }

// size is that of the divergences at iteration t, for the rounding of their differences.
func (r *Trace) size(s TraceStep, theta []float64) float64 {
	return sizeOf(r.divergence(theta, s.Theta), r.divergence(theta, s.Tilde), r.divergence(theta, s.Next), r.divergence(s.Theta, s.Tilde))
}

// elementary is D(x; y) of (3.7) and (3.10), written out: ((‖x−y‖² + (a−b)²)/2b for points of
// heights a and b on the hemisphere of radius R, and logarithms for the cube.
func (r *Trace) elementary(x, y []float64) float64 {
	radius := r.K.R
	if r.Problem.Class() == mixpolicy.Ball(radius) {
		a, b := math.Sqrt(radius*radius-floats.Dot(x, x)), math.Sqrt(radius*radius-floats.Dot(y, y))
		return (sq(floats.Distance(x, y, 2)) + sq(a-b)) / (2 * b)
	}
	var d float64
	for j := range x {
		for _, sign := range []float64{1, -1} {
			from := radius + sign*y[j]
			d += from * entropyStep(sign*(x[j]-y[j])/from)
		}
	}
	return d
}

// entropyStep is (1+u)ln(1+u) − u, by its series where that would cancel.
func entropyStep(u float64) float64 {
	if math.Abs(u) > 0.01 {
		return (1+u)*math.Log1p(u) - u
	}
	var sum float64
	for k := 9.; k >= 2; k-- {
		sum = 1/(k*(k-1)) - u*sum
	}
	return u * u * sum
}

// convexityLeft returns D(θ̃_t; θ_t) − (μ/2)‖θ_t−θ̃_t‖², what strong convexity leaves at iteration t, with
// μ = 1/R for (3.7) and 2/R for (3.10).
func (r *Trace) convexityLeft(s TraceStep) float64 {
	mu := 1 / r.K.R
	if r.Problem.Class() != mixpolicy.Ball(r.K.R) {
		mu = 2 / r.K.R
	}
	return r.elementary(s.Tilde, s.Theta) - mu/2*sq(r.norm(s.move()))
}

// youngLeft is what is left by η⟨ĝ,x⟩ ≤ ½η²‖ĝ‖⁎²/μ + (μ/2)‖x‖² at x = θ_t − θ̃_t: a square, and the slack of
// Hölder's inequality.
func (r *Trace) youngLeft(s TraceStep, mu float64) float64 {
	move := s.move()
	g, length := s.Eta*r.dual(s.Sample), r.norm(move)
	return sq(g-mu*length)/(2*mu) + g*length - s.Eta*floats.Dot(s.Sample, move)
}

// divergenceLeft is what (5.11) leaves: (5.8), (5.9) and (5.10).
func (r *Trace) divergenceLeft(s TraceStep) float64 {
	return r.youngLeft(s, r.Mu) + r.convexityLeft(s)
}

// stepLeft is what (5.12) leaves: (5.11), and the Pythagorean equality, as Θ₂ is affine.
func (r *Trace) stepLeft(s TraceStep) float64 {
	return r.divergenceLeft(s) + r.divergence(s.Next, s.Tilde)
}

// primalLeft is what (5.13) leaves: (5.12) at every step, ½‖x+y‖² ≤ ‖x‖² + ‖y‖², and D(θ;θ_T), which
// is dropped.
func (r *Trace) primalLeft(theta []float64) float64 {
	return r.total(func(s TraceStep) float64 {
		g, e := r.dual(s.Mean), r.dual(s.Error)
		return r.stepLeft(s) + sq(s.Eta)/(2*r.Mu)*(sq(g-e)+sq(g+e)-sq(r.dual(s.Sample)))
	}) + r.divergence(theta, r.Steps[len(r.Steps)-1].Next)
}

// projectionLeft is ‖x−λ‖² − ‖y−λ‖² for a projection y of x: the two squares that the obtuse angle at y
// leaves.
func projectionLeft(x, y, l []float64) float64 {
	return sq(floats.Distance(x, y, 2)) + 2*floats.Dot(difference(x, y), difference(y, l))
}

// free is λ_t + η∇_λ𝓛, before the projection.
func (s TraceStep) free() []float64 {
	return floats.AddScaledTo(make([]float64, len(s.Lambda)), s.Lambda, s.Eta, s.Ascent)
}

// dualLeft is what (5.16) leaves: half of what projections leave, and ½‖λ_T−λ‖², which is dropped.
func (r *Trace) dualLeft(l []float64) float64 {
	return r.total(func(s TraceStep) float64 { return projectionLeft(s.free(), s.NextLambda, l) / 2 }) +
		sq(floats.Distance(r.Steps[len(r.Steps)-1].NextLambda, l, 2))/2
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

func (r *Trace) gradientStep(c *evaluations) {
	r.each(c, func(s TraceStep) {
		at, tilde := r.slope(s.Theta), r.slope(s.Tilde)
		for j := range at {
			c.equal(mixpolicy.Printed, sides{lhs: tilde[j], rhs: at[j] - s.Eta*s.Sample[j], size: r.slopes(s)})
		}
	})
}

func (r *Trace) projectionStep(c *evaluations) {
	r.each(c, func(s TraceStep) {
		next := make([]float64, len(s.Tilde))
		noError(bregman.Project(r.Phi, next, s.Tilde))
		for j := range next {
			c.equal(mixpolicy.Printed, sides{lhs: s.Next[j], rhs: next[j], size: r.K.R})
		}
	})
}

func (r *Trace) gradientDifference(c *evaluations) {
	r.against(c, func(s TraceStep, theta []float64) {
		c.equal(mixpolicy.Printed, sides{
			lhs: s.Eta * floats.Dot(s.Sample, difference(theta, s.Theta)), rhs: floats.Dot(r.turn(s), difference(theta, s.Theta)), size: r.pairing(s, append(theta[:len(theta):len(theta)], s.Theta...)),
		})
	})
}

// cosines: as printed the right side has the other sign.
func (r *Trace) cosines(c *evaluations) {
	r.against(c, func(s TraceStep, theta []float64) {
		lhs := floats.Dot(r.turn(s), difference(theta, s.Theta))
		from, fromTilde, back := r.divergence(theta, s.Theta), r.divergence(theta, s.Tilde), r.divergence(s.Theta, s.Tilde)
		c.equal(mixpolicy.Printed, sides{lhs: lhs, rhs: from - fromTilde + back, difference: -2 * s.Eta * floats.Dot(s.Sample, difference(theta, s.Theta)), size: r.size(s, theta)})
		c.equal(mixpolicy.Corrected, sides{lhs: lhs, rhs: fromTilde - from - back, size: r.size(s, theta)})
	})
}

func (r *Trace) stepCosines(c *evaluations) {
	r.against(c, func(s TraceStep, theta []float64) {
		lhs := s.Eta * floats.Dot(s.Sample, difference(theta, s.Theta))
		from, fromTilde, back := r.divergence(theta, s.Theta), r.divergence(theta, s.Tilde), r.divergence(s.Theta, s.Tilde)
		c.equal(mixpolicy.Printed, sides{lhs: lhs, rhs: from - fromTilde + back, difference: -2 * floats.Dot(r.turn(s), difference(theta, s.Theta)), size: r.size(s, theta)})
		c.equal(mixpolicy.Corrected, sides{lhs: lhs, rhs: fromTilde - from - back, size: r.size(s, theta)})
	})
}

// pythagoras is an equality, as Θ₂ is affine.
func (r *Trace) pythagoras(c *evaluations) {
	projection := make([]float64, r.Problem.Dim())
	r.against(c, func(s TraceStep, theta []float64) {
		noError(bregman.Project(r.Phi, projection, s.Tilde))
		c.atMost(mixpolicy.Printed, sides{lhs: r.divergence(projection, s.Tilde) + r.divergence(theta, projection), rhs: r.divergence(theta, s.Tilde), size: r.size(s, theta)})
	})
}

func (r *Trace) projectionIsNearer(c *evaluations) {
	r.against(c, func(s TraceStep, theta []float64) {
		c.atMost(mixpolicy.Printed, sides{lhs: r.divergence(theta, s.Next), rhs: r.divergence(theta, s.Tilde), difference: r.divergence(s.Next, s.Tilde), size: r.size(s, theta)})
	})
}

func (r *Trace) oneStep(c *evaluations) {
	r.against(c, func(s TraceStep, theta []float64) {
		slope := s.Eta * floats.Dot(s.Sample, difference(theta, s.Theta))
		lhs, sum, left := r.divergence(theta, s.Next), r.divergence(theta, s.Theta)+r.divergence(s.Theta, s.Tilde), r.divergence(s.Next, s.Tilde)
		c.atMost(mixpolicy.Printed, sides{lhs: lhs, rhs: sum - slope, difference: left - 2*floats.Dot(r.turn(s), difference(theta, s.Theta)), size: r.size(s, theta)})
		c.atMost(mixpolicy.Corrected, sides{lhs: lhs, rhs: sum + slope, difference: left, size: r.size(s, theta)})
	})
}

func (r *Trace) symmetrised(c *evaluations) {
	r.each(c, func(s TraceStep) {
		both := r.divergence(s.Theta, s.Tilde) + r.divergence(s.Tilde, s.Theta)
		c.equal(mixpolicy.Printed, sides{lhs: both, rhs: floats.Dot(r.turn(s), s.move()), size: r.pairing(s, s.move())},
			sides{lhs: both, rhs: s.Eta * floats.Dot(s.Sample, s.move()), size: r.pairing(s, s.move())})
	})
}

func (r *Trace) fenchelYoung(c *evaluations) {
	r.each(c, func(s TraceStep) {
		rhs := sq(s.Eta*r.dual(s.Sample))/2 + sq(r.norm(s.move()))/2
		c.atMost(mixpolicy.Printed, sides{lhs: s.Eta * floats.Dot(s.Sample, s.move()), rhs: rhs, difference: r.youngLeft(s, 1)})
	})
}

func (r *Trace) strongConvexity(c *evaluations) {
	r.each(c, func(s TraceStep) {
		length := r.norm(s.move())
		c.atMost(mixpolicy.Printed, sides{lhs: sq(length) / 2, rhs: r.divergence(s.Theta, s.Tilde), difference: r.elementary(s.Theta, s.Tilde) - sq(length)/2})
		c.atMost(mixpolicy.Corrected, sides{lhs: r.Mu / 2 * sq(length), rhs: r.divergence(s.Tilde, s.Theta), difference: r.convexityLeft(s)})
	})
}

func (r *Trace) stepDivergence(c *evaluations) {
	r.each(c, func(s TraceStep) {
		back, g := r.divergence(s.Theta, s.Tilde), s.Eta*r.dual(s.Sample)
		left := r.divergenceLeft(s)
		c.atMost(mixpolicy.Printed, sides{lhs: back, rhs: sq(g) / 2, difference: left + (1-1/r.Mu)/2*sq(g)})
		c.atMost(mixpolicy.Corrected, sides{lhs: back, rhs: sq(g) / (2 * r.Mu), difference: left})
	})
}

func (r *Trace) stepAgainst(c *evaluations) {
	r.against(c, func(s TraceStep, theta []float64) {
		slope, g := s.Eta*floats.Dot(s.Sample, difference(theta, s.Theta)), s.Eta*r.dual(s.Sample)
		from, next := r.divergence(theta, s.Theta), r.divergence(theta, s.Next)
		left, turned := r.stepLeft(s), floats.Dot(r.turn(s), difference(theta, s.Theta))
		c.atMost(mixpolicy.Printed, sides{lhs: slope, rhs: from - next + sq(g)/2, difference: left + (1-1/r.Mu)/2*sq(g) - 2*turned, size: r.size(s, theta)})
		c.atMost(mixpolicy.Corrected, sides{lhs: -slope, rhs: from - next + sq(g)/(2*r.Mu), difference: left, size: r.size(s, theta)})
	})
}

func (r *Trace) gradientSum(c *evaluations) {
	squares := r.squares()
	for _, theta := range r.comparators() {
		lhs := r.total(func(s TraceStep) float64 { return s.Eta * floats.Dot(s.Mean, difference(s.Theta, theta)) })
		start, noise, left := r.divergence(theta, r.Steps[0].Theta), r.noise(theta), r.primalLeft(theta)
		c.atMost(mixpolicy.Printed, sides{lhs: -lhs, rhs: start + noise + squares, difference: left + 2*noise + 2*lhs + (1-1/r.Mu)*squares, size: noise})
		c.atMost(mixpolicy.Corrected, sides{lhs: lhs, rhs: start - noise + squares/r.Mu, difference: left, size: noise})
	}
}

func (r *Trace) lagrangianSum(c *evaluations) {
	squares := r.squares()
	for _, theta := range r.comparators() {
		lhs := r.total(func(s TraceStep) float64 {
			return s.Eta * (r.lagrangian(s.Theta, s.Lambda) - r.lagrangian(theta, s.Lambda))
		})
		start, noise, left := r.divergence(theta, r.Steps[0].Theta), r.noise(theta), r.primalLeft(theta)
		c.atMost(mixpolicy.Printed, sides{lhs: lhs, rhs: start + noise + squares, difference: left + 2*noise + (1-1/r.Mu)*squares, size: noise})
		c.atMost(mixpolicy.Corrected, sides{lhs: lhs, rhs: start - noise + squares/r.Mu, difference: left, size: noise})
	}
}

// multiplierProjection: the printed map, onto the whole ball, does not increase distances either.
func (r *Trace) multiplierProjection(c *evaluations) {
	multipliers := r.multipliers()
	r.each(c, func(s TraceStep) {
		free := s.free()
		ball := scaled(r.G/max(r.G, floats.Norm(free, 2)), free)
		for _, l := range multipliers {
			rhs := floats.Distance(free, l, 2)
			for _, onto := range [][]float64{ball, s.NextLambda} {
				lhs, left := floats.Distance(onto, l, 2), projectionLeft(free, onto, l)
				if left != 0 {
					left /= lhs + rhs
				}
				c.atMost(mixpolicy.Printed, sides{lhs: lhs, rhs: rhs, difference: left})
			}
		}
	})
}

func (r *Trace) multiplierSum(c *evaluations) {
	ascents := r.ascents()
	for _, l := range r.multipliers() {
		lhs := r.total(func(s TraceStep) float64 { return s.Eta * floats.Dot(s.Ascent, difference(l, s.Lambda)) })
		half, left := floats.Dot(l, l)/2, r.dualLeft(l)
		c.atMost(mixpolicy.Printed, sides{lhs: -lhs, rhs: half + ascents, difference: left + 2*lhs + ascents/2})
		c.atMost(mixpolicy.Corrected, sides{lhs: lhs, rhs: half + ascents/2, difference: left})
	}
}

// convexity and concavity are equalities, as 𝓛 is linear in each argument; as printed the left side
// has the other sign.
func (r *Trace) convexity(c *evaluations) {
	r.against(c, func(s TraceStep, theta []float64) {
		slope := floats.Dot(s.Mean, difference(theta, s.Theta))
		here, there := r.lagrangian(s.Theta, s.Lambda), r.lagrangian(theta, s.Lambda)
		c.atMost(mixpolicy.Printed, sides{lhs: slope, rhs: here - there, difference: 2 * floats.Dot(s.Mean, difference(s.Theta, theta)), size: here})
		c.equal(mixpolicy.Corrected, sides{lhs: -slope, rhs: here - there, size: here})
	})
}

func (r *Trace) concavity(c *evaluations) {
	multipliers := r.multipliers()
	r.each(c, func(s TraceStep) {
		for _, l := range multipliers {
			slope := floats.Dot(s.Ascent, difference(s.Lambda, l))
			here, there := r.lagrangian(s.Theta, s.Lambda), r.lagrangian(s.Theta, l)
			c.atMost(mixpolicy.Printed, sides{lhs: slope, rhs: there - here, difference: 2 * floats.Dot(s.Ascent, difference(l, s.Lambda)), size: here})
			c.equal(mixpolicy.Corrected, sides{lhs: -slope, rhs: there - here, size: here})
		}
	})
}

func (r *Trace) gapSum(c *evaluations) {
	squares, ascents := r.squares(), r.ascents()
	for _, theta := range r.comparators() {
		start, noise, primal := r.divergence(theta, r.Steps[0].Theta), r.noise(theta), r.primalLeft(theta)
		for _, l := range r.multipliers() {
			lhs := r.total(func(s TraceStep) float64 {
				return s.Eta * (r.lagrangian(s.Theta, l) - r.lagrangian(theta, s.Lambda))
			})
			half, left := floats.Dot(l, l)/2, primal+r.dualLeft(l)
			c.atMost(mixpolicy.Printed, sides{lhs: lhs, rhs: start + half + noise + squares + ascents, difference: left + 2*noise + (1-1/r.Mu)*squares + ascents/2, size: noise})
			c.atMost(mixpolicy.Corrected, sides{lhs: lhs, rhs: start + half - noise + squares/r.Mu + ascents/2, difference: left, size: noise})
		}
	}
}

// averages: 𝓛 is linear, so its value at the averages is the average of its values.
func (r *Trace) averages(c *evaluations) {
	for _, theta := range r.comparators() {
		for _, l := range r.multipliers() {
			lhs := r.lagrangian(r.Theta, l) - r.lagrangian(theta, r.Lambda)
			sum := r.total(func(s TraceStep) float64 {
				return s.Eta * (r.lagrangian(s.Theta, l) - r.lagrangian(theta, s.Lambda))
			})
			c.equal(mixpolicy.Printed, sides{lhs: lhs, rhs: sum / r.Sums.Sum, size: r.lagrangian(r.Theta, l)})
		}
	}
}

// end is what (5.23)–(5.36) are about. The right side of (5.24) is that of the run itself, (∗) of
// theory.Constants.ObjectiveBound, so that no concentration inequality hides an error; [Coin]
// evaluates the printed right side.
type end struct {
	sum, v        float64   // S = Ση and V(θ̂)
	gap           float64   // cᵀΨ(θ̂ − θ*)
	complementary float64   // λ̂ᵀΨθ*
	short         []float64 // [Ψθ̂]₋
	rhs           float64   // of (5.24)
	noise         float64   // Ση⟨e_t, θ_t−θ*⟩/S, for the size
}

func (r *Trace) end() end {
	best := r.target()
	f := func(theta []float64) float64 { return r.Problem.Objective(theta) / r.Scale }
	e := end{sum: r.Sums.Sum, v: r.Problem.Violation(r.Theta), gap: f(r.Theta) - f(best), complementary: f(best) - r.lagrangian(best, r.Lambda)}
	e.short = make([]float64, len(r.Lambda))
	r.Problem.GradLambda(e.short, r.Theta)
	for i, x := range e.short {
		e.short[i] = max(x, 0)
	}
	e.noise = r.noise(best) / e.sum
	e.rhs = (r.divergence(best, r.Steps[0].Theta)+r.squares()/r.Mu+r.ascents()/2)/e.sum - e.noise
	return e
}

// toward returns the λ ∈ Λ along [Ψθ̂]₋ that factor·S[Ψθ̂]₋ is scaled to, and λᵀ[Ψθ̂]₋ − ‖λ‖²/2S, the bracket
// of (5.23) at it.
func (r *Trace) toward(e end, factor float64) (l []float64, bracket float64) {
	l = scaled(factor*e.sum, e.short)
	projectLambda(l, r.G)
	return l, floats.Dot(l, e.short) - floats.Dot(l, l)/(2*e.sum)
}

// left is what (5.24) leaves at a λ.
func (r *Trace) left(e end, l []float64) float64 {
	return (r.primalLeft(r.target()) + r.dualLeft(l)) / e.sum
}

func (r *Trace) writtenOut(c *evaluations) {
	e := r.end()
	l, bracket := r.toward(e, 1)
	c.atMost(mixpolicy.Corrected, sides{lhs: e.gap + e.complementary + bracket, rhs: e.rhs, difference: r.left(e, l), size: e.noise})
}

// bestMultipliers: of all multiples of [Ψθ̂]₋ in the ball S[Ψθ̂]₋ has the greatest bracket, and the printed
// half of it may have a smaller one.
func (r *Trace) bestMultipliers(c *evaluations) {
	e, top := r.end(), 0.0
	for k := range 4000 {
		_, bracket := r.toward(e, float64(k)/1000)
		top = max(top, bracket)
	}
	_, half := r.toward(e, 0.5)
	_, whole := r.toward(e, 1)
	// By the length of λ: V·2ℓ − ℓ²/2S, which is greatest at ℓ = 2SV.
	at := func(length float64) float64 { return 2*e.v*length - sq(length)/(2*e.sum) }
	c.atMost(mixpolicy.Printed, sides{lhs: top, rhs: half, difference: at(min(r.G, e.sum*e.v)) - at(min(r.G, 2*e.sum*e.v)), size: top})
	c.equal(mixpolicy.Corrected, sides{lhs: top, rhs: whole, size: top})
}

// printedBracket is the bracket of (5.26) and (5.27): that of the printed λ, but for ‖λ‖²/S in place of
// ‖λ‖²/2S, by which it is less.
func (r *Trace) printedBracket(e end) float64 {
	l, _ := r.toward(e, 0.5)
	return floats.Dot(l, e.short) - floats.Dot(l, l)/e.sum
}

func (r *Trace) bracketAtThem(c *evaluations) {
	e := r.end()
	bracket := 2*r.G*sq(e.v)*e.sum/max(r.G, e.sum*e.v) - sq(r.G*e.v)*e.sum/max(sq(r.G), sq(e.sum*e.v))
	l, best := r.toward(e, 1)
	c.atMost(mixpolicy.Corrected, sides{lhs: e.gap + e.complementary + bracket, rhs: e.rhs, difference: r.left(e, l) + best - r.printedBracket(e), size: e.noise})
}

func (r *Trace) bracketSign(c *evaluations) {
	e := r.end()
	c.atMost(mixpolicy.Printed, sides{lhs: 0, rhs: 2*r.G*sq(e.v)*e.sum/max(r.G, e.sum*e.v) - sq(r.G*e.v)*e.sum/max(sq(r.G), sq(e.sum*e.v)), difference: r.printedBracket(e)})
}

func (r *Trace) gapAlone(c *evaluations) {
	e := r.end()
	l, bracket := r.toward(e, 1)
	c.atMost(mixpolicy.Corrected, sides{lhs: e.gap, rhs: e.rhs, difference: r.left(e, l) + bracket + e.complementary, size: e.noise})
}

// gradientSize: it begins with ‖∇_θ𝓛‖⁎ = ‖cᵀΨ + λᵀΨ‖⁎, which has the sign of λ wrong, and ends with a bound,
// which is attained by no run.
func (r *Trace) gradientSize(c *evaluations) {
	base := scaled(1/r.Scale, r.Problem.BaseCosts())
	r.each(c, func(s TraceStep) {
		prices := make([]float64, len(base))
		r.Problem.Features().MulVecT(prices, s.Lambda)
		g, plus, minus := r.dual(s.Mean), r.dual(floats.AddTo(make([]float64, len(base)), base, prices)), r.dual(difference(base, prices))
		c.equal(mixpolicy.Printed, sides{lhs: g, rhs: plus, difference: plus - minus})
		bound := r.K.PsiNorm * (r.K.Cost*math.Sqrt(float64(len(s.Lambda))) + r.G)
		c.atMost(mixpolicy.Corrected, sides{lhs: g, rhs: r.K.GradientBound(), difference: bound - minus})
	})
}

// inverseSquareRoots reports whether η_t = 1/√(t+1).
func (r *Trace) inverseSquareRoots() bool { return r.Steps[0].Eta == 1 }

func (r *Trace) firstCase(c *evaluations) {
	if e := r.end(); r.inverseSquareRoots() && r.G/e.sum > e.v {
		t := float64(len(r.Steps))
		bound := r.G * (math.Sqrt(t) + 1) / (2 * (t - 1)) // √T − 1 = (T−1)/(√T+1)
		c.atMost(mixpolicy.Printed, sides{lhs: e.v, rhs: r.G / (2 * (math.Sqrt(t) - 1)), difference: bound - e.v})
	}
}

func (r *Trace) secondCase(c *evaluations) {
	if e := r.end(); r.G/e.sum <= e.v {
		l, _ := r.toward(e, 1) // of length G
		c.atMost(mixpolicy.Corrected, sides{lhs: e.gap + e.complementary + 2*r.G*e.v - sq(r.G)/e.sum, rhs: e.rhs, difference: r.left(e, l) + sq(r.G)/(2*e.sum), size: e.noise})
	}
}

// costLeft is what (5.35) leaves, step by step: Hölder's inequality, ‖θ̂−θ*‖ ≤ 2R, the norm of Ψ, and
// ‖c‖₂ ≤ c_max√(nm).
func (r *Trace) costLeft(e end) float64 {
	c, b, away := scaled(1/r.Scale, r.Problem.MDP().Costs()), scaled(1/r.Scale, r.Problem.BaseCosts()), difference(r.Theta, r.target())
	slope, norm := r.dual(b), theory.SubordinateNorm(r.Problem.Features(), r.Problem.Class().Norm)
	return e.gap + slope*r.norm(away) + slope*(2*r.K.R-r.norm(away)) + 2*r.K.R*(floats.Norm(c, 2)*norm-slope) +
		2*r.K.R*norm*(floats.Norm(c, math.Inf(1))*math.Sqrt(float64(len(c)))-floats.Norm(c, 2))
}

func (r *Trace) gapFromBelow(c *evaluations) {
	e := r.end()
	c.atMost(mixpolicy.Printed, sides{lhs: -2 * r.K.R * r.K.Cost * math.Sqrt(float64(r.K.Pairs)) * r.K.PsiNorm, rhs: e.gap, difference: r.costLeft(e)})
}

// violationThen compares V with what (5.34), (5.35) and the lower bound of S give. Its slack is that of
// (5.24) at the λ of length G, and those.
func (r *Trace) violationThen(c *evaluations) {
	e := r.end()
	if !r.inverseSquareRoots() || e.v == 0 {
		return
	}
	sum := 2 * (math.Sqrt(float64(len(r.Steps))) - 1)
	rhs := (r.K.R*r.K.Cost*math.Sqrt(float64(r.K.Pairs))*r.K.PsiNorm+e.rhs/2)/r.G + r.G/(2*sum)
	l, _ := r.toward(e, 0x1p40)
	t := float64(len(r.Steps)) // √T − 1 = (T−1)/(√T+1)
	left := (r.left(e, l)+e.complementary+r.costLeft(e))/(2*r.G) + r.G/4*((math.Sqrt(t)+1)/(t-1)-1/e.sum)
	c.atMost(mixpolicy.Printed, sides{lhs: e.v, rhs: rhs, difference: left})
}

// hoelder is (A.2): 2R − ‖θ_t−θ‖ and Hölder's inequality are what it leaves.
func (r *Trace) hoelder(c *evaluations) {
	r.against(c, func(s TraceStep, theta []float64) {
		away := difference(s.Theta, theta)
		inner, e := math.Abs(floats.Dot(s.Error, away)), r.dual(s.Error)
		c.atMost(mixpolicy.Printed, sides{lhs: inner, rhs: 2 * r.K.R * e, difference: (2*r.Problem.Class().R-r.norm(away))*e + e*r.norm(away) - math.Abs(floats.Dot(away, s.Error))})
	})
}

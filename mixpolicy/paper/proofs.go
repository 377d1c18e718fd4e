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
)

// Trace is a run of the corrected Algorithm 1 with all quantities of the proofs of section 5, step
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
		Name: set.Name, Problem: p, Phi: mixpolicy.DefaultModulus(p.Class()), Mu: k.Mu, G: k.G, Scale: set.CostScale, K: k,
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
	z, err := bregman.Shift(r.Phi, y, nil)
	if err != nil {
		return s, err
	}
	s.Z = z
	floats.AddConst(z, y)
	r.Phi.ConjugateGradient(s.Next, y)

	floats.AddScaledTo(s.NextLambda, lambda, eta, s.Ascent)
	projectLambda(s.NextLambda, r.G)
	return s, nil
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
	run   string
	at    int
	worst map[stepKey]*Step
	order []stepKey
}

type stepKey struct {
	equation string
	form     mixpolicy.Form
}

func (c *evaluations) add(s Step) {
	s.Run, s.At = c.run, c.at
	if s.Equality {
		s.Slack = -math.Abs(s.RHS - s.LHS)
	} else {
		s.Slack = s.RHS - s.LHS
	}
	key := stepKey{s.Equation, s.Form}
	old, seen := c.worst[key]
	if !seen {
		c.order = append(c.order, key)
		s.Evaluations = 1
		c.worst[key] = &s
		return
	}
	s.Evaluations = old.Evaluations + 1
	// Differences within rounding are ignored, so that the result does not depend on them.
	if s.relative() < old.relative()-stepTolerance || math.IsNaN(s.Slack) {
		*old = s
	}
	old.Evaluations = s.Evaluations
}

// atMost adds lhs ≤ rhs of the given form, and equal adds lhs = rhs; more are further terms for
// the size.
func (c *evaluations) atMost(equation string, form mixpolicy.Form, lhs, rhs float64, more ...float64) {
	c.add(Step{Equation: equation, Form: form, LHS: lhs, RHS: rhs, Size: sizeOf(lhs, rhs) + sizeOf(more...)})
}

func (c *evaluations) equal(equation string, form mixpolicy.Form, lhs, rhs float64, more ...float64) {
	c.add(Step{Equation: equation, Form: form, Equality: true, LHS: lhs, RHS: rhs, Size: sizeOf(lhs, rhs) + sizeOf(more...)})
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

// Proofs evaluates every equality and inequality of section 5 that is about a run, (5.1) to
// (5.18) and (5.22) to (5.36), as printed and as corrected, and returns the worst case of
// each in the order of the paper. An equation that is correct as printed has one row.
func Proofs(ctx context.Context) (steps []Step, err error) {
	defer catch(&err)
	c := &evaluations{worst: map[stepKey]*Step{}}
	for _, r := range must(ProofRuns()) {
		noError(ctx.Err())
		c.run = r.Name
		points, multipliers := r.comparators(), r.multipliers()
		for t, s := range r.Steps {
			c.at = t
			r.primalStep(c, s, points)
			r.dualStep(c, s, points, multipliers)
		}
		c.at = -1
		r.sums(c, points, multipliers)
		r.conclusion(c)
	}
	for _, key := range c.order {
		steps = append(steps, *c.worst[key])
	}
	slices.SortStableFunc(steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(len(strings.TrimRight(a.Equation, "ab")), len(strings.TrimRight(b.Equation, "ab"))), // 5.9 before 5.10
			cmp.Compare(a.Equation, b.Equation), cmp.Compare(b.Form, a.Form)) // printed first
	})
	return steps, nil
}

// proofSteps are the rows of [Proofs], computed once.
var proofSteps = sync.OnceValues(func() ([]Step, error) { return Proofs(context.Background()) })

// checkAlongRuns checks an equation of section 5 by [Proofs].
func checkAlongRuns(number string) check {
	return func(context.Context) Finding {
		f := Finding{Printed: math.NaN(), Corrected: math.NaN(), Tolerance: stepTolerance}
		var numbers []string
		for _, s := range must(proofSteps()) {
			if s.Equation != number {
				continue
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
	best, _ := r.optimum()
	centre := r.Steps[0].Theta
	points := [][]float64{inward(best, centre)}
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

// primalStep is (5.1)–(5.12) at iteration t, for each θ.
func (r *Trace) primalStep(c *evaluations, s TraceStep, points [][]float64) {
	const printed, corrected = mixpolicy.Printed, mixpolicy.Corrected
	at, tilde, next := make([]float64, len(s.Theta)), make([]float64, len(s.Theta)), make([]float64, len(s.Theta))
	r.Phi.Gradient(at, s.Theta)
	r.Phi.Gradient(tilde, s.Tilde)
	r.Phi.Gradient(next, s.Next)
	eta := s.Eta
	for j := range at {
		c.equal("5.1a", printed, tilde[j], at[j]-eta*s.Sample[j], at[j])
		// (5.1b): the gradient of D(θ;θ̃) at θ_{t+1} is z1, normal to the hyperplane.
		c.equal("5.1b", printed, next[j]-tilde[j], s.Z, next[j], tilde[j])
	}
	c.equal("5.1b", printed, floats.Sum(s.Next), 1, s.Next...)

	move := difference(s.Theta, s.Tilde)
	back, forth := r.divergence(s.Theta, s.Tilde), r.divergence(s.Tilde, s.Theta)
	turn := difference(at, tilde)
	sample, step := r.dual(s.Sample), r.norm(move)
	c.equal("5.8", printed, back+forth, floats.Dot(turn, move))
	c.equal("5.8", printed, floats.Dot(turn, move), eta*floats.Dot(s.Sample, move), sizeOf(turn...)*sizeOf(move...))
	c.atMost("5.9", printed, eta*floats.Dot(s.Sample, move), sq(eta*sample)/2+sq(step)/2)
	c.atMost("5.10", printed, sq(step)/2, back)
	c.atMost("5.10", corrected, r.Mu*sq(step)/2, back)
	c.atMost("5.11", printed, back, sq(eta*sample)/2)
	c.atMost("5.11", corrected, back, sq(eta*sample)/(2*r.Mu))

	for _, theta := range points {
		away := difference(theta, s.Theta)
		from, fromTilde, fromNext := r.divergence(theta, s.Theta), r.divergence(theta, s.Tilde), r.divergence(theta, s.Next)
		size := sizeOf(from, fromTilde, fromNext, back)
		slope := eta * floats.Dot(s.Sample, away)
		c.equal("5.2", printed, slope, floats.Dot(turn, away), sizeOf(at...)*sizeOf(away...))
		for _, n := range []string{"5.3", "5.5"} {
			lhs := slope
			if n == "5.3" {
				lhs = floats.Dot(turn, away)
			}
			c.equal(n, printed, lhs, from-fromTilde+back, size)
			c.equal(n, corrected, lhs, fromTilde-from-back, size)
		}
		c.atMost("5.4", printed, r.divergence(s.Next, s.Tilde)+fromNext, fromTilde, size)
		c.atMost("5.6", printed, fromNext, fromTilde, size)
		c.atMost("5.7", printed, fromNext, from+back-slope, size)
		c.atMost("5.7", corrected, fromNext, from+back+slope, size)
		c.atMost("5.12", printed, slope, from-fromNext+sq(eta*sample)/2, size)
		c.atMost("5.12", corrected, -slope, from-fromNext+sq(eta*sample)/(2*r.Mu), size)
	}
}

// dualStep is (5.15), (5.17), (5.29) and (5.30) at iteration t.
func (r *Trace) dualStep(c *evaluations, s TraceStep, points, multipliers [][]float64) {
	const printed, corrected = mixpolicy.Printed, mixpolicy.Corrected
	free := floats.AddScaledTo(make([]float64, len(s.Lambda)), s.Lambda, s.Eta, s.Ascent)
	for _, l := range multipliers {
		// The printed map, onto the whole ball, does not increase distances either.
		ball := scaled(r.G/max(r.G, floats.Norm(free, 2)), free)
		c.atMost("5.15", printed, floats.Distance(ball, l, 2), floats.Distance(free, l, 2))
		c.atMost("5.15", printed, floats.Distance(s.NextLambda, l, 2), floats.Distance(free, l, 2))

		slope := floats.Dot(s.Ascent, difference(s.Lambda, l))
		gain := r.lagrangian(s.Theta, l) - r.lagrangian(s.Theta, s.Lambda)
		size := sizeOf(r.lagrangian(s.Theta, l), r.lagrangian(s.Theta, s.Lambda))
		c.atMost("5.17b", printed, slope, gain, size)
		c.atMost("5.17b", corrected, -slope, gain, size)
	}
	for _, theta := range points {
		slope := floats.Dot(s.Mean, difference(theta, s.Theta))
		here, there := r.lagrangian(s.Theta, s.Lambda), r.lagrangian(theta, s.Lambda)
		c.atMost("5.17a", printed, slope, here-there, here, there)
		c.atMost("5.17a", corrected, -slope, here-there, here, there)
	}
	c.atMost("5.29", printed, floats.Norm(s.Ascent, 2), 2*r.K.R*r.K.SigmaMax)
	// (5.30) begins with ‖∇_θ𝓛‖⁎ = ‖cᵀΨ + λᵀΨ‖⁎, which has the sign of λ wrong.
	plus := make([]float64, len(s.Mean))
	for j, b := range r.Problem.BaseCosts() {
		plus[j] = 2*b/r.Scale - s.Mean[j]
	}
	c.equal("5.30", printed, r.dual(s.Mean), r.dual(plus))
	c.atMost("5.30", corrected, r.dual(s.Mean), r.K.GradientBound())
}

// sums is (5.13), (5.14), (5.16) and (5.18).
func (r *Trace) sums(c *evaluations, points, multipliers [][]float64) {
	const printed, corrected = mixpolicy.Printed, mixpolicy.Corrected
	gradients := r.total(func(s TraceStep) float64 { return sq(s.Eta * r.dual(s.Mean)) })
	errors := r.total(func(s TraceStep) float64 { return sq(s.Eta * r.dual(s.Error)) })
	ascents := r.total(func(s TraceStep) float64 { return sq(s.Eta * floats.Norm(s.Ascent, 2)) })
	primal := make([]float64, len(points)) // Ση(𝓛(θ_t,λ_t) − 𝓛(θ,λ_t)) = Ση⟨∇_θ𝓛, θ_t−θ⟩
	noise := make([]float64, len(points))  // Ση⟨e_t, θ_t−θ⟩
	start := make([]float64, len(points))
	for i, theta := range points {
		primal[i] = r.total(func(s TraceStep) float64 { return s.Eta * floats.Dot(s.Mean, difference(s.Theta, theta)) })
		noise[i] = r.total(func(s TraceStep) float64 { return s.Eta * floats.Dot(s.Error, difference(s.Theta, theta)) })
		start[i] = r.divergence(theta, r.Steps[0].Theta)
		printedBound, bound := start[i]+noise[i]+gradients+errors, start[i]-noise[i]+(gradients+errors)/r.Mu
		c.atMost("5.13", printed, -primal[i], printedBound, noise[i])
		c.atMost("5.13", corrected, primal[i], bound, noise[i])
		c.atMost("5.14", printed, primal[i], printedBound, noise[i])
		c.atMost("5.14", corrected, primal[i], bound, noise[i])
	}
	for _, l := range multipliers {
		// Ση(𝓛(θ_t,λ) − 𝓛(θ_t,λ_t)) = Ση⟨∇_λ𝓛, λ−λ_t⟩.
		dual := r.total(func(s TraceStep) float64 { return s.Eta * floats.Dot(s.Ascent, difference(l, s.Lambda)) })
		half := floats.Dot(l, l) / 2
		c.atMost("5.16", printed, -dual, half+ascents)
		c.atMost("5.16", corrected, dual, half+ascents/2)
		for i := range points {
			lhs := primal[i] + dual
			c.atMost("5.18", printed, lhs, start[i]+half+noise[i]+errors+gradients+ascents, noise[i])
			c.atMost("5.18", corrected, lhs, start[i]+half-noise[i]+(errors+gradients)/r.Mu+ascents/2, noise[i])
			// (5.22): 𝓛 is linear, so its value at the averages is the average of its values.
			average := r.lagrangian(r.Theta, l) - r.lagrangian(points[i], r.Lambda)
			c.equal("5.22", printed, average, lhs/r.Sums.Sum, primal[i]/r.Sums.Sum, dual/r.Sums.Sum)
		}
	}
}

// conclusion is (5.23)–(5.28) and (5.33)–(5.36). The right side of (5.24) is that of the run
// itself, (∗) of theory.Constants.ObjectiveBound, so that no concentration inequality hides an
// error; [Coin] evaluates the printed right side.
func (r *Trace) conclusion(c *evaluations) {
	const printed, corrected = mixpolicy.Printed, mixpolicy.Corrected
	best, _ := r.optimum()
	s, v := r.Sums.Sum, r.Problem.Violation(r.Theta)
	f := func(theta []float64) float64 { return r.Problem.Objective(theta) / r.Scale }
	gap := f(r.Theta) - f(best)
	complementary := f(best) - r.lagrangian(best, r.Lambda) // λ̂ᵀΨθ*
	noise := r.total(func(s TraceStep) float64 { return s.Eta * floats.Dot(s.Error, difference(s.Theta, best)) })
	squares := r.total(func(s TraceStep) float64 { return sq(s.Eta) * (sq(r.dual(s.Mean)) + sq(r.dual(s.Error))) })
	ascents := r.total(func(s TraceStep) float64 { return sq(s.Eta * floats.Norm(s.Ascent, 2)) })
	start := r.divergence(best, r.Steps[0].Theta)
	rhs := (start - noise + squares/r.Mu + ascents/2) / s

	// n = [Ψθ̂]₋ ⪰ 0, and bracket(λ) = −λᵀΨθ̂ − ‖λ‖²/2S.
	n := make([]float64, len(r.Lambda))
	r.Problem.GradLambda(n, r.Theta)
	for i, x := range n {
		n[i] = max(x, 0)
	}
	bracket := func(factor float64) float64 {
		l := floats.ScaleTo(make([]float64, len(n)), factor*s, n)
		projectLambda(l, r.G)
		return floats.Dot(l, n) - floats.Dot(l, l)/(2*s)
	}
	for _, n := range []string{"5.23", "5.24"} {
		c.atMost(n, corrected, gap+complementary+bracket(1), rhs, noise/s)
	}
	// Of all multiples of n in the ball S n has the greatest bracket, compared here with a grid.
	top := 0.0
	for k := range 4000 {
		top = max(top, bracket(float64(k)/1000))
	}
	c.atMost("5.25", printed, top, bracket(0.5), top)
	c.atMost("5.25", corrected, top, bracket(1), top)
	printedBracket := 2*r.G*v*v*s/max(r.G, s*v) - sq(r.G*v)*s/max(sq(r.G), sq(s*v))
	c.atMost("5.26", corrected, gap+complementary+printedBracket, rhs, noise/s)
	c.atMost("5.27", printed, 0, printedBracket)
	c.atMost("5.28", corrected, gap, rhs, noise/s)

	sum := 2 * (math.Sqrt(float64(len(r.Steps))) - 1)
	if schedule := r.Steps[0].Eta == 1; schedule { // η_t = 1/√(t+1)
		if r.G/s > v {
			c.atMost("5.33", printed, v, r.G/sum)
		}
		c.atMost("5.36", printed, v, (r.K.R*r.K.Cost*math.Sqrt(float64(r.K.Pairs))*r.K.PsiNorm+rhs/2)/r.G+r.G/(2*sum))
	}
	if r.G/s <= v {
		c.atMost("5.34", corrected, gap+complementary+2*r.G*v-sq(r.G)/s, rhs, noise/s)
	}
	c.atMost("5.35", printed, -2*r.K.R*r.K.Cost*math.Sqrt(float64(r.K.Pairs))*r.K.PsiNorm, gap)
}

package paper

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Step is an equality or inequality of section 5 evaluated along runs of the algorithm, at
// the place where it is closest to failing, or fails most.
type Step struct {
	Equation string
	Form     mixpolicy.Form // as printed, or corrected
	Equality bool           // LHS = RHS; else LHS ≤ RHS
	LHS, RHS float64
	Slack    float64 // RHS − LHS, or −|RHS − LHS|
	Size     float64 // of the terms, for judging the slack
	Run      string
	At       int // iteration; −1 for a sum over all
	// Evaluations is how often it was evaluated: steps, runs and points of comparison.
	Evaluations int
}

// stepTolerance is what rounding may take of a slack, relative to the size of its terms:
// sums of 10³ steps of a few operations each, 10⁴ · 2⁻⁵³, and the loss of half of the
// digits of the distance to the boundary at points projected onto it.
const stepTolerance = 1e-10

// Holds reports whether the slack is negative by no more than rounding.
func (s Step) Holds() bool { return s.Slack >= -stepTolerance*s.Size }

// relative is the slack per size, or 0 for 0/0.
func (s Step) relative() float64 {
	if s.Size == 0 {
		return 0
	}
	return s.Slack / s.Size
}

// tally keeps the worst evaluation of each equation and form, in order of appearance.
type tally struct {
	run   string
	at    int
	worst map[stepKey]*Step
	order []stepKey
}

type stepKey struct {
	equation string
	form     mixpolicy.Form
}

func (c *tally) add(s Step) {
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
	// Differences within rounding do not count, so that what is kept does not depend on them.
	if s.relative() < old.relative()-stepTolerance || math.IsNaN(s.Slack) {
		*old = s
	}
	old.Evaluations = s.Evaluations
}

// atMost notes lhs ≤ rhs, and equal lhs = rhs, of the given form; more are further terms
// that count for the size.
func (c *tally) atMost(equation string, form mixpolicy.Form, lhs, rhs float64, more ...float64) {
	c.add(Step{Equation: equation, Form: form, LHS: lhs, RHS: rhs, Size: sizeOf(lhs, rhs) + sizeOf(more...)})
}

func (c *tally) equal(equation string, form mixpolicy.Form, lhs, rhs float64, more ...float64) {
	c.add(Step{Equation: equation, Form: form, Equality: true, LHS: lhs, RHS: rhs, Size: sizeOf(lhs, rhs) + sizeOf(more...)})
}

// both notes an inequality that is right as printed: it counts for either form.
func (c *tally) both(equation string, lhs, rhs float64, more ...float64) {
	c.atMost(equation, mixpolicy.Printed, lhs, rhs, more...)
}

// ProofRuns returns the runs along which [Proofs] evaluates section 5: the queue of section
// 6 with moderate and with large R, a discounted random MDP under the cube's modulus, and
// the queue with the unlucky sequence that always samples the cheapest pair. That sequence
// is improbable, and an inequality that is to hold surely must hold for it.
func ProofRuns() ([]*Trace, error) {
	var runs []*Trace
	eta := mixpolicy.InverseSqrt(1)
	for _, r := range []struct {
		class mixpolicy.Class
		set   TraceSettings
	}{
		{mixpolicy.Ball(2), TraceSettings{Name: "queue, R = 2", Iterations: 400, StepSize: eta, Beta: 50, CostScale: cMax}},
		{mixpolicy.Ball(100), TraceSettings{Name: "queue, R = 100", Iterations: 400, StepSize: mixpolicy.Constant(0.01), Beta: 50, CostScale: cMax}},
		{mixpolicy.Ball(2), TraceSettings{Name: "queue, small ball of λ", Iterations: 400, StepSize: eta, Beta: 0.05, CostScale: cMax}},
		{mixpolicy.Ball(2), TraceSettings{Name: "queue, unlucky", Iterations: 400, StepSize: eta, Beta: 50, CostScale: cMax, Pair: func(int) int { return 0 }}},
	} {
		p, err := QueueProblem(r.class)
		if err != nil {
			return nil, err
		}
		t, err := NewTrace(p, r.set)
		if err != nil {
			return nil, err
		}
		runs = append(runs, t)
	}
	p, err := SmallProblem(mixpolicy.Cube(1.5))
	if err != nil {
		return nil, err
	}
	t, err := NewTrace(p, TraceSettings{Name: "random MDP, cube", Iterations: 400, StepSize: eta, Beta: 20})
	if err != nil {
		return nil, err
	}
	return append(runs, t), nil
}

// Proofs evaluates every equality and inequality of section 5 that is about a run, (5.1) to
// (5.18) and (5.22) to (5.36), as printed and as corrected, and returns the worst case of
// each in the order of the paper. An equation that is right as printed has one row.
func Proofs(ctx context.Context) ([]Step, error) {
	runs, err := ProofRuns()
	if err != nil {
		return nil, err
	}
	c := &tally{worst: map[stepKey]*Step{}}
	for _, r := range runs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.run = r.Name
		points, err := r.comparators()
		if err != nil {
			return nil, err
		}
		multipliers, err := r.multipliers()
		if err != nil {
			return nil, err
		}
		for t, s := range r.Steps {
			c.at = t
			r.primalStep(c, s, points)
			r.dualStep(c, s, points, multipliers)
		}
		c.at = -1
		r.sums(c, points, multipliers)
		if err := r.conclusion(c); err != nil {
			return nil, err
		}
	}
	steps := make([]Step, len(c.order))
	for i, key := range c.order {
		steps[i] = *c.worst[key]
	}
	slices.SortStableFunc(steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(len(strings.TrimRight(a.Equation, "ab")), len(strings.TrimRight(b.Equation, "ab"))), // 5.9 before 5.10
			cmp.Compare(a.Equation, b.Equation), cmp.Compare(b.Form, a.Form)) // printed first
	})
	return steps, nil
}

// comparators are points θ of Θ₂ ∩ Θ_R: the optimum, base policies, and extreme points.
func (r *Trace) comparators() ([][]float64, error) {
	best, _, err := r.optimum()
	if err != nil {
		return nil, err
	}
	centre := r.Steps[0].Theta
	points := [][]float64{inward(best, centre)}
	class := r.Problem.Class()
	for j := range centre {
		for _, far := range []float64{1, 0x1p40 * class.R, -0x1p40 * class.R} {
			theta := make([]float64, len(centre))
			theta[j] = far
			if far == 1 && r.norm(theta) >= class.R {
				continue
			}
			if err := class.Norm.Project(theta, theta, class.R); err != nil {
				return nil, err
			}
			points = append(points, inward(theta, centre))
		}
	}
	return points, nil
}

// multipliers are points λ ∈ Λ: 0, λ* as far as it fits, one along Ψθ₀, and the worst for θ̂.
func (r *Trace) multipliers() ([][]float64, error) {
	_, best, err := r.optimum()
	if err != nil {
		return nil, err
	}
	along := make([]float64, len(best))
	r.Problem.Features().MulVec(along, r.Steps[0].Theta)
	floats.Scale(1/floats.Norm(along, 2), along)
	against := make([]float64, len(best))
	r.Problem.GradLambda(against, r.Theta)
	floats.Scale(0x1p40, against)
	all := [][]float64{make([]float64, len(best)), best, along, against}
	for _, l := range all {
		projectLambda(l, r.G)
	}
	return all, nil
}

// primalStep is (5.1)–(5.12) at iteration t, for each θ.
func (r *Trace) primalStep(c *tally, s TraceStep, points [][]float64) {
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
	c.both("5.9", eta*floats.Dot(s.Sample, move), sq(eta*sample)/2+sq(step)/2)
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
		c.both("5.4", r.divergence(s.Next, s.Tilde)+fromNext, fromTilde, size)
		c.both("5.6", fromNext, fromTilde, size)
		c.atMost("5.7", printed, fromNext, from+back-slope, size)
		c.atMost("5.7", corrected, fromNext, from+back+slope, size)
		c.atMost("5.12", printed, slope, from-fromNext+sq(eta*sample)/2, size)
		c.atMost("5.12", corrected, -slope, from-fromNext+sq(eta*sample)/(2*r.Mu), size)
	}
}

// dualStep is (5.15), (5.17), (5.29) and (5.30) at iteration t.
func (r *Trace) dualStep(c *tally, s TraceStep, points, multipliers [][]float64) {
	const printed, corrected = mixpolicy.Printed, mixpolicy.Corrected
	free := floats.AddScaledTo(make([]float64, len(s.Lambda)), s.Lambda, s.Eta, s.Ascent)
	for _, l := range multipliers {
		// The map that is printed, onto the whole ball, does not increase distances either.
		ball := append([]float64(nil), free...)
		floats.Scale(r.G/max(r.G, floats.Norm(free, 2)), ball)
		c.both("5.15", floats.Distance(ball, l, 2), floats.Distance(free, l, 2))
		c.both("5.15", floats.Distance(s.NextLambda, l, 2), floats.Distance(free, l, 2))

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
	c.both("5.29", floats.Norm(s.Ascent, 2), 2*r.K.R*r.K.SigmaMax)
	// (5.30) begins with ‖∇_θ𝓛‖⁎ = ‖cᵀΨ + λᵀΨ‖⁎, which has the sign of λ wrong.
	plus := make([]float64, len(s.Mean))
	for j, b := range r.Problem.BaseCosts() {
		plus[j] = 2*b/r.Scale - s.Mean[j]
	}
	c.equal("5.30", printed, r.dual(s.Mean), r.dual(plus))
	c.atMost("5.30", corrected, r.dual(s.Mean), r.K.GradientBound())
}

// total is a weighted sum over the run of f(t-th step).
func (r *Trace) total(f func(s TraceStep) float64) float64 {
	var sum float64
	for _, s := range r.Steps {
		sum += f(s)
	}
	return sum
}

// sums is (5.13), (5.14), (5.16) and (5.18).
func (r *Trace) sums(c *tally, points, multipliers [][]float64) {
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
		wrong, right := start[i]+noise[i]+gradients+errors, start[i]-noise[i]+(gradients+errors)/r.Mu
		c.atMost("5.13", printed, -primal[i], wrong, noise[i])
		c.atMost("5.13", corrected, primal[i], right, noise[i])
		c.atMost("5.14", printed, primal[i], wrong, noise[i])
		c.atMost("5.14", corrected, primal[i], right, noise[i])
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
			// (5.22): 𝓛 is linear, so the averages have what the sums have.
			average := r.lagrangian(r.Theta, l) - r.lagrangian(points[i], r.Lambda)
			c.equal("5.22", printed, average, lhs/r.Sums.Sum, primal[i]/r.Sums.Sum, dual/r.Sums.Sum)
		}
	}
}

// conclusion is (5.23)–(5.28) and (5.33)–(5.36). The right side of (5.24) is taken as what
// the run itself had, (∗) of theory.Constants.ObjectiveBound, so that no
// concentration inequality hides an error; the printed one is for [Coin].
func (r *Trace) conclusion(c *tally) error {
	const printed, corrected = mixpolicy.Printed, mixpolicy.Corrected
	best, _, err := r.optimum()
	if err != nil {
		return err
	}
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
	// Of all multiples of n in the ball the best is S n; a fine search agrees.
	top := 0.0
	for k := range 4000 {
		top = max(top, bracket(float64(k)/1000))
	}
	c.atMost("5.25", printed, top, bracket(0.5), top)
	c.atMost("5.25", corrected, top, bracket(1), top)
	shown := 2*r.G*v*v*s/max(r.G, s*v) - sq(r.G*v)*s/max(sq(r.G), sq(s*v))
	c.atMost("5.26", corrected, gap+complementary+shown, rhs, noise/s)
	c.both("5.27", 0, shown)
	c.atMost("5.28", corrected, gap, rhs, noise/s)

	root := 2 * (math.Sqrt(float64(len(r.Steps))) - 1)
	if schedule := r.Steps[0].Eta == 1; schedule { // η_t = 1/√(t+1)
		if r.G/s > v {
			c.both("5.33", v, r.G/root)
		}
		c.both("5.36", v, (r.K.R*r.K.Cost*math.Sqrt(float64(r.K.Pairs))*r.K.PsiNorm+rhs/2)/r.G+r.G/(2*root))
	}
	if r.G/s <= v {
		c.atMost("5.34", corrected, gap+complementary+2*r.G*v-sq(r.G)/s, rhs, noise/s)
	}
	c.both("5.35", -2*r.K.R*r.K.Cost*math.Sqrt(float64(r.K.Pairs))*r.K.PsiNorm, gap)
	return nil
}

package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// mixtureCosts returns the true costs of the mixtures of two policies (2.16) that take the
// second with probability 0, 1/steps, …, 1.
func mixtureCosts(x *mixpolicy.MDP, first, second *mixpolicy.Policy, steps int) ([]float64, error) {
	costs := make([]float64, steps+1)
	for k := range costs {
		omega := float64(k) / float64(steps)
		pi, err := mixpolicy.Mixture([]float64{1 - omega, omega}, first, second)
		if err != nil {
			return nil, err
		}
		q, err := x.Occupation(pi)
		if err != nil {
			return nil, err
		}
		costs[k] = q.Cost(x.Costs())
	}
	return costs, nil
}

// policyClaims are what the abstract and the introduction say about mixtures.
func policyClaims(ctx context.Context) ([]Claim, error) {
	p, err := QueueProblem(mixpolicy.Ball(2))
	if err != nil {
		return nil, err
	}
	x, base, err := Queue()
	if err != nil {
		return nil, err
	}
	best, err := p.Optimum()
	if err != nil {
		return nil, err
	}
	mixtures, err := mixtureCosts(x, base[0], base[1], 100)
	if err != nil {
		return nil, err
	}
	least := floats.MinIdx(mixtures)
	mixture, at := mixtures[least], float64(least)/100
	all, err := mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{})
	if err != nil {
		return nil, err
	}
	inside := math.Min(p.Objective([]float64{1, 0}), p.Objective([]float64{0, 1}))
	r, err := mixpolicy.Solve(ctx, p, mixpolicy.PrimalDual{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(64)}, mixpolicy.Settings{Iterations: 100_000, Seed: 1})
	if err != nil {
		return nil, err
	}
	valley, err := valleyClaim()
	if err != nil {
		return nil, err
	}
	network, err := combinationClaim()
	if err != nil {
		return nil, err
	}
	return []Claim{
		{ID: "0-oracle", Where: "abstract", Claim: "the policy found is nearly as good as the one an oracle picks from the mixtures of the base policies",
			Experiment: "queue, Algorithm 1 corrected, η₀ = 64, T = 10⁵, against the best of 101 mixtures π^ω",
			Numbers:    fmt.Sprintf("true cost of the policy %.5g; of the best mixture %.5g, at ω = (%.2f, %.2f); of the best policy of all %.4g", r.PolicyCost, mixture, 1-at, at, all.Cost()),
			Verdict:    verdictIf(r.PolicyCost <= 1.05*mixture)},
		valley, network,
		{ID: "1-expressive", Where: "1.2", Claim: "coefficients that may be negative represent more than mixtures do",
			Experiment: "queue, exact optimum of (2.18) with R = 2 against that over the simplex",
			Numbers:    fmt.Sprintf("%.6g at θ = (%.4f, %.4f), outside of the simplex, against %.6g", best.Objective, best.Theta[0], best.Theta[1], inside),
			Verdict:    verdictIf(best.Objective < inside)},
	}, nil
}

// valleyClaim: the oracle of the abstract picks from mixtures of policies (2.16), the method
// from mixtures of measures (2.17). Here the first are much better: one policy keeps the queue
// long, the other short, and only lengths between are cheap.
func valleyClaim() (Claim, error) {
	x, err := models.Queue{Buffer: 10, Cost: func(length int, _ float64) float64 {
		if length > 3 && length < 8 {
			return 1
		}
		return 100
	}}.MDP()
	if err != nil {
		return Claim{}, err
	}
	slow, err := mixpolicy.StateIndependent(x, 1, 0, 0, 0)
	if err != nil {
		return Claim{}, err
	}
	fast, err := mixpolicy.StateIndependent(x, 0, 0, 0, 1)
	if err != nil {
		return Claim{}, err
	}
	p, err := mixtureProblem(x, mixpolicy.Ball(10), slow, fast)
	if err != nil {
		return Claim{}, err
	}
	best, err := p.Optimum()
	if err != nil {
		return Claim{}, err
	}
	mixtures, err := mixtureCosts(x, slow, fast, 100)
	if err != nil {
		return Claim{}, err
	}
	least := floats.MinIdx(mixtures)
	mixture, at := mixtures[least], float64(least)/100
	return Claim{ID: "0-oracle-valley", Where: "abstract", Claim: "the policy found is nearly as good as the one an oracle picks from the mixtures of the base policies",
		Experiment: "queue of 10, cost 1 at lengths 4 to 7 and 100 at others, one policy always slow and one always fast: the exact optimum of (2.18), which is the best that can be found, against the best of 101 mixtures π^ω",
		Numbers:    fmt.Sprintf("%.4g, feasible and so the cost of its policy, against %.4g at ω = (%.2f, %.2f)", best.Objective, mixture, 1-at, at),
		Verdict:    verdictIf(best.Objective <= 1.05*mixture)}, nil
}

// combinationClaim: section 1 has a myopic and a farsighted policy for queues that do better
// when mixed. One instance is enough; two thrifty and busy rates of one queue are tried, and
// all pairs of six rules on a small network.
func combinationClaim() (Claim, error) {
	w := models.Network{Buffers: [4]int{2, 2, 2, 2}}
	x, err := w.MDP()
	if err != nil {
		return Claim{}, err
	}
	rules := models.Rules()
	base, err := w.Policies(x, rules...)
	if err != nil {
		return Claim{}, err
	}
	var names string
	gain, at, helped, alone, mixed := 0.0, 0.0, 0, 0.0, 0.0
	for i, first := range base {
		for j, second := range base[:i] {
			costs, err := mixtureCosts(x, second, first, 20)
			if err != nil {
				return Claim{}, err
			}
			best := floats.MinIdx(costs)
			better := min(costs[0], costs[20])
			if !(costs[best] < better*(1-1e-9)) { // the measures are exact to 1e-12 or so
				continue
			}
			helped++
			if g := 1 - costs[best]/better; g > gain {
				gain, at, alone, mixed = g, float64(best)/20, better, costs[best]
				names = fmt.Sprintf("%v and %v", rules[i], rules[j])
			}
		}
	}
	p, err := mixtureProblem(x, mixpolicy.Ball(10), base...)
	if err != nil {
		return Claim{}, err
	}
	best, err := p.Optimum()
	if err != nil {
		return Claim{}, err
	}
	q, err := models.Queue{Buffer: 10}.MDP()
	if err != nil {
		return Claim{}, err
	}
	thrifty, err := mixpolicy.StateIndependent(q, 0, 1, 0, 0)
	if err != nil {
		return Claim{}, err
	}
	busy, err := mixpolicy.StateIndependent(q, 0, 0, 0, 1)
	if err != nil {
		return Claim{}, err
	}
	queue, err := mixtureCosts(q, thrifty, busy, 100)
	if err != nil {
		return Claim{}, err
	}
	least := floats.MinIdx(queue)
	numbers := fmt.Sprintf("the queue: %.4g and %.4g, and %.4g mixed with probability %.2f; the network: mixing policies improves on the better one for %d of 15 pairs",
		queue[0], queue[100], queue[least], float64(least)/100, helped)
	if helped > 0 {
		numbers += fmt.Sprintf(", most for %s, from %.5f to %.5f at %.2f", names, alone, mixed, at)
	}
	return Claim{ID: "1-combination", Where: "1", Claim: "known policies for queues can be combined to one with better performance",
		Experiment: "a queue of 10, always the rate 0.4 and always 0.8; a network of four queues of two places and six rules",
		Numbers:    fmt.Sprintf("%s; mixing the measures of all six, %.5f against %.5f", numbers, best.Objective, floats.Min(p.BaseCosts())),
		Verdict:    verdictIf(queue[least] < min(queue[0], queue[100])*(1-1e-9) || helped > 0)}, nil
}

// methodClaims are what the introduction says about the method.
func methodClaims(ctx context.Context) (claims []Claim, err error) {
	defer catch(&err)
	p, err := QueueProblem(mixpolicy.Ball(2))
	if err != nil {
		return nil, err
	}
	trials := func(method mixpolicy.Method, iterations int) (*race.Runs, error) {
		return race.Trials(ctx, p, method, race.Settings{Trials: 10, Iterations: iterations, Seed: 11, Schedule: mixpolicy.Every(iterations)})
	}
	primalDual := func(eta, beta float64) mixpolicy.Method {
		return mixpolicy.PrimalDual{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(eta), Beta: beta}
	}
	penalty := func(omega float64) mixpolicy.Method {
		return mixpolicy.Penalty{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(0.25), Weight: omega}
	}
	meritOf, err := race.Merit(p)
	if err != nil {
		return nil, err
	}
	merits := func(method mixpolicy.Method, iterations int) (merit, violation float64, err error) {
		t, err := trials(method, iterations)
		if err != nil {
			return 0, 0, err
		}
		return stat.Mean(t.Final(meritOf), nil), stat.Mean(t.Final(race.Violation), nil), nil
	}

	// Feasibility of every iterate without a projection onto the ball.
	r, err := NewTrace(p, TraceSettings{Iterations: 2000, StepSize: mixpolicy.InverseSqrt(64), Beta: 50, CostScale: cMax})
	if err != nil {
		return nil, err
	}
	var norm, plane float64
	for _, s := range r.Steps {
		norm, plane = max(norm, floats.Norm(s.Next, 2)), max(plane, math.Abs(floats.Sum(s.Next)-1))
	}

	var violations []float64
	for _, n := range []int{1000, 10_000, 100_000} {
		_, v, err := merits(primalDual(64, 0), n)
		if err != nil {
			return nil, err
		}
		violations = append(violations, v)
	}
	// Under η₀ = 64 the violation is zero in many trials; under η₀ = 4 the decay shows.
	var slow []float64
	for _, n := range []int{1000, 10_000, 100_000} {
		_, v, err := merits(primalDual(4, 0), n)
		if err != nil {
			return nil, err
		}
		slow = append(slow, v)
	}

	var byWeight, byEta, byBeta []float64
	for _, w := range []float64{2, 8, 32, 128} {
		m, _, err := merits(penalty(w), 20_000)
		if err != nil {
			return nil, err
		}
		byWeight = append(byWeight, m)
	}
	for _, eta := range []float64{16, 64, 256, 1024} {
		m, _, err := merits(primalDual(eta, 0), 20_000)
		if err != nil {
			return nil, err
		}
		byEta = append(byEta, m)
	}
	for _, beta := range []float64{1, 10, 25, 50} {
		m, _, err := merits(primalDual(64, beta), 20_000)
		if err != nil {
			return nil, err
		}
		byBeta = append(byBeta, m)
	}
	_, lambda := r.optimum()

	massOf := func(method mixpolicy.Method) ([]float64, error) {
		t, err := trials(method, 100_000)
		if err != nil {
			return nil, err
		}
		return t.Final(race.Mass), nil
	}
	own, err := massOf(primalDual(64, 0))
	if err != nil {
		return nil, err
	}
	rival, err := massOf(penalty(8))
	if err != nil {
		return nil, err
	}
	return []Claim{
		{ID: "1-projection-free", Where: "abstract, 1.1", Claim: "no projection onto the policy class is needed: the modulus keeps the iterates inside",
			Experiment: "queue, 2000 iterations, η₀ = 64, R = 2",
			Numbers:    fmt.Sprintf("the largest ‖θ_t‖₂ is %.6f < 2 and the largest |1ᵀθ_t − 1| %.1g", norm, plane),
			Verdict:    verdictIf(norm < 2 && plane < 1e-12)},
		{ID: "1-violation-vanishes", Where: "1.1", Claim: "the constraint violation goes to zero as the rounds go on",
			Experiment: "queue, corrected, mean of 10 trials at T = 10³, 10⁴, 10⁵",
			Numbers:    fmt.Sprintf("½‖[Ψθ̂]₋‖₂ = %.2g, %.2g, %.2g with η₀ = 4, and %.2g, %.2g, %.2g with η₀ = 64", slow[0], slow[1], slow[2], violations[0], violations[1], violations[2]),
			Verdict:    verdictIf(slow[2] < slow[1] && slow[1] < slow[0] && violations[2] <= violations[0])},
		{ID: "1-one-parameter", Where: "1.2", Claim: "the learning rate is the only parameter of the method",
			Experiment: "queue, η₀ = 64, T = 2·10⁴, mean merit for β = 1, 10, 25, 50",
			Numbers:    fmt.Sprintf("%.4g, %.4g, %.4g, %.4g, where ‖λ*‖₂ = %.3g: a β below it leaves the answer infeasible; R and the scale of costs are parameters too", byBeta[0], byBeta[1], byBeta[2], byBeta[3], floats.Norm(lambda, 2)),
			Verdict:    verdictIf(byBeta[0] < 2*byBeta[3])},
		{ID: "1-penalty-sensitive", Where: "1.2", Claim: "the penalty method is sensitive to its penalty factor besides the learning rate",
			Experiment: "queue, η₀ = ¼, T = 2·10⁴, mean merit for ω = 2, 8, 32, 128",
			Numbers:    fmt.Sprintf("%.4g, %.4g, %.4g, %.4g; Algorithm 1 is as sensitive to its own η₀ = 16, 64, 256, 1024: %.4g, %.4g, %.4g, %.4g", byWeight[0], byWeight[1], byWeight[2], byWeight[3], byEta[0], byEta[1], byEta[2], byEta[3]),
			Verdict:    verdictIf(floats.Max(byWeight) > 2*floats.Min(byWeight))},
		{ID: "1-penalty-violation", Where: "1.2", Claim: "the penalty method violates the constraints more",
			Experiment: "queue, both tuned, T = 10⁵, negative mass ‖[Ψθ̂]₋‖₁ over 10 trials",
			Numbers:    fmt.Sprintf("Algorithm 1 %.2g, penalty method %.2g", stat.Mean(own, nil), stat.Mean(rival, nil)),
			Verdict:    less(race.Difference(own, rival, confidence), 0)},
	}, nil
}

// theoryClaims are what sections 3, 4 and 7 say about bounds.
func theoryClaims(ctx context.Context) ([]Claim, error) {
	rows, err := CompareBounds(ctx, 100_000)
	if err != nil {
		return nil, err
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	vacuous, violated, terms := 0, 0, map[string]int{}
	for _, r := range rows {
		if r.Measured {
			o := Orders(r.Corrected, r.Gap)
			lo, hi = min(lo, o), max(hi, o)
			if !(r.Gap <= r.Corrected.Value && r.Violation <= r.CorrectedViolation.Value) {
				violated++
			}
		}
		if r.Corrected.Value > r.Trivial {
			vacuous++
		}
		terms[r.Corrected.Largest().Name]++
	}
	name, count := "", 0
	for k, n := range terms {
		if n > count {
			name, count = k, n
		}
	}
	p, err := QueueProblem(mixpolicy.Ball(2))
	if err != nil {
		return nil, err
	}
	k, err := theory.NewConstants(p, mixpolicy.PrimalDual{Beta: 1, CostScale: cMax})
	if err != nil {
		return nil, err
	}
	quarter, eighth, none := rateExponent(k, 0.25), rateExponent(k, 0.125), rateExponent(k, 0)
	rate := func(power float64) float64 { // of the violation
		at := func(n float64) float64 {
			s := theory.StepSums{Sum: 2 * math.Sqrt(n), Squares: 1 + math.Log(n)}
			return math.Log(k.With(math.Pow(n, power)).ViolationBound(s, 0.05).Value)
		}
		return (at(1e60) - at(1e50)) / math.Log(1e10)
	}
	smoothed, lyapunov, err := checkTighter(ctx)
	if err != nil {
		return nil, err
	}
	small, err := smallProblem(mixpolicy.Ball(2))
	if err != nil {
		return nil, err
	}
	sk, err := theory.NewConstants(small, mixpolicy.PrimalDual{})
	if err != nil {
		return nil, err
	}
	sk = sk.With(2 * sk.LambdaStar)
	const epsilon, rho = 0.01, 0.1
	need, err := sk.SampleComplexity(epsilon, rho)
	if err != nil {
		return nil, err
	}
	sums := theory.StepSums{Sum: 2 * (math.Sqrt(need+1) - 1), Squares: 1 + math.Log(need)}
	gapPart := sk.SharpObjectiveBound(sums, rho).Value
	mass := 2 * math.Sqrt(float64(sk.Pairs)) * sk.SharpViolationBound(sums, rho).Value
	violationPart := 2 * sk.Cost * theory.Distance(mixpolicy.Corrected, small.MDP().Criterion(), 1, 0, mass)
	printedNeed := sk.PrintedSampleComplexity(1, epsilon)
	var actual int
	best, err := small.Optimum()
	if err != nil {
		return nil, err
	}
	for _, n := range []int{1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000} { // the least T that is enough in 20 of 20 trials
		t, err := race.Trials(ctx, small, mixpolicy.PrimalDual{Beta: 2 * sk.LambdaStar},
			race.Settings{Trials: 20, Iterations: n, Seed: 3, Valued: race.ValuedEnd, Schedule: mixpolicy.Every(n)})
		if err != nil {
			return nil, err
		}
		if floats.Max(t.Final(race.PolicyCost)) <= best.Objective+epsilon {
			actual = n
			break
		}
	}
	dims, sizes, err := polynomialInD()
	if err != nil {
		return nil, err
	}
	geometry, err := geometryClaim(ctx)
	if err != nil {
		return nil, err
	}
	slope := (math.Log(sizes[len(sizes)-1]) - math.Log(sizes[0])) / (math.Log(dims[len(dims)-1]) - math.Log(dims[0]))
	return []Claim{
		{ID: "3-rate", Where: "3.2", Claim: "β = O(T^¼) gives a gap of O(ln T/T^¼)", Experiment: "exponent of T in the corrected (3.31) over ln T, queue",
			Numbers: fmt.Sprintf("%.3f for β ~ T^¼, so that it does not vanish; %.3f for T^⅛; %.3f for constant β", quarter, eighth, none),
			Verdict: verdictIf(quarter < -0.245)},
		{ID: "3-violation-rate", Where: "3.2", Claim: "with that β the violation vanishes", Experiment: "exponent of T in the corrected (3.33), queue",
			Numbers: fmt.Sprintf("%.3f for β ~ T^¼, %.3f for T^⅛", rate(0.25), rate(0.125)),
			Verdict: verdictIf(rate(0.25) < -0.1)},
		{ID: "3-bounds", Where: "3.2", Claim: "Proposition 3.1 bounds the gap and the violation after T rounds", Experiment: "queue, R = 2, T = 10 to 10⁷, β = T^⅛ to T^½: corrected bound against runs up to T = 10⁵",
			Numbers: fmt.Sprintf("as printed D = +∞, and every bound is; corrected, %d of the runs exceed it, and it is %.1f to %.1f orders of magnitude above the measured gap; %d of %d are above the greatest gap of any θ, and so say nothing yet; mostly by %q", violated, lo, hi, vacuous, len(rows), name),
			Verdict: Finding{Printed: excess(k.PrintedObjectiveBound(k.Divergence(mixpolicy.Printed), farHorizon).Value, trivialGap(k)), Corrected: float64(violated)}.Verdict()},
		{ID: "3-sample-complexity", Where: "abstract, 3.2", Claim: "the number of queries that Theorem 3.4 has is what an ε-optimal policy requires", Experiment: "random MDP of 24 pairs, γ = 0.9, ε = 0.01, ρ = 0.1: Theorem 3.4 against the least T that was enough in 20 of 20 trials",
			Numbers: fmt.Sprintf("%.2g corrected, %.2g as printed with τ = 1 and no constant; %d were enough", need, printedNeed, actual),
			Verdict: verdictIf(need <= 100*float64(actual))},
		geometry,
		{ID: "4-error-terms", Where: "4", Claim: "the bounds of the earlier penalty methods contain the violation, and those of Algorithm 1 do not", Experiment: "the same MDP, at the T of Theorem 3.4, corrected: what (3.36) adds to (3.31) for the cost of the policy, which is what (4.15) and (4.16) bound",
			Numbers: fmt.Sprintf("ε = 0.01 is %.2g from the gap and %.2g from the violation; in (4.15) the violation is that of the θ compared with, and is 0 for a feasible one", gapPart, violationPart),
			Verdict: verdictIf(violationPart < 0.01*epsilon)},
		{ID: "4-tighter", Where: "4", Claim: "the bound of the smoothed ALP (4.13) is tighter than that of the ALP (4.3)", Experiment: "random MDP of 3 states, γ = 0.9, two features: the least of (4.13) over a grid of 3721 u against (4.3) at u = 1",
			Numbers: fmt.Sprintf("%.4g against %.4g, where more u could only lower (4.3): at u = 1 the factors are 1 + 2(1+γ)/(1−γ) and 2/(1−γ)", smoothed, lyapunov),
			Verdict: verdictIf(smoothed < lyapunov)},
		{ID: "7-polynomial", Where: "7", Claim: "the sample complexity is polynomial in the number of base policies", Experiment: "random MDP, R = 1, corrected Theorem 3.4 for d = 2 to 32 random policies",
			Numbers: fmt.Sprintf("T from %.2g to %.2g, about d^%.1f", sizes[0], sizes[len(sizes)-1], slope),
			Verdict: verdictIf(slope < 8)},
	}, nil
}

// polynomialInD returns the corrected sample complexity for growing numbers of policies.
func polynomialInD() (dims, sizes []float64, err error) {
	x, err := smallMDP()
	if err != nil {
		return nil, nil, err
	}
	rng := rand.New(rand.NewPCG(70, 0))
	var base []*mixpolicy.Policy
	for d := 2; d <= 32; d *= 2 {
		for len(base) < d {
			p, err := mixpolicy.PolicyFunc(x, func(_ int, row []float64) {
				for a := range row {
					row[a] = 0.1 + rng.ExpFloat64()
				}
				floats.Scale(1/floats.Sum(row), row)
			})
			if err != nil {
				return nil, nil, err
			}
			base = append(base, p)
		}
		p, err := mixtureProblem(x, mixpolicy.Ball(1), base...)
		if err != nil {
			return nil, nil, err
		}
		k, err := theory.NewConstants(p, mixpolicy.PrimalDual{})
		if err != nil {
			return nil, nil, err
		}
		n, err := k.With(max(20, 2*k.LambdaStar)).SampleComplexity(0.1, 0.1)
		if err != nil {
			return nil, nil, err
		}
		dims, sizes = append(dims, float64(d)), append(sizes, n)
	}
	return dims, sizes, nil
}

// textClaims are about what the paper says it contains, and about the cost of its steps.
func textClaims(context.Context) ([]Claim, error) {
	// The time of a step by the number of states, for dense and lazy multipliers.
	var dense, lazy []float64
	for _, buffer := range []int{100, 10_000} {
		x, err := models.Queue{Buffer: buffer}.MDP()
		if err != nil {
			return nil, err
		}
		// Service keeps up with arrivals under both policies, so that no measure underflows.
		first, err := mixpolicy.StateIndependent(x, .25, .25, .25, .25)
		if err != nil {
			return nil, err
		}
		second, err := mixpolicy.StateIndependent(x, .2501, .2501, .2499, .2499)
		if err != nil {
			return nil, err
		}
		psi, err := mixpolicy.NewFeaturesContext(context.Background(), x, mixpolicy.MeasureSettings{Method: mixpolicy.PowerIteration, Tolerance: 1e-3}, first, second)
		if err != nil {
			return nil, err
		}
		p, err := mixpolicy.NewProblem(psi, mixpolicy.Ball(2))
		if err != nil {
			return nil, err
		}
		for _, kind := range []mixpolicy.Multipliers{mixpolicy.DenseMultipliers, mixpolicy.LazyMultipliers} {
			o, err := mixpolicy.NewOracle(p, 1, 0)
			if err != nil {
				return nil, err
			}
			run, err := mixpolicy.PrimalDual{CostScale: float64(buffer * buffer), Multipliers: kind}.Start(p, o)
			if err != nil {
				return nil, err
			}
			ns := nanoseconds(1000, func() { err = run.Step() })
			if err != nil {
				return nil, err
			}
			if kind == mixpolicy.DenseMultipliers {
				dense = append(dense, ns)
			} else {
				lazy = append(lazy, ns)
			}
		}
	}
	phi := bregman.Ball{R: 2}
	y := []float64{0.3, -0.1}
	z, err := phi.Shift(y)
	if err != nil {
		return nil, err
	}
	network, err := networkClaim()
	if err != nil {
		return nil, err
	}
	var smoothed []string // entries of the index that are about the smoothed ALP
	own := 0              // those that are not on prior work
	for _, e := range Index() {
		if strings.Contains(e.What, "smoothed ALP") {
			smoothed = append(smoothed, e.Number)
			if !strings.HasPrefix(e.Number, "4.") {
				own++
			}
		}
	}
	return []Claim{
		{ID: "2-size-of-state-space", Where: "2.3", Claim: "the cost of computation depends on the number of features, not of states", Timing: true,
			Experiment: "time of an iteration on queues of 100 and 10,000 states, d = 2, multipliers kept as a vector, as in (3.26), and lazily",
			Numbers:    fmt.Sprintf("%.3g ns and %.3g ns as in (3.26); %.3g ns and %.3g ns lazily, with the same iterates", dense[0], dense[1], lazy[0], lazy[1]),
			Verdict:    verdictIf(dense[1] < 3*dense[0])},
		{ID: "7-simple-projection", Where: "7", Claim: "the projection onto the hyperplane is simple", Experiment: "closed form for the ball, corrected (3.22), at V = (0.3, −0.1), R = 2",
			Numbers: fmt.Sprintf("z = %.6f, J′(z) = %.1g", z, sumAt(phi, y, z)-1),
			Verdict: verdictIf(math.Abs(sumAt(phi, y, z)-1) < 1e-14)},
		{ID: "0-smoothed", Where: "abstract", Claim: "the algorithm is also modified for the smoothed ALP, with constraint sampling over a polytope",
			Experiment: "the index of all equations and statements, made by reading the paper",
			Numbers:    fmt.Sprintf("of %d entries %d are about the smoothed ALP, (%s), and %d of them outside of section 4, which is on prior work", len(Index()), len(smoothed), strings.Join(smoothed, "), ("), own),
			Verdict:    verdictIf(own > 0)},
		network,
	}, nil
}

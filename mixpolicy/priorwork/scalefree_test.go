package priorwork

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

func ExampleScaleFree() {
	for _, r := range []float64{2, 100} {
		p := section6(mixpolicy.Ball(r))
		x := mixpolicy.Must(mixpolicy.Solve(background, p, ScaleFree{}, mixpolicy.Settings{Iterations: 10_000, Seed: 1}))
		fmt.Printf("R = %v: %.3f %% above the optimum\n", r, 100*x.PenalisedGap/x.Optimum)
	}
	// Output:
	// R = 2: 0.000 % above the optimum
	// R = 100: 0.098 % above the optimum
}

// length2 returns 2D(x; from)/‖x − from‖, or 0 if x = from.
func (m mirror) length2(x, from []float64) float64 {
	far := length(plus(x, -1, from))
	if far == 0 {
		return 0
	}
	return 2 * bregman.Divergence(m.modulus, x, from) / far
}

// scaleFrees transcribes the method from its doc comment, with both kinds of gradient and with rare large noise.
func scaleFrees(p *mixpolicy.Problem, m mirror) (all []transcription) {
	p = p.WithNoise(func(rng *rand.Rand) float64 { return 30 * math.Pow(rng.NormFloat64(), 7) })
	second := func(sampled bool) func(a plain, o *mixpolicy.Oracle) func() [][]float64 {
		return func(a plain, o *mixpolicy.Oracle) func() [][]float64 {
			pairs := len(a.c)
			theta, start := barycentre(a.d), barycentre(a.d)
			lambda, top, q, sumLambda := zeros(pairs), zeros(pairs), zeros(pairs), zeros(pairs)
			seen, led, last, sum := zeros(a.d), zeros(a.d), zeros(a.d), zeros(a.d)
			t, s, unit, weights, c, kept, far := 0., 0., 0., 0., math.Inf(1), 0., 0.
			most := floats.Norm(p.MDP().Costs(), math.Inf(1))
			for j := range a.d {
				near := times(.9, start)
				near[j] += .1
				c = min(c, m.length2(near, start))
			}
			return func() [][]float64 {
				t++
				i, cost := o.Sample()
				beyond, limit := max(0, math.Abs(cost)-most), math.Sqrt(t)*(most+far)
				far = (far*(t-1) + min(beyond, limit)) / t
				if beyond <= limit {
					kept++
					floats.AddScaled(seen, cost/a.q[i], a.psi[i])
				}
				estimate := times(1/max(kept, 1), seen)
				unit = max(unit, length(across(estimate)))
				g := plus(plus(a.slope(lambda), -1, a.slope(zeros(pairs))), 1, estimate)
				guess := g
				if sampled {
					g, guess = times((cost-lambda[i])/a.q[i], a.psi[i]), zeros(a.d)
				}
				s += t * t * math.Pow(length(across(plus(g, -1, last))), 2)
				floats.AddScaled(led, t, g)
				next := a.step(m, start, plus(led, t+1, guess), c/math.Sqrt(max(s, 1e-300)))
				last = guess
				weights += t
				floats.AddScaled(sumLambda, t, lambda)
				for i, v := range times(t, a.measure(theta)) {
					q[i] += v * v
					lambda[i] = max(0, lambda[i]-max(unit, top[i])*v/math.Sqrt(q[i]))
					top[i] = max(top[i], lambda[i])
				}
				floats.AddScaled(sum, t, theta)
				theta = next
				average := times(1/weights, sum)
				c = max(c, m.length2(average, start))
				// The answer is the first feasible point on the line from the average to the start.
				at := func(part float64) []float64 { return plus(times(1-part, average), part, start) }
				first := halve(0, 1, func(part float64) bool { return slices.Min(a.measure(at(part))) < 0 })
				return [][]float64{theta, at(first), times(1/weights, sumLambda)}
			}
		}
	}
	for _, sampled := range []bool{false, true} {
		all = append(all, transcription{fmt.Sprintf("scale-free, sampled %v, %v", sampled, m.modulus), p,
			ScaleFree{Modulus: m.modulus, Sampled: sampled}, 100, second(sampled), answer})
	}
	return all
}

// The bounds (θ) and (λ) of the doc comment hold for any gradients and iterates. The test draws random iterates, and
// random gradients whose size changes now and then by a factor of up to 100.
func TestScaleFreeRegret(t *testing.T) {
	p := garnetProblem(mixpolicy.Ball(2))
	phi, mu, d := bregman.Ball{R: 2}, .5, 4
	rho := math.Sqrt(4 - 1./4)                                                      // radius of the ball within the plane, whose diameter is 2ρ
	delta := bregman.Divergence(phi, onto([]float64{9, 0, 0, 0}, 2), barycentre(4)) // D is the same on its whole boundary
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		noise := func(int) float64 { return rng.NormFloat64() }
		// drift is the part of a gradient that is not noise.
		steps, drift := rapid.IntRange(1, 60).Draw(t, "steps"), rapid.Float64Range(0, 1).Draw(t, "drift")
		a := begin[*scaleFree](p, ScaleFree{})
		first, last, size, total, regret, way := a.length, 0., 1., zeros(d), 0., vector(d, noise)
		for k := range steps {
			if rng.IntN(10) == 0 {
				size *= math.Pow(10, 4*rng.Float64()-2)
			}
			g, w := times(size, plus(times(drift, way), 1-drift, vector(d, noise))), float64(k+1)
			regret += w * floats.Dot(g, a.m.Theta)
			floats.AddScaled(total, w, g)
			last = a.length // c_T, which the last step uses
			mixpolicy.Must(0, a.descend(g))
		}
		// The θ of the greatest regret, and θ₁, where D = 0.
		for _, theta := range [][]float64{onto(times(-1e9, total), 2), barycentre(d)} {
			bound := math.Sqrt(a.squares) * (bregman.Divergence(phi, theta, barycentre(d))/last + delta*(1/first-1/last) + 2*max(last/mu, 2*rho))
			if r := regret - floats.Dot(total, theta); r > bound*(1+1e-9) {
				t.Fatalf("regret %v against %v after %d steps, bound %v", r, theta, steps, bound)
			}
		}

		a = begin[*scaleFree](p, ScaleFree{})
		a.unit = 1
		pairs := len(a.lambda)
		most, against, flows, peak := zeros(pairs), zeros(pairs), zeros(pairs), zeros(pairs)
		for k := range steps {
			a.m.T = k + 1
			copy(a.m.Before, plus(vector(d, noise), 4*drift-2, []float64{-3, -1, 1, 3}))
			a.f.MulVec(a.measure, a.m.Before)
			for i, l := range a.lambda {
				v := float64(k+1) * a.measure[i]
				most[i], against[i], flows[i], peak[i] = max(most[i], l), against[i]+v*l, flows[i]+v, max(1, a.highest[i])
			}
			a.ascend()
		}
		for i := range pairs {
			for _, u := range []float64{0, .5, 1, 3, 100} {
				m := max(u, most[i])
				if bound := math.Sqrt(a.rowSquares[i]) * (m*m/2 + peak[i]); against[i]-u*flows[i] > bound*(1+1e-9) {
					t.Fatalf("pair %d: regret %v against %v, bound %v", i, against[i]-u*flows[i], u, bound)
				}
			}
		}
	})
}

// recosted returns p with other costs.
func recosted(p *mixpolicy.Problem, change func(costs []float64)) *mixpolicy.Problem {
	costs, columns := slices.Clone(p.MDP().Costs()), make([][]float64, p.Dim())
	for j := range columns {
		columns[j] = p.Features().Column(j)
	}
	change(costs)
	f := mixpolicy.Must(mixpolicy.FeaturesFromColumns(mixpolicy.Must(p.MDP().WithCosts(costs)), columns...))
	return mixpolicy.Must(mixpolicy.NewProblem(f, p.Class()))
}

// Costs in another unit give the same θ: to the bit, if the factor between the units is a power of two.
func TestScaleFreeNeedsNoScale(t *testing.T) {
	unit := garnetProblem(mixpolicy.Ball(2))
	want := solve(unit, ScaleFree{}, 1000)
	for _, scale := range []float64{0x1p-20, 0x1p20} {
		p := recosted(unit, func(costs []float64) { floats.Scale(scale, costs) })
		if got := solve(p, ScaleFree{}, 1000); !floats.Equal(got.Theta, want.Theta) {
			t.Errorf("costs times %v: θ̂ = %v, want %v", scale, got.Theta, want.Theta)
		}
	}
}

// With a tolerance of 1 %, the run ends by itself for five classes without noise, and for one class with each kind of
// noise. The penalised gap of its answer is at most 1 % of the exact optimum.
func TestScaleFreeEndsByItself(t *testing.T) {
	check := func(p *mixpolicy.Problem, most int, seed uint64) {
		t.Helper()
		r := mixpolicy.Must(mixpolicy.Solve(background, p, ScaleFree{Tolerance: .01}, mixpolicy.Settings{Iterations: most, Seed: seed}))
		if r.Iterations == most || !(r.PenalisedGap <= .01*math.Abs(r.Optimum)) || r.Queries != r.Iterations {
			t.Errorf("%v, seed %d: gap %v after %d steps", p.Class(), seed, r.PenalisedGap/r.Optimum, r.Iterations)
		}
		// The answer is older than the samples that test it.
		if most > 1e6 {
			return
		}
		if long := mixpolicy.Must(learn(p, ScaleFree{}, r.Iterations, seed)); floats.Equal(long.Theta, r.Theta) {
			t.Errorf("%v, seed %d: the answer after %d steps is the average of all steps", p.Class(), seed, r.Iterations)
		}
	}
	for _, class := range []mixpolicy.Class{mixpolicy.Ball(1.3), mixpolicy.Ball(2), mixpolicy.Ball(120), mixpolicy.Cube(2), mixpolicy.Simplex()} {
		check(section6(class), 10_000, 1)
		check(garnetProblem(class), 1_000_000, 1)
	}
	// If the optimum is 0, no answer is proved to be within 1 % of it.
	ball := garnetProblem(mixpolicy.Ball(2))
	optimum := mixpolicy.Must(ball.Optimum(background)).Objective
	zero := recosted(ball, func(costs []float64) { floats.AddConst(-optimum, costs) })
	if r := mixpolicy.Must(learn(zero, ScaleFree{Tolerance: .3}, 300_000, 1)); r.Iterations < 300_000 {
		t.Errorf("optimum 0: the run ends after %d steps", r.Iterations)
	}
	if !testing.Short() {
		for _, noise := range noises[1:] {
			check(ball.WithNoise(noise), 1e8, 2)
		}
	}
}

// noises are symmetric about 0: none, Gaussian, of infinite variance, and rare outliers.
var noises = []func(*rand.Rand) float64{
	nil, (*rand.Rand).NormFloat64,
	func(rng *rand.Rand) float64 { return distuv.StudentsT{Sigma: 1, Nu: 1.5, Src: rng}.Rand() },
	func(rng *rand.Rand) float64 { return [500]float64{1000, -1000}[rng.IntN(500)] },
}

// The bound that excess returns is at least f(θ) = kᵀb̄ + h + π̄c_max‖Ψk‖₁, k = θ̂ − θ, for every feasible θ. For
// d = 2, S(H) is a segment, and h + π̄c_max‖Ψk‖₁ is greatest at an end of S(H), so the test can recompute the bound. b̄,
// V and π come from a list of the samples.
func TestTrialBoundsExcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		class := rapid.SampledFrom([]mixpolicy.Class{mixpolicy.Ball(1.3), mixpolicy.Ball(2), mixpolicy.Cube(20), mixpolicy.Simplex()}).Draw(t, "class")
		p := garnetProblem(class)
		if rapid.Bool().Draw(t, "d = 2") {
			f := mixpolicy.Must(mixpolicy.FeaturesFromColumns(p.MDP(), p.Features().Column(0), p.Features().Column(1)))
			p = mixpolicy.Must(mixpolicy.NewProblem(f, class))
		}
		p = p.WithNoise(rapid.SampledFrom(noises).Draw(t, "noise"))
		seed, f, d, top := rapid.Uint64().Draw(t, "seed"), p.Features(), p.Dim(), floats.Norm(p.MDP().Costs(), math.Inf(1))
		o, rng := mixpolicy.Must(mixpolicy.NewOracle(p, seed, 0)), rand.New(rand.NewPCG(seed, 1))
		theta := times(rng.Float64(), mixpolicy.Must(p.Optimum(background)).Theta) // nearly optimal or not
		floats.AddConst((1-floats.Sum(theta))/float64(d), theta)
		trial, row := newTrial(p, top, theta), zeros(d)
		for range 1000 {
			i, cost := o.Sample()
			trial.add(i, cost, f.Sampling()[i])
		}
		trial.begin(theta, rapid.SampledFrom([]float64{1e-9, .01, 100}).Draw(t, "ε|b̄ᵀθ̂|"))
		var near float64
		var samples []float64
		n := rapid.IntRange(20, 5000).Draw(t, "samples")
		for range n {
			i, cost := o.Sample()
			size, q := math.Abs(cost), f.Sampling()[i]
			if size > trial.limit-2*top && size < trial.limit+2*top {
				near++
			}
			x := trial.add(i, cost, q)
			if want := math.Copysign(min(size, trial.limit), cost); x != want {
				t.Fatalf("cost %v clipped to %v, want %v", cost, x, want)
			}
			f.Row(row, i)
			samples = append(samples, times(x/q, row)...)
		}
		// Each sample counts many times, so that the regions become small.
		repeat := rapid.SampledFrom([]float64{1, 100, 10_000}).Draw(t, "times that each sample counts")
		floats.Scale(repeat, trial.sums)
		floats.Scale(repeat, trial.squares)
		trial.n, trial.near[trial.band] = trial.n*repeat, trial.near[trial.band]*repeat
		var v mat.SymDense
		all, mean, size := mat.NewDense(n, d, samples), zeros(d), float64(n)*repeat
		stat.CovarianceMatrix(&v, all, vector(n, func(int) float64 { return repeat }))
		for j := range mean {
			mean[j] = stat.Mean(mat.Col(nil, j, all), nil)
		}
		best := func(b []float64) []float64 {
			return mixpolicy.Must(linprog.Mixture{B: b, Psi: f, Norm: class.Norm, R: class.R}.Solve(background, linprog.Settings{})).Theta
		}
		const c = 17
		share := near / float64(n)
		h := func(variance float64, k []float64) float64 {
			spread, mass := 0., 0.
			for i, q := range f.Sampling() {
				f.Row(row, i)
				v := math.Abs(floats.Dot(row, k))
				spread, mass = max(spread, v/q), mass+v
			}
			return math.Sqrt(2*c*max(0, variance)/size) + 14*trial.limit*spread*c/(3*(size-1)) +
				mass*top*(share+math.Sqrt(2*c*share*(1-share)/(size-1))+7*c/(3*(size-1)))
		}
		noise := func(k []float64) float64 { // f − kᵀb̄
			x := mat.NewVecDense(d, k)
			return h(mat.Inner(x, &v, x), k)
		}
		tolerance := math.Pow(10, rapid.Float64Range(-3, 1).Draw(t, "log₁₀ ε"))
		bound, own, allowed := trial.excess(tolerance)
		center, costs := floats.Dot(mean, theta), mat.NewVecDense(n, nil)
		costs.MulVec(all, mat.NewVecDense(d, theta))
		price := tolerance * h(repeat*mat.Dot(costs, costs)/(size-1), theta) // ε times the greatest |b̄ᵀθ̂| − (1−p)|bᵀθ̂|
		if want := center - floats.Dot(mean, best(mean)); math.Abs(own-want) > 1e-9 || math.Abs(allowed-tolerance*math.Abs(center)) > 1e-9 {
			t.Fatalf("own excess %v and allowed %v, want %v and %v", own, allowed, want, tolerance*math.Abs(center))
		}
		if math.IsInf(bound, 1) != (own > allowed) {
			t.Fatalf("bound %v with own excess %v, allowed %v", bound, own, allowed)
		}
		for range 10 {
			k := plus(theta, -1, best(vector(d, func(int) float64 { return rng.NormFloat64() })))
			if got := floats.Dot(k, mean) + noise(k) + price; got > bound+1e-9*top {
				t.Fatalf("f(θ) = %v, bound %v", got, bound)
			}
		}
		if d == 4 || own > allowed {
			return
		}
		ends := []float64{theta[0] - best([]float64{1, -1})[0], theta[0] - best([]float64{-1, 1})[0]}
		slope := mean[1] - mean[0]
		for h, last := math.Inf(1), 0.; last == 0 || h <= .9*last && own+h+price > allowed; {
			last = h
			h = min(h, max(noise([]float64{ends[0], -ends[0]}), noise([]float64{ends[1], -ends[1]})))
			if want := own + h + price; (h > .9*last || want <= allowed) && math.Abs(bound-want) > 1e-6*want {
				t.Fatalf("bound %v, want %v", bound, want)
			}
			for e, v := range ends {
				if v*slope > h {
					ends[e] = h / slope
				}
			}
		}
	})
}

// Clipping costs with symmetric noise multiplies the means by 1 − p, up to the error that the doc comment of ScaleFree
// bounds.
func TestClippedNoise(t *testing.T) {
	const top = 1.
	heavyTail := distuv.StudentsT{Sigma: 1, Nu: 1.5}
	for _, limit := range []float64{4, 8, 64} {
		for _, c := range []float64{-1, -.3, 0, .5, 1} {
			mean := quad.Fixed(func(x float64) float64 { return heavyTail.CDF(c-x) - heavyTail.CDF(-c-x) }, 0, limit, 1000, nil, 0)
			p := 2 * heavyTail.CDF(-limit)
			near := 2 * (heavyTail.CDF(limit+top) - heavyTail.CDF(limit-top))
			if off := math.Abs(mean - (1-p)*c); off > near*top+1e-9 || c == 1 && off < near*top/1000 {
				t.Errorf("L = %v, c = %v: mean %v, want %v up to %v", limit, c, mean, (1-p)*c, near*top)
			}
		}
	}
}

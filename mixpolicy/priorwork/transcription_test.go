package priorwork

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// This file writes most methods a second time, in plain loops over matrices and from the formulas alone. It compares
// the two forms of a method iterate by iterate. Both forms draw the same random numbers.

// plain is a problem as arrays, indexed by pair i, state s and feature j.
type plain struct {
	n, m, d     int
	gamma       float64
	alpha, c, q []float64   // α(s), c(i), q(i)
	to, psi     [][]float64 // P(i, s), ψʲ(i)
}

func arrays(p *mixpolicy.Problem) plain {
	x := p.MDP()
	a := plain{n: x.States(), m: x.Actions(), d: p.Dim(), gamma: x.Gamma(), alpha: x.Initial(), c: x.Costs(), q: p.Features().Sampling()}
	for i := range x.Pairs() {
		row := make([]float64, a.n)
		next, prob := x.Next(i/a.m, i%a.m)
		for k, s := range next {
			row[s] += prob[k]
		}
		a.to, a.psi = append(a.to, row), append(a.psi, mat.Row(nil, i, p.Features().Dense()))
	}
	return a
}

// vector returns (f(0), …, f(n−1)).
func vector(n int, f func(k int) float64) []float64 {
	x := make([]float64, n)
	for k := range x {
		x[k] = f(k)
	}
	return x
}

func zeros(n int) []float64 { return make([]float64, n) }

// plus returns x + k·y, and times returns k·x.
func plus(x []float64, k float64, y []float64) []float64 {
	return floats.AddScaledTo(zeros(len(x)), x, k, y)
}
func times(k float64, x []float64) []float64 { return floats.ScaleTo(zeros(len(x)), k, x) }

// halve returns the z at which below turns false, by bisection.
func halve(lo, hi float64, below func(z float64) bool) float64 {
	for range 100 {
		if z := (lo + hi) / 2; below(z) {
			lo = z
		} else {
			hi = z
		}
	}
	return lo
}

func length(x []float64) float64 { return floats.Norm(x, 2) }

// across returns x minus its mean.
func across(x []float64) []float64 {
	return vector(len(x), func(j int) float64 { return x[j] - floats.Sum(x)/float64(len(x)) })
}

// measure returns Ψθ.
func (a plain) measure(theta []float64) []float64 {
	return vector(len(a.c), func(i int) float64 { return floats.Dot(a.psi[i], theta) })
}

// mass returns ‖[x]₋‖₁.
func mass(x []float64) (total float64) {
	for _, v := range x {
		total += max(0, -v)
	}
	return total
}

// flow returns W and (1−γ)α.
func (a plain) flow() (w [][]float64, target []float64) {
	for s := range a.n {
		row := zeros(a.d)
		for i, psi := range a.psi {
			if i/a.m == s {
				floats.Add(row, psi)
			}
			floats.AddScaled(row, -a.gamma*a.to[i][s], psi)
		}
		w, target = append(w, row), append(target, (1-a.gamma)*a.alpha[s])
	}
	return w, target
}

// onto returns the point nearest to θ with 1ᵀθ = 1 and ‖θ‖₂ ≤ R. In this plane, ‖θ‖₂ ≤ R is the ball about
// (1/d, …, 1/d) of radius √(R² − 1/d).
func onto(theta []float64, r float64) []float64 {
	off, scale := across(theta), 1.
	if far := length(off); far > 0 {
		scale = min(1, math.Sqrt(r*r-1/float64(len(theta)))/far)
	}
	return plus(barycentre(len(theta)), scale, off)
}

// threeStates is a problem with three states, two actions, and three features that are not occupation measures.
func threeStates(criterion mixpolicy.Criterion, class mixpolicy.Class) *mixpolicy.Problem {
	x := mixpolicy.Must(models.Garnet{States: 3, Actions: 2, Branches: 2, Seed: 4, Ring: true, Criterion: criterion}.MDP())
	var columns [][]float64
	for j := range 3 {
		column := vector(6, func(i int) float64 { return float64((i*(j+2) + j) % 5) })
		columns = append(columns, times(1/floats.Sum(column), column))
	}
	return mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, columns...)), class))
}

// A transcription is a method written a second time. Field second starts this second form with random numbers from o,
// and returns its step. The step returns parts of the iterate, and view returns the same parts from the run of the
// method.
type transcription struct {
	name   string
	p      *mixpolicy.Problem
	method mixpolicy.Method
	steps  int
	second func(a plain, o *mixpolicy.Oracle) func() [][]float64
	view   func(r mixpolicy.Run) [][]float64
}

func TestTranscriptions(t *testing.T) {
	var all []transcription
	for _, criterion := range []mixpolicy.Criterion{mixpolicy.Discounted(.7), mixpolicy.AverageCost} {
		all = append(all, subgradient(threeStates(criterion, mixpolicy.Ball(3))), games(threeStates(criterion, mixpolicy.Simplex())),
			logged(threeStates(criterion, mixpolicy.Simplex())))
	}
	all = append(all, boxes(threeStates(mixpolicy.Discounted(.7), mixpolicy.Simplex())), smoothed(threeStates(mixpolicy.Discounted(.7), mixpolicy.Simplex())))
	for _, m := range mirrors() {
		all = append(all, saddles(threeStates(mixpolicy.Discounted(.7), mixpolicy.Unbounded()), m)...)
		all = append(all, scaleFrees(threeStates(mixpolicy.Discounted(.7), mixpolicy.Unbounded()), m)...)
	}
	all = append(all, restarted(threeStates(mixpolicy.Discounted(.7), mixpolicy.Ball(1)), 160))
	for _, class := range []mixpolicy.Class{mixpolicy.Ball(2), mixpolicy.Simplex()} {
		all = append(all, restarted(garnetProblem(class), 320))
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			r := begin[mixpolicy.Run](c.p, c.method)
			second := c.second(arrays(c.p), mixpolicy.Must(mixpolicy.NewOracle(c.p, 1, 0)))
			for k := range c.steps {
				mixpolicy.Must(0, r.Step())
				got := c.view(r)
				for part, want := range second() {
					for j, w := range want {
						// A step makes a few dozen roundings of numbers below 10³, and projections do not let errors
						// grow. 10⁻⁹ is 10⁴ such roundings, and far below the difference that another formula would
						// make.
						if !(math.Abs(got[part][j]-w) <= 1e-9*(1+math.Abs(w))) {
							t.Fatalf("step %d, part %d: %v, want %v", k, part, got[part], want)
						}
					}
				}
			}
		})
	}
}

func answer(r mixpolicy.Run) [][]float64 {
	var s mixpolicy.Snapshot
	if err := r.View(&s); err != nil {
		panic(err)
	}
	return [][]float64{s.Last, s.Average, s.Lambda}
}

// subgradient is the dual ALP, with batches.
func subgradient(p *mixpolicy.Problem) transcription {
	const omega, scale, batch, eta = 3, 2, 2, 2.
	second := func(a plain, o *mixpolicy.Oracle) func() [][]float64 {
		w, target := a.flow()
		q2 := vector(a.n, func(s int) float64 { return length(w[s]) })
		floats.Scale(1/floats.Sum(q2), q2)
		draw := mixpolicy.Must(alias.New(q2))
		theta, sum, weight, t := barycentre(a.d), zeros(a.d), 0., 0.
		return func() [][]float64 {
			g := zeros(a.d)
			for range batch {
				i, cost := o.Sample()
				slope := cost / scale
				if a.measure(theta)[i] < 0 {
					slope -= omega
				}
				s := draw.Draw(o.Rand())
				floats.AddScaled(g, slope/a.q[i]/batch, a.psi[i])
				floats.AddScaled(g, omega*math.Copysign(1, floats.Dot(w[s], theta)-target[s])/q2[s]/batch, w[s])
			}
			t++
			step := eta / math.Sqrt(t)
			weight += step
			floats.AddScaled(sum, step, theta)
			theta = onto(plus(theta, -step, g), 3)
			return [][]float64{theta, times(1/weight, sum)}
		}
	}
	return transcription{"dual ALP, " + fmt.Sprint(p.MDP().Criterion()), p,
		DualALP{Weight: omega, CostScale: scale, StepSize: mixpolicy.InverseSqrt(eta), Batch: batch}, 300, second, answer}
}

// games is the randomised LP or, under average cost, π-learning, with ξ = (ξ(s)π_a(s)) normalised in every step.
func games(p *mixpolicy.Problem) transcription {
	const steps, t, tau, rate = 100, 2., 4., 3.
	n, nm := 3., 6.
	gamma := p.MDP().Gamma()
	theta, lo, hi := 1-gamma, 0., 1/(1-gamma)
	beta := rate * theta * math.Sqrt(math.Log(nm+1)/(2*nm*steps))
	ascent, shift := beta*n/(2*math.Pow(1-gamma, 2)), hi
	var method mixpolicy.Method = RandomizedLP{Steps: steps, Rate: rate}
	if gamma == 1 {
		theta, lo, hi = .5, -2*t, 2*t // .5 is 1/√τ
		beta = rate / t * math.Sqrt(math.Log(nm)/(2*nm*steps))
		ascent, shift = beta*n*t*t, 4*t+1
		method = PiLearning{Steps: steps, MixingTime: t, Range: tau, Rate: rate}
	}
	second := func(a plain, o *mixpolicy.Oracle) func() [][]float64 {
		alpha := a.alpha
		if gamma == 1 {
			alpha = barycentre(a.n)
		}
		start := mixpolicy.Must(alias.New(alpha))
		xi, v, mean, k := barycentre(6), zeros(3), zeros(6), 0
		least, most := p.MDP().CostRange()
		in := func(s int) float64 { return xi[2*s] + xi[2*s+1] }
		return func() [][]float64 {
			for i := range mean {
				mean[i] += xi[i] / in(i/2) // π before the step
			}
			k++
			var i int
			if uniform(o.Rand()) < theta {
				s := start.Draw(o.Rand())
				i = 2*s + drawRow(o.Rand(), xi[2*s:2*s+2])
			} else {
				i = newSumTree(xi).draw(o.Rand())
			}
			s := i / 2
			probability := ((1-theta)*in(s) + theta*alpha[s]) * xi[i] / in(s)
			cost, next := o.Query(s, i%2)
			reward := (most - cost) / (most - least)
			xi[i] *= math.Exp(beta * (gamma*v[next] - v[s] + reward - shift) / probability)
			floats.Scale(1/floats.Sum(xi), xi)
			if gamma < 1 {
				v[start.Draw(o.Rand())] -= ascent * (1 - gamma)
			}
			v[next] -= ascent * gamma
			v[s] += ascent
			for s := range v {
				v[s] = max(lo, min(hi, v[s]))
			}
			return [][]float64{v, xi, times(1/float64(k), mean)}
		}
	}
	return transcription{method.Name(), p, method, steps, second, func(r mixpolicy.Run) [][]float64 {
		g := r.(*game)
		policy := mixpolicy.Must(g.Policy(background))
		return [][]float64{
			g.v, vector(6, func(i int) float64 { return g.xi.weight(i) / g.xi.total() }),
			vector(6, func(i int) float64 { // without the last policy, whose weight is 2⁻²⁰
				weight := float64(g.t) + 0x1p-20
				return (policy.Prob(i/2, i%2)*weight - 0x1p-20*g.xi.weight(i)/sumOf(g.row(i/2))) / float64(g.t)
			}),
		}
	}}
}

// boxes is mirror descent in a box and the simplex, with μ normalised and added up in every step.
func boxes(p *mixpolicy.Problem) transcription {
	const steps, gamma, reach, rate = 300, .7, 1 / .3, 6
	up, down := rate*math.Sqrt(math.Log(6)*6/steps)/(4*reach+1), rate*reach*math.Sqrt(6./steps)
	second := func(a plain, o *mixpolicy.Oracle) func() [][]float64 {
		mu, v, sum, start := barycentre(6), zeros(3), zeros(6), mixpolicy.Must(alias.New(a.alpha))
		least, most := p.MDP().CostRange()
		return func() [][]float64 {
			floats.Add(sum, mu)
			from := newSumTree(mu).draw(o.Rand())
			_, next := o.Query(from/2, from%2)
			i := int(6 * uniform(o.Rand()))
			cost, to := o.Query(i/2, i%2)
			mu[i] *= math.Exp(up * ((most-cost)/(most-least) + gamma*v[to] - v[i/2]))
			floats.Scale(1/floats.Sum(mu), mu)
			v[from/2] += down
			v[next] -= down * gamma
			v[start.Draw(o.Rand())] -= down * (1 - gamma)
			v = vector(3, func(s int) float64 { return max(-2*reach, min(2*reach, v[s])) })
			return [][]float64{v, mu, sum}
		}
	}
	return transcription{"box and simplex", p, BoxMirror{Steps: steps, Rate: rate}, steps, second, func(r mixpolicy.Run) [][]float64 {
		g := r.(*boxMirror)
		return [][]float64{g.v, vector(6, func(i int) float64 { return g.xi.weight(i) / g.xi.total() }), vector(6, g.measure)}
	}}
}

// logged is the method that learns from a log, with π itself instead of its logits, and with the sum of the inner
// iterates instead of their mean.
func logged(p *mixpolicy.Problem) transcription {
	const steps, inner, cover, rate = 300, 4, 1.2, 50
	gamma, reach := p.MDP().Gamma(), 2.
	if gamma < 1 {
		reach = 1 / (1 - gamma)
	}
	eta, zeta := 2*reach*math.Sqrt(6./inner)/(1+2*cover), cover*math.Sqrt(6./60)/(2*reach+1)
	second := func(a plain, o *mixpolicy.Oracle) func() [][]float64 {
		pi := vector(6, func(int) float64 { return .5 })
		beta, theta, sum, chosen := times(2, pi), zeros(6), zeros(6), pi
		start, spread, rho, k := mixpolicy.Must(alias.New(a.alpha)), a.spread(), 0., 0
		move := func(j int, by float64) { theta[j] = max(-reach, min(reach, theta[j]+eta*by)) }
		return func() [][]float64 {
			i, cost, next := o.Transition()
			if k++; k%(inner+1) > 0 {
				move(i, beta[i])
				for _, s := range [][2]float64{{float64(next), gamma * beta[i]}, {float64(start.Draw(o.Rand())), 1 - gamma}} {
					for b := range 2 {
						move(2*int(s[0])+b, -s[1]*pi[2*int(s[0])+b])
					}
				}
				floats.Add(sum, theta)
				if gamma == 1 {
					rho = max(0, min(1, rho-(1-beta[i])/math.Sqrt(inner)/(1+2*cover)))
				}
			} else {
				ahead := (pi[2*next]*sum[2*next] + pi[2*next+1]*sum[2*next+1]) / inner
				beta[i] = max(0, min(cover, beta[i]+zeta*((slices.Max(a.c)-cost)/spread-rho+gamma*ahead-sum[i]/inner)))
				if uniform(o.Rand())*float64(k/(inner+1)) < 1 {
					chosen = pi
				}
				pi = vector(6, func(j int) float64 { return pi[j] * math.Exp(rate*math.Sqrt(2*math.Ln2/60)/reach*sum[j]/inner) })
				pi = vector(6, func(j int) float64 { return pi[j] / (pi[j] + pi[j^1]) })
				sum = zeros(6)
			}
			return [][]float64{beta, theta, chosen, {rho}}
		}
	}
	return transcription{"log", p, OfflinePrimalDual{Steps: steps, Inner: inner, Coverage: cover, MixingTime: 2, Rate: rate}, steps, second,
		func(r mixpolicy.Run) [][]float64 {
			policy := mixpolicy.Must(r.(*offline).Policy(background))
			return [][]float64{r.(*offline).beta, r.(*offline).theta,
				vector(6, func(i int) float64 { return policy.Prob(i/2, i%2) }), {r.(*offline).rho}}
		}}
}

// smoothed is the primal–dual method for the smoothed program, with ρ itself instead of its logits.
func smoothed(p *mixpolicy.Problem) transcription {
	const radius, kappa, scale = 2., 1.5, 2.
	phi := [][]float64{{1, 0}, {1, .5}, {1, -2}}
	basis := mat.NewDense(3, 2, []float64{1, 0, 1, .5, 1, -2})
	weights, slack := []float64{.5, .2, .3}, []float64{.1, .6, .3}
	method := SmoothedPrimalDual{Basis: basis, Weights: weights, Slack: slack, Penalty: kappa, Radius: radius, StepSize: mixpolicy.InverseSqrt(.5), CostScale: scale}
	second := func(a plain, o *mixpolicy.Oracle) func() [][]float64 {
		draw, start := mixpolicy.Must(alias.New(slack)), mixpolicy.Must(alias.New(weights))
		y, nu, sum, weight, t := zeros(2), zeros(2), zeros(2), 0., 0.
		rho := vector(6, func(int) float64 { return 1. / 3 })
		value := func(s int) float64 { return floats.Dot(phi[s], nu) }
		return func() [][]float64 {
			t++
			s, s0, eta := draw.Draw(o.Rand()), start.Draw(o.Rand()), .5/math.Sqrt(t)
			g, h := times(-1, phi[s0]), zeros(2)
			for b := range 2 {
				cost, next := o.Query(s, b)
				h[b] = value(s) - a.gamma*value(next) - cost/scale
				floats.AddScaled(g, kappa*rho[2*s+b], plus(phi[s], -a.gamma, phi[next]))
			}
			weight += eta
			floats.AddScaled(sum, eta, nu)
			floats.AddScaled(y, -eta, g)
			nu = times(radius/math.Sqrt(1+floats.Dot(y, y)), y)
			rest := 1 - rho[2*s] - rho[2*s+1]
			grown := vector(2, func(b int) float64 { return rho[2*s+b] * math.Exp(eta*kappa*h[b]) })
			for b := range 2 {
				rho[2*s+b] = grown[b] / (rest + grown[0] + grown[1])
			}
			return [][]float64{nu, times(scale/weight, sum), rho}
		}
	}
	return transcription{method.Name(), p, method, 300, second, func(r mixpolicy.Run) [][]float64 {
		a := r.(*smoothedPrimalDual)
		rho := zeros(6)
		for s := range 3 {
			softmax(rho[2*s:2*s+2], a.logit[2*s:2*s+2], 0)
		}
		return [][]float64{a.m.Theta, a.Nu(), rho}
	}}
}

// mirror is a separable modulus: φ′ and its inverse, by coordinate.
type mirror struct {
	modulus     bregman.Modulus
	mu          float64 // the constant of strong convexity
	there, back func(j int, v float64) float64
}

// mirrors are the entropy, the square, and a modulus that differs from coordinate to coordinate.
func mirrors() []mirror {
	same := func(_ int, v float64) float64 { return v }
	lo, hi := []float64{-1, -1, -1}, []float64{1, 2, 4}
	return []mirror{
		{bregman.NegativeEntropy(), 1, func(_ int, v float64) float64 { return math.Log(v) }, func(_ int, v float64) float64 { return math.Exp(v) }},
		{bregman.Euclidean(), 1, same, same},
		{
			bregman.FermiDirac(lo, hi), 4. / 5,
			func(j int, v float64) float64 { return math.Log((v - lo[j]) / (hi[j] - v)) },
			func(j int, v float64) float64 { return (hi[j]*math.Exp(v) + lo[j]) / (1 + math.Exp(v)) },
		},
	}
}

// step returns the result of a step of mirror descent from θ along −g, projected onto the plane by bisection.
func (a plain) step(m mirror, theta, g []float64, eta float64) []float64 {
	at := func(z float64) []float64 {
		return vector(a.d, func(j int) float64 { return m.back(j, m.there(j, theta[j])-eta*g[j]+z) })
	}
	return at(halve(-1000, 1000, func(z float64) bool { return floats.Sum(at(z)) < 1 }))
}

// slope returns Ψᵀ(c − λ).
func (a plain) slope(lambda []float64) []float64 {
	g := zeros(a.d)
	for i, psi := range a.psi {
		floats.AddScaled(g, a.c[i]-lambda[i], psi)
	}
	return g
}

// raised returns [λ − step·SΨθ]₊, where S divides each row of Ψ by its sum.
func (a plain) raised(lambda, theta []float64, step float64) []float64 {
	flow := a.measure(theta)
	return vector(len(flow), func(i int) float64 { return max(0, lambda[i]-step*flow[i]/floats.Sum(a.psi[i])) })
}

func (a plain) spread() float64 { return slices.Max(a.c) - slices.Min(a.c) }

// saddles are mirror-prox and Algorithm 1 with reduced variance.
func saddles(p *mixpolicy.Problem, m mirror) []transcription {
	const scale, eta0 = 2., 3.
	twice := func(a plain, _ *mixpolicy.Oracle) func() [][]float64 {
		sigma, eta := a.spread(), math.Sqrt(m.mu)
		theta, lambda, mean, meanLambda, t := barycentre(a.d), zeros(len(a.c)), zeros(a.d), zeros(len(a.c)), 0.
		return func() [][]float64 {
			half, halfLambda := a.step(m, theta, a.slope(lambda), eta/sigma), a.raised(lambda, theta, eta*sigma)
			theta, lambda = a.step(m, theta, a.slope(halfLambda), eta/sigma), a.raised(lambda, half, eta*sigma)
			t++
			floats.Add(mean, half)
			floats.Add(meanLambda, halfLambda)
			return [][]float64{theta, times(1/t, mean), times(1/t, meanLambda), lambda}
		}
	}
	reduced := func(a plain, o *mixpolicy.Oracle) func() [][]float64 {
		theta, lambda, seen := barycentre(a.d), zeros(len(a.c)), zeros(a.d)
		mean, meanLambda, weight, t := zeros(a.d), zeros(len(a.c)), 0., 0.
		return func() [][]float64 {
			t++
			eta := eta0 / math.Sqrt(t)
			i, cost := o.Sample()
			floats.AddScaled(seen, cost/scale/a.q[i], a.psi[i])
			weight += eta
			floats.AddScaled(mean, eta, theta)
			floats.AddScaled(meanLambda, eta*scale, lambda)
			// The estimate of Ψᵀc replaces Ψᵀc in Ψᵀ(c − λ).
			g := plus(plus(a.slope(lambda), -1, a.slope(zeros(len(a.c)))), 1/t, seen)
			theta, lambda = a.step(m, theta, g, eta), a.raised(lambda, theta, eta)
			return [][]float64{theta, times(1/weight, mean), times(1/weight, meanLambda)}
		}
	}
	what := fmt.Sprint(m.modulus)
	return []transcription{
		{"mirror-prox, " + what, p, MirrorProx{m.modulus}, 100, twice,
			func(r mixpolicy.Run) [][]float64 { return append(answer(r), r.(*mirrorProx).lambda) }},
		{"variance reduced, " + what, p, VarianceReduced{Modulus: m.modulus, CostScale: scale, StepSize: mixpolicy.InverseSqrt(eta0)}, 300,
			reduced, answer},
	}
}

// nearest returns the point of the simplex nearest to θ: the [θ_j − z]₊ for the z at which they add up to 1.
// Bisection finds this z.
func nearest(theta []float64) []float64 {
	at := func(z float64) []float64 {
		return vector(len(theta), func(j int) float64 { return max(0, theta[j]-z) })
	}
	return at(halve(-10, 10, func(z float64) bool { return floats.Sum(at(z)) > 1 }))
}

// restarted is PDHG on the ball or the simplex, with its restarts.
func restarted(p *mixpolicy.Problem, steps int) transcription {
	r, simplex := p.Class().R, p.Class() == mixpolicy.Simplex()
	second := func(a plain, _ *mixpolicy.Oracle) func() [][]float64 {
		pairs, sigma := len(a.c), a.spread()
		theta, lambda := barycentre(a.d), zeros(pairs)
		// The dual bound is the least θᵀg. Over the simplex, it is the least entry of g. Over the ball in the
		// plane, it is the mean of g minus the radius times ‖g − mean‖₂.
		loss := func(theta, lambda []float64) float64 {
			g := a.slope(lambda)
			bound := slices.Min(g)
			if !simplex {
				bound = floats.Sum(g)/float64(a.d) - math.Sqrt(max(0, r*r-1/float64(a.d)))*length(across(g))
			}
			return math.Abs(floats.Dot(a.c, a.measure(theta))-bound) + sigma*mass(a.measure(theta))
		}
		from, fromLambda, fromLoss := theta, lambda, loss(theta, lambda)
		last, least, best, bestLambda := fromLoss, fromLoss, theta, lambda
		sum, sumLambda, t, since := zeros(a.d), zeros(pairs), 0, 0.
		return func() [][]float64 {
			next := plus(theta, -1/sigma, a.slope(lambda))
			if simplex {
				next = nearest(next)
			} else {
				next = onto(next, r)
			}
			lambda = a.raised(lambda, plus(times(2, next), -1, theta), sigma)
			theta = next
			t, since = t+1, since+1
			floats.Add(sum, theta)
			floats.Add(sumLambda, lambda)
			if math.Mod(since, 16) == 0 {
				x, y := times(1/since, sum), times(1/since, sumLambda)
				e := loss(x, y)
				if now := loss(theta, lambda); now < e {
					x, y, e = theta, lambda, now
				}
				if e < least {
					least, best, bestLambda = e, x, y
				}
				if e <= .2*fromLoss || e <= .8*fromLoss && e > last || since*100 >= 36*float64(t) {
					far, farLambda := length(plus(x, -1, from)), 0.
					for i, psi := range a.psi {
						farLambda += floats.Sum(psi) * math.Pow(y[i]-fromLambda[i], 2)
					}
					if far > 0 && farLambda > 0 {
						sigma = math.Exp(.5*math.Log(math.Sqrt(farLambda)/far) + .5*math.Log(sigma))
					}
					theta, lambda, from, fromLambda = x, y, x, y
					fromLoss, since = loss(x, y), 0
					e, sum, sumLambda = fromLoss, zeros(a.d), zeros(pairs)
				}
				last = e
			}
			return [][]float64{theta, best, bestLambda, lambda, {sigma}}
		}
	}
	return transcription{fmt.Sprintf("restarted PDHG, %d states, %v", p.MDP().States(), p.Class()), p, PDHG{}, steps, second, func(r mixpolicy.Run) [][]float64 {
		return append(answer(r), r.(*pdhg).at.lambda, []float64{r.(*pdhg).sigma})
	}}
}

// The sparse form of the dual ALP has a run of its own. Its steps use the exact b = cᵀΨ, and its answer is
// the plain mean of the iterates.
func TestTranscribedSparseDualALP(t *testing.T) {
	p := threeStates(mixpolicy.Discounted(.7), mixpolicy.Ball(3))
	x, a := p.MDP(), arrays(p)
	dual := mixpolicy.Must(NewSparseDualALP(x, 3, func(i int, set func(int, float64)) {
		for j, v := range a.psi[i] {
			if v != 0 {
				set(j, v)
			}
		}
	}))
	const omega, scale, batch, radius = 3., 2., 2, 3.
	w, target := a.flow()
	// The parts of f_ω (4.14), in the sparse and in the dense form.
	at := []float64{2, -1.5, .5}
	objective, negative, flow := dual.Parts(at)
	excess := func(theta []float64, s int) float64 { return floats.Dot(w[s], theta) - target[s] }
	parts := []float64{floats.Dot(a.c, a.measure(at)), mass(a.measure(at)),
		floats.Norm(vector(3, func(s int) float64 { return excess(at, s) }), 1)}
	sum := parts[0]/scale + omega*(parts[1]+parts[2])
	value := mixpolicy.Must(DualALP{Weight: omega, CostScale: scale}.Objective(p, at))
	if got := []float64{objective, negative, flow, value}; !floats.EqualApprox(got, append(parts, sum), 1e-13) || parts[1] == 0 || dual.psi.Cols != 3 {
		t.Errorf("parts %v, want %v and %v", got, parts, sum)
	}
	sizes := func(rows [][]float64) []float64 {
		return vector(len(rows), func(k int) float64 { return length(rows[k]) })
	}
	z1, z2 := floats.Sum(sizes(a.psi)), floats.Sum(sizes(w))
	pairs, states := mixpolicy.Must(alias.New(sizes(a.psi))), mixpolicy.Must(alias.New(sizes(w)))
	rng, theta, total, seen := rand.NewPCG(7, 0), at, zeros(3), 0
	_, err := dual.Run(background, DualALPRun{
		Weight: omega, CostScale: scale, StepSize: mixpolicy.StepFunc(func(t int) float64 { return .2 / float64(t+1) }),
		Batch: batch, Steps: 60, Radius: radius, Start: slices.Clone(theta), Schedule: func(t int) int { return t + 1 },
		Visit: func(step int, average []float64) error {
			seen++
			g := times(1/scale, a.slope(zeros(6)))
			for range batch {
				i, s := pairs.Draw(rng), states.Draw(rng)
				if a.measure(theta)[i] < 0 {
					floats.AddScaled(g, -omega/batch*z1/length(a.psi[i]), a.psi[i])
				}
				floats.AddScaled(g, omega/batch*math.Copysign(1, excess(theta, s))*z2/length(w[s]), w[s])
			}
			theta = onto(plus(theta, -.2/float64(step), g), radius)
			floats.Add(total, theta)
			if want := times(1/float64(step), total); !floats.EqualApprox(average, want, 1e-10) {
				t.Fatalf("step %d: mean %v, want %v", step, average, want)
			}
			return nil
		},
	}, rand.NewPCG(7, 0))
	if err != nil || seen != 60 {
		t.Errorf("%d steps: %v", seen, err)
	}
}

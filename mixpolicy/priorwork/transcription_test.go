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

// Every iteration is written a second time here, in plain loops over matrices and from its source
// alone, and both are compared iterate by iterate. They draw the same random numbers.

// plain is a problem as arrays, by pair i, state s and feature j.
type plain struct {
	n, m, d int
	gamma   float64
	alpha   []float64   // α(s)
	c, q    []float64   // c(i), q(i)
	to      [][]float64 // P(i, s)
	psi     [][]float64 // ψʲ(i)
}

func arrays(p *mixpolicy.Problem) plain {
	x := p.MDP()
	a := plain{n: x.States(), m: x.Actions(), d: p.Dim(), gamma: x.Gamma(), alpha: x.Initial(), c: x.Costs(), q: p.Features().Sampling()}
	dense := p.Features().Dense()
	for i := range x.Pairs() {
		row := make([]float64, a.n)
		next, prob := x.Next(i/a.m, i%a.m)
		for k, s := range next {
			row[s] += prob[k]
		}
		a.to = append(a.to, row)
		a.psi = append(a.psi, mat.Row(nil, i, dense))
	}
	return a
}

// sumOver returns Σ_k f(k) for k < n.
func sumOver(n int, f func(k int) float64) (total float64) {
	for k := range n {
		total += f(k)
	}
	return total
}

// vector returns (f(0), …, f(n−1)).
func vector(n int, f func(k int) float64) []float64 {
	x := make([]float64, n)
	for k := range x {
		x[k] = f(k)
	}
	return x
}

func (a plain) measure(theta []float64, i int) float64 {
	return sumOver(a.d, func(j int) float64 { return a.psi[i][j] * theta[j] })
}

// flow returns W and (1−γ)α.
func (a plain) flow() (w [][]float64, target []float64) {
	for s := range a.n {
		w = append(w, vector(a.d, func(j int) float64 {
			return sumOver(len(a.c), func(i int) float64 {
				here := 0.
				if i/a.m == s {
					here = 1
				}
				return (here - a.gamma*a.to[i][s]) * a.psi[i][j]
			})
		}))
	}
	return w, vector(a.n, func(s int) float64 { return (1 - a.gamma) * a.alpha[s] })
}

func length(x []float64) float64 {
	return math.Sqrt(sumOver(len(x), func(k int) float64 { return x[k] * x[k] }))
}

// onto is the point nearest to θ with 1ᵀθ = 1 and ‖θ‖₂ ≤ R: on the plane the ball is one about
// (1/d, …, 1/d), of radius √(R² − 1/d).
func onto(theta []float64, r float64) []float64 {
	d := len(theta)
	total := sumOver(d, func(j int) float64 { return theta[j] })
	off := vector(d, func(j int) float64 { return theta[j] - total/float64(d) })
	scale := 1.
	if far := length(off); far > 0 {
		scale = min(1, math.Sqrt(r*r-1/float64(d))/far)
	}
	return vector(d, func(j int) float64 { return 1/float64(d) + scale*off[j] })
}

// threeStates has an MDP of three states and two actions and three features that are no
// occupation measures.
func threeStates(criterion mixpolicy.Criterion, class mixpolicy.Class) *mixpolicy.Problem {
	x := mixpolicy.Must(models.Garnet{States: 3, Actions: 2, Branches: 2, Seed: 4, Ring: true, Criterion: criterion}.MDP())
	var columns [][]float64
	for j := range 3 {
		weight := func(i int) float64 { return float64((i*(j+2) + j) % 5) }
		columns = append(columns, vector(6, func(i int) float64 { return weight(i) / sumOver(6, weight) }))
	}
	return mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, columns...)), class))
}

// A transcription starts the second writing of a method, which draws from o, and returns its step.
// A step returns what it says of the iterate, and view the same of the run.
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
		all = append(all, subgradients(threeStates(criterion, mixpolicy.Ball(3)))...)
		all = append(all, games(threeStates(criterion, mixpolicy.Simplex())))
	}
	all = append(all, smoothed(threeStates(mixpolicy.Discounted(.7), mixpolicy.Simplex())))
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
			r := begin[mixpolicy.Run](t, c.p, c.method)
			second := c.second(arrays(c.p), mixpolicy.Must(mixpolicy.NewOracle(c.p, 1, 0)))
			for k := range c.steps {
				if err := r.Step(); err != nil {
					t.Fatal(err)
				}
				got := c.view(r)
				for part, want := range second() {
					for j, w := range want {
						// Steps do a few dozen roundings of numbers below 10³, and projections do not let
						// errors grow; 10⁻⁹ is 10⁴ of them, and far below what any other formula gives.
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

// subgradients are the penalty method and the dual ALP, with batches.
func subgradients(p *mixpolicy.Problem) []transcription {
	const omega, scale, batch, eta = 3, 2, 2, 2.
	step := func(t int) float64 { return eta / math.Sqrt(float64(t+1)) }
	follow := func(batch int, flowing bool) func(plain, *mixpolicy.Oracle) func() [][]float64 {
		return func(a plain, o *mixpolicy.Oracle) func() [][]float64 {
			w, target := a.flow()
			q2 := vector(a.n, func(s int) float64 { return length(w[s]) })
			total := sumOver(a.n, func(s int) float64 { return q2[s] })
			for s := range q2 {
				q2[s] /= total
			}
			draw := mixpolicy.Must(alias.New(q2))
			theta, sum, weight, t := barycentre(a.d), make([]float64, a.d), 0., 0
			return func() [][]float64 {
				g := make([]float64, a.d)
				for range batch {
					i, cost := o.Sample()
					slope := cost / scale
					if a.measure(theta, i) < 0 {
						slope -= omega
					}
					s := 0
					if flowing {
						s = draw.Draw(o.Rand())
					}
					excess := sumOver(a.d, func(j int) float64 { return w[s][j] * theta[j] }) - target[s]
					for j := range g {
						g[j] += slope * a.psi[i][j] / a.q[i] / float64(batch)
						if flowing {
							g[j] += omega * math.Copysign(1, excess) * w[s][j] / q2[s] / float64(batch)
						}
					}
				}
				weight += step(t)
				for j := range sum {
					sum[j] += step(t) * theta[j]
				}
				theta = onto(vector(a.d, func(j int) float64 { return theta[j] - step(t)*g[j] }), 3)
				t++
				return [][]float64{theta, vector(a.d, func(j int) float64 { return sum[j] / weight })}
			}
		}
	}
	what := fmt.Sprint(p.MDP().Criterion())
	return []transcription{
		{"penalty, " + what, p, mixpolicy.Penalty{Weight: omega, CostScale: scale, StepSize: mixpolicy.InverseSqrt(eta)}, 300, follow(1, false), answer},
		{"dual ALP, " + what, p, DualALP{Weight: omega, CostScale: scale, StepSize: mixpolicy.InverseSqrt(eta), Batch: batch}, 300, follow(batch, true), answer},
	}
}

// games are the randomised LP and π-learning, with ξ = (ξ(s)π_a(s)) normalised in every step.
func games(p *mixpolicy.Problem) transcription {
	const steps, t, tau, rate = 100, 2., 4., 3.
	n, nm := 3., 6.
	gamma := p.MDP().Gamma()
	theta, lo, hi := 1-gamma, 0., 1/(1-gamma)
	beta := rate * theta * math.Sqrt(math.Log(nm+1)/(2*nm*steps))
	ascent, shift := beta*n/(2*math.Pow(1-gamma, 2)), hi
	var method mixpolicy.Method = RandomizedLP{Steps: steps, Rate: rate}
	if gamma == 1 {
		theta, lo, hi = .5, -2*t, 2*t // 1/√τ
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
		xi, v, mean, k := barycentre(6), make([]float64, 3), make([]float64, 6), 0
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
			total := sumOver(6, func(i int) float64 { return xi[i] })
			for i := range xi {
				xi[i] /= total
			}
			if gamma < 1 {
				v[start.Draw(o.Rand())] -= ascent * (1 - gamma)
			}
			v[next] -= ascent * gamma
			v[s] += ascent
			for s := range v {
				v[s] = max(lo, min(hi, v[s]))
			}
			return [][]float64{v, xi, vector(6, func(i int) float64 { return mean[i] / float64(k) })}
		}
	}
	return transcription{method.Name(), p, method, steps, second, func(r mixpolicy.Run) [][]float64 {
		g := r.(*game)
		policy := mixpolicy.Must(g.Policy(background))
		return [][]float64{
			g.v, vector(6, func(i int) float64 { return g.xi.weight(i) / g.xi.total() }),
			vector(6, func(i int) float64 { // without the 2⁻²⁰ of the last policy
				weight := float64(g.t) + 0x1p-20
				return (policy.Prob(i/2, i%2)*weight - 0x1p-20*g.xi.weight(i)/sumOf(g.row(i/2))) / float64(g.t)
			}),
		}
	}}
}

// smoothed is the primal–dual method for the smoothed program, with ρ itself and not its logits.
func smoothed(p *mixpolicy.Problem) transcription {
	const radius, kappa, scale = 2., 1.5, 2.
	phi := [][]float64{{1, 0}, {1, .5}, {1, -2}}
	basis := mat.NewDense(3, 2, []float64{1, 0, 1, .5, 1, -2})
	weights, slack := []float64{.5, .2, .3}, []float64{.1, .6, .3}
	method := SmoothedPrimalDual{Basis: basis, Weights: weights, Slack: slack, Penalty: kappa, Radius: radius, StepSize: mixpolicy.InverseSqrt(.5), CostScale: scale}
	second := func(a plain, o *mixpolicy.Oracle) func() [][]float64 {
		draw, start := mixpolicy.Must(alias.New(slack)), mixpolicy.Must(alias.New(weights))
		y, nu, sum, weight, t := make([]float64, 2), make([]float64, 2), make([]float64, 2), 0., 0
		rho := vector(6, func(int) float64 { return 1. / 3 })
		value := func(s int) float64 { return phi[s][0]*nu[0] + phi[s][1]*nu[1] }
		return func() [][]float64 {
			s, s0, eta := draw.Draw(o.Rand()), start.Draw(o.Rand()), .5/math.Sqrt(float64(t+1))
			t++
			g, h := []float64{-phi[s0][0], -phi[s0][1]}, make([]float64, 2)
			for b := range 2 {
				cost, next := o.Query(s, b)
				h[b] = value(s) - a.gamma*value(next) - cost/scale
				for j := range g {
					g[j] += kappa * rho[2*s+b] * (phi[s][j] - a.gamma*phi[next][j])
				}
			}
			weight += eta
			for j := range y {
				sum[j] += eta * nu[j]
				y[j] -= eta * g[j]
			}
			nu = vector(2, func(j int) float64 { return radius * y[j] / math.Sqrt(1+y[0]*y[0]+y[1]*y[1]) })
			rest := 1 - rho[2*s] - rho[2*s+1]
			grown := vector(2, func(b int) float64 { return rho[2*s+b] * math.Exp(eta*kappa*h[b]) })
			for b := range 2 {
				rho[2*s+b] = grown[b] / (rest + grown[0] + grown[1])
			}
			return [][]float64{nu, vector(2, func(j int) float64 { return scale * sum[j] / weight }), rho}
		}
	}
	return transcription{method.Name(), p, method, 300, second, func(r mixpolicy.Run) [][]float64 {
		a := r.(*smoothedPrimalDual)
		rho := make([]float64, 6)
		for s := range 3 {
			subSoftmax(rho[2*s:2*s+2], a.logit[2*s:2*s+2])
		}
		return [][]float64{a.m.Theta, a.Nu(), rho}
	}}
}

// mirror is a separable modulus: φ′ and its inverse, by coordinate.
type mirror struct {
	modulus     bregman.Modulus
	mu          float64 // of its strong convexity
	there, back func(j int, v float64) float64
}

// mirrors are the entropy, the square, and a modulus that is another in every coordinate.
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

// step is one of mirror descent from θ, along g, to the plane: by halving.
func (a plain) step(m mirror, theta, g []float64, eta float64) []float64 {
	at := func(z float64) []float64 {
		return vector(a.d, func(j int) float64 { return m.back(j, m.there(j, theta[j])-eta*g[j]+z) })
	}
	lo, hi := -1000., 1000.
	for range 100 {
		z := (lo + hi) / 2
		x := at(z)
		if sumOver(a.d, func(j int) float64 { return x[j] }) < 1 {
			lo = z
		} else {
			hi = z
		}
	}
	return at(lo)
}

// slope is Ψᵀ(c − λ), and raised [λ − step·SΨθ]₊.
func (a plain) slope(lambda []float64) []float64 {
	return vector(a.d, func(j int) float64 {
		return sumOver(len(a.c), func(i int) float64 { return a.psi[i][j] * (a.c[i] - lambda[i]) })
	})
}

func (a plain) raised(lambda, theta []float64, step float64) []float64 {
	return vector(len(a.c), func(i int) float64 {
		weight := sumOver(a.d, func(j int) float64 { return a.psi[i][j] })
		return max(0, lambda[i]-step*a.measure(theta, i)/weight)
	})
}

func (a plain) spread() float64 {
	lo, hi := a.c[0], a.c[0]
	for _, c := range a.c {
		lo, hi = min(lo, c), max(hi, c)
	}
	return hi - lo
}

// saddles are mirror-prox and Algorithm 1 with reduced variance.
func saddles(p *mixpolicy.Problem, m mirror) []transcription {
	const scale, eta0 = 2., 3.
	twice := func(a plain, _ *mixpolicy.Oracle) func() [][]float64 {
		sigma, eta := a.spread(), math.Sqrt(m.mu)
		theta, lambda := barycentre(a.d), make([]float64, len(a.c))
		mean, meanLambda, t := make([]float64, a.d), make([]float64, len(a.c)), 0.
		return func() [][]float64 {
			half, halfLambda := a.step(m, theta, a.slope(lambda), eta/sigma), a.raised(lambda, theta, eta*sigma)
			theta, lambda = a.step(m, theta, a.slope(halfLambda), eta/sigma), a.raised(lambda, half, eta*sigma)
			t++
			for j := range mean {
				mean[j] += half[j]
			}
			for i := range meanLambda {
				meanLambda[i] += halfLambda[i]
			}
			return [][]float64{theta, vector(a.d, func(j int) float64 { return mean[j] / t }), vector(len(a.c), func(i int) float64 { return meanLambda[i] / t }), lambda}
		}
	}
	reduced := func(a plain, o *mixpolicy.Oracle) func() [][]float64 {
		theta, lambda, seen := barycentre(a.d), make([]float64, len(a.c)), make([]float64, a.d)
		mean, meanLambda, weight, t := make([]float64, a.d), make([]float64, len(a.c)), 0., 0
		return func() [][]float64 {
			eta := eta0 / math.Sqrt(float64(t+1))
			t++
			i, cost := o.Sample()
			for j := range seen {
				seen[j] += cost / scale * a.psi[i][j] / a.q[i]
			}
			weight += eta
			for j := range mean {
				mean[j] += eta * theta[j]
			}
			for i := range meanLambda {
				meanLambda[i] += eta * scale * lambda[i]
			}
			price := a.slope(lambda) // Ψᵀ(c − λ)
			known := a.slope(make([]float64, len(a.c)))
			g := vector(a.d, func(j int) float64 { return seen[j]/float64(t) - (known[j] - price[j]) })
			theta, lambda = a.step(m, theta, g, eta), a.raised(lambda, theta, eta)
			return [][]float64{theta, vector(a.d, func(j int) float64 { return mean[j] / weight }), vector(len(a.c), func(i int) float64 { return meanLambda[i] / weight })}
		}
	}
	what := fmt.Sprint(m.modulus)
	return []transcription{
		{"mirror-prox, " + what, p, MirrorProx{m.modulus}, 100, twice, func(r mixpolicy.Run) [][]float64 { return append(answer(r), r.(*mirrorProx).lambda) }},
		{"variance reduced, " + what, p, VarianceReduced{Modulus: m.modulus, CostScale: scale, StepSize: mixpolicy.InverseSqrt(eta0)}, 300, reduced, answer},
	}
}

// nearest is the point of the simplex nearest to θ, [θ_j − z]₊ for the z for which it adds up to 1,
// by halving.
func nearest(theta []float64) []float64 {
	lo, hi := -10., 10.
	for range 200 {
		z := (lo + hi) / 2
		if sumOver(len(theta), func(j int) float64 { return max(0, theta[j]-z) }) > 1 {
			lo = z
		} else {
			hi = z
		}
	}
	return vector(len(theta), func(j int) float64 { return max(0, theta[j]-hi) })
}

// restarted is PDHG on the ball or the simplex, with its restarts.
func restarted(p *mixpolicy.Problem, steps int) transcription {
	r, simplex := p.Class().R, p.Class() == mixpolicy.Simplex()
	second := func(a plain, _ *mixpolicy.Oracle) func() [][]float64 {
		pairs := len(a.c)
		sigma := a.spread()
		theta, lambda := barycentre(a.d), make([]float64, pairs)
		// The dual bound is the least of θᵀg, over the simplex the least entry, and over the ball on
		// the plane g's mean less the radius times the length of what is left.
		loss := func(theta, lambda []float64) float64 {
			g := a.slope(lambda)
			mean := sumOver(a.d, func(j int) float64 { return g[j] }) / float64(a.d)
			bound := slices.Min(g)
			if !simplex {
				bound = mean - math.Sqrt(max(0, r*r-1/float64(a.d)))*length(vector(a.d, func(j int) float64 { return g[j] - mean }))
			}
			value := sumOver(pairs, func(i int) float64 { return a.c[i] * a.measure(theta, i) })
			return math.Abs(value-bound) + sigma*sumOver(pairs, func(i int) float64 { return max(0, -a.measure(theta, i)) })
		}
		from, fromLambda := theta, lambda
		fromLoss := loss(theta, lambda)
		last, least, best, bestLambda := fromLoss, fromLoss, theta, lambda
		sum, sumLambda := make([]float64, a.d), make([]float64, pairs)
		t, since := 0, 0
		return func() [][]float64 {
			g := a.slope(lambda)
			next := vector(a.d, func(j int) float64 { return theta[j] - g[j]/sigma })
			if simplex {
				next = nearest(next)
			} else {
				next = onto(next, r)
			}
			lambda = a.raised(lambda, vector(a.d, func(j int) float64 { return 2*next[j] - theta[j] }), sigma)
			theta = next
			t, since = t+1, since+1
			for j := range sum {
				sum[j] += theta[j]
			}
			for i := range sumLambda {
				sumLambda[i] += lambda[i]
			}
			if since%16 == 0 {
				x, y := vector(a.d, func(j int) float64 { return sum[j] / float64(since) }), vector(pairs, func(i int) float64 { return sumLambda[i] / float64(since) })
				e := loss(x, y)
				if now := loss(theta, lambda); now < e {
					x, y, e = theta, lambda, now
				}
				if e < least {
					least, best, bestLambda = e, x, y
				}
				if e <= .2*fromLoss || e <= .8*fromLoss && e > last || since*100 >= 36*t {
					far := length(vector(a.d, func(j int) float64 { return x[j] - from[j] }))
					farLambda := math.Sqrt(sumOver(pairs, func(i int) float64 {
						weight := sumOver(a.d, func(j int) float64 { return a.psi[i][j] })
						return weight * (y[i] - fromLambda[i]) * (y[i] - fromLambda[i])
					}))
					if far > 0 && farLambda > 0 {
						sigma = math.Exp(.5*math.Log(farLambda/far) + .5*math.Log(sigma))
					}
					theta, lambda, from, fromLambda = x, y, x, y
					fromLoss, since = loss(x, y), 0
					last = fromLoss
					sum, sumLambda = make([]float64, a.d), make([]float64, pairs)
				} else {
					last = e
				}
			}
			return [][]float64{theta, best, bestLambda, lambda, {sigma}}
		}
	}
	return transcription{fmt.Sprintf("restarted PDHG, %d states, %v", p.MDP().States(), p.Class()), p, PDHG{}, steps, second, func(r mixpolicy.Run) [][]float64 {
		return append(answer(r), r.(*pdhg).lambda, []float64{r.(*pdhg).sigma})
	}}
}

// The sparse form, whose run is its own: steps with b = cᵀΨ known, and the mean of the iterates.
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
	// The parts of f_ω (4.14), of both forms.
	at := []float64{2, -1.5, .5}
	objective, negative, flow := dual.Parts(at)
	parts := []float64{
		sumOver(6, func(i int) float64 { return a.c[i] * a.measure(at, i) }),
		sumOver(6, func(i int) float64 { return max(0, -a.measure(at, i)) }),
		sumOver(3, func(s int) float64 {
			return math.Abs(sumOver(3, func(j int) float64 { return w[s][j] * at[j] }) - target[s])
		}),
	}
	sum := parts[0]/scale + omega*(parts[1]+parts[2])
	value := mixpolicy.Must(DualALP{Weight: omega, CostScale: scale}.Objective(p, at))
	if !floats.EqualApprox([]float64{objective, negative, flow, value}, append(parts, sum), 1e-13) || parts[1] == 0 || dual.psi.Cols != 3 {
		t.Errorf("parts %v, %v and %v of %v, want %v and %v", objective, negative, flow, value, parts, sum)
	}
	steps := mixpolicy.StepFunc(func(t int) float64 { return .2 / float64(t+1) })
	z1 := sumOver(6, func(i int) float64 { return length(a.psi[i]) })
	z2 := sumOver(3, func(s int) float64 { return length(w[s]) })
	pairs := mixpolicy.Must(alias.New(vector(6, func(i int) float64 { return length(a.psi[i]) })))
	states := mixpolicy.Must(alias.New(vector(3, func(s int) float64 { return length(w[s]) })))
	rng, theta, total := rand.NewPCG(7, 0), at, make([]float64, 3)
	seen := 0
	_, err := dual.Run(background, DualALPRun{
		Weight: omega, CostScale: scale, StepSize: steps, Batch: batch, Steps: 60, Radius: radius, Start: append([]float64(nil), theta...),
		Schedule: func(t int) int { return t + 1 },
		Visit: func(step int, average []float64) error {
			seen++
			g := vector(3, func(j int) float64 {
				return sumOver(6, func(i int) float64 { return a.c[i] * a.psi[i][j] }) / scale
			})
			for range batch {
				i, s := pairs.Draw(rng), 0
				negative := a.measure(theta, i) < 0
				s = states.Draw(rng)
				excess := sumOver(3, func(j int) float64 { return w[s][j] * theta[j] }) - target[s]
				for j := range g {
					if negative {
						g[j] -= omega / batch * a.psi[i][j] * z1 / length(a.psi[i])
					}
					g[j] += omega / batch * math.Copysign(1, excess) * w[s][j] * z2 / length(w[s])
				}
			}
			theta = onto(vector(3, func(j int) float64 { return theta[j] - .2/float64(step)*g[j] }), radius)
			for j := range total {
				total[j] += theta[j]
				if want := total[j] / float64(step); !(math.Abs(average[j]-want) < 1e-10) {
					t.Fatalf("step %d: mean %v, want %v of θ_%d", step, average, want, j)
				}
			}
			return nil
		},
	}, rand.NewPCG(7, 0))
	if err != nil || seen != 60 {
		t.Errorf("%d steps: %v", seen, err)
	}
}

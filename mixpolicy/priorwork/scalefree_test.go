package priorwork

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
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

// length2 is 2D(x; θ)/‖x − θ‖ from the definition of D, by the derivative's inverse of a mirror.
func (m mirror) length2(x, from []float64) float64 {
	far := length(vector(len(x), func(j int) float64 { return x[j] - from[j] }))
	if far == 0 {
		return 0
	}
	return 2 * bregman.Divergence(m.modulus, x, from) / far
}

// scaleFrees are the method with both gradients, transcribed from its doc comment.
func scaleFrees(p *mixpolicy.Problem, m mirror) (all []transcription) {
	second := func(sampled bool) func(a plain, o *mixpolicy.Oracle) func() [][]float64 {
		return func(a plain, o *mixpolicy.Oracle) func() [][]float64 {
			pairs := len(a.c)
			theta, start := barycentre(a.d), barycentre(a.d)
			lambda, top, q := make([]float64, pairs), make([]float64, pairs), make([]float64, pairs)
			seen, led, last := make([]float64, a.d), make([]float64, a.d), make([]float64, a.d)
			sum, sumLambda := make([]float64, a.d), make([]float64, pairs)
			s, unit, weights, c := 0., 0., 0., math.Inf(1)
			for j := range a.d {
				near := vector(a.d, func(k int) float64 { return .9 * start[k] })
				near[j] += .1
				c = min(c, m.length2(near, start))
			}
			off := func(g []float64) float64 {
				mean := sumOver(a.d, func(j int) float64 { return g[j] }) / float64(a.d)
				return length(vector(a.d, func(j int) float64 { return g[j] - mean }))
			}
			t := 0.
			return func() [][]float64 {
				t++
				i, cost := o.Sample()
				for j := range seen {
					seen[j] += cost * a.psi[i][j] / a.q[i]
				}
				estimate := vector(a.d, func(j int) float64 { return seen[j] / t })
				unit = max(unit, off(estimate))
				g := vector(a.d, func(j int) float64 {
					return estimate[j] - sumOver(pairs, func(i int) float64 { return lambda[i] * a.psi[i][j] })
				})
				guess := g
				if sampled {
					g = vector(a.d, func(j int) float64 { return (cost - lambda[i]) * a.psi[i][j] / a.q[i] })
					guess = make([]float64, a.d)
				}
				s += t * t * math.Pow(off(vector(a.d, func(j int) float64 { return g[j] - last[j] })), 2)
				for j := range led {
					led[j] += t * g[j]
				}
				next := a.step(m, start, vector(a.d, func(j int) float64 { return led[j] + (t+1)*guess[j] }), c/math.Sqrt(s))
				last = guess
				weights += t
				for i := range lambda {
					v := t * a.measure(theta, i)
					q[i] += v * v
					sumLambda[i] += t * lambda[i]
					r := max(unit, top[i])
					lambda[i] = max(0, lambda[i]-r*v/math.Sqrt(q[i]))
					top[i] = max(top[i], lambda[i])
				}
				for j := range sum {
					sum[j] += t * theta[j]
				}
				theta = next
				average := vector(a.d, func(j int) float64 { return sum[j] / weights })
				c = max(c, m.length2(average, start))
				// The first feasible point on the way to the middle, by halving.
				lo, hi := 0., 1.
				at := func(part float64) []float64 {
					return vector(a.d, func(j int) float64 { return (1-part)*average[j] + part*start[j] })
				}
				for range 60 {
					part := (lo + hi) / 2
					if slices.Min(vector(pairs, func(i int) float64 { return a.measure(at(part), i) })) < 0 {
						lo = part
					} else {
						hi = part
					}
				}
				return [][]float64{theta, at(lo), vector(pairs, func(i int) float64 { return sumLambda[i] / weights })}
			}
		}
	}
	for _, sampled := range []bool{false, true} {
		all = append(all, transcription{fmt.Sprintf("scale-free, sampled %v, %v", sampled, m.modulus), p,
			ScaleFree{Modulus: m.modulus, Sampled: sampled}, 100, second(sampled), answer})
	}
	return all
}

// (θ) and (λ) of the doc comment hold for whatever gradients and iterates there are: here for random ones of
// random sizes, which change by factors of up to 10⁶ on the way.
func TestScaleFreeRegret(t *testing.T) {
	p := garnetProblem(mixpolicy.Ball(2))
	phi, mu, d := bregman.Ball{R: 2}, .5, 4
	rho := math.Sqrt(4 - 1./4)                                                      // radius of the ball within the plane, whose diameter is 2ρ
	delta := bregman.Divergence(phi, onto([]float64{9, 0, 0, 0}, 2), barycentre(4)) // as on all of its boundary
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		steps := rapid.IntRange(1, 60).Draw(t, "steps")
		drift := rapid.Float64Range(0, 1).Draw(t, "drift") // of the gradients, the rest is noise
		a := mixpolicy.Must(ScaleFree{}.Start(p, mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0)))).(*scaleFree)
		first := a.length
		size, total, regret := 1., make([]float64, d), 0.
		way := vector(d, func(int) float64 { return rng.NormFloat64() })
		for k := range steps {
			if rng.IntN(10) == 0 {
				size *= math.Pow(10, 4*rng.Float64()-2)
			}
			g := vector(d, func(j int) float64 { return size * (drift*way[j] + (1-drift)*rng.NormFloat64()) })
			w := float64(k + 1)
			regret += w * floats.Dot(g, a.m.Theta)
			floats.AddScaled(total, w, g)
			last := a.length
			if err := a.descend(g); err != nil {
				t.Fatal(err)
			}
			if k == steps-1 {
				a.length = last // c_T is that of the last step
			}
		}
		// The worst θ of the class, and the best for the bound: any.
		for _, theta := range [][]float64{onto(vector(d, func(j int) float64 { return -1e9 * total[j] }), 2), barycentre(d)} {
			bound := math.Sqrt(a.squares) * (bregman.Divergence(phi, theta, barycentre(d))/a.length +
				delta*(1/first-1/a.length) + 2*max(a.length/mu, 2*rho))
			if r := regret - floats.Dot(total, theta); r > bound*(1+1e-9) {
				t.Fatalf("regret %v against %v after %d steps, bound %v", r, theta, steps, bound)
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		steps := rapid.IntRange(1, 60).Draw(t, "steps")
		a := mixpolicy.Must(ScaleFree{}.Start(p, mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0)))).(*scaleFree)
		a.unit = 1
		pairs := len(a.lambda)
		most, regret, total, last := make([]float64, pairs), make([]float64, pairs), make([]float64, pairs), make([]float64, pairs)
		drift := rapid.Float64Range(-2, 2).Draw(t, "drift")
		for k := range steps {
			a.m.T = k + 1
			theta := vector(d, func(j int) float64 { return rng.NormFloat64() + drift*float64(2*j-3) })
			copy(a.m.Before, theta)
			a.f.MulVec(a.measure, theta)
			for i, l := range a.lambda {
				v := float64(k+1) * a.measure[i]
				most[i], regret[i], total[i] = max(most[i], l), regret[i]+v*l, total[i]+v
				last[i] = max(1, a.highest[i])
			}
			a.ascend()
		}
		for i := range pairs {
			for _, u := range []float64{0, .5, 1, 3, 100} {
				m := max(u, most[i])
				if bound := math.Sqrt(a.rowSquares[i]) * (m*m/2 + last[i]); regret[i]-u*total[i] > bound*(1+1e-9) {
					t.Fatalf("pair %d: regret %v against %v, bound %v", i, regret[i]-u*total[i], u, bound)
				}
			}
		}
	})
}

// Costs in another unit give the same θ, to the bit where the unit is a power of two. And there is nothing to set for a class
// that is far too large: the medians of nine runs are within a factor of 5 of the best.
func TestScaleFreeNeedsNoScale(t *testing.T) {
	unit := garnetProblem(mixpolicy.Ball(2))
	want := solve(t, unit, ScaleFree{}, 1000)
	for _, scale := range []float64{0x1p-20, 0x1p20} {
		x := unit.MDP()
		costs := slices.Clone(x.Costs())
		floats.Scale(scale, costs)
		f := mixpolicy.Must(mixpolicy.FeaturesFromColumns(mixpolicy.Must(x.WithCosts(costs)),
			unit.Features().Column(0), unit.Features().Column(1), unit.Features().Column(2), unit.Features().Column(3)))
		if got := solve(t, mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2))), ScaleFree{}, 1000); !floats.Equal(got.Theta, want.Theta) {
			t.Errorf("costs times %v: θ̂ = %v, want %v", scale, got.Theta, want.Theta)
		}
	}
	far := floats.Norm(mixpolicy.Must(garnetProblem(mixpolicy.Ball(1e4)).Optimum(t.Context())).Theta, 2)
	var gaps []float64
	for _, factor := range []float64{1.1, 2, 10, 100} {
		p := garnetProblem(mixpolicy.Ball(factor * far))
		gaps = append(gaps, median(9, func(seed uint64) float64 {
			r := mixpolicy.Must(mixpolicy.Solve(background, p, ScaleFree{}, mixpolicy.Settings{Iterations: 5000, Seed: seed}))
			if r.NegativeMass > 1e-15 {
				t.Errorf("negative mass %v of θ̂ = %v", r.NegativeMass, r.Theta)
			}
			return r.PenalisedGap
		}))
	}
	if slices.Max(gaps) > 5*slices.Min(gaps) {
		t.Errorf("gaps %v for R from 1.1 to 100 times the optimum's size, want them within a factor of 5", gaps)
	}
}

func median(n int, f func(seed uint64) float64) float64 {
	x := make([]float64, n)
	for k := range x {
		x[k] = f(uint64(k))
	}
	slices.Sort(x)
	return x[n/2]
}

// With a tolerance of 1 % the run ends by itself, with a feasible answer that the exact optimum confirms, whatever the class and the
// unit of cost.
func TestScaleFreeEndsByItself(t *testing.T) {
	for _, class := range []mixpolicy.Class{mixpolicy.Ball(1.3), mixpolicy.Ball(2), mixpolicy.Ball(120), mixpolicy.Cube(2), mixpolicy.Simplex()} {
		for _, p := range []*mixpolicy.Problem{section6(class), garnetProblem(class)} {
			for seed := range uint64(4) {
				const most = 1 << 17
				r := mixpolicy.Must(mixpolicy.Solve(background, p, ScaleFree{Tolerance: .01}, mixpolicy.Settings{Iterations: most, Seed: seed}))
				if r.Iterations == most || !(r.PenalisedGap <= .01*math.Abs(r.Optimum)) || r.Queries != r.Iterations {
					t.Errorf("%v, seed %d: gap %v after %d steps", class, seed, r.PenalisedGap/r.Optimum, r.Iterations)
				}
			}
		}
	}
}

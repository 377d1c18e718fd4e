package priorwork

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

var heavyTail = distuv.StudentsT{Sigma: 1, Nu: 1.5}

// noises are symmetric about 0: none, Gaussian, of infinite variance, and rare outliers.
var noises = []func(*rand.Rand) float64{
	nil,
	(*rand.Rand).NormFloat64,
	func(rng *rand.Rand) float64 { return heavyTail.Quantile(1 - rng.Float64()) },
	func(rng *rand.Rand) float64 {
		switch rng.IntN(500) {
		case 0:
			return 1000
		case 1:
			return -1000
		}
		return 0
	},
}

// The bound is at least f(θ) = kᵀb̄ + h + π̄c_max‖Ψk‖₁, k = θ̂ − θ, for every feasible θ. For d = 2, S(H) is a segment, and f is
// greatest at its ends, so the test computes the bound itself. b̄, V and π come from a list of the samples.
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
		const c = 14
		share := near / float64(n)
		noise := func(k []float64) float64 { // f − kᵀb̄
			spread, mass, x := 0., 0., mat.NewVecDense(d, k)
			for i, q := range f.Sampling() {
				f.Row(row, i)
				v := math.Abs(floats.Dot(row, k))
				spread, mass = max(spread, v/q), mass+v
			}
			return math.Sqrt(2*c*max(0, mat.Inner(x, &v, x))/size) + 7*2*trial.limit*spread*c/(3*(size-1)) +
				mass*top*(share+math.Sqrt(2*c*share*(1-share)/(size-1))+7*c/(3*(size-1)))
		}
		tolerance := math.Pow(10, rapid.Float64Range(-3, 1).Draw(t, "log₁₀ ε"))
		bound, own, allowed := trial.excess(tolerance)
		center := floats.Dot(mean, theta)
		if want := center - floats.Dot(mean, best(mean)); math.Abs(own-want) > 1e-9 || math.Abs(allowed-tolerance*math.Abs(center)) > 1e-9 {
			t.Fatalf("own excess %v and allowed %v, want %v and %v", own, allowed, want, tolerance*math.Abs(center))
		}
		if math.IsInf(bound, 1) != (own > allowed) {
			t.Fatalf("bound %v with own excess %v, allowed %v", bound, own, allowed)
		}
		for range 10 {
			k := plus(theta, -1, best(vector(d, func(int) float64 { return rng.NormFloat64() })))
			if got := floats.Dot(k, mean) + noise(k); got > bound+1e-9*top {
				t.Fatalf("f(θ) = %v, bound %v", got, bound)
			}
		}
		if d == 4 || own > allowed {
			return
		}
		ends := []float64{theta[0] - best([]float64{1, -1})[0], theta[0] - best([]float64{-1, 1})[0]}
		slope := mean[1] - mean[0]
		for h, last := math.Inf(1), 0.; last == 0 || h <= .9*last && own+h > allowed; {
			last = h
			h = min(h, max(noise([]float64{ends[0], -ends[0]}), noise([]float64{ends[1], -ends[1]})))
			if want := own + h; (h > .9*last || want <= allowed) && math.Abs(bound-want) > 1e-6*want {
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

// Clipping costs with symmetric noise multiplies the means by 1 − p, up to the error of the doc comment of ScaleFree.
func TestClippedNoise(t *testing.T) {
	const top = 1.
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

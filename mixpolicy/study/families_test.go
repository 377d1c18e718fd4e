package study

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// An instance depends on the dimension, on its number and on its use (for tuning or not), but not on the noise.
func TestFamilyInstances(t *testing.T) {
	costs := func(f Family, k int, tuning bool) []float64 {
		return slices.Clone(mixpolicy.Must(f.Instance(k, tuning)).BaseCosts())
	}
	one := costs(Family{2, Exact}, 3, false)
	if got := costs(Family{2, Heavy}, 3, false); !slices.Equal(got, one) {
		t.Errorf("%v with noise, %v without", got, one)
	}
	for _, other := range [][]float64{costs(Family{2, Exact}, 4, false), costs(Family{2, Exact}, 3, true)} {
		if slices.Equal(other, one) {
			t.Errorf("%v twice", one)
		}
	}
}

// Noise has mean 0 and the stated variance. By Chebyshev, a mean over N draws is off by more than √(σ²/(Nδ)) with
// probability at most δ. Student's t has infinite variance here, so the test checks that it is symmetric, and that
// half of its values are beyond the quartiles.
func TestNoise(t *testing.T) {
	const draws, delta = 400_000, 1e-3
	rng := rand.New(rand.NewPCG(1, 0))
	for n, variance := range map[Noise]float64{Gaussian: 1, Outliers: 2 * 1000 * 1000 / 500.} {
		draw := n.draw()
		var mean, second float64
		for range draws {
			v := draw(rng)
			mean += v / draws
			second += v * v / draws
		}
		if tolerance := math.Sqrt(variance / (draws * delta)); math.Abs(mean) > tolerance {
			t.Errorf("%v: mean %v, want 0 ± %v", n, mean, tolerance)
		}
		// The fourth moments are 3 and 4·10⁹.
		fourth := map[Noise]float64{Gaussian: 3, Outliers: 4e9}[n]
		if tolerance := math.Sqrt(fourth / (draws * delta)); math.Abs(second-variance) > tolerance {
			t.Errorf("%v: variance %v, want %v ± %v", n, second, variance, tolerance)
		}
	}
	beyond, positive, quartile := 0.0, 0.0, distuv.StudentsT{Sigma: 1, Nu: 1.5}.Quantile(0.75)
	draw := Heavy.draw()
	for range draws {
		if v := draw(rng); math.Abs(v) > quartile {
			beyond += 1. / draws
			if v > 0 {
				positive += 2. / draws
			}
		}
	}
	if tolerance := math.Sqrt(.25 / (draws * delta)); math.Abs(beyond-.5) > tolerance || math.Abs(positive-.5) > 2*tolerance {
		t.Errorf("heavy tails: %v beyond ±%v and %v above, want ½ ± %v", beyond, quartile, positive, tolerance)
	}
	if Exact.draw() != nil {
		t.Error("Exact has a generator of noise")
	}
}

// Deviation agrees with the spread of plug-in's estimates over 2000 runs, without noise and with it.
func TestDeviation(t *testing.T) {
	const runs, queries = 2000, 50
	for noise, variance := range map[Noise]float64{Exact: 0, Gaussian: 1} {
		p := mixpolicy.Must(Family{5, noise}.Instance(0, false))
		estimates := make([][]float64, p.Dim())
		for k := range runs {
			for j, v := range estimate(t, p, mixpolicy.PlugIn{}, queries, uint64(k)) {
				estimates[j] = append(estimates[j], v)
			}
		}
		var most float64
		for _, x := range estimates {
			most = max(most, stat.StdDev(x, nil))
		}
		// The standard error of a sample deviation of n nearly normal values is the deviation divided by √(2n). The
		// test allows five standard errors.
		if want := Deviation(p, variance, queries); math.Abs(most-want) > 5*want/math.Sqrt(2*runs) {
			t.Errorf("%v: deviation %v over %d runs, want %v", noise, most, runs, want)
		}
	}
}

// estimate returns the method's b̂ after the given number of queries.
func estimate(t *testing.T, p *mixpolicy.Problem, m mixpolicy.Method, queries int, stream uint64) []float64 {
	set := mixpolicy.Settings{Iterations: queries, Seed: 1, Stream: stream, Uncertified: true}
	return mixpolicy.Must(mixpolicy.Solve(t.Context(), p, m, set)).Run.(mixpolicy.Estimator).Estimate()
}

// In a short fair race, all methods with parameters are tuned over equally many settings. The two drawings differ in
// seeds and values. If a drawing is repeated, the penalty method has the same values.
func TestFairRace(t *testing.T) {
	f := mixpolicy.Must(fairRaceOn(Families()[0].String()))
	f.tuning, f.judged, f.runs, f.queries = 2, 2, 3, 50
	row := func(drawing int, method string) race.Row {
		return mixpolicy.Must(mixpolicy.Must(f.compute(t.Context(), drawing, nil, method)).One(race.Row{Base: Drawings[drawing], Race: Fair}))
	}
	for _, m := range FairMethods {
		first, second, want := row(0, m), row(1, m), 192
		if first.Setting == nil {
			want = 1
		}
		wrong := func(v float64) bool { return !(v >= 0) }
		if first.Configurations != want || len(first.Values) != 6 || slices.ContainsFunc(first.Values, wrong) || m != first.Method {
			t.Errorf("%s: %d settings, want %d; gaps %v", m, first.Configurations, want, first.Values)
		}
		if slices.Equal(first.Values, second.Values) || first.Seed == second.Seed {
			t.Errorf("%s: the two drawings have equal values or equal seeds", m)
		}
		if again := row(0, m); m == "penalty" && !reflect.DeepEqual(first, again) {
			t.Errorf("%v, then %v", first, again)
		}
	}
}

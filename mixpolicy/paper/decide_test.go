package paper

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Each rule comes out in each of its ways.
func TestRules(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	holds, fails, undecided := Decision{Verdict: Holds}, Decision{Verdict: Fails}, Decision{Undecided, "[0, 1]"}
	between := func(lo, hi float64) race.Interval { return race.Interval{Lo: lo, Hi: hi} }
	for _, c := range []struct {
		name string
		got  Decision
		want Verdict
	}{
		{"at most", atMost(1, 1), Holds},
		{"more", atMost(math.Nextafter(1, 2), 1), Fails},
		{"NaN", atMost(nan, 1), Fails},
		{"one found", found(1), Holds},
		{"none found", found(0), Fails},

		{"interval below", less(between(-2, -1), -0.5), Holds},
		{"interval that ends at the bound", less(between(-2, -0.5), -0.5), Undecided},
		{"interval that begins at the bound", less(between(-0.5, 1), -0.5), Fails},
		{"0 in every trial", less(between(0, 0), 0), Fails},
		{"interval on both sides", less(between(-1, 1), 0), Undecided},
		{"NaN interval", less(between(nan, nan), 0), Undecided},

		{"0 makes no difference", same(between(0, 0)), Holds},
		{"more makes one", same(between(0.1, 1)), Fails},
		{"less makes one", same(between(-1, -0.1)), Fails},
		{"less, or none", same(between(-1, 0)), Undecided},
		{"more, or none", same(between(0, 1)), Undecided},

		{"proved rate", argued(-0.5, -0.25, true), Holds},
		{"proved but for the fit", argued(-0.25+0.005, -0.25, false), Holds},
		{"weaker bound", argued(-0.24, -0.25, false), NotProved},
		{"weaker bound, and runs against it", argued(0, -0.25, true), Fails},
		{"no bound", argued(nan, -0.25, false), NotProved},

		{"a power and logarithms", polynomial(12.2, 12.1), Holds},
		{"a power", polynomial(12, 12), Holds},
		{"faster than any power", polynomial(12, 24), NotProved},
		{"infinite", polynomial(inf, inf), NotProved},

		{"all parts", every(holds, holds), Holds},
		{"a part fails", every(holds, fails), Fails},
		{"a part is undecided", every(undecided, fails), Undecided},
		{"both readings", readings("", holds, holds), Holds},
		{"neither reading", readings("", fails, fails), Fails},
		{"one of two", readings("x", fails, holds), Depends},
		{"the other of two", readings("x", holds, fails), Depends},
		{"one of three", readings("x", fails, undecided, holds), Depends},
		{"one open", readings("", fails, undecided), Undecided},
		{"the first open", readings("", undecided, fails), Undecided},
	} {
		if c.got.Verdict != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if got := readings("the weather", fails, holds).String(); got != "depends: the weather" {
		t.Errorf("%q", got)
	}
	if got := readings("", holds, undecided).String(); got != "undecided: [0, 1]" {
		t.Errorf("%q", got)
	}
}

// The quick experiments come to what is recorded, as [TestClaimsTable] has it of all.
func TestQuickClaims(t *testing.T) {
	known := mixpolicy.Must(RecordedClaims())
	for _, k := range append(policyClaims(t.Context()), tighterClaim(t.Context(), 0.5, 1e-4), projectionClaim(mixpolicy.Corrected)) {
		compareClaim(t, known, k)
	}
}

// Experiments with other data come to other verdicts.
func TestClaimsOfOtherData(t *testing.T) {
	ctx := t.Context()
	queue := mixpolicy.Must(QueueProblem(mixpolicy.Ball(2)))
	x := mixpolicy.Must(models.Queue{Buffer: 10}.MDP())
	var apart []*mixpolicy.Policy // share no pair, so that negative coefficients are infeasible
	for a := range 2 {
		apart = append(apart, mixpolicy.Must(mixpolicy.StateIndependent(x, unit(4, a)...)))
	}
	for _, c := range []struct {
		name string
		got  Claim
		want Verdict
	}{
		{"θ₀", oracleClaim(ctx, queue, 1), Fails},
		{"few iterations", oracleClaim(ctx, queue, 10), Undecided},
		{"cost that grows with the length", valleyClaim(nil), Holds},
		{"a network where no pair gains", combinationClaim(models.Network{Buffers: [4]int{1, 1, 1, 1}}), Fails},
		{"policies that share no pair", expressiveClaim(ctx, mixpolicy.Must(mixtureProblem(x, mixpolicy.Ball(2), apart...))), Fails},
		{"a rare state", tighterClaim(ctx, 1e-4, 0.5), Holds},
		{"(3.22) as printed", projectionClaim(mixpolicy.Printed), Fails},
	} {
		if c.got.Verdict != c.want {
			t.Errorf("%s: %q is %v, want %v; %s", c.name, c.got.Claim, c.got.Decision, c.want, c.got.Numbers)
		}
	}
}

// Whatever u is, (4.13) is not below its lower bound, and for p = ½ that is attained at u = 1.
func TestSmoothedBounds(t *testing.T) {
	for _, p := range []float64{1e-4, 0.1, 0.3, 0.5, 0.9} {
		least, found, alp := smoothedBounds(t.Context(), p)
		// The difference of the two values is 1, and the best constant half of that away: by hand.
		if want := 0.5 * 2 / (1 - 0.9); math.Abs(alp-want) > 1e-9 {
			t.Errorf("p = %v: (4.3) is %v, want %v", p, alp, want)
		}
		if !(least <= found*(1+1e-9)) || p == 0.5 && math.Abs(least-found) > 1e-9 {
			t.Errorf("p = %v: (4.13) is %v, and its lower bound %v", p, found, least)
		}
	}
}

// p of the differences 1, …, 5 against the distribution of t with 4 degrees of freedom, which is
// ½ + (3/8) s (1 − s²/12) for s = t/√(1 + t²/4).
func TestPaired(t *testing.T) {
	c := paired([]float64{2, 4, 6, 8, 10}, []float64{1, 2, 3, 4, 5})
	s := 3 / math.Sqrt(0.5) // t = mean/√(s²/n)
	s /= math.Sqrt(1 + s*s/4)
	if want := 2 * (0.5 - 0.375*s*(1-s*s/12)); math.Abs(c.p-want) > 1e-12 || c.Mean != 3 || c.null != 0 {
		t.Errorf("p = %v of mean %v, want %v", c.p, c.Mean, want)
	}
	if c := paired([]float64{1, 1}, []float64{1, 1}); c.p != 1 {
		t.Errorf("no difference: p = %v", c.p)
	}
	if c := paired([]float64{2, 2}, []float64{1, 1}); c.p != 0 {
		t.Errorf("1 in each trial: p = %v", c.p)
	}
}

// The effect that is said to be found with probability 0.9 is, in 2000 samples of 40 normal
// numbers; and none is found with probability 0.05. Five standard deviations of such shares are
// 0.034 and 0.024.
func TestPower(t *testing.T) {
	const samples, n = 2000, 40
	rng := rand.New(rand.NewPCG(1, 0))
	zero := make([]float64, n)
	sample := func(mean float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = mean + rng.NormFloat64()
		}
		return x
	}
	effect := 0.0 // mean over samples, as the standard deviation is estimated
	for range samples {
		effect += paired(sample(0), zero).finds(0.05) / samples
	}
	for _, c := range []struct{ mean, want, tolerance float64 }{{effect, power, 0.034}, {0, 0.05, 0.024}} {
		found := 0.0
		for range samples {
			if paired(sample(c.mean), zero).p <= 0.05 {
				found += 1.0 / samples
			}
		}
		if math.Abs(found-c.want) > c.tolerance {
			t.Errorf("mean %.3g is found with probability %v, want %v", c.mean, found, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	const n = 1000
	rng := rand.New(rand.NewPCG(2, 0))
	x, y, triple, near := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
		triple[i], near[i] = 3*x[i], 1.02*x[i]+0.01*y[i]
	}
	if c := spread(triple, x, 1); math.Abs(c.Lo-3) > 1e-12 || math.Abs(c.Hi-3) > 1e-12 || c.p != 2./10_000 {
		t.Errorf("3x against x: %v, p = %v", c.Interval, c.p)
	}
	if c := spread(x, triple, 1); math.Abs(c.Mean-1./3) > 1e-12 || c.p != 2./10_000 {
		t.Errorf("x against 3x: %v, p = %v", c.Interval, c.p)
	}
	// The same trials are drawn for both: what they have in common cancels.
	if c := spread(near, x, 1); !(c.Lo > 1 && c.Hi < 1.04) || c.p > 1e-3 {
		t.Errorf("1.02x and noise against x: %v, p = %v", c.Interval, c.p)
	}
	// For normal data the logarithm of a standard deviation has the variance 1/2(n−1). The bootstrap
	// has it from the fourth moment, which is known to √(24/n) of 2: 8 %, 4 % for each deviation.
	// Four times that is 16 %. y is taken twice as spread as its standard error away from 1.
	se := 1 / math.Sqrt(n-1)
	by := math.Exp(2*se) * stat.StdDev(x, nil) / stat.StdDev(y, nil)
	c := spread(x, scaled(by, y), 1)
	for _, v := range []struct {
		what      string
		got, want float64
	}{
		{"what is found", math.Log(c.finds(0.05)), (1.959964 + 1.281552) * se},
		{"lower half", math.Log(c.Mean) - math.Log(c.Lo), 1.959964 * se},
		{"upper half", math.Log(c.Hi) - math.Log(c.Mean), 1.959964 * se},
		{"quantile of p", distuv.UnitNormal.Quantile(1 - c.p/2), 2},
	} {
		if math.Abs(v.got/v.want-1) > 0.16 {
			t.Errorf("%s %v, want %v", v.what, v.got, v.want)
		}
	}
	// Whatever the standard error is, 95 % are 1.96 of it on a side: each quantile of 9999 is known to
	// 0.03 of it, and their distance to 1 %. Four times that is 4 %.
	own := math.Log(c.finds(0.05)) / (1.959964 + 1.281552)
	if got := (math.Log(c.Hi) - math.Log(c.Lo)) / own; math.Abs(got/(2*1.959964)-1) > 0.04 {
		t.Errorf("the interval is %v standard errors long", got)
	}
	if got, want := math.Log(c.finds(0.05))/math.Log(c.finds(0.2)), (1.9599639845+1.2815515655)/(2*1.2815515655); math.Abs(got-want) > 1e-9 {
		t.Errorf("levels 0.05 and 0.2: %v, want %v", got, want)
	}
}

// An example by hand: of four p-values the method of Holm compares the least with 0.0125, the
// next with 0.0167, 0.025 and 0.05, and stops at the first that is above.
func TestHolm(t *testing.T) {
	of := func(means []float64, ps ...float64) (family []*comparison) {
		for k, p := range ps {
			family = append(family, &comparison{Interval: race.Interval{Mean: means[k], Lo: means[k] - 1, Hi: means[k] + 1}, p: p,
				finds: func(level float64) float64 { return level }})
		}
		holm(family...)
		return family
	}
	below := []float64{-1, -1, -1, -1}
	for _, c := range []struct {
		family []*comparison
		want   [4]Verdict
	}{
		{of(below, 0.04, 0.005, 0.02, 0.01), [4]Verdict{Holds, Holds, Holds, Holds}},
		{of(below, 0.04, 0.012, 0.02, 0.03), [4]Verdict{Undecided, Holds, Undecided, Undecided}},
		{of(below, 0.013, 0.013, 0.013, 0.013), [4]Verdict{Undecided, Undecided, Undecided, Undecided}},
		{of([]float64{1, -1, 1, -1}, 0.04, 0.005, 0.02, 0.01), [4]Verdict{Fails, Holds, Fails, Holds}},
		{of(below, (1-confidence)/4, 1, 1, 1), [4]Verdict{Holds, Undecided, Undecided, Undecided}},
		{of([]float64{1, 0, 0, 0}, 1, 1, 1, 1), [4]Verdict{Undecided, Undecided, Undecided, Undecided}}, // an end is 0
		{of(below, math.NaN(), math.NaN(), math.NaN(), math.NaN()), [4]Verdict{Undecided, Undecided, Undecided, Undecided}},
	} {
		for k, v := range c.want {
			if c.family[k].Verdict != v {
				t.Errorf("p = %v of mean %v: %v, want %v", c.family[k].p, c.family[k].Mean, c.family[k].Decision, v)
			}
		}
	}
	open := of([]float64{0.5, 0.5}, 0.3, 0.3)[0]
	if want := "undecided: [-0.5, 1.5]; 0.025 would be found with probability 0.9"; open.Decision.String() != want {
		t.Errorf("%q, want %q", open.Decision, want)
	}
	equal := paired([]float64{1, 1}, []float64{1, 1})
	if holm(equal); equal.Verdict != Fails {
		t.Errorf("the same in every trial: %v", equal.Decision)
	}
}

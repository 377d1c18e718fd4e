package paper

import (
	"math"
	"math/rand/v2"
	"testing"

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
		{"announced only", inText(0), Missing},

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
	ctx, queue, x := t.Context(), mixpolicy.Must(QueueProblem(mixpolicy.Ball(2))), mixpolicy.Must(models.Queue{Buffer: 10}.MDP())
	var apart []*mixpolicy.Policy // share no pair, so that negative coefficients are infeasible
	for a := range 2 {
		apart = append(apart, mixpolicy.Must(mixpolicy.StateIndependent(x, unit(4, a)...)))
	}
	for _, c := range []struct {
		name string
		got  Claim
		want Verdict
	}{
		{"θ₀", mixtureClaim(ctx, queue, 1), Fails},
		{"few iterations", mixtureClaim(ctx, queue, 10), Undecided},
		{"cost that grows with the length", valleyClaim(nil), Holds},
		{"a network where no pair gains", combinationClaim(models.Network{Buffers: [4]int{1, 1, 1, 1}}), Fails},
		{"policies that share no pair", expressiveClaim(ctx, mixtureProblem(x, mixpolicy.Ball(2), apart...)), Fails},
		{"a rare state", tighterClaim(ctx, 1e-4, 0.5), Holds},
		{"(3.22) as printed", projectionClaim(mixpolicy.Printed), Fails},
	} {
		if c.got.Verdict != c.want {
			t.Errorf("%s: %q is %v, want %v; %s", c.name, c.got.Claim, c.got.Decision, c.want, c.got.Numbers())
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

// The effect that is said to be found with probability 0.9 is, in 2000 samples of 40 normal
// numbers; and none is found with probability 0.05. Five standard deviations of such shares are
// 0.034 and 0.024.
func TestPower(t *testing.T) {
	const samples, n = 2000, 40
	rng, zero := rand.New(rand.NewPCG(1, 0)), make([]float64, n)
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

// Of a ratio the same is said on the scale of logarithms: (z_{1−level/2} + z_{0.9}) standard errors.
func TestSpread(t *testing.T) {
	rng, x, y := rand.New(rand.NewPCG(2, 0)), make([]float64, 50), make([]float64, 50)
	for i := range x {
		x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	c := spread(x, y, 1)
	_, p, se := race.SpreadRatio(x, y, confidence, 1)
	for level, z := range map[float64]float64{0.05: 1.9599639845, 0.2: 1.2815515655} {
		if got, want := math.Log(c.finds(level)), (z+1.2815515655)*se; math.Abs(got-want) > 1e-9 {
			t.Errorf("level %v: %v is found, want %v", level, got, want)
		}
	}
	if c.null != 1 || c.p != p || c.Decision != (Decision{}) {
		t.Errorf("%+v", c)
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

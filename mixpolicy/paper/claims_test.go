package paper

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// Each rule reaches each of its verdicts.
func TestRules(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	holds, fails, undecided := Decision{Verdict: Holds}, Decision{Verdict: Fails}, Decision{Undecided, "[0, 1]"}
	between := func(lo, hi float64) race.Interval { return race.Interval{Lo: lo, Hi: hi} }
	for _, c := range []struct {
		name string
		got  Decision
		want Verdict
	}{
		{"at most", atMost(1, 1), Holds}, {"more", atMost(math.Nextafter(1, 2), 1), Fails},
		{"NaN", atMost(nan, 1), Fails}, {"one found", found(1), Holds},
		{"none found", found(0), Fails}, {"announced only", inText(0), Missing},
		{"interval below", less(between(-2, -1), -0.5), Holds},
		{"interval that ends at the bound", less(between(-2, -0.5), -0.5), Undecided},
		{"interval that begins at the bound", less(between(-0.5, 1), -0.5), Fails}, {"0 in every trial", less(between(0, 0), 0), Fails},
		{"interval on both sides", less(between(-1, 1), 0), Undecided}, {"NaN interval", less(between(nan, nan), 0), Undecided},
		{"0 makes no difference", same(between(0, 0)), Holds}, {"more makes one", same(between(0.1, 1)), Fails},
		{"less makes one", same(between(-1, -0.1)), Fails}, {"less, or none", same(between(-1, 0)), Undecided},
		{"more, or none", same(between(0, 1)), Undecided}, {"proved rate", argued(-0.5, -0.25, true), Holds},
		{"proved but for the fit", argued(-0.25+0.005, -0.25, false), Holds}, {"weaker bound", argued(-0.24, -0.25, false), NotProved},
		{"weaker bound, and runs against it", argued(0, -0.25, true), Fails}, {"no bound", argued(nan, -0.25, false), NotProved},
		{"a power and logarithms", polynomial(12.2, 12.1), Holds}, {"a power", polynomial(12, 12), Holds},
		{"faster than any power", polynomial(12, 24), NotProved}, {"infinite", polynomial(inf, inf), NotProved},
		{"all parts", every(holds, holds), Holds}, {"a part fails", every(holds, fails), Fails},
		{"a part is undecided", every(undecided, fails), Undecided}, {"both readings", readings("", holds, holds), Holds},
		{"neither reading", readings("", fails, fails), Fails}, {"one of two", readings("x", fails, holds), Depends},
		{"the other of two", readings("x", holds, fails), Depends}, {"one of three", readings("x", fails, undecided, holds), Depends},
		{"one open", readings("", fails, undecided), Undecided}, {"the first open", readings("", undecided, fails), Undecided},
	} {
		if c.got.Verdict != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	for want, d := range map[string]Decision{"depends: the weather": readings("the weather", fails, holds), "undecided: [0, 1]": readings("", holds, undecided),
		"undecided: the weather; the claim fails in one interpretation, and in another the interval is [0, 1]": readings("the weather", undecided, fails)} {
		if got := d.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The quick experiments reach the recorded results; [TestClaimsTable] tests this for all experiments.
func TestQuickClaims(t *testing.T) {
	known := mixpolicy.Must(RecordedClaims())
	for _, k := range append(policyClaims(t.Context()), tighterClaim(t.Context(), 0.5, 1e-4), projectionClaim(mixpolicy.Corrected)) {
		compareClaim(t, known, k)
	}
}

// Experiments with other data reach other verdicts.
func TestClaimsOfOtherData(t *testing.T) {
	ctx, queue, x := t.Context(), mixpolicy.Must(QueueProblem(mixpolicy.Ball(2))), mixpolicy.Must(models.Queue{Buffer: 10}.MDP())
	var apart []*mixpolicy.Policy // they share no pair, so negative coefficients are infeasible
	for a := range 2 {
		apart = append(apart, mixpolicy.Must(mixpolicy.StateIndependent(x, unit(4, a)...)))
	}
	for _, c := range []struct {
		name string
		got  Claim
		want Verdict
	}{
		{"θ₀", mixtureClaims(ctx, queue, 1)[0], Fails},
		{"few iterations", mixtureClaims(ctx, queue, 10)[0], Undecided},
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

// The least (4.13) on the grid of u is not below the lower bound for all u, and equals this bound for p = ½.
func TestSmoothedBounds(t *testing.T) {
	for _, p := range []float64{1e-4, 0.1, 0.3, 0.5, 0.9} {
		least, found, alp := smoothedBounds(t.Context(), p)
		// By hand: v* of the two states differs by 1, so the best constant is ½ from each.
		if want := 0.5 * 2 / (1 - 0.9); math.Abs(alp-want) > 1e-9 {
			t.Errorf("p = %v: (4.3) is %v, want %v", p, alp, want)
		}
		if !(least <= found*(1+1e-9)) || p == 0.5 && math.Abs(least-found) > 1e-9 {
			t.Errorf("p = %v: the least (4.13) is %v, and the lower bound for all u is %v", p, found, least)
		}
	}
}

// In 2000 samples of 40 normal numbers, a test of level 0.05 finds a difference in about 0.9 of the samples if the true
// effect is the one that [comparison].finds states, and in about 0.05 of the samples if it is 0. Five standard
// deviations of these shares are 0.034 and 0.024.
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
	effect := 0.0 // the mean of finds(0.05), which depends on the estimated standard deviation
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

// For a ratio, the logarithm of the effect that a test finds is (z_{1−level/2} + z_{0.9}) standard errors.
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

// By hand: Holm's method compares four p-values, in increasing order, with 0.0125, 0.0167, 0.025
// and 0.05, and stops at the first p-value that is greater.
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
		{of([]float64{1, 0, 0, 0}, 1, 1, 1, 1), [4]Verdict{Undecided, Undecided, Undecided, Undecided}}, // the first interval begins at 0
		{of(below, math.NaN(), math.NaN(), math.NaN(), math.NaN()), [4]Verdict{Undecided, Undecided, Undecided, Undecided}},
	} {
		for k, v := range c.want {
			if c.family[k].Verdict != v {
				t.Errorf("p = %v of mean %v: %v, want %v", c.family[k].p, c.family[k].Mean, c.family[k].Decision, v)
			}
		}
	}
	open := of([]float64{0.5, 0.5}, 0.3, 0.3)[0]
	if want := "undecided: [-0.5, 1.5]; an effect of 0.025 would be found with probability 0.9 or more"; open.Decision.String() != want {
		t.Errorf("%q, want %q", open.Decision, want)
	}
	equal := paired([]float64{1, 1}, []float64{1, 1})
	if holm(equal); equal.Verdict != Fails {
		t.Errorf("the same in every trial: %v", equal.Decision)
	}
}

// TestClaimsTable runs every experiment and compares the results with data/claims.csv.
func TestClaimsTable(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every experiment, more than half a minute on two cores")
	}
	claims, known := mixpolicy.Must(Claims(t.Context())), mixpolicy.Must(RecordedClaims())
	for i, k := range claims {
		if i >= len(known) || len(known) != len(claims) || known[i].ID != k.ID {
			t.Fatalf("%d claims recorded, %d computed; claim %d, counted from 0, is %s; go run ./mixpolicy/study/record table claims makes them again", len(known), len(claims), i, k.ID)
		}
		compareClaim(t, known, k)
	}
}

// compareClaim compares a claim with the record: words, verdicts, and numbers to one per cent of their size or of their
// intervals. It does not compare times, which are not recorded, or the text on an undecided claim, because the ends of
// its interval are among the numbers.
func compareClaim(t *testing.T, known []Claim, k Claim) {
	t.Helper()
	i := slices.IndexFunc(known, func(r Claim) bool { return r.ID == k.ID })
	if i < 0 {
		t.Errorf("%s is not in data/claims.csv", k.ID)
		return
	}
	r := known[i]
	if r.Claim != k.Claim || r.Setting != k.Setting || r.Note != k.Note || r.Verdict != k.Verdict || k.Verdict == Depends && r.On != k.On {
		t.Errorf("recorded %+v, computed %+v", r, k)
	}
	computed := slices.DeleteFunc(k.Results, func(r Result) bool { return r.Unit == "ns" })
	same := slices.EqualFunc(r.Results, computed, func(a, b Result) bool {
		near := func(x, y float64) bool {
			return math.Abs(x-y) <= max(1e-9, 0.01*max(math.Abs(x), math.Abs(y)), 0.01*(a.Hi-a.Lo))
		}
		return a.Quantity == b.Quantity && a.Of == b.Of && a.Compared == b.Compared && near(a.Value, b.Value) && near(a.Lo, b.Lo) && near(a.Hi, b.Hi)
	})
	if !same {
		t.Errorf("%s: recorded %v, computed %v", k.ID, r.Results, computed)
	}
}

// The recorded claims are complete and distinct, their numbers are within their intervals, and their formulas become
// plain text.
func TestRecordedClaims(t *testing.T) {
	verdicts, seen := []Verdict{Holds, Fails, NotProved, Undecided, Depends, Missing}, map[string]bool{}
	for _, k := range mixpolicy.Must(RecordedClaims()) {
		if seen[k.ID] || k.ID == "" || k.Claim == "" || k.Setting == "" || !slices.Contains(verdicts, k.Verdict) ||
			(k.On != "") != (k.Verdict == Depends || k.Verdict == Undecided) {
			t.Errorf("claim %+v", k)
		}
		seen[k.ID] = true
		for _, r := range k.Results {
			if !(r.Lo <= r.Value && r.Value <= r.Hi) || r.Quantity == "" {
				t.Errorf("%s: %+v", k.ID, r)
			}
		}
		for _, text := range append(k.Sentences(), k.Claim, k.Setting, k.Note, k.On) {
			if plain := plotting.Unicode(text); strings.ContainsAny(plain, `$\{`) {
				t.Errorf("%s: a formula is not in plain text: %s", k.ID, plain)
			}
		}
	}
}

// A mean prints with two digits of half its interval, a comparison likewise and with the ends of its interval, an exact
// number with six digits, and a rounding error with one digit.
func TestResult(t *testing.T) {
	for want, r := range map[string]Result{
		"12.35 ± 0.12":      {Value: 12.3456, Lo: 12.2256, Hi: 12.4656},
		"1598.712 ± 0.016":  {Value: 1598.712, Lo: 1598.696, Hi: 1598.728},
		"0.76 [0.63, 0.93]": {Value: 0.763, Lo: 0.631, Hi: 0.93, Compared: "ratio"},
		"2861.65":           {Value: 2861.65, Lo: 2861.65, Hi: 2861.65},
		"2e-15":             {Value: 2.2e-15, Lo: 2.2e-15, Hi: 2.2e-15},
		"0":                 {},
		"385 ns":            {Value: 385, Lo: 385, Hi: 385, Unit: "ns"},
	} {
		if r.String() != want {
			t.Errorf("%q, want %q", r, want)
		}
	}
	c := Claim{Results: []Result{exactly("cost", "one", 1), exactly("cost", "two", 2), {Quantity: "cost", Of: "one and two", Compared: "difference", Value: 1, Lo: 0, Hi: 2}}}
	if want := "Cost: 1 (one), 2 (two). Difference of the cost: 1.0 [0.0, 2.0] (one and two)."; c.Numbers() != want {
		t.Errorf("%q, want %q", c.Numbers(), want)
	}
}

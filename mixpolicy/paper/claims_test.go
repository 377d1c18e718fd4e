package paper

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/plotting"
)

// TestClaimsTable runs every experiment and compares data/claims.csv with what it finds.
func TestClaimsTable(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every experiment, some 10 s on two cores")
	}
	claims, known := mixpolicy.Must(Claims(t.Context())), mixpolicy.Must(RecordedClaims())
	for i, k := range claims {
		if i >= len(known) || len(known) != len(claims) || known[i].ID != k.ID {
			t.Fatalf("%d claims recorded, %d computed, the one after %d is %s; go run ./mixpolicy/study/record table claims makes them again", len(known), len(claims), i, k.ID)
		}
		compareClaim(t, known, k)
	}
}

// compareClaim compares a claim with the record: words, verdicts, and numbers to one per cent of them or of
// their intervals. Times are not recorded. The ends of an undecided claim's interval are among its numbers.
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

// The recorded claims are complete and distinct, their numbers within their intervals, and their formulas closed.
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

// A number has two digits of its interval; what is exact has six, and what is rounding one.
func TestResult(t *testing.T) {
	for want, r := range map[string]Result{
		"12.35 ± 0.12":        {Value: 12.3456, Lo: 12.2256, Hi: 12.4656},
		"1598.712 ± 0.016":    {Value: 1598.712, Lo: 1598.696, Hi: 1598.728},
		"0.763 [0.631, 0.93]": {Value: 0.763, Lo: 0.631, Hi: 0.93, Compared: "ratio"},
		"2861.65":             {Value: 2861.65, Lo: 2861.65, Hi: 2861.65},
		"2e-15":               {Value: 2.2e-15, Lo: 2.2e-15, Hi: 2.2e-15},
		"0":                   {},
		"385 ns":              {Value: 385, Lo: 385, Hi: 385, Unit: "ns"},
	} {
		if r.String() != want {
			t.Errorf("%q, want %q", r, want)
		}
	}
	c := Claim{Results: []Result{exactly("cost", "one", 1), exactly("cost", "two", 2), {Quantity: "cost", Of: "one and two", Compared: "difference", Value: 1, Lo: 0, Hi: 2}}}
	if want := "Cost: 1 (one), 2 (two). Difference of the cost 1 [0, 2] (one and two)."; c.Numbers() != want {
		t.Errorf("%q, want %q", c.Numbers(), want)
	}
}

// The general solver projects as the closed form does. Its ½‖θ − y‖² is within 10⁻¹² of the
// least, so θ within √2·10⁻⁶ of the projection, 1-strong convexity being what it is.
func TestProjectByBarrier(t *testing.T) {
	p, want, got := smallProblem(mixpolicy.Ball(2)), make([]float64, 3), make([]float64, 3)
	for _, y := range [][]float64{{3, -1, 0}, {0.2, 0.3, 0.5}, {100, 50, -80}, {0, 0, 0}} {
		if err := p.Class().Norm.Project(want, y, 2); err != nil {
			t.Fatal(err)
		}
		if err := projectByBarrier(got, y, 2); err != nil {
			t.Fatal(err)
		}
		for j := range got {
			if d := got[j] - want[j]; d > 1.5e-6 || d < -1.5e-6 {
				t.Errorf("y = %v: %v, want %v", y, got, want)
				break
			}
		}
	}
}

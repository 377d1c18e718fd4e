package paper

import (
	"math"
	"slices"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// TestClaimsTable runs every experiment and compares data/claims.csv with what it finds.
// Timings are not compared, but for their verdicts.
func TestClaimsTable(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every experiment, some 10 s on two cores")
	}
	claims := mixpolicy.Must(Claims(t.Context()))
	known := mixpolicy.Must(RecordedClaims())
	if len(known) != len(claims) {
		t.Fatalf("%d claims recorded, %d computed; go run ./mixpolicy/study/record table claims makes them anew", len(known), len(claims))
	}
	for i, k := range claims {
		if known[i].ID != k.ID {
			t.Errorf("claim %d is recorded as %s, computed is %s", i, known[i].ID, k.ID)
		}
		compareClaim(t, known, k)
	}
}

// compareClaim compares a claim with the record. The ends of an undecided claim's interval are
// among its numbers.
func compareClaim(t *testing.T, known []Claim, k Claim) {
	t.Helper()
	i := slices.IndexFunc(known, func(r Claim) bool { return r.ID == k.ID })
	if i < 0 {
		t.Errorf("%s is not in data/claims.csv", k.ID)
		return
	}
	r := known[i]
	if r.Claim != k.Claim || r.Verdict != k.Verdict || k.Verdict == Depends && r.On != k.On {
		t.Errorf("recorded %+v, computed %+v", r, k)
	}
	if !k.Timing && !sameNumbers(r.Numbers, k.Experiment+": "+k.Numbers) {
		t.Errorf("%s: recorded numbers %q, computed %q", k.ID, r.Numbers, k.Numbers)
	}
}

// The recorded claims are complete and distinct.
func TestRecordedClaims(t *testing.T) {
	claims := mixpolicy.Must(RecordedClaims())
	verdicts := []Verdict{Holds, Fails, NotProved, Undecided, Depends}
	seen := map[string]bool{}
	for _, k := range claims {
		if seen[k.ID] || k.ID == "" || k.Claim == "" || k.Numbers == "" || !slices.Contains(verdicts, k.Verdict) ||
			(k.On != "") != (k.Verdict == Depends || k.Verdict == Undecided) {
			t.Errorf("claim %+v", k)
		}
		seen[k.ID] = true
	}
	for _, id := range []string{"0-best-mixture", "1-one-parameter", "3-rate", "4-tighter", "6-cost-working-tuned", "6-variance-working-tuned", "6-step", "7-network"} {
		if !seen[id] {
			t.Errorf("no claim %q", id)
		}
	}
}

// The general solver projects as the closed form does. Its ½‖θ − y‖² is within 10⁻¹² of the
// least, so θ within √2·10⁻⁶ of the projection, 1-strong convexity being what it is.
func TestProjectByBarrier(t *testing.T) {
	p := mixpolicy.Must(smallProblem(mixpolicy.Ball(2)))
	want, got := make([]float64, 3), make([]float64, 3)
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
	if err := projectByBarrier(got, want, 0.5); err == nil {
		t.Error("a ball that misses the hyperplane gave no error")
	}
}

// No run exceeds a corrected bound, and the sharp ones are not above the plain ones.
func TestCompareBounds(t *testing.T) {
	measured := 100_000
	if testing.Short() {
		measured = 10_000
	}
	rows := mixpolicy.Must(CompareBounds(t.Context(), measured))
	if len(rows) != 7*len(BetaPowers) {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Sharp.Value > r.Corrected.Value {
			t.Errorf("T = %d, β = %.3g: sharp %v above corrected %v", r.T, r.Beta, r.Sharp.Value, r.Corrected.Value)
		}
		if !r.Measured {
			continue
		}
		if !(r.Gap <= r.Sharp.Value && r.Violation <= r.CorrectedViolation.Value && r.Violation <= r.SharpViolation.Value) {
			t.Errorf("a run exceeds its bounds: %+v", r)
		}
		if math.IsInf(r.Gap, 0) {
			t.Errorf("T = %d: no gap", r.T)
		}
	}
}

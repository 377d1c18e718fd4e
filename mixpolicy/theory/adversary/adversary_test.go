package adversary_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/theory/adversary"
)

// sides are within 10⁻⁹ of what is recorded, on another architecture too: the instances are exact.
func same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

// The record is complete, no instance of it violates a bound, each is what it was, and each bound
// is within a factor of 2, or says why not.
func TestRecord(t *testing.T) {
	records := mixpolicy.Must(adversary.Read(bytes.NewReader(mixpolicy.Must(data.Files.ReadFile("adversaries.csv")))))
	for _, s := range adversary.Spaces() {
		for i, b := range s.Bounds {
			if len(records) == 0 {
				t.Fatalf("%s, %s: not recorded; go run ./mixpolicy/study/record adversaries makes the record", b.Statement, b.What)
			}
			r := records[0]
			records = records[1:]
			const want = 1_000_000
			if r.Space != s.Name || (adversary.Bound{Statement: r.Statement, What: r.What, Loose: r.Loose}) != b || r.Instances < want || r.Nontrivial < want/20 || r.Violations != 0 {
				t.Errorf("recorded %+v, want %d instances of %+v without violation, a twentieth of which put it to the test", r, want, b)
				continue
			}
			side := s.Sides(r.Instance)[i]
			if side.Violated() || r.Left > r.Right+r.Allowed || !same(side.Left, r.Left) || !same(side.Right, r.Right) || !same(side.Ratio(), r.Ratio) {
				t.Errorf("%s, %s: computed %+v, recorded %v ≤ %v", b.Statement, b.What, side, r.Left, r.Right)
			}
			if loose := r.Ratio < .5; loose != (b.Loose != "") {
				t.Errorf("%s, %s: the ratio is %v at most, and why: %q", b.Statement, b.What, r.Ratio, b.Loose)
			}
		}
	}
	if len(records) > 0 {
		t.Errorf("recorded are also %+v", records)
	}
}

// A search depends on its seed only, and finds no violation.
func TestSearch(t *testing.T) {
	for _, s := range adversary.Spaces() {
		const instances = 600
		var counted int
		one := mixpolicy.Must(adversary.Search(t.Context(), s, instances, 7, 1, func(n int) { counted += n }))
		two := mixpolicy.Must(adversary.Search(t.Context(), s, instances, 7, 3, nil))
		other := mixpolicy.Must(adversary.Search(t.Context(), s, instances, 8, 1, nil))
		if !reflect.DeepEqual(one, two) || reflect.DeepEqual(one, other) != s.Every {
			t.Errorf("%s: one worker found %+v, three %+v, and another seed %+v", s.Name, one, two, other)
		}
		for i, r := range one {
			if r.Violations != 0 || r.Instances != instances || r.What != s.Bounds[i].What || counted != instances {
				t.Errorf("%+v, after %d instances", r, counted)
			}
			for j, p := range s.Parameters {
				if v := r.Instance[j]; !(p.Lo <= v && v <= p.Hi) {
					t.Errorf("%s: %s = %v is outside of [%v, %v]", s.Name, p.Name, v, p.Lo, p.Hi)
				}
			}
		}
	}
}

// What is false is found: each right side lowered to 0.9 of the greatest ratio.
func TestSearchFindsViolations(t *testing.T) {
	for _, s := range adversary.Spaces() {
		const instances = 2000
		sides := s.Sides
		true_ := mixpolicy.Must(adversary.Search(t.Context(), s, instances, 7, 2, nil))
		s.Sides = func(x []float64) []adversary.Side {
			all := sides(x)
			for i := range all {
				all[i].Right *= 0.9 * true_[i].Ratio
			}
			return all
		}
		found := mixpolicy.Must(adversary.Search(t.Context(), s, instances, 7, 2, nil))
		for _, r := range found {
			if r.Violations == 0 {
				t.Errorf("%s: %s lowered to less than what occurs is not violated", r.Statement, r.What)
			}
		}
	}
}

// A search that is cancelled says so.
func TestSearchIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := adversary.Search(ctx, adversary.Spaces()[0], 10_000, 1, 2, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// What is left and right of a bound, at numbers by hand.
func TestSide(t *testing.T) {
	for _, tt := range []struct {
		side     adversary.Side
		ratio    float64
		violated bool
	}{
		{adversary.Side{Left: 1, Right: 2}, .5, false},
		{adversary.Side{Left: 2, Right: 1}, 2, true},
		{adversary.Side{Left: 1 + 1e-11, Right: 1}, 1 + 1e-11, false},
		{adversary.Side{Left: 1 + 1e-9, Right: 1}, 1 + 1e-9, true},
		{adversary.Side{Left: 1 + 1e-9, Right: 1, Size: 100}, 1 + 1e-9, false},
		{adversary.Side{Left: 2, Right: 1, Size: 1e5}, 0, true},
		{adversary.Side{Left: -1, Right: 0}, 0, false},
		{adversary.Side{Left: 1, Right: math.Inf(1)}, 0, false},
		{adversary.Side{Left: math.NaN(), Right: 1}, math.NaN(), true},
		{adversary.Side{Left: math.NaN(), Right: math.Inf(1)}, 0, true},
		{adversary.Side{Left: 1, Right: math.NaN()}, 0, true},
	} {
		if got := tt.side.Ratio(); got != tt.ratio && !(math.IsNaN(got) && math.IsNaN(tt.ratio)) || tt.side.Violated() != tt.violated {
			t.Errorf("%+v: ratio %v, violated %v", tt.side, got, tt.side.Violated())
		}
	}
}

// What is written is read again; errors name what is wrong.
func TestReadWrite(t *testing.T) {
	s := adversary.Spaces()[len(adversary.Spaces())-1]
	records := mixpolicy.Must(adversary.Search(t.Context(), s, 100, 1, 1, nil))
	var b bytes.Buffer
	if err := adversary.Write(&b, records); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	again, err := adversary.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range again {
		if !reflect.DeepEqual(r.Instance, records[i].Instance) || r.Statement != records[i].Statement || r.What != records[i].What || !same(r.Ratio, records[i].Ratio) {
			t.Errorf("written %+v, read %+v", records[i], r)
		}
	}
	_, value, _ := strings.Cut(text, "λ=")
	value = value[:strings.IndexAny(value, " ,\n")]
	for old, wrong := range map[string]string{"λ=": "μ=", "λ=" + value: "λ=NaN", s.Name: "elsewhere", "statement": "statements"} {
		if _, err := adversary.Read(strings.NewReader(strings.Replace(text, old, wrong, 1))); err == nil || !strings.HasPrefix(err.Error(), "adversary: ") {
			t.Errorf("%q for %q: error %v", wrong, old, err)
		}
	}
}

// FuzzRead: what is read can be written and read again.
func FuzzRead(f *testing.F) {
	committed, err := data.Files.ReadFile("adversaries.csv")
	if err != nil {
		f.Fatal(err)
	}
	lines := strings.SplitAfterN(string(committed), "\n", 4)
	f.Add(strings.Join(lines[:3], ""))
	f.Fuzz(func(t *testing.T, text string) {
		records, err := adversary.Read(strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "adversary: ") {
				t.Errorf("%v: want our prefix", err)
			}
			return
		}
		var b bytes.Buffer
		if err := adversary.Write(&b, records); err != nil {
			t.Fatal(err)
		}
		if again, err := adversary.Read(&b); err != nil || len(again) != len(records) {
			t.Fatalf("%d of %d records read again: %v", len(again), len(records), err)
		}
	})
}

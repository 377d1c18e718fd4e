package adversary_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/internal/csvrows"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/theory/adversary"
)

// same allows a relative difference of 10⁻⁹: the recorded instances are exact, but other architectures round the
// sides differently.
func same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

func ignore(int) {}

func committed() string { return string(mixpolicy.Must(data.Files.ReadFile("adversaries.csv"))) }

// The record contains every bound of every space. No recorded instance violates its bound, and the sides are as recorded.
// The greatest ratio of each bound is at least ½, or Loose says why not.
func TestRecord(t *testing.T) {
	type bound struct{ statement, what, loose string }
	instances, nontrivial, ratio := map[bound]int{}, map[bound]int{}, map[bound]float64{}
	records := mixpolicy.Must(data.Adversaries(strings.NewReader(committed())))
	for _, s := range adversary.Spaces() {
		if len(records) == 0 || records[0].Space != s.Name {
			t.Fatalf("%s: not recorded; go run ./mixpolicy/study/record adversaries makes the record", s.Name)
		}
		for i, l := range s.Laws(records[0].Instance) {
			r := records[0]
			records = records[1:]
			l = s.Laws(r.Instance)[i]
			b := bound{l.Statement, l.What, l.Loose}
			if r.Space != s.Name || r.Text != s.Text(r.Instance) || (bound{r.Statement, r.What, r.Loose}) != b || r.Violations != 0 {
				t.Errorf("recorded %+v, want %+v without violation", r, b)
			}
			if l.Violated() || r.Left > r.Right+r.Allowed || !same(l.Left, r.Left) || !same(l.Right, r.Right) || !same(l.Ratio(), r.Ratio) {
				t.Errorf("%+v: computed %+v, recorded %v ≤ %v", b, l.Side, r.Left, r.Right)
			}
			instances[b], nontrivial[b], ratio[b] = instances[b]+r.Instances, nontrivial[b]+r.Nontrivial, max(ratio[b], r.Ratio)
		}
	}
	for b, n := range instances {
		if n < 1_000_000 || nontrivial[b] < n/20 {
			t.Errorf("%+v: %d instances, %d of which test the bound; want 10⁶, and a twentieth", b, n, nontrivial[b])
		}
		if loose := ratio[b] < .5; loose != (b.loose != "") {
			t.Errorf("%+v: the greatest ratio is %v", b, ratio[b])
		}
	}
	if len(records) > 0 {
		t.Errorf("records of no space: %+v", records)
	}
}

// (5.31) holds for every T from 1 to 10⁶.
func TestEveryNumberOfIterations(t *testing.T) {
	spaces := adversary.Spaces()
	s := spaces[slices.IndexFunc(spaces, func(s adversary.Space) bool { return s.Name == "numbers of iterations" })]
	for n := range int(s.Parameters[0].Hi) {
		for _, l := range s.Laws([]float64{float64(n + 1)}) {
			if l.Violated() {
				t.Fatalf("%s: %s is violated for T = %d", l.Statement, l.What, n+1)
			}
		}
	}
}

// rounds contains an instance for which the solver of the smoothed ALP once did not end: because of rounding, it
// returned to the same tangent.
var rounds = map[string][]float64{"approximate programs, γ = 0.9": {
	0.9, 0.1, 1, 0.28107578567796782, 0.59765607408580135, 1.6451422856332103e-08, 1.0000000000000001e-09, 0.67025514108010664, 0.31693988237093351, 0.68210959651539582, 0, 0.80718078409774208, 0.24833545679836494, 0.52775489354955685, 0.41573144394982847, 0.54410894444743263, 0.24553467507591076, 0.59627633353783982, 1, 0.1819926769355959, 0.78402583704919904, 0.56519047435940084, 0.82902622706666462, 5.4094691308926798e-05, 2.2898981867232436e-06, 7.1038014830641437e-07, 0.26317911259806842, 4.4933774357550321e-06, 0, 0.97877704961422007, -0.58757212461395236, 0.99999999701352627, 1.3487807406559631, 1.0002787652848828, 1.3269074065495985, 1.000000061003897, 7.5033757476800229}}

// A search depends on its seed, but not on the number of workers. It finds no violation. If the right side of each bound
// is multiplied by 0.9 of the bound's greatest ratio, the search finds violations.
func TestSearch(t *testing.T) {
	for i, s := range adversary.Spaces() {
		if testing.Short() && i%9 > 0 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			const instances = 510 // two starts: 500 and 10
			if x := rounds[s.Name]; x != nil {
				s.Laws(x)
			}
			var counted int
			one := mixpolicy.Must(adversary.Search(t.Context(), s, instances, 2, 1, func(n int) { counted += n }))
			three := mixpolicy.Must(adversary.Search(t.Context(), s, instances, 2, 3, ignore))
			first := func(seed uint64) []adversary.Record {
				return mixpolicy.Must(adversary.Search(t.Context(), s, 1, seed, 1, ignore))
			}
			if !reflect.DeepEqual(one, three) || reflect.DeepEqual(first(2), first(3)) {
				t.Errorf("one worker found %+v, three %+v, and another seed %+v", one, three, first(3))
			}
			for i, r := range one {
				if r.Violations != 0 || r.Instances != instances || r.What != s.Laws(r.Instance)[i].What || counted != instances {
					t.Errorf("%+v, after %d instances", r, counted)
				}
				for j, p := range s.Parameters {
					if v := r.Instance[j]; !(p.Lo <= v && v <= p.Hi) {
						t.Errorf("%s = %v is outside [%v, %v]", p.Name, v, p.Lo, p.Hi)
					}
				}
			}
			lowered := s
			lowered.Laws = func(x []float64) []adversary.Law {
				all := s.Laws(x)
				for i := range all {
					f := 0.9 * one[i].Ratio // Size is lowered by the same factor, so the search takes the same path
					all[i].Right, all[i].Size = f*all[i].Right, f*all[i].Size
				}
				return all
			}
			for i, r := range mixpolicy.Must(adversary.Search(t.Context(), lowered, instances, 2, 2, ignore)) {
				if r.Violations == 0 && one[i].Ratio > 0 { // the ratio is 0 if no instance tests the bound
					t.Errorf("%s: %s is not violated when lowered below the greatest ratio", r.Statement, r.What)
				}
			}
		})
	}
}

// A search that is cancelled returns the error of its context.
func TestSearchIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := adversary.Search(ctx, adversary.Spaces()[0], 10_000, 1, 2, ignore); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// Ratio and Violated agree with values computed by hand.
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

func TestReadErrors(t *testing.T) {
	header, _, _ := strings.Cut(committed(), "\n")
	text := header + "\nA.11,left ≤ right,sums of squares,1,1,0,1,1,1,0,r=1 λ=0.1 d=2,\n"
	mixpolicy.Must(data.Adversaries(strings.NewReader(text)))
	for old, wrong := range map[string]string{"λ=0.1": "λ", "r=1": "r=NaN", "statement": "statements"} {
		if _, err := data.Adversaries(strings.NewReader(strings.Replace(text, old, wrong, 1))); err == nil || !strings.HasPrefix(err.Error(), "data: adversaries: ") {
			t.Errorf("%q for %q: error %v", wrong, old, err)
		}
	}
}

// FuzzRead: records that can be read can be written, and read again unchanged.
func FuzzRead(f *testing.F) {
	f.Add(committed())
	f.Fuzz(func(t *testing.T, text string) {
		records, err := data.Adversaries(strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "data: adversaries: ") {
				t.Errorf("%v: want our prefix", err)
			}
			return
		}
		var one, two bytes.Buffer
		if err := csvrows.Encode(&one, records); err != nil {
			t.Fatal(err)
		}
		again, err := data.Adversaries(bytes.NewReader(one.Bytes()))
		if err := errors.Join(err, csvrows.Encode(&two, again)); err != nil || one.String() != two.String() {
			t.Fatalf("%s is read again as %s: %v", &one, &two, err)
		}
	})
}

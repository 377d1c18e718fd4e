package beam

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// The mean and the standard deviation come from exact sums, in any order and grouping of the numbers, even after encoding.
func TestStatisticInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			return math.Ldexp(rapid.Float64Range(-1, 1).Draw(t, "x"), rapid.IntRange(-900, 900).Draw(t, "e"))
		}), 2, 40).Draw(t, "x")
		if rapid.Bool().Draw(t, "cancel") { // the sum becomes x[0]
			for _, v := range x[1:] {
				x = append(x, -v)
			}
		}
		sum, square := new(big.Rat), new(big.Rat)
		for _, v := range x {
			r := new(big.Rat).SetFloat64(v)
			sum.Add(sum, r)
			square.Add(square, r.Mul(r, r))
		}
		n := big.NewRat(int64(len(x)), 1)
		mean, _ := new(big.Rat).Quo(sum, n).Float64()
		// (Σx² − (Σx)²/n)/(n − 1)
		variance, _ := new(big.Rat).Quo(square.Sub(square, new(big.Rat).Quo(new(big.Rat).Mul(sum, sum), n)), big.NewRat(int64(len(x)-1), 1)).Float64()

		s := grouped(t, x)
		got := s.Mean()
		if got.Mean != mean || got.Std != math.Sqrt(variance) {
			t.Fatalf("mean %v, deviation %v; want %v, %v", got.Mean, got.Std, mean, math.Sqrt(variance))
		}
		if s.Median() != race.Median(x, .95) {
			t.Fatalf("median %v, want %v", s.Median(), race.Median(x, .95))
		}
	})
}

// sent returns a statistic as another worker receives it.
func sent(s Statistic) Statistic {
	b := mixpolicy.Must(pack(Part{Walks: Visits{Cost: s}}))
	return mixpolicy.Must(unpack(b)).Walks.Cost
}

// grouped adds numbers in a random order and in random groups, some of which it encodes.
func grouped(t *rapid.T, x []float64) Statistic {
	x = rapid.Permutation(x).Draw(t, "order")
	var parts []Statistic
	for len(x) > 0 {
		k := rapid.IntRange(1, len(x)).Draw(t, "group")
		var s Statistic
		s.Add(x[:k]...)
		if rapid.Bool().Draw(t, "encode") {
			s = sent(s)
		}
		parts, x = append(parts, s), x[k:]
	}
	parts = rapid.Permutation(parts).Draw(t, "order of groups")
	var all Statistic
	for _, s := range parts {
		all.Merge(s)
	}
	return all
}

// For many numbers, quantiles are within the sketch's error, and the same in any grouping.
func TestStatisticOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 3*MostValues)
	for k := range x {
		if x[k] = math.Exp(5 * rng.NormFloat64()); k%5 == 0 {
			x[k] *= -1
		}
	}
	var one Statistic
	one.Add(x...)
	for _, sizes := range [][]int{{300, 7}, {MostValues - 1, 2}, {2 * MostValues, 3}} {
		var all Statistic
		for k, rest := 0, x; len(rest) > 0; k++ {
			n := min(sizes[k%len(sizes)], len(rest))
			var s Statistic
			s.Add(rest[:n]...)
			s = sent(s)
			s.Merge(all) // here, the earlier numbers are merged into the later ones
			all, rest = s, rest[n:]
			// For e⁻²⁵ < |x| < e²⁵, each sign has at most 50/log((1+ε)/(1−ε)) counts.
			if len(all.Values) > MostValues || float64(len(all.Counts)) > 2*50/math.Log((1+SketchError)/(1-SketchError)) {
				t.Fatalf("%d values and %d counts are kept", len(all.Values), len(all.Counts))
			}
		}
		if all.Mean() != one.Mean() || all.Median() != one.Median() || all.Quantile(.05) != one.Quantile(.05) {
			t.Errorf("in groups of %v: %v, %v; want %v, %v", sizes, all.Mean(), all.Median(), one.Mean(), one.Median())
		}
	}
	slices.SortFunc(x, cmp.Compare)
	for _, p := range []float64{0, .01, .05, .2, .5, .77, .95, 1} {
		want := x[max(1, int(math.Ceil(p*float64(len(x)))))-1]
		if got := one.Quantile(p); math.Abs(got-want) > 1.0001*SketchError*math.Abs(want) {
			t.Errorf("quantile %v is %v, want %v", p, got, want)
		}
	}
	want, got := race.Median(x, .95), one.Median()
	for k, pair := range [][2]float64{{got.Mean, want.Mean}, {got.Lo, want.Lo}, {got.Hi, want.Hi}} {
		// The ranks of the ends may be off by one.
		if math.Abs(pair[0]-pair[1]) > 3*SketchError*math.Abs(pair[1]) {
			t.Errorf("number %d of the median is %v, want %v", k, pair[0], pair[1])
		}
	}
}

// First is the failed run with the lowest stream, in whatever order summaries are merged.
func TestFirstFailure(t *testing.T) {
	var a, b Summary
	a.fail(failure{5, 1, "five"})
	a.fail(failure{3, 2, "three"})
	b.fail(failure{4, 3, "four"})
	b.add([][]float64{{2}})
	c := b
	c.merge(a)
	a.merge(b)
	for _, s := range []Summary{a, c} {
		if s.Failed != 3 || s.First.Why != "three" || s.Looks[0][0].N != 1 {
			t.Errorf("%+v, want 3 failed, the first of stream 3", s)
		}
	}
}

// A race stays the same when it is sent to the workers. A race by iterations ends at its last iteration.
func TestRaceOnItsWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grid := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) jsontext.Value {
			return jsontext.Value(fmt.Sprint(rapid.Float64().Draw(t, "weight")))
		}), 1, 3)
		r := Race{
			Problems:   []Entry{{Name: "queue", Label: rapid.String().Draw(t, "label"), Settings: jsontext.Value(`{"Buffer":5}`)}},
			Methods:    []Entry{{Name: "penalty", Grid: map[string][]jsontext.Value{"Weight": grid.Draw(t, "grid")}}},
			Trials:     rapid.Int().Draw(t, "trials"),
			Seed:       rapid.Uint64().Draw(t, "seed"),
			Quantities: rapid.SliceOf(rapid.SampledFrom([]string{"cost", "mass"})).Draw(t, "quantities"),
			Simulate:   rapid.Int64().Draw(t, "simulate"),
		}
		if rapid.Bool().Draw(t, "by queries") {
			r.Queries = rapid.SliceOf(rapid.Int()).Draw(t, "queries")
		} else {
			r.Iterations = rapid.Int().Draw(t, "iterations")
		}
		var got submitted
		text, err := json.Marshal(submitted{r, "a build"})
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if len(r.Quantities) == 0 {
			got.Quantities, r.Quantities = nil, nil
		}
		if err != nil || !reflect.DeepEqual(got.Race, r) {
			t.Fatalf("%+v, %v, want %+v", got.Race, err, r)
		}
	})
	text := `{"Problems": [{"Name": "random", "Settings": {"Dim": 2}}], "Methods": [{"Name": "penalty"}], "Trials": 3, "Iterations": 50}`
	rows := mixpolicy.Must(race.Read(strings.NewReader(embedded(t, text, 1))))
	if len(rows) == 0 || rows[0].Race != "iterations" || rows[len(rows)-1].At != 50 {
		t.Errorf("%+v, want rows to iteration 50", rows)
	}
}

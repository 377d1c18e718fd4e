package plotting

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// parseLabel returns the number that a label of a tick states.
func parseLabel(t interface{ Fatalf(string, ...any) }, label string) float64 {
	label = strings.ReplaceAll(label, "−", "-")
	mantissa, exponent := label, ""
	if i := strings.IndexAny(label, "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"); i >= 0 {
		mantissa = strings.TrimSuffix(strings.TrimSuffix(label[:i], "10"), "·")
		exponent = "e" + strings.NewReplacer("⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9").Replace(label[i:])
	}
	if mantissa == "" {
		mantissa = "1"
	}
	label = mantissa + exponent
	v, err := strconv.ParseFloat(label, 64)
	if err != nil {
		t.Fatalf("label %q: %v", label, err)
	}
	return v
}

func TestUnitAndValueAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scale{1e-3, 1e5, rapid.Bool().Draw(t, "log")}
		u := rapid.Float64Range(0, 1).Draw(t, "u")
		// ln(hi/lo) is 18, and its rounding error enters the exponent in value.
		if got := s.unit(s.value(u)); math.Abs(got-u) > 1e-14 {
			t.Fatalf("unit(value(%g)) = %g", u, got)
		}
	})
}

func TestDigitsResolveTheAxis(t *testing.T) {
	for _, s := range []scale{{0, 1, false}, {2861.6456, 2861.6457, false}, {-1e9, 1e9, false}, {1e6, 1e6 + 1, false}} {
		// marks is the number of positions that the digits must distinguish: for a still chart, more than the pixels
		// across a large screen; for frames, more than the pixels across a chart.
		for digits, marks := range map[int]float64{stillDigits: 1e4, frameDigits: 1e3} {
			v := s.lo + (s.hi-s.lo)/math.Phi
			b := appendNumber(nil, v, s.digits(digits))
			got, err := strconv.ParseFloat(string(b), 64)
			if err != nil || math.Abs(got-v) > (s.hi-s.lo)/marks {
				t.Errorf("%v on [%v, %v] is written %s", v, s.lo, s.hi, b)
			}
		}
	}
}

func TestBrief(t *testing.T) {
	if got := brief(math.Copysign(0, -1)); got != "0" {
		t.Errorf("brief(−0) = %q", got)
	}
	for v, want := range map[float64]string{0: "0", 1: "1", -0.25: "−0.25", 2861.6456: "2860", 1234567: "1.23·10⁶", 9.08e-5: "9.08·10⁻⁵", 0.00123: "0.00123"} {
		if got := brief(v); got != want {
			t.Errorf("brief(%g) = %q, want %q", v, got, want)
		}
	}
}

// For any two numbers, the ticks of an axis that contains both are few and lie on the axis, and their labels are
// short and true.
func FuzzAxis(f *testing.F) {
	for _, ends := range [][2]float64{{1, 1e20}, {1, 1e-20}, {1, math.Nextafter(1, 2)}, {-limit, limit}, {1 / limit, limit}, {0, 5e-324},
		{1e17, 1e17 + 64}, {-limit, -limit + 1e90}, {3, 3}, {0, 0}, {1e5, 9e5}, {-1e-90, 1e90}} {
		f.Add(ends[0], ends[1], true, true)
		f.Add(ends[0], ends[1], false, false)
	}
	for r := rand.New(rand.NewPCG(1, 2)); r.IntN(1000) > 0; {
		lo := math.Pow(10, 18*r.Float64()-9)
		f.Add(lo, lo*math.Pow(10, 12*r.Float64()), r.IntN(2) == 0, true)
		f.Add(1e7*r.NormFloat64(), math.Pow(10, 10*r.Float64()-2), false, true)
	}
	f.Fuzz(func(t *testing.T, lo, hi float64, log, padded bool) {
		if !drawable(lo) || !drawable(hi) || log && min(lo, hi) < 1/limit {
			return
		}
		pad := 0.0
		if padded {
			pad = 0.05
		}
		s := (Axis{Log: log}).scale(interval{min(lo, hi), max(lo, hi)}, pad)
		if !finite(s.lo) || !finite(s.hi) || !(s.lo <= min(lo, hi) && s.hi >= max(lo, hi) && s.lo < s.hi) || log && s.lo <= 0 {
			t.Fatalf("%g to %g are put on [%g, %g]", lo, hi, s.lo, s.hi)
		}
		labelled, last := 0, math.Inf(-1)
		ticks := s.ticks(6)
		for _, k := range ticks {
			if u := s.unit(k.at); !(u >= -2e-9 && u <= 1+2e-9) { // the slack is 1e-9 of the length or, on at least 0.6 decades, of a decade
				t.Fatalf("tick %g outside [%g, %g]", k.at, s.lo, s.hi)
			}
			if k.at <= last {
				t.Fatalf("tick %g after %g on [%g, %g]", k.at, last, s.lo, s.hi)
			}
			last = k.at
			if k.label == "" {
				continue
			}
			labelled++
			if v := parseLabel(t, k.label); math.Abs(s.unit(v)-s.unit(k.at)) > 1e-3 {
				t.Fatalf("tick at %g on [%g, %g] is labelled %q", k.at, s.lo, s.hi, k.label)
			}
			if len([]rune(k.label)) > 22 {
				t.Fatalf("tick at %g on [%g, %g] has the long label %q", k.at, s.lo, s.hi, k.label)
			}
		}
		if labelled < 1 || labelled > 13 || len(ticks) > 100 {
			t.Fatalf("%d labels and %d ticks on [%g, %g], logarithmic: %t", labelled, len(ticks), s.lo, s.hi, log)
		}
		for _, v := range []float64{lo, hi} {
			if u := s.unit(v); !(u >= 0 && u <= 1) {
				t.Fatalf("%g is at %g of [%g, %g]", v, u, s.lo, s.hi)
			}
		}
	})
}

// Both renderings can draw axes whose ends are the largest and smallest numbers that a figure accepts.
func TestExtremeAxesAreDrawn(t *testing.T) {
	for _, ends := range [][]float64{{1, 1e20}, {1 / limit, limit}, {1, math.Nextafter(1, 2)}, {1e17, 1e17 + 64}, {limit, limit}} {
		for _, log := range []bool{false, true} {
			f := Figure{X: Axis{Log: log}, Y: Axis{Log: log}, Layers: []Layer{Line{X: ends, Y: ends}, Points{X: ends, Y: ends}}}
			if svg := string(must(Row(f).svg())); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("%v, logarithmic: %t: the picture contains NaN or Inf", ends, log)
			}
			if text := must(json.Marshal(must(f.option(new(columns), stillDigits)))); len(text) > 1e5 {
				t.Errorf("%v, logarithmic: %t: an option of %d bytes", ends, log, len(text))
			}
		}
	}
}

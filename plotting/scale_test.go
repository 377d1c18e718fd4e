package plotting

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// parseLabel reads what ticks write.
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

func TestTicksAreFewWithinTheAxisAndSayWhereTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scale{log: rapid.Bool().Draw(t, "log")}
		if s.log {
			s.lo = math.Pow(10, rapid.Float64Range(-9, 9).Draw(t, "lo"))
			s.hi = s.lo * math.Pow(10, rapid.Float64Range(0.1, 12).Draw(t, "decades"))
		} else {
			s.lo = rapid.Float64Range(-1e7, 1e7).Draw(t, "lo")
			s.hi = s.lo + math.Pow(10, rapid.Float64Range(-2, 8).Draw(t, "length"))
		}
		labelled := 0
		for _, k := range s.ticks(6) {
			if u := s.unit(k.at); u < -1e-6 || u > 1+1e-6 {
				t.Fatalf("tick %g outside of [%g, %g]", k.at, s.lo, s.hi)
			}
			if k.label == "" {
				continue
			}
			labelled++
			// A label is exact up to the rounding of its decimal digits; the
			// length of the axis is what they have to resolve.
			if v := parseLabel(t, k.label); math.Abs(v-k.at) > 1e-6*(s.hi-s.lo) && math.Abs(v-k.at) > 1e-9*math.Abs(k.at) {
				t.Fatalf("tick at %g is labelled %q", k.at, k.label)
			}
		}
		if labelled < 1 || labelled > 13 {
			t.Fatalf("%d labels on [%g, %g], logarithmic: %t", labelled, s.lo, s.hi, s.log)
		}
	})
}

func TestUnitAndValueAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scale{1e-3, 1e5, rapid.Bool().Draw(t, "log")}
		u := rapid.Float64Range(0, 1).Draw(t, "u")
		// The logarithm of the range is 18, and its rounding error enters value
		// as an exponent.
		if got := s.unit(s.value(u)); math.Abs(got-u) > 1e-14 {
			t.Fatalf("unit(value(%g)) = %g", u, got)
		}
	})
}

func TestDigitsResolveTheAxis(t *testing.T) {
	for _, s := range []scale{{0, 1, false}, {2861.6456, 2861.6457, false}, {-1e9, 1e9, false}, {1e6, 1e6 + 1, false}} {
		// How many marks there are to be told apart: more than on a large screen, and
		// than on a chart.
		for digits, marks := range map[int]float64{stillDigits: 1e4, frameDigits: 1e3} {
			v := s.lo + (s.hi-s.lo)/math.Phi
			b := must(number{v, s.digits(digits)}.MarshalJSON())
			got, err := strconv.ParseFloat(string(b), 64)
			if err != nil || math.Abs(got-v) > (s.hi-s.lo)/marks {
				t.Errorf("%v on [%v, %v] is written %s", v, s.lo, s.hi, b)
			}
		}
	}
}

func TestBrief(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1", -0.25: "−0.25", 2861.6456: "2860", 1234567: "1.23·10⁶", 9.08e-5: "9.08·10⁻⁵", 0.00123: "0.00123"} {
		if got := brief(v); got != want {
			t.Errorf("brief(%g) = %q, want %q", v, got, want)
		}
	}
}

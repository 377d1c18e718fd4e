package bregman

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What is wrong, what is a number that is given, and what is known well enough to tell, at their limits.
func TestReadings(t *testing.T) {
	nan := math.NaN()
	const edge = 0.01 * (1 - 0.5e-8) // of 1, to which a part of 10⁻⁸ comes
	for _, c := range []struct {
		claimed, measured, off float64
		wrong                  bool
	}{
		{1, 1, 0, false}, {0, 0, 0, false}, {1 + 0.9e-8, 1, 0, false}, {1 + 1.1e-8, 1, 0, true}, {-1 - 0.9e-8, -1, 0, false}, {-1 - 1.1e-8, -1, 0, true}, {1 - 1.1e-8, 1, 0, true},
		{1, 1.00099, 1e-5, false}, {1, 1.00101, 1e-5, true}, {1e-9, 0, 0, true}, {nan, 1, 0, true}, {1, nan, 0, true},
		{1, 0, edge, false}, {0, 1, edge, false}, {-1, 0, edge, false}, {0, -1, edge, false},
	} {
		if r := (reading{claimed: c.claimed, measured: c.measured, off: c.off}); r.wrong() != c.wrong {
			t.Errorf("%+v is wrong: %v", r, !c.wrong)
		}
	}
	const edge6 = 0.01 * (1 - 0.5e-6)
	for _, c := range []struct {
		claimed, v, off float64
		is              bool
	}{
		{1, 1, 0, true}, {0, 0, 0, true}, {1 + 0.9e-6, 1, 0, true}, {1 + 1.1e-6, 1, 0, false}, {-1 - 0.9e-6, -1, 0, true}, {1 - 1.1e-6, 1, 0, false},
		{1, 1.00099, 1e-5, true}, {1, 1.00102, 1e-5, false}, {nan, 1, 0, false}, {1, nan, inf, false}, {1, inf, inf, false}, {inf, inf, 0, false},
		{1, 0, edge6, true}, {0, 1, edge6, true}, {-1, 0, edge6, true}, {0, -1, edge6, true},
	} {
		if r := (reading{claimed: c.claimed, off: c.off}); r.is(c.v) != c.is {
			t.Errorf("%+v is %g: %v", r, c.v, !c.is)
		}
	}
	for _, c := range []struct {
		claimed, measured, off float64
		usable                 bool
	}{
		{0, 1, 0.9e-4, true}, {0, 1, 1e-4, true}, {0, 1, 1.1e-4, false}, {0, -1, 0.9e-4, true}, {0, -1, 1.1e-4, false}, {1, 0, 0.9e-7, true}, {1, 0, 1.1e-7, false}, {-1, 0, 0.9e-7, true},
		{0, 0, 0.9e-16, true}, {0, 0, 1.1e-16, false}, {0, 1, nan, false},
	} {
		if r := (reading{claimed: c.claimed, measured: c.measured, off: c.off}); r.usable() != c.usable {
			t.Errorf("%+v is usable: %v", r, !c.usable)
		}
	}
	for want, r := range map[float64]reading{2.5: {claimed: 3, measured: -2}, 1.25: {claimed: 1, measured: -4}, 1: {measured: 3}, 0.5: {claimed: 1, measured: 2}} {
		if got := r.part(); got != want {
			t.Errorf("%+v: a part of %g, want %g", r, got, want)
		}
	}
	all := []reading{{claimed: 1, measured: 1}, {claimed: 2, measured: 1}, {claimed: 1, measured: 2}}
	if wrong := wrongOf(all); len(wrong) != 2 || wrong[0].claimed != 2 || len(all) != 3 || all[0].measured != 1 {
		t.Errorf("wrong are %+v", wrong)
	}
}

// Of four that have a property more than one must be wrong, and of the others none.
func TestOnly(t *testing.T) {
	right, wrong := reading{at: 1, claimed: 1, measured: 1}, reading{at: 1, claimed: 2, measured: 1}
	other := wrong
	other.at = -1
	otherRight := right
	otherRight.at = -1
	for _, c := range []struct {
		all  []reading
		want bool
	}{
		{[]reading{right, right, right, wrong}, false}, {[]reading{right, right, wrong}, true}, {[]reading{right, wrong, other}, false}, {[]reading{wrong, otherRight, otherRight, otherRight, otherRight}, true}, {nil, false},
	} {
		if got := only(c.all, func(r reading) bool { return r.at > 0 }); got != c.want {
			t.Errorf("%+v: %v, want %v", c.all, got, c.want)
		}
	}
}

// How what is claimed relates to what is measured, in words.
func TestRelation(t *testing.T) {
	nan := math.NaN()
	strange := func(v float64) float64 { return v + math.Sin(100*v) + 3 }
	measured := []float64{-3.1, -2.2, -1.3, -0.4, 0.5, 1.6, 2.7, 3.8}
	read := func(f func(i int, v float64) float64) (all []reading) {
		for i, v := range measured {
			all = append(all, reading{at: v, i: i % 2, claimed: f(i, v), measured: v, off: 1e-12 * (1 + math.Abs(float64(i-4)))})
		}
		return all
	}
	where := func(has func(i int, v float64) bool, f func(v float64) float64) []reading {
		return read(func(i int, v float64) float64 {
			if has(i, v) {
				return f(v)
			}
			return v
		})
	}
	negative := func(_ int, v float64) bool { return v < 0 }
	positive := func(_ int, v float64) bool { return v > 0 }
	odd := func(i int, _ float64) bool { return i == 1 || i == 3 || i == 5 || i == 7 }
	everywhere := func(int, float64) bool { return true }
	is := func(w float64) func(float64) float64 { return func(float64) float64 { return w } }
	for _, c := range []struct {
		all  []reading
		want string
	}{
		{where(everywhere, func(v float64) float64 { return 2 * v }), "C is 2 times M"},
		{where(everywhere, func(v float64) float64 { return v + 1 }), "C is M plus 1"},
		{where(everywhere, func(v float64) float64 { return v - math.Pi }), "C is M plus −3.14159"},
		{where(everywhere, func(v float64) float64 { return math.Pi * v }), "C is 3.14159 (π) times M"},
		{where(everywhere, is(7)), "C is 7 everywhere"},
		{where(everywhere, is(0)), "C is 0 everywhere; is there a quotient of integers, such as 1/2, which is 0 in Go?"},
		{where(everywhere, is(nan)), "C is NaN"}, {where(negative, is(nan)), "C is NaN for negative arguments"}, {where(odd, is(nan)), "C is NaN in entry 1"},
		{where(negative, func(v float64) float64 { return -v }), "C is −1 times M for negative arguments"},
		{where(positive, func(v float64) float64 { return v + 2 }), "C is M plus 2 for positive arguments"},
		{where(odd, func(v float64) float64 { return 3 * v }), "C is 3 times M in entry 1"},
		{where(odd, is(0)), "C is 0 everywhere in entry 1; is there a quotient of integers, such as 1/2, which is 0 in Go?"},
		{where(negative, strange), "C is not M for negative arguments"}, {where(positive, strange), "C is not M for positive arguments"}, {where(odd, strange), "C is not M in entry 1"},
		{where(everywhere, strange), ""},
		{where(func(i int, _ float64) bool { return i < 2 || i == 6 }, func(v float64) float64 { return 2 * v }), ""}, // as well as what is right
		{where(func(i int, _ float64) bool { return i < 3 }, func(v float64) float64 { return 2 * v }), "C is 2 times M for negative arguments"},
		{where(func(i int, _ float64) bool { return i < 2 }, func(v float64) float64 { return 2 * v }), ""}, // too few to tell
		{where(func(i int, _ float64) bool { return i == 0 }, is(nan)), "C is NaN"},
		// Of 0, which is neither negative nor positive, and of what is known best.
		{[]reading{{at: 0, claimed: 1}, {at: -1}, {at: 1}}, ""},
		{[]reading{{claimed: 2.002e-9, measured: 1e-9, off: 1e-12}, {i: 1, claimed: 2, measured: 1, off: 1e-10}, {claimed: 2.002e-9, measured: -1e-9, off: 1e-10}, {claimed: -4, measured: -2, off: 1e-9}}, "C is 2 times M"},
	} {
		if got := relation(c.all, wrongOf(c.all), "C", "M"); got != c.want {
			t.Errorf("%+v: %q, want %q", c.all, got, c.want)
		}
	}
}

func TestConstant(t *testing.T) {
	for v, want := range map[float64]string{
		1 / math.Ln2: "1.4427 (1/log 2)", math.Ln2: "0.693147 (log 2)", 1 / math.Ln10: "0.434294 (1/log 10)", math.Ln10: "2.30259 (log 10)", math.Pi: "3.14159 (π)",
		math.E: "2.71828 (e)", 1 / math.E: "0.367879 (1/e)", 2: "2", -1: "−1", math.Pi * (1 + 0.9e-6): "3.1416 (π)", math.Pi * (1 + 1.1e-6): "3.1416", math.Pi * (1 - 1.1e-6): "3.14159", -math.Pi: "−3.14159",
	} {
		if got := constant(v); got != want {
			t.Errorf("%g is %q, want %q", v, got, want)
		}
	}
}

// Richardson's table as textbooks have it, and the functions' slopes.
func TestDerivative(t *testing.T) {
	for _, c := range []struct {
		f     func(float64) float64
		slope float64
		off   float64
	}{
		{math.Exp, 1, 1e-12}, {func(v float64) float64 { return math.Sin(3 * v) }, 3, 1e-11}, {func(v float64) float64 { return v*v*v + 2*v + 5 }, 2, 1e-13},
		{func(v float64) float64 { return 1 / (1 - v) }, 1, 1e-11}, {func(v float64) float64 { return math.Cosh(40 * v) }, 0, 1e-12},
		{func(v float64) float64 { return math.Sin(1e5*v) + v }, math.NaN(), 0}, {func(v float64) float64 { return math.Sin(1e4*v) + math.Cos(1e3*v) }, math.NaN(), 0}, {func(v float64) float64 { return math.Mod(1e3*v, 0.7) }, math.NaN(), 0}, {func(v float64) float64 { return math.Sin(1e3 * v * v * v) }, math.NaN(), 0},
	} {
		for _, noise := range []float64{0, 1e-13, 1e-6} {
			const h0 = 0.5
			got, off := derivative(c.f, h0, noise)
			want, least := math.NaN(), math.Inf(1)
			var table [14][14]float64
			for k := range table {
				h := h0 / math.Exp2(float64(k))
				table[k][0] = (c.f(h) - c.f(-h)) / (2 * h)
				for j := 1; j <= k; j++ {
					q := math.Pow(4, float64(j))
					table[k][j] = table[k][j-1] + (table[k][j-1]-table[k-1][j-1])/(q-1)
					if e := max(math.Abs(table[k][j]-table[k][j-1]), math.Abs(table[k][j]-table[k-1][j-1])) + noise/h; e < least {
						want, least = table[k][j], e
					}
				}
			}
			if got != want || off != least {
				t.Errorf("slope %.17g off by %g, want %.17g off by %g", got, off, want, least)
			}
			if math.IsNaN(c.slope) { // too rough to tell
				continue
			}
			if math.Abs(got-c.slope) > 2*off+1e-13 || off > c.off+1e3*noise || off < noise/h0 {
				t.Errorf("slope %.17g off by %g, want %g", got, off, c.slope)
			}
		}
	}
	if slope, off := derivative(func(float64) float64 { return math.NaN() }, 1, 0); !math.IsNaN(slope) || !math.IsInf(off, 1) {
		t.Errorf("slope %g off by %g of NaN", slope, off)
	}
}

// A sample is taken at simple points, at those that failed, and at those that are drawn.
func TestSamples(t *testing.T) {
	m := mutant{Modulus: Ball{4}, domain: func(x []float64) bool { return x[0] > -1 }}
	c, same := newChecker(m, 2, 44), newChecker(m, 2, 44)
	c.suspect([]float64{0.25, -0.5})
	c.suspect([]float64{5, 0}) // outside
	var want [][]float64
	for _, v := range []float64{0.3, 0.6, -0.3, 1.5, 0.1, -0.1} { // −1.5 is outside
		want = append(want, []float64{v, v})
	}
	want = append(want, []float64{0.25, -0.5})
	for range 40 {
		if x := same.anywhere(); m.InDomain(x) {
			want = append(want, x)
		}
	}
	all := c.samples()
	if len(all) != len(want) {
		t.Fatalf("%d samples, want %d", len(all), len(want))
	}
	for k, s := range all {
		if !slices.Equal(s.x, want[k]) {
			t.Fatalf("sample %d is of %v, want %v", k, s.x, want[k])
		}
		if g := c.gradient(s.x); !slices.Equal(s.grad, g) || !slices.Equal(s.back, c.conjugateGradient(g)) || !slices.Equal(s.from, c.conjugateGradient(s.slope)) || s.near != slack*condition(c.conjugateGradient, g, s.back) {
			t.Fatalf("%+v", s)
		}
		for i := range s.x {
			if math.Abs(s.slope[i]-s.grad[i]) > 10*s.off[i]+1e-12 || !(s.off[i] < 1e-6*(1+math.Abs(s.grad[i]))) {
				t.Errorf("x = %v: slope %g, off by %g, want %g", s.x, s.slope[i], s.off[i], s.grad[i])
			}
		}
	}
}

// Partial derivatives are taken within half of the way to the boundary.
func TestPartial(t *testing.T) {
	farthest := 0.0
	x := []float64{1, 0.5}
	c := newChecker(mutant{Modulus: Ball{2}, value: func(p []float64) float64 {
		farthest = max(farthest, math.Abs(p[1]-0.5))
		if p[0] != 1 {
			t.Errorf("φ is taken at %v", p)
		}
		return Ball{2}.Value(p)
	}}, 2, 44)
	slope, off := c.partial(x, 1, ulp)
	if want := c.reach(x, []float64{0, 1}) / 2; farthest != want || math.Abs(slope-0.5/math.Sqrt(2.75)) > off+1e-14 || !(off < 1e-9) {
		t.Errorf("%g off by %g, from steps of %g, want %g", slope, off, farthest, want)
	}
}

// The twenty first points that fail are kept, and the first that is no number.
func TestSuspects(t *testing.T) {
	c := newChecker(Ball{2}, 1, 44)
	for i := range 30 {
		x := []float64{float64(i)}
		c.suspect(x)
		c.nonsense(x)
		x[0] = -1
	}
	if len(c.suspects) != 20 || c.suspects[0][0] != 0 || c.suspects[19][0] != 19 || c.bad[0] != 0 {
		t.Errorf("%v, %v", c.suspects, c.bad)
	}
}

func TestPlaces(t *testing.T) {
	ball, cube, box := newChecker(Ball{2}, 2, 44), newChecker(Cube(2), 2, 44), newChecker(FermiDirac([]float64{-2, -2}, []float64{2, 2}), 2, 44)
	x := []float64{1, 2}
	for _, c := range []struct{ got, want string }{
		{ball.where("x", 0.3, 1, x), "x = [1 2], entry 1"}, {ball.where("y", -0.3, 1, x), "y[1] = −0.3"}, {cube.where("x", 0.3, 1, x), "x = 0.3"}, {box.where("x", 0.3, 1, x), "x[1] = 0.3"},
		{fmt.Sprint(replaced(x, 1, 7), x), "[1 7] [1 2]"}, {fmt.Sprint(minAbs([]float64{3, -2, 5}), minAbs([]float64{-1, 4}), minAbs(nil)), "2 1 +Inf"},
		{fmt.Sprint(tidy(1.23456789049), tidy(-0.5), tidy(0.9999999996)), "1.23456789 -0.5 1"},
		{fmt.Sprint(ball.kernelValue(0, 1), cube.kernelValue(0, 0), box.kernelValue(1, 2)), fmt.Sprint(math.NaN(), 4*math.Ln2, 4*math.Log(4))},
		{digits(-1e-7), "−1e−07"}, {digits(math.Copysign(0, -1)), "0"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if got := halve(0, 1, func(v float64) bool { return v < 0.3 }); got != math.Nextafter(0.3, 0) {
		t.Errorf("the last below 0.3 is %.17g", got)
	}
	if got := halve(1, -1, func(v float64) bool { return v >= 0.3 }); got != 0.3 {
		t.Errorf("the first from 0.3 on is %.17g", got)
	}
}

// A jump of ∇φ is most of its rise over a short way, and not rounding.
func TestSides(t *testing.T) {
	for _, c := range []struct {
		at, base, jump, slope float64
		want                  bool
	}{
		{0, 0, 1, 1, true}, {0, 0, 0, 1, false}, {0, 0, 1, 1e6, true}, {0, 0, 1, 1.2e6, false}, {1, 0, 1, 5e5, true}, {1, 0, 1, 6e5, false}, {-1, 0, 1, 5e5, true}, {-1, 0, 1, 6e5, false},
		{0, 1, 1.1e-6, 0, true}, {0, 1, 0.9e-6, 0, false}, {0, -1, 1.1e-6, 0, true}, {0, -1, 0.9e-6, 0, false}, {0, 0, -1, 1, false},
	} {
		m := draft{lo: -inf, hi: inf, deriv: func(x float64) float64 { return c.base + c.slope*(x-c.at) + c.jump*math.Copysign(1, x-c.at) }}.modulus()
		k := newChecker(m, 2, 44)
		below, above, ok := k.sides([]float64{5, c.at}, 1)
		if near := 1e-10 * (1 + c.slope); ok != c.want || math.Abs(below-c.base+c.jump) > near || math.Abs(above-c.base-c.jump) > near {
			if c.jump >= 0 || ok != c.want {
				t.Errorf("%+v: from %g to %g, a jump: %v", c, below, above, ok)
			}
		}
		if told := k.kink([]float64{5, c.at}, 1); told != c.want || told != (len(k.report.Findings) == 1) {
			t.Errorf("%+v: %v", c, k.report.Findings)
		}
		// Elsewhere there is none.
		if _, _, ok := k.sides([]float64{c.at, c.at + 0.5}, 1); ok {
			t.Errorf("%+v: a jump beside it", c)
		}
	}
}

// What overflows is told from where ∇φ* goes wrong, to a thousandth.
func TestOverflow(t *testing.T) {
	for at, of := range map[float64]string{
		709.3: "exp(y)", 354.9: "exp(2y)", 1419.6: "exp(y/2)", 711: "cosh(y)", 1.3407e154: "y²", 5.6438e102: "y³", 1.1579e77: "y⁴",
		709.7827 * (1 - 0.9e-3): "exp(y)", 709.7827 * (1 - 1.1e-3): "", 1.34078e154 * (1 + 0.9e-3): "y²", 1.34078e154 * (1 + 1.1e-3): "", 100: "", 3e-5: "",
	} {
		for _, wrong := range []float64{math.NaN(), 0} {
			m := draft{conj: func(y float64) float64 {
				if math.Abs(y) < at {
					return 2 * (y / (1 + math.Abs(y)))
				}
				return wrong
			}}.modulus()
			k := newChecker(m, 3, 44)
			k.extremes(&Examination{OK: true})
			k.diagnoseOverflow()
			f := k.report.Findings[0]
			want := fmt.Sprintf("ConjDeriv is %s from y = %s on", digits(wrong), digits(at))
			if of != "" {
				want += ", where " + of + " overflows"
			}
			minus := strings.Replace(want, "y = ", "y = −", 1) // where it goes wrong on that side
			if f.Words != want && f.Words != minus || f.Kind != Overflows || len(k.report.Findings) != 1 || !(math.Abs(math.Abs(f.Measured)-2*at/(1+at)) < 1e-6) || !same([]float64{f.Claimed}, []float64{wrong}) {
				t.Errorf("at %g: %+v, want %q", at, f, want)
			}
		}
	}
}

// From a point at which φ or ∇φ is no number: in which entry, from where on, and what the domain should be.
func TestDomainIsDiagnosed(t *testing.T) {
	nan := func(is func(x float64) bool, f function) function {
		return func(x float64) float64 {
			if is(x) {
				return math.NaN()
			}
			return f(x)
		}
	}
	above, below := func(x float64) bool { return x > 1 }, func(x float64) bool { return x < -1 }
	upTo, most := func(x float64) bool { return x <= -1 }, func(x float64) bool { return x < 2.9 }
	at := func(v float64) func(float64) bool { return func(x float64) bool { return x == v } }
	five := func(x float64) float64 { return 5 + half(x) }
	for _, c := range []struct {
		value, deriv         function
		bad                  float64
		method, words, where string
		measured, claimed    float64
	}{
		{five, nan(at(0), self), 0, "Deriv", "Deriv(0) = NaN at a single point", "x = 0", math.NaN(), math.NaN()},
		{five, nan(above, self), 1.5, "Deriv", "Deriv(1.5) = NaN", "x = 1.5", math.NaN(), math.NaN()},
		{nan(at(1), five), self, 1, "Value", "φ(1) = NaN at a single point", "x = 1", math.NaN(), math.NaN()},
		{nan(at(1), five), nan(at(1), self), 1, "Value", "φ(1) = NaN at a single point", "x = 1", math.NaN(), math.NaN()},
		{nan(above, five), nan(above, self), 1.5, "Domain", "φ(1.5) = NaN: the domain ends at 1", "x = 1.5", 1, 3},
		{nan(below, five), nan(below, self), -1.5, "Domain", "φ(−1.5) = NaN: the domain starts at −1", "x = −1.5", -1, -2},
		{nan(above, five), self, 1.5, "Value", "φ(1.5) = NaN: the domain ends at 1", "x = 1.5", 1, 3},
		{nan(upTo, five), nan(upTo, self), -1, "Domain", "φ(−1) = NaN: the domain starts at −1", "x = −1", -1, -2},    // to be seen from one side
		{nan(most, five), nan(most, self), 1, "Domain", "φ(0.3) = NaN: the domain starts at 2.9", "x = 0.3", 2.9, -2}, // few points are inside
		{nan(above, five), nan(above, self), 1 + 0.9e-6, "Domain", "φ(1) = NaN: the domain ends at 1", "x = 1", 1, 3},
	} {
		k := newChecker(draft{value: c.value, deriv: c.deriv, lo: -2, hi: 3}.modulus(), 2, 44)
		k.bad = []float64{0.3, c.bad}
		k.diagnoseDomain()
		f := k.report.Findings[0]
		if f.Method != c.method || f.Words != c.words || f.Where != c.where || !same([]float64{f.Measured, f.Claimed}, []float64{c.measured, c.claimed}) || f.Kind != Disagrees || len(k.report.Findings) != 1 {
			t.Errorf("%+v, want %s: %s, at %s: %g, %g", f, c.method, c.words, c.where, c.measured, c.claimed)
		}
	}
	nowhere := func([]float64) float64 { return math.NaN() }
	first := func(dst, _ []float64) { dst[0] = math.NaN() }
	for _, c := range []struct {
		m             mutant
		method, words string
	}{
		{mutant{Modulus: Ball{2}, value: nowhere}, "Value", "φ([1 1]) = NaN inside of the domain"},
		{mutant{Modulus: Ball{2}, grad: first}, "Gradient", "Gradient is [NaN 0.707107] inside of the domain"},
		{mutant{Modulus: Ball{2}, value: nowhere, grad: first}, "InDomain", "φ([1 1]) = NaN inside of the domain"},
	} {
		k := newChecker(c.m, 2, 44)
		k.bad = []float64{1, 1}
		k.diagnoseDomain()
		if f := k.report.Findings[0]; f.Method != c.method || f.Words != c.words || f.Where != "x = [1 1]" || !math.IsNaN(f.Measured) || !math.IsNaN(f.Claimed) || f.Kind != Disagrees {
			t.Errorf("%+v, want %s: %s", f, c.method, c.words)
		}
	}
}

// What a method may return by mistake, for φ of a cube.
func TestKnownSlips(t *testing.T) {
	c, k := newChecker(Cube(2), 2, 44), cube{2}
	r := reading{at: 0.5, i: 0, x: []float64{0.7, 0.3}, measured: 0.4}
	for _, s := range []struct {
		slips []slip
		want  []float64
		words string
	}{
		{c.gradientSlips(), []float64{k.ConjDeriv(0.5), k.Value(0.5), 4 / (4 - 0.49), 2.5}, "[returns the same as ConjDeriv returns Value is the second derivative of Value is 1 over the derivative of Value]"},
		{c.inverseSlips(), []float64{k.Deriv(0.5), 1 / k.Deriv(0.5), 0.2 - k.Value(0.4)}, "[returns the same as Deriv is 1 over Deriv, not its inverse is φ*, not its derivative]"},
	} {
		var words []string
		for i, v := range s.slips {
			words = append(words, v.words)
			if got := v.f(r); math.Abs(got-s.want[i]) > 1e-6*math.Abs(s.want[i]) {
				t.Errorf("%s: %g, want %g", v.words, got, s.want[i])
			}
		}
		if fmt.Sprint(words) != s.words {
			t.Errorf("%q, want %q", words, s.words)
		}
	}
}

func TestNear(t *testing.T) {
	for _, c := range []struct {
		v, w float64
		want bool
	}{
		{1e-6, 0, true}, {1.1e-6, 0, false}, {-1.1e-6, 0, false}, {1 + 0.9e-6, 1, true}, {1 - 1.1e-6, 1, false}, {-3, 3, false}, {100.00009, 100, true}, {100.00011, 100, false},
		{-100.00009, -100, true}, {-100.00011, -100, false}, {math.NaN(), 1, false}, {1, math.NaN(), false},
	} {
		if got := near(c.v, c.w); got != c.want {
			t.Errorf("%v is near %v: %v", c.v, c.w, got)
		}
	}
}

// Where no cause is found the first examination that fails is told, and none that holds.
func TestWithoutACause(t *testing.T) {
	k := newChecker(Ball{2}, 2, 44)
	k.report.Examinations = []Examination{{Name: "A", OK: true}, {Name: "B", Where: "x = 1", Worst: 3, Limit: 2}, {Name: "C"}}
	k.diagnose()
	if f := k.report.Findings; len(f) != 1 || f[0].Words != "fails: B" || f[0].Where != "x = 1" || f[0].Measured != 3 || f[0].Claimed != 2 {
		t.Errorf("%+v", f)
	}
	k.report.Examinations, k.report.Findings = k.report.Examinations[:1], nil
	if k.diagnose(); len(k.report.Findings) != 0 {
		t.Errorf("nothing fails: %+v", k.report.Findings)
	}
}

// Methods that agree are not interchanged, also where ∇φ is its own inverse.
func TestAgreeingMethods(t *testing.T) {
	k := newChecker(FromClosures("half square", half, self, self, -inf, inf), 2, 44)
	if k.diagnoseMethods(); len(k.report.Findings) != 0 {
		t.Errorf("%+v", k.report.Findings)
	}
}

// Of a wrong ∇φ* nothing is said where ∇φ(∇φ*(y)) is right.
func TestInverseAtOnePoint(t *testing.T) {
	k := newChecker(Cube(2), 2, 44)
	k.diagnoseInverse([]reading{{at: 1, x: []float64{0.3, 0.3}, claimed: 2, measured: 1}})
	if f := k.report.Findings; len(f) != 1 || f[0].Words != "ConjDeriv is not the inverse of Deriv" {
		t.Errorf("%+v", f)
	}
}

// A curve has no point of which a coordinate is no number, and what may not be is told so.
func TestDrawLeavesOut(t *testing.T) {
	c := newChecker(Cube(2), 1, 44)
	for k := range 3 {
		var f Finding
		f.draw(c, reading{x: []float64{0}}, func(x []float64, _ int) (at, measured, claimed float64) {
			v := []float64{x[0], 1, 2}
			if x[0] > 0 {
				v[k] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[k]
			}
			return v[0], v[1], v[2]
		})
		if len(f.MeasuredCurve) != 41 || len(f.ClaimedCurve) != 41 || f.MeasuredCurve[0].Y != 1 || f.ClaimedCurve[0].Y != 2 {
			t.Errorf("without entry %d: %v and %v", k, f.MeasuredCurve, f.ClaimedCurve)
		}
	}
}

// How much x falls, where it is infinite: by all of it.
func TestFallFromInfinity(t *testing.T) {
	k := newChecker(Cube(2), 2, 44)
	for _, c := range []struct {
		before, x, e float64
		drop         float64
	}{{inf, 1, 1, 1}, {1, inf, 1, 0}, {inf, 1, -1, 0}, {-inf, 1, 1, 0}, {-inf, 1, -1, 1}, {inf, 1, 0.5, 1}, {inf, 1, -0.5, 0}} {
		entry, drop, _ := k.fall([]float64{0, c.before}, []float64{0, c.x}, []float64{1, c.e})
		if drop != c.drop || (entry == 1) != (drop > 0) {
			t.Errorf("from %v to %v along %v: entry %d falls by %v, want %v", c.before, c.x, c.e, entry, drop, c.drop)
		}
	}
}

// A call of ∇φ* takes a millisecond of a clock that stands still otherwise.
func TestSpeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := mutant{Modulus: Ball{2}, conj: func(dst, y []float64) {
			time.Sleep(time.Millisecond)
			Ball{2}.ConjugateGradient(dst, y)
		}}
		k := newChecker(m, 4, 44)
		if k.allocations(&Examination{OK: true}); k.report.Speed != 1e6/4 {
			t.Errorf("%v ns for each of 4 entries, want 250,000", k.report.Speed)
		}
	})
}

// What φ is beyond its domain is told with what it should be.
func TestOutsideIsInfinite(t *testing.T) {
	k := newChecker(Ball{2}, 2, 44)
	k.beyond = []float64{3, 0}
	k.diagnoseOutside()
	if f := k.report.Findings[0]; !math.IsInf(f.Measured, 1) || f.Claimed != k.m.Value(k.beyond) {
		t.Errorf("%+v", f)
	}
}

// A jump is found where φ rises by more elsewhere: ∇φ accounts for that.
func TestJumpBesideASlope(t *testing.T) {
	m := FromClosures("steep", func(x float64) float64 { return 100*half(x) + math.Max(0, math.Copysign(3, x-0.5)) },
		func(x float64) float64 { return 100 * x }, func(y float64) float64 { return y / 100 }, -inf, inf)
	for _, ends := range [][2]float64{{0.2, 0.9}, {-0.3, 0.6}, {0.9, 0.2}} { // from 0.2 to the middle φ rises by 16, jump included, and from there by 25
		k := newChecker(m, 2, 44)
		k.segment = [2][]float64{{ends[0], 0.1}, {ends[1], 0.1}}
		if !k.jump() || k.report.Findings[0].Where != "x = 0.5" || !strings.Contains(k.report.Findings[0].Words, "jumps by") {
			t.Errorf("between %v: %v", ends, k.report.Findings)
		}
	}
}

package bregman

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/num/hyperdual"
)

// strict takes gradients in its domain alone.
type strict struct{ Ball }

func (b strict) Gradient(dst, x []float64) {
	if !b.InDomain(x) {
		panic("outside of the domain")
	}
	b.Ball.Gradient(dst, x)
}

// What repeats says of calls that go wrong, and that it makes no others than it should.
func TestRepeats(t *testing.T) {
	for _, c := range []struct {
		m            Modulus
		where, words string
	}{
		{Ball{0.1}, "", ""}, {strict{Ball{0.1}}, "", ""}, {Cube(0.1), "", ""},
		{argument{Ball{2}}, "Gradient changes its argument [-0.501748 -0.533565 0.853698] to [0 -0.533565 0.853698]", "Gradient changes its argument"},
		{sharing{Ball{2}, make([]float64, 3)}, "ConjugateGradient writes to scratch", "ConjugateGradient writes to scratch, which all calls share: it can't be called from several goroutines"},
		{draft{value: noisy()}.modulus(), "Value of [", "Value gives another result for the same point: it is random, or remembers"},
	} {
		k, f := newChecker(c.m, 3, 44), Examination{OK: true}
		k.repeats(&f)
		if f.OK != (c.where == "") || !strings.HasPrefix(f.Where, c.where) {
			t.Errorf("%v: %+v, want %q", c.m, f, c.where)
		}
		if found := k.report.Findings; len(found) > 1 || (len(found) == 1) != (c.words != "") || len(found) == 1 && found[0].Words != c.words {
			t.Errorf("%v: %v, want %q", c.m, found, c.words)
		}
	}
}

// The calls are made again backwards, and in turns from the middle on.
func TestRepeatsInAnotherOrder(t *testing.T) {
	var calls [][]float64
	see := func(x []float64) { calls = append(calls, slices.Clone(x)) }
	m := mutant{Modulus: Euclidean(), value: func(x []float64) float64 { see(x); return Euclidean().Value(x) }, grad: func(_, x []float64) { see(x) }, conj: func(_, y []float64) { see(y) }}
	all := newChecker(m, 3, 44).calls(20)
	newChecker(m, 3, 44).repeats(&Examination{OK: true})
	calls = calls[len(calls)-2*len(all):]
	for i := range all {
		if n := len(all); !slices.Equal(calls[2*i], all[n-1-i].x) || !slices.Equal(calls[2*i+1], all[(i+n/2)%n].x) {
			t.Fatalf("calls %d and %d are of %v and %v", 2*i, 2*i+1, calls[2*i], calls[2*i+1])
		}
	}
}

func TestSame(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		x, y []float64
		want bool
	}{{[]float64{1, nan}, []float64{1, nan}, true}, {[]float64{nan}, []float64{1}, false}, {[]float64{1}, []float64{nan}, false}, {[]float64{1}, []float64{2}, false}, {nil, []float64{1}, false}} {
		if same(c.x, c.y) != c.want {
			t.Errorf("%v and %v are the same: %v", c.x, c.y, !c.want)
		}
	}
}

// The hash of what can be reached tells numbers that differ, or stand in another order, and ends where
// pointers go round.
func TestFields(t *testing.T) {
	type ring struct {
		next *ring
		n    int
	}
	long := func(first float64) []float64 { return append([]float64{first}, make([]float64, 200)...) }
	a, b := &ring{n: 3}, &ring{n: 4}
	a.next, b.next = a, b
	for _, c := range [][2]any{
		{struct{ x []float64 }{[]float64{1, 2}}, struct{ x []float64 }{[]float64{2, 1}}},
		{struct{ x []float64 }{long(1)}, struct{ x []float64 }{long(2)}},
		{struct{ n int }{3}, struct{ n int }{4}},
		{struct{ on bool }{true}, struct{ on bool }{false}},
		{struct{ x float32 }{1}, struct{ x float32 }{2}},
		{struct{ seen map[int]int }{map[int]int{1: 1}}, struct{ seen map[int]int }{}},
		{a, b},
	} {
		x, y := fields(c[0]), fields(c[1])
		if equal := len(x) == len(y); equal {
			for name, v := range x {
				equal = equal && v == y[name]
			}
			if equal {
				t.Errorf("%v has the fields of %v", c[0], c[1])
			}
		}
	}
}

// Points that are not drawn: where a run starts, and the ends of what is said.
func TestCertainPoints(t *testing.T) {
	for _, v := range []float64{0, 1. / 3} { // numbers
		m := mutant{Modulus: Ball{2}, value: func(x []float64) float64 {
			if x[0] == v && x[1] == v && x[2] == v {
				return math.NaN()
			}
			return Ball{2}.Value(x)
		}}
		k, f := newChecker(m, 3, 44), Examination{OK: true}
		if k.numbers(&f); f.OK || !slices.Equal(k.bad, []float64{v, v, v}) || v == 0 && !strings.HasSuffix(f.Where, "x = [0 0 0]") {
			t.Errorf("φ = NaN at %g·1: %+v, bad %v", v, f, k.bad)
		}
	}
	for g, want := range map[float64]bool{1e250: false, 1e251: true, math.NaN(): false} { // finite
		m := mutant{Modulus: Ball{2}, value: func([]float64) float64 { return inf }, grad: func(dst, _ []float64) { dst[0] = g }}
		f := Examination{OK: true}
		if newChecker(m, 3, 44).finite(&f, []float64{0, 0, 0}); f.OK != want {
			t.Errorf("φ = ∞ and ∇φ = %g: %+v", g, f)
		}
	}
	for w, want := range map[float64]bool{8.43e-9: true, 8.34e-9: false} { // boundary: of the curves the longest has 16 points, and 15
		f := Examination{OK: true}
		if newChecker(FermiDirac([]float64{1}, []float64{1 + w}), 1, 44).boundary(&f); !f.OK || f.Limit != 0 != want {
			t.Errorf("between 1 and 1 + %g: %+v", w, f)
		}
	}
	// In (−1, 7999) the first of the points that are spread evenly is 0, from which on this φ′ is 1.
	flat := draft{deriv: func(x float64) float64 { return 1 + min(x, 0) }, lo: -1, hi: 7999}.modulus()
	k, f := newChecker(flat, 1, 44), Examination{OK: true}
	k.scan(&f, 0)
	if d := k.dip; d.from != 0 || d.before != 1 || d.after != 1 || d.to < 7990 || !strings.HasPrefix(f.Where, "φ′ is constant between 0 and ") {
		t.Errorf("%+v, %+v", d, f)
	}
}

// φ′ is taken inside of the domain, also if that has one end.
func TestScanStaysInside(t *testing.T) {
	for _, ends := range [][2]float64{{-inf, 3}, {3, inf}, {-inf, inf}, {-1, 3}} {
		m := draft{lo: ends[0], hi: ends[1], deriv: func(x float64) float64 {
			if !(ends[0] < x && x < ends[1]) {
				t.Errorf("φ′ is taken at %g, outside of %g", x, ends)
			}
			return x
		}}.modulus()
		f := Examination{OK: true}
		if newChecker(m, 1, 44).scan(&f, 0); !f.OK {
			t.Errorf("%+v", f)
		}
	}
}

// The curve of the report is the first.
func TestTaylorCurve(t *testing.T) {
	c, same := newChecker(Cube(2), 3, 44), newChecker(Cube(2), 3, 44)
	c.taylor(&Examination{OK: true})
	if want, _ := same.remainders(same.point(), same.normal(1)); !slices.Equal(c.report.Taylor, want) {
		t.Errorf("%v, want %v", c.report.Taylor, want)
	}
}

// Why an examination was left out, and what else it notes.
func TestNotes(t *testing.T) {
	linear := FromFunc("x", func(x Dual) Dual { return x }, -1, 1)
	hyperbolic := FromVectorFunc("cosh", func(x []Dual) Dual { return hyperdual.Add(hyperdual.Cosh(x[0]), hyperdual.Cosh(x[1])) }, []float64{0, 0})
	rough := watched{mutant: mutant{Modulus: Euclidean(), conj: func(dst, _ []float64) { dst[0] += math.Sin(1e12 * dst[0]) }}}
	plain := Separable{Kernel: plainKernel{Cube(2).Kernel}}
	for _, c := range []struct {
		examine func(*checker, *Examination)
		m       Modulus
		want    string
	}{
		{(*checker).taylor, linear, "no remainder above rounding"}, {(*checker).taylor, Cube(2), ""},
		{(*checker).boundary, Euclidean(), "no boundary met"}, {(*checker).boundary, hyperbolic, ""}, {(*checker).boundary, Ball{2}, ""},
		{(*checker).outside, PNorm{1.5}, "no boundary met, or a kernel's"}, {(*checker).outside, Cube(2), "no boundary met, or a kernel's"}, {(*checker).outside, Ball{2}, ""},
		{(*checker).projection, Cube(0.1), "the domain of cube, R = 0.1 does not meet the hyperplane 1ᵀθ = 1 in ℝ^2: its points have 1ᵀθ from -0.2 to 0.2"},
		{(*checker).curvature, plain, "J″ is not given"}, {(*checker).curvature, rough, "J′ is nowhere smooth enough to tell"}, {(*checker).curvature, Euclidean(), ""},
		{(*checker).closedForm, Cube(2), "no closed form"}, {(*checker).closedForm, Ball{0.1}, "ball of radius R = 0.1 does not meet the hyperplane 1ᵀθ = 1 in ℝ^2: need R > 1/√d = 0.7071067811865475"},
		{(*checker).strongConvexity, plain, "none claimed"}, {(*checker).strongConvexity, Euclidean(), "claimed 1 in ℓ2, least seen 1;"},
	} {
		f := Examination{OK: true}
		if c.examine(newChecker(c.m, 2, 44), &f); !f.OK || f.Note != c.want {
			t.Errorf("%v: %+v, want the note %q", c.m, f, c.want)
		}
	}
}

// A domain that is left and entered again has no outside there.
func TestOutsideOfAShell(t *testing.T) {
	domain := func(x []float64) bool { n := norm2(x); return n < 2 || n > 3 }
	m := mutant{Modulus: Euclidean(), domain: domain, value: func(x []float64) float64 {
		if !domain(x) {
			return inf
		}
		return dot(x, x) / 2
	}}
	f := Examination{OK: true}
	if newChecker(m, 2, 44).outside(&f); !f.OK {
		t.Errorf("%+v", f)
	}
}

// watched calls functions of its own before others.
type watched struct {
	mutant
	divergence func(x, y []float64) float64
	claimed    float64
}

func (m watched) Divergence(x, y []float64) float64      { return m.divergence(x, y) }
func (m watched) StrongConvexity() (mu, p float64)       { return m.claimed, 2 }
func (m watched) ConjugateCurvature(y []float64) float64 { return JSecond(m.Modulus, y, 0) }

// D(x; y) = 0 is wrong for an x that is more than a hundredth of ‖y‖ away.
func TestPositiveWithinAHundredth(t *testing.T) {
	found := 0
	for seed := range uint64(100) {
		wrong, words := false, ""
		m := watched{mutant: mutant{Modulus: Ball{2}}, divergence: func(x, y []float64) float64 {
			e := distance(x, y) / norm2(y)
			if e > 0.03 {
				return Ball{2}.Divergence(x, y)
			}
			if e > 1e-2 && !wrong {
				wrong, words = true, fmt.Sprintf("D(x; y) = 0 for x = %s, y = %s", vector(x), vector(y))
			}
			return 0
		}}
		f := Examination{OK: true}
		if newChecker(m, 1, seed).positive(&f); f.OK == wrong {
			t.Fatalf("seed %d: %+v, want %v", seed, f, !wrong)
		}
		if wrong {
			found++
			if f.Where != words || f.Worst != 1 || f.Limit != 0.5 {
				t.Fatalf("%+v, want %q", f, words)
			}
		}
	}
	if found < 10 || found > 90 {
		t.Errorf("%d of 100 have such an x", found)
	}
}

// Strong convexity is that of pairs on the hyperplane and in the domain, to a part in 10⁶.
func TestStrongConvexityOfPairs(t *testing.T) {
	m := watched{mutant: mutant{Modulus: Ball{2}, domain: func(x []float64) bool { return x[0] < 0.3 }}, claimed: 0.1}
	m.divergence = func(x, y []float64) float64 {
		if !m.InDomain(x) || !m.InDomain(y) || math.Abs(x[0]+x[1]+x[2]-1) > 1e-9 || math.Abs(y[0]+y[1]+y[2]-1) > 1e-9 {
			t.Fatalf("D(%v; %v) is asked for", x, y)
		}
		return Ball{2}.Divergence(x, y)
	}
	k, f := newChecker(m, 3, 44), Examination{OK: true}
	if k.strongConvexity(&f); !f.OK || f.Limit != k.least*(1+1e-6) || !(k.least >= 0.5) {
		t.Errorf("%+v, least %g", f, k.least)
	}
	f = Examination{OK: true}
	if newChecker(failingShiftOf{failingShift{NegativeEntropy(), "no shift"}}, 3, 44).strongConvexity(&f); !f.OK || f.Limit == 0 {
		t.Errorf("%+v", f)
	}
}

// failingShiftOf claims what the entropy does.
type failingShiftOf struct{ failingShift }

func (failingShiftOf) StrongConvexity() (mu, p float64) { return 1, 1 }

// A step to where ∇φ* is no number is none of the projection's mistakes.
func TestProjectionLeavesTheDomain(t *testing.T) {
	left := false
	m := mutant{Modulus: Burg(), conj: func(dst, _ []float64) {
		for i, v := range dst {
			if math.IsInf(v, 1) {
				dst[i], left = math.NaN(), true
			}
		}
	}}
	f := Examination{OK: true}
	if newChecker(m, 3, 44).projection(&f); !f.OK || !left {
		t.Errorf("%+v, left %v", f, left)
	}
}

// The steps of J′ are quartered from half of the least entry to 10⁻⁸ of the largest.
func TestCurvatureSteps(t *testing.T) {
	calls := 0
	m := watched{mutant: mutant{Modulus: Separable{Each: []Kernel{square{}, scaledKernel{square{}, 1e5}, scaledKernel{square{}, 1e-2}}}, conj: func(_, _ []float64) { calls++ }}}
	c, same := newChecker(m, 3, 44), newChecker(m, 3, 44)
	c.curvature(&Examination{OK: true})
	got := calls
	calls = 0
	steps := 0
	for range 50 {
		y := same.gradient(same.point())
		steps++ // for θ
		for h := minAbs(y) / 2; h > 1e-8*maxAbs(y); h /= 4 {
			steps += 2
		}
	}
	if steps += calls; got != steps {
		t.Errorf("∇φ* is called %d times, want %d", got, steps)
	}
}

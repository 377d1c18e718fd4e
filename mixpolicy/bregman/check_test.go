package bregman

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/num/hyperdual"
	"gonum.org/v1/gonum/stat"
)

// everything returns each modulus and each combinator of the package, in ℝᵈ.
func everything(t testing.TB, d int) []Modulus {
	t.Helper()
	lo, hi, q := make([]float64, d), make([]float64, d), mat.NewSymDense(d, nil)
	for i := range d {
		lo[i], hi[i] = -1-float64(i)/3, 2+float64(i%3)
		for j := range i {
			q.SetSym(i, j, 1/float64(2+i+j))
		}
		q.SetSym(i, i, 2+float64(i)/2)
	}
	quadratic := must(NewMahalanobis(q))
	ms := append(Gallery(d, 2), quadratic, PNorm{3}, Tsallis(0.9), FermiDirac(lo, hi),
		FromFunc("a function", func(x Dual) Dual { return hyperdual.Sub(hyperdual.Mul(x, hyperdual.Log(x)), hyperdual.Log(x)) }, 0, math.Inf(1)),
		Scale(Ball{2}, 3), Scale(NegativeEntropy(), 0.2), Scale(FermiDirac(lo, hi), 3),
	)
	return ms
}

// All that the package offers passes its own examination, in several dimensions.
func TestCheckPasses(t *testing.T) {
	for _, d := range []int{1, 2, 5} {
		if testing.Short() && d == 1 {
			continue
		}
		for _, m := range everything(t, d) {
			if err := Check(m, d, 1).Err(); err != nil {
				t.Error(err)
			}
		}
	}
}

// wherever lists the gallery with radius r, and combinations of it, whether or not they meet the
// hyperplane.
func wherever(t testing.TB, d int, r float64) []Modulus {
	t.Helper()
	lo, hi := make([]float64, d), make([]float64, d)
	for i := range lo {
		lo[i], hi[i] = -r/float64(2+i), r
	}
	return []Modulus{
		Ball{r}, LogBall{r}, Cube(r), Hellinger(r), LogCosine(r), FermiDirac(lo, hi),
		NegativeEntropy(), Tsallis(r / (1 + r)), Burg(), Euclidean(), PNorm{1.1 + 0.9/(1+r)},
		Scale(Ball{r}, 3), Scale(Cube(1), r), Scale(Burg(), r),
	}
}

// Check never complains of what is right, at any size and for any seed.
func TestNoFalseAlarms(t *testing.T) {
	trials := 2
	switch {
	case *million:
		trials = 60
	case testing.Short():
		trials = 0
	}
	rng := source(30)
	for range trials {
		for _, d := range []int{2, 3, 16} {
			r, seed := math.Pow(10, 6*rng.Float64()-3), rng.Uint64()
			for _, m := range wherever(t, d, r) {
				if m, ok := m.(Validator); ok && m.Validate() != nil {
					continue // a sum of squares that rounds to singular, and the like
				}
				if err := Check(m, d, seed).Err(); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		}
	}
}

// In a ball of radius 10³ the search for φ* stops short of the top at first, and has to start again.
func TestSearchStartsAgain(t *testing.T) {
	r := Check(LogBall{978.7599374820227}, 2, 2843248369741291476)
	if err := r.Err(); err != nil {
		t.Error(err)
	}
}

// A mutant is a modulus with a mistake.
type mutant struct {
	Modulus
	name    string
	finding string // part of the name of a finding that must catch it
	value   func(x []float64) float64
	grad    func(dst, x []float64)
	conj    func(dst, y []float64)
	domain  func(x []float64) bool
}

func (m mutant) Value(x []float64) float64 {
	if m.value != nil {
		return m.value(x)
	}
	return m.Modulus.Value(x)
}

func (m mutant) Gradient(dst, x []float64) {
	m.Modulus.Gradient(dst, x)
	if m.grad != nil {
		m.grad(dst, x)
	}
}

func (m mutant) ConjugateGradient(dst, y []float64) {
	if m.conj != nil {
		y = append([]float64(nil), y...)
	}
	m.Modulus.ConjugateGradient(dst, y)
	if m.conj != nil {
		m.conj(dst, y)
	}
}

func (m mutant) InDomain(x []float64) bool {
	return m.Modulus.InDomain(x) && (m.domain == nil || m.domain(x))
}

func (m mutant) String() string { return fmt.Sprintf("%v with %s", m.Modulus, m.name) }

type wrongConjugate struct{ Modulus }

func (m wrongConjugate) Conjugate(y []float64) float64 {
	c := Conjugate(m.Modulus, y)
	return c + 1e-4*(1+math.Abs(c))
}

type wrongShift struct{ Modulus }

func (m wrongShift) Shift(y []float64) (float64, error) {
	z, err := Shift(m.Modulus, y, nil)
	return z + 1e-5*(math.Abs(z)+maxAbs(y)), err
}

type wrongCurvature struct{ Modulus }

func (m wrongCurvature) ConjugateCurvature(y []float64) float64 {
	return JSecond(m.Modulus, y, 0) * 1.01
}

type wrongDivergence struct{ Modulus }

func (m wrongDivergence) Divergence(x, y []float64) float64 {
	return Divergence(m.Modulus, x, y) * (1 + 1e-6)
}

type wrongConstant struct{ Modulus }

func (m wrongConstant) StrongConvexity() (mu, p float64) { return 1e6, 2 }

// greaterConstant claims half as much again as is true.
type greaterConstant struct{ Modulus }

func (m greaterConstant) StrongConvexity() (mu, p float64) {
	mu, p, _ = StrongConvexity(m.Modulus)
	return 1.5 * mu, p
}

// boundless says that its domain is all of ℝᵈ, wide that it is a little wider than it is.
type boundless struct{ Modulus }

func (m boundless) InDomain(x []float64) bool { return firstNonFinite(x) < 0 }

type wide struct {
	Modulus
	center []float64
}

func (m wide) InDomain(x []float64) bool {
	return m.Modulus.InDomain(x) || m.Modulus.InDomain(combine(0.99, x, 0.01, m.center))
}

// outOfPlace forgets its argument before it has read all of it.
type outOfPlace struct{ Modulus }

func (m outOfPlace) ConjugateGradient(dst, y []float64) {
	dst[0] = 0
	m.Modulus.ConjugateGradient(dst, y)
}

type swappedDivergence struct{ Modulus }

func (m swappedDivergence) Divergence(x, y []float64) float64 { return Divergence(m.Modulus, y, x) }

// quadratic reports whether D is symmetric, so that swapping its arguments is no mistake.
func quadratic(m Modulus) bool {
	switch m := m.(type) {
	case euclidean, *Mahalanobis:
		return true
	case PNorm:
		return m.P == 2
	}
	return false
}

func mutants(m Modulus, d int) []mutant {
	center := make([]float64, d)
	y := make([]float64, d)
	for i := range y {
		y[i] = -0.5 - 0.1*float64(i) // within the range of every ∇φ here
	}
	m.ConjugateGradient(center, y)
	near := func(x []float64, width float64) float64 {
		e := axpy(-1, center, x)
		return math.Exp(-dot(e, e) / (2 * width * width))
	}
	// A bump of height A and width s has curvature −A/s² at its top; A is chosen to outweigh
	// the curvature at the centre.
	other := make([]float64, d)
	m.ConjugateGradient(other, axpy(0.5, y, y))
	width := distance(center, other) / 2
	curvature := 1.0
	g0, g1 := make([]float64, d), make([]float64, d)
	m.Gradient(g0, center)
	e := make([]float64, d)
	e[0] = 1e-4 * (1e-3 + math.Abs(center[0]))
	m.Gradient(g1, axpy(1, e, center))
	curvature += 10 * math.Abs(g1[0]-g0[0]) / e[0]
	height := curvature * width * width
	return []mutant{
		{name: "a wrong derivative", finding: "Taylor", grad: func(dst, x []float64) { dst[0] += 1e-3 * (1 + math.Abs(dst[0])) }},
		{name: "a derivative of the wrong sign", finding: "Taylor", grad: func(dst, x []float64) { dst[0] = -dst[0] }},
		{name: "a wrong inverse", finding: "∇φ*(∇φ(x)) = x", conj: func(dst, y []float64) { dst[0] *= 1 + 1e-6 }},
		{name: "an inverse that is not a number for large y", finding: "large y", conj: func(dst, y []float64) {
			if maxAbs(y) > 1e200 {
				dst[0] = math.NaN()
			}
		}},
		{name: "a value off by a linear term", finding: "Taylor", value: func(x []float64) float64 { return m.Value(x) + 1e-3*x[0] }},
		{
			name: "a bump", finding: "strictly convex",
			value: func(x []float64) float64 { return m.Value(x) + height*near(x, width) },
			grad: func(dst, x []float64) {
				b := height * near(x, width) / (width * width)
				for i := range dst {
					dst[i] -= b * (x[i] - center[i])
				}
			},
		},
		{
			name: "a missing barrier", finding: "boundary",
			domain: func(x []float64) bool {
				g := make([]float64, d)
				m.Gradient(g, x)
				return distance(g, y) < 2
			},
		},
	}
}

// Every mutant of every modulus is caught, by the examination meant for it.
func TestMutantsAreCaught(t *testing.T) {
	const d = 3
	caught := func(m Modulus, finding string) {
		t.Helper()
		r := Check(m, d, 1)
		if r.Err() == nil {
			t.Errorf("%v passes", m)
			return
		}
		for _, f := range r.Findings {
			if strings.Contains(f.Name, finding) && !f.OK {
				if f.Where == "" || !(f.Worst > f.Limit) && !math.IsNaN(f.Worst) && f.Limit != 0 {
					t.Errorf("%v: %q fails and does not say where, or by how much: %+v", m, f.Name, f)
				}
				return
			}
		}
		t.Errorf("%v is not caught by %q, but: %v", m, finding, r.Err())
	}
	for i, m := range everything(t, d) {
		if testing.Short() && i%4 != 0 { // all of them takes ten seconds
			continue
		}
		for _, mu := range mutants(m, d) {
			mu.Modulus = m
			caught(mu, mu.finding)
		}
		caught(wrongConjugate{m}, "φ(x) + φ*(y)")
		caught(wrongConjugate{m}, "by search")
		caught(wrongShift{m}, "closed form")
		caught(wrongDivergence{m}, "its definition")
		if !quadratic(m) {
			caught(swappedDivergence{m}, "three-point")
		}
		caught(wrongConstant{m}, "strong convexity")
		if _, _, ok := StrongConvexity(m); ok {
			caught(greaterConstant{m}, "strong convexity")
		}
		caught(outOfPlace{m}, "are numbers")
		if !math.IsNaN(JSecond(m, make([]float64, d), 0)) {
			caught(wrongCurvature{m}, "J″")
		}
		if x := combine(1e9, []float64{1, -1, 1}, 0, []float64{1, 1, 1}); !m.InDomain(x) {
			center := []float64{-0.5, -0.6, -0.7}
			m.ConjugateGradient(center, center)
			caught(boundless{m}, "boundary")
			caught(wide{m, center}, "boundary")
		}
	}
}

// off is a modulus of which one thing is off by a part.
type off struct {
	mutant
	divergence, conjugate, shift, curvature, constant float64
}

func (m off) Divergence(x, y []float64) float64 {
	return Divergence(m.Modulus, x, y) * (1 + m.divergence)
}

func (m off) Conjugate(y []float64) float64 {
	c := Conjugate(m.Modulus, y)
	return c + m.conjugate*(1+math.Abs(c))
}

func (m off) Shift(y []float64) (float64, error) {
	z, err := Shift(m.Modulus, y, nil)
	return z + m.shift*(math.Abs(z)+maxAbs(y)), err
}

func (m off) ConjugateCurvature(y []float64) float64 {
	return JSecond(m.Modulus, y, 0) * (1 + m.curvature)
}

func (m off) StrongConvexity() (mu, p float64) {
	mu, p, _ = StrongConvexity(m.Modulus)
	return mu * (1 + m.constant), p
}

var update = flag.Bool("update", false, "write the findings of TestFindings")

// lessDivergence is negative where it should be 0.
type lessDivergence struct{ Modulus }

func (m lessDivergence) Divergence(x, y []float64) float64 { return Divergence(m.Modulus, x, y) - 1e-8 }

// failingShift has none for some points.
type failingShift struct {
	Modulus
	message string
}

func (m failingShift) Shift(y []float64) (float64, error) {
	if y[0] > y[1] && y[1] > y[2] {
		return 0, errors.New(m.message)
	}
	return Shift(m.Modulus, y, nil)
}

// A mistake is one that an examination is to find.
type mistake struct {
	name    string
	examine func(*checker, *Finding)
	broken  off
	wrong   Modulus // in place of broken
}

// mistakes lists one or more for each examination, as small as it can tell: a part of 10⁻¹⁰ where
// rounding alone hides a mistake, more where the limit is another.
func mistakes(m Modulus, d int) []mistake {
	const part = 1e-10
	first := func(by float64) func(dst, _ []float64) {
		return func(dst, _ []float64) { dst[0] *= 1 + by }
	}
	center := []float64{-0.5, -0.6, -0.7}
	m.ConjugateGradient(center, center)
	bump, infinite := mutants(m, d)[5], mutants(m, d)[3]
	all := []mistake{
		{"numbers", (*checker).numbers, off{}, outOfPlace{m}},
		{"numbers", (*checker).numbers, off{mutant: mutant{grad: func(dst, _ []float64) { dst[2] = math.NaN() }}}, nil},
		{"numbers", (*checker).numbers, off{mutant: mutant{value: func([]float64) float64 { return math.Inf(1) }}}, nil},
		{"taylor", (*checker).taylor, off{mutant: mutant{grad: first(1e-5)}}, nil},
		{"numbers", (*checker).numbers, off{mutant: mutant{grad: func(dst, _ []float64) { dst[0] = math.NaN() }}}, nil},
		{"monotone", (*checker).monotone, off{mutant: bump}, nil},
		{"lines", (*checker).lines, off{mutant: bump}, nil},
		{"pairs", (*checker).pairs, off{mutant: mutant{grad: func(dst, _ []float64) { dst[0] = -dst[0] }}}, nil},
		{"pairs", (*checker).pairs, off{mutant: mutant{value: func(x []float64) float64 { return -m.Value(x) }}}, nil},
		{"inversePrimal", (*checker).inversePrimal, off{mutant: mutant{conj: first(part)}}, nil},
		{"inverseDual", (*checker).inverseDual, off{mutant: mutant{conj: first(part)}}, nil},
		{"fenchel", (*checker).fenchel, off{conjugate: part}, nil},
		{"fenchel", (*checker).fenchel, off{conjugate: -1e-3}, nil},
		{"bruteForce", (*checker).bruteForce, off{conjugate: 1e-4}, nil},
		{"bruteForce", (*checker).bruteForce, off{conjugate: -1e-4}, nil},
		{"divergence", (*checker).divergence, off{divergence: part}, nil},
		{"divergence", (*checker).divergence, off{divergence: -part}, nil},
		{"divergence", (*checker).divergence, off{divergence: 1e-3}, nil},
		{"positive", (*checker).positive, off{divergence: -1 - part}, nil},
		{"positive", (*checker).positive, off{}, lessDivergence{m}},
		{"threePoints", (*checker).threePoints, off{divergence: part}, nil},
		{"boundary", (*checker).boundary, off{}, boundless{m}},
		{"boundary", (*checker).boundary, off{}, wide{m, center}},
		{"extremes", (*checker).extremes, off{mutant: infinite}, nil},
		{"projection", (*checker).projection, off{shift: part}, nil},
		{"projection", (*checker).projection, off{shift: -part}, nil},
		{"projection", (*checker).projection, off{}, failingShift{m, "no shift"}},
		{"curvature", (*checker).curvature, off{curvature: 1e-5}, nil},
		{"curvature", (*checker).curvature, off{curvature: -1e-5}, nil},
		{"closedForm", (*checker).closedForm, off{shift: part}, nil},
		{"closedForm", (*checker).closedForm, off{}, failingShift{m, "no shift"}},
		{"pythagoras", (*checker).pythagoras, off{mutant: mutant{conj: first(part)}}, nil},
		{"strongConvexity", (*checker).strongConvexity, off{constant: 1}, nil},
		{"allocations", (*checker).allocations, off{}, allocating{Ball{2}}},
	}
	for i := range all {
		if c := &all[i]; c.wrong == nil {
			c.broken.Modulus = m
			c.wrong = c.broken
		}
	}
	return all
}

// Each examination by itself passes what is right, and finds mistakes.
func TestExaminations(t *testing.T) {
	const d = 3
	for _, m := range []Modulus{Ball{2}, Cube(2), Burg(), NegativeEntropy()} {
		for _, c := range mistakes(m, d) {
			right, wrong := Finding{OK: true}, Finding{OK: true}
			c.examine(newChecker(m, d), &right)
			c.examine(newChecker(c.wrong, d), &wrong)
			if !right.OK || right.Where != "" || right.Limit == 0 && right.Note == "" {
				t.Fatalf("%v: %s: %+v", m, c.name, right)
			}
			if wrong.OK || wrong.Where == "" || strings.Contains(wrong.Where, "%!") {
				t.Fatalf("%v with a mistake: %s: %+v", m, c.name, wrong)
			}
		}
	}
}

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?`)

// sameFinding compares lines with numbers in them: the words are to be equal, and numbers within one
// per cent. What is found is 10⁻¹⁰ of the terms or more, and another order or fusing of operations
// makes a difference of 10⁻¹³ of them.
func sameFinding(a, b string) bool {
	if number.ReplaceAllString(a, "#") != number.ReplaceAllString(b, "#") {
		return false
	}
	y := number.FindAllString(b, -1)
	for i, v := range number.FindAllString(a, -1) {
		v, w := must(strconv.ParseFloat(v, 64)), must(strconv.ParseFloat(y[i], 64))
		if math.Abs(v-w) > 0.01*max(v, w) {
			return false
		}
	}
	return true
}

// The findings in testdata/findings.txt, with the points at which they were made: how large an error
// is, and what rounding may amount to, so that no limit grows unseen. What passes has an error of
// rounding, and its own case for the worst, so that neither is recorded. TestFindings -update writes the file, to be read.
func TestFindings(t *testing.T) {
	var b strings.Builder
	tell := func(name string, f Finding) {
		note := number.ReplaceAllString(f.Note, "#")
		if f.OK {
			fmt.Fprintf(&b, "%s: passes, %s\n", name, note)
			return
		}
		fmt.Fprintf(&b, "%s: %.4g of %.4g, %s, %s\n", name, f.Worst, f.Limit, f.Where, note)
	}
	for _, m := range []Modulus{Ball{2}, FermiDirac([]float64{-1, -3, -1}, []float64{2, 1, 5})} {
		fmt.Fprintln(&b, m)
		for _, c := range mistakes(m, 3) {
			if c.name == "allocations" { // fewer or more, as other goroutines have it
				continue
			}
			f := Finding{OK: true}
			k := newChecker(c.wrong, 3)
			k.sep, k.separable = asSeparable(m) // which the mistake hides
			c.examine(k, &f)
			tell(c.name, f)
		}
	}
	sometimes := func(v float64) Modulus { // is the first entry of ∇φ*
		return mutant{Modulus: Cube(2), conj: func(dst, y []float64) {
			if y[0] > 1 {
				dst[0] = v
			}
		}}
	}
	flat := mutant{Modulus: Ball{2}, value: func([]float64) float64 { return 0 }, grad: func(dst, _ []float64) { clear(dst) }}
	for _, c := range []struct {
		name    string
		m       Modulus
		examine func(*checker, *Finding)
	}{
		{"bump", Separable{Kernel: narrowBump{cube{2}}}, (*checker).monotone},
		{"piece", Separable{Kernel: flatPiece{cube{2}}}, (*checker).monotone},
		{"flat", flat, (*checker).taylor},
		{"everywhere", Euclidean(), (*checker).boundary},
		{"naive", Separable{Kernel: naiveCube{cube{1}}}, (*checker).extremes},
		{"apart", Cube(0.1), (*checker).projection},
		{"apart", Cube(0.1), (*checker).closedForm},
		{"apart", Cube(0.1), (*checker).pythagoras},
		{"apart", Cube(0.1), (*checker).strongConvexity},
		{"no closed form", LogCosine(2), (*checker).closedForm},
		{"swapped", swappedDivergence{Burg()}, (*checker).threePoints},
		{"negative", wrongConstant{NegativeEntropy()}, (*checker).strongConvexity},
		{"outside", sometimes(100), (*checker).inverseDual},
		{"not a number", sometimes(math.NaN()), (*checker).inverseDual},
		{"not a number", sometimes(math.NaN()), (*checker).numbers},
		{"off the domain", failingShift{Ball{2}, "leaves the domain"}, (*checker).projection},
		{"no curvature", struct{ Modulus }{Ball{2}}, (*checker).curvature},
		{"infinite", mutant{Modulus: Ball{2}, value: func(x []float64) float64 {
			if norm2(x) > 2-1e-9 {
				return math.Inf(1)
			}
			return Ball{2}.Value(x)
		}}, (*checker).boundary},
		{"many", struct{ Modulus }{PNorm{1.05}}, (*checker).projection},
		{"many", struct{ Modulus }{Scale(Burg(), 1e-6)}, (*checker).projection},
		{"many", struct{ Modulus }{Scale(Burg(), 1e-6)}, (*checker).pythagoras},
	} {
		f := Finding{OK: true}
		k := newChecker(c.m, 3)
		if _, ok := c.m.(mutant); ok && c.name != "infinite" && c.name != "flat" {
			k.sep, k.separable = asSeparable(Cube(2))
		}
		c.examine(k, &f)
		tell(c.name, f)
		if k.slow {
			fmt.Fprintln(&b, "slow")
		}
	}
	for _, m := range []Modulus{Ball{2}, Ball{-1}, panicking{Ball{2}}} {
		r := Check(m, 3, 1)
		for _, p := range [][]Point{r.Taylor, r.Boundary} {
			if n := len(p); n > 0 {
				fmt.Fprintf(&b, "%d points from (%.4g, %.4g) to (%.4g, %.4g)\n", n, p[0].X, p[0].Y, p[n-1].X, p[n-1].Y)
			}
		}
		for _, f := range r.Findings {
			fmt.Fprintf(&b, "%v %s: %s\n", f.OK, f.Name, number.ReplaceAllString(f.Note, "#"))
		}
	}
	const path = "testdata/findings.txt"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was := strings.Split(string(must(os.ReadFile(path))), "\n")
	is := strings.Split(b.String(), "\n")
	if len(was) != len(is) {
		t.Fatalf("%d lines, want the %d of %s", len(is), len(was), path)
	}
	for i, line := range is {
		if !sameFinding(line, was[i]) {
			t.Errorf("line %d of %s:\n%s\nwant\n%s", i+1, path, line, was[i])
		}
	}
}

// naiveCube computes its map as the paper's formula invites one to.
type naiveCube struct{ cube }

func (k naiveCube) ConjDeriv(y float64) float64 {
	return k.R * (math.Exp(y) - 1) / (math.Exp(y) + 1)
}

// A narrowBump is convex but for a thousandth of its interval.
type narrowBump struct{ Kernel }

func (k narrowBump) Deriv(x float64) float64 {
	v := k.Kernel.Deriv(x)
	if x > 0.3 && x < 0.304 {
		v -= 0.01
	}
	return v
}

// A flatPiece is not strictly convex: its derivative is constant between 0.2 and 0.3.
type flatPiece struct{ Kernel }

func (k flatPiece) Deriv(x float64) float64 {
	if x > 0.2 && x < 0.3 {
		x = 0.2
	}
	return k.Kernel.Deriv(x)
}

type allocating struct{ Ball }

func (b allocating) ConjugateGradient(dst, y []float64) {
	copy(dst, append([]float64(nil), y...))
	b.Ball.ConjugateGradient(dst, dst)
	sink = append([]float64(nil), y...)
}

var sink []float64

type panicking struct{ Ball }

func (b panicking) Gradient(dst, x []float64) { panic("not written yet") }

func TestOtherMistakesAreCaught(t *testing.T) {
	for _, c := range []struct {
		m       Modulus
		finding string
	}{
		{Separable{Kernel: naiveCube{cube{1}}}, "large y"},
		{Separable{Kernel: narrowBump{cube{2}}}, "strictly convex"},
		{Separable{Kernel: flatPiece{cube{2}}}, "strictly convex"},
		{allocating{Ball{2}}, "allocation"},
		{panicking{Ball{2}}, "Taylor"},
		{Ball{-1}, "parameters"},
		// 1 − cos x is convex on (−π/2, π/2) but has no barrier at the ends.
		{FromFunc("a function", func(x Dual) Dual { return hyperdual.Scale(-1, hyperdual.Cos(x)) }, -math.Pi/2, math.Pi/2), "boundary"},
		{FromFunc("a function", func(x Dual) Dual { return hyperdual.Mul(x, hyperdual.Mul(x, x)) }, -1, 1), "strictly convex"},
		{FromFunc("a function", func(x Dual) Dual { return x }, -1, 1), "strictly convex"},
	} {
		r := Check(c.m, 3, 1)
		found := false
		for _, f := range r.Findings {
			found = found || !f.OK && strings.Contains(f.Name, c.finding)
		}
		if !found {
			t.Errorf("%T is not caught by %q: %v", c.m, c.finding, r)
		}
	}
}

func TestReportCurves(t *testing.T) {
	r := Check(Ball{2}, 3, 1)
	if len(r.Taylor) < 5 || len(r.Boundary) < 20 || !(r.Speed > 0) {
		t.Errorf("%d points of the Taylor curve, %d of the boundary curve, %g ns", len(r.Taylor), len(r.Boundary), r.Speed)
	}
	if s := r.String(); !strings.Contains(s, "ball, R = 2, d = 3") || strings.Count(s, "\n") != len(r.Findings)+1 {
		t.Error(s)
	}
	if a, b := Check(Cube(2), 3, 5), Check(Cube(2), 3, 5); a.String() != b.String() {
		t.Errorf("the same seed gives different reports:\n%v\n%v", a, b)
	}
}

func newChecker(m Modulus, d int) *checker {
	c := &checker{m: m, d: d, rng: source(44), report: &Report{}}
	c.sep, c.separable = asSeparable(m)
	return c
}

// moments returns the mean and the standard deviation.
func moments(x []float64) (mean, deviation float64) {
	return stat.MeanStdDev(x, nil)
}

// Points are spread as is said: in an interval the logarithm of the distance from an end is uniform,
// over twelve, and either end is as likely; dual points are normal, with a scale whose logarithm is
// uniform between −2 and 2. All means are within five of their standard errors.
func TestCheckPoints(t *testing.T) {
	const n = 16000
	inf := math.Inf(1)
	near := func(what string, got, want, deviation float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 5*deviation/math.Sqrt(n)) {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	for _, v := range []struct {
		lo, hi float64
		gap    func(x float64) (gap, lower float64)
	}{
		{-2, 1, func(x float64) (float64, float64) {
			if x < -0.5 {
				return (x + 2) / 1.5, 1
			}
			return (1 - x) / 1.5, 0
		}},
		{3, inf, func(x float64) (float64, float64) { return (x - 3) / 10, 0.5 }},
		{-inf, 3, func(x float64) (float64, float64) { return (3 - x) / 10, 0.5 }},
	} {
		c := newChecker(Euclidean(), 1)
		logs, lower := make([]float64, n), 0.0
		for i := range logs {
			gap, low := v.gap(c.spread(v.lo, v.hi))
			logs[i] = -math.Log(gap)
			lower += low / n
		}
		mean, deviation := moments(logs)
		what := fmt.Sprintf("(%g, %g)", v.lo, v.hi)
		near(what+" mean", mean, 6, 12/math.Sqrt(12))
		near(what+" deviation", deviation, 12/math.Sqrt(12), 12/math.Sqrt(12))
		near(what+" share of the lower end", lower, 0.5, 0.5)
	}
	// −log|x| of a normal number over gap and 1000, and of y = ∇φ(x): the logarithm of |N(0, 1)| has
	// the mean −(γ + log 2)/2 and the variance π²/8.
	const normalMean = -(0.5772156649015329 + math.Ln2) / 2
	logs := make([]float64, n)
	c := newChecker(Euclidean(), 1)
	for i := range logs {
		logs[i] = math.Log(math.Abs(c.spread(-inf, inf)))
	}
	mean, deviation := moments(logs)
	sigma := math.Sqrt(144./12 + math.Pi*math.Pi/8)
	near("(−∞, ∞) mean", mean, normalMean+6-math.Log(1000), sigma)
	near("(−∞, ∞) deviation", deviation, sigma, sigma)
	for _, d := range []int{1, 16} { // for d = 16 a normal point is in the range of Burg's ∇φ only with all signs turned
		var m Modulus = struct{ Modulus }{Burg()}
		if d == 1 {
			m = Ball{2}
		}
		c := newChecker(m, d)
		for i := range logs {
			logs[i] = math.Log(math.Abs(c.gradient(c.point())[0]))
		}
		mean, deviation := moments(logs)
		sigma := math.Sqrt(16./12 + math.Pi*math.Pi/8)
		near(fmt.Sprint(m, " mean"), mean, normalMean, sigma)
		near(fmt.Sprint(m, " deviation"), deviation, sigma, sigma)
	}
	for _, m := range []Modulus{Scale(Ball{2}, 1e-9), Scale(Euclidean(), 1e-9), Scale(Burg(), 1e9), Scale(Cube(1), 1e-5)} {
		c := newChecker(struct{ Modulus }{m}, 2)
		for range 20 {
			if x := c.point(); !m.InDomain(x) || norm2(x) >= 1e4 {
				t.Errorf("%v: %v", m, x)
			}
		}
	}
	// Half of a separable modulus's points are spread: 10 exp(−12u) in (0, ∞).
	c, far := newChecker(Burg(), 1), 0.0
	for range n {
		if x := c.point(); x[0] < 10*math.Exp(-9) { // a quarter of these, and of the others next to none
			far += 1. / n
		}
	}
	near("share near the end", far, 0.125, 0.4)
}

// The estimates of rounding: of a map, how far an ulp of its argument and of its result moves it; of φ,
// the sizes of its terms, or the noise that is seen of it.
func TestRoundingEstimates(t *testing.T) {
	square := func(x []float64) []float64 { return []float64{x[0] * x[0]} }
	if got := condition(square, []float64{3}, square([]float64{3})); math.Abs(got-27*ulp) > ulp { // 2 · 9 and 9
		t.Errorf("condition of x² at 3: %g ulps, want 27", got/ulp)
	}
	root := func(x []float64) []float64 { return []float64{math.Sqrt(1 - x[0])} }
	if got := condition(root, []float64{1}, root([]float64{1})); !math.IsInf(got, 1) {
		t.Errorf("condition at the boundary: %g", got)
	}
	if got := newChecker(Cube(2), 2).size([]float64{1.5, -1.5}); math.Abs(got-2*Cube(2).Value([]float64{1.5, -1.5})) > 1e-12 {
		t.Errorf("size of the cube's φ: %g", got)
	}
	if got := newChecker(Ball{2}, 1).size([]float64{0.1}); math.Abs(got-1-math.Sqrt(4-0.01)) > 1e-12 {
		t.Errorf("size of the ball's φ: %g", got)
	}
	cubes := newChecker(Cube(2), 2)
	a, b := []float64{1.5, -1.5}, []float64{0.3, 0.4}
	sum := terms{values: [][]float64{a, b}, left: [][]float64{b, {3, 4}}, right: [][]float64{{5, 12}, {0, 2}}}
	if got, want := cubes.rounding(sum), ulp*(cubes.size(a)+cubes.size(b)+(0.5+5)*(13+2)); math.Abs(got-want) > 4*ulp*want {
		t.Errorf("rounding of %v: %g, want %g", sum, got, want)
	}
	const amplitude = 1e-9
	c := newChecker(mutant{Modulus: Ball{2}, value: func(x []float64) float64 {
		return Ball{2}.Value(x) + amplitude*math.Sin(1e15*x[0])
	}}, 1)
	mean := 0.0
	for i := range 50 {
		s := c.size([]float64{0.7 + float64(i)/100}) * ulp / amplitude // at most 1 + 2 + 1 for each of three steps
		mean += s / 50
		if s > 4.01 {
			t.Errorf("noise of %g is estimated as %g times as much", amplitude, s)
		}
	}
	if mean < 1.5 || mean > 3.5 {
		t.Errorf("noise is estimated as %g times as much on average", mean)
	}
}

// A finding keeps the case that is worst against its limit; what is not a number is the worst of all.
func TestWorse(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		cases [][2]float64 // error, limit
		want  Finding
	}{
		{[][2]float64{{1, 10}, {3, 20}, {1, 10}}, Finding{OK: true, Worst: 3, Limit: 20}},
		{[][2]float64{{1, 0.5}, {30, 40}}, Finding{Worst: 1, Limit: 0.5, Where: "case 0"}},
		{[][2]float64{{2, 2}, {1, 1}}, Finding{OK: true, Worst: 2, Limit: 2}},
		{[][2]float64{{1, 2}, {4, 2}, {4, 2}}, Finding{Worst: 4, Limit: 2, Where: "case 1"}},
		{[][2]float64{{math.NaN(), 2}, {4, 2}}, Finding{Worst: inf, Limit: 1, Where: "case 0"}},
		{[][2]float64{{0, 0}}, Finding{OK: true}},
		{[][2]float64{{1, 0}, {1, 2}}, Finding{Worst: inf, Limit: 1, Where: "case 0"}},
		{[][2]float64{{-1, 2}, {-3, 2}}, Finding{OK: true, Worst: -1, Limit: 2}},
		{[][2]float64{{-1, 0}}, Finding{OK: true, Worst: -1}},
		{[][2]float64{{-1, 2}}, Finding{OK: true, Worst: -1, Limit: 2}},
	} {
		var f Finding
		for i, e := range c.cases {
			f.worse(e[0], e[1], "case %d", i)
		}
		if f != c.want {
			t.Errorf("%v: %+v, want %+v", c.cases, f, c.want)
		}
	}
	var f Finding
	if f.must(true, "a"); !f.OK || f.Worst != 0 || f.Limit != 0.5 {
		t.Errorf("%+v after what is right", f)
	}
	if f.must(false, "%s", vector{1, 2, 3, 4}); f.OK || f.Worst != 1 || f.Where != "[1 2 3 4]" {
		t.Errorf("%+v after what is wrong", f)
	}
	if s := fmt.Sprint(vector{1, 2, 3, 4, 5}); s != "[1 2 3 4]…" {
		t.Error(s)
	}
}

func TestReportString(t *testing.T) {
	r := &Report{Modulus: "m", Dim: 3, Findings: []Finding{
		{Name: "first", OK: true, Worst: 0.12, Limit: 0.5, Note: "claimed 1"},
		{Name: "second one", Worst: 2, Limit: 1, Note: "of two", Where: "x = 1"},
		{Name: "third", OK: true, Note: "left out"},
		{Name: "fourth", OK: true},
	}}
	want := "m, d = 3\nok     first       0.12  of 0.5  claimed 1\nFAILS  second one  2     of 1    of two x = 1\n–      third                     left out\nok     fourth                    \n"
	if r.String() != want {
		t.Errorf("%q, want %q", r, want)
	}
	want = "bregman: m in ℝ^3 is no Legendre function, or its methods disagree:\n\tsecond one: 2, limit 1, at x = 1"
	if err := r.Err(); fmt.Sprint(err) != want {
		t.Errorf("%v, want %v", err, want)
	}
	if err := (&Report{Findings: r.Findings[2:]}).Err(); err != nil {
		t.Error(err)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(uint8(0), 1.5, 0.0, 1.0)
	f.Add(uint8(1), 0.5, -1.0, 2.0)
	f.Add(uint8(2), 3.0, -1e300, 1e300)
	f.Add(uint8(3), 0.1, 0.0, math.Inf(1))
	f.Fuzz(func(t *testing.T, kind uint8, p, lo, hi float64) {
		phi := []func(x Dual) Dual{
			func(x Dual) Dual { return hyperdual.PowReal(x, p) },
			func(x Dual) Dual {
				return hyperdual.Scale(-1, hyperdual.Log(hyperdual.Sub(Dual{Real: p}, hyperdual.Mul(x, x))))
			},
			func(x Dual) Dual { return hyperdual.Scale(p, hyperdual.Exp(x)) },
			func(x Dual) Dual {
				return hyperdual.Add(hyperdual.Scale(p, hyperdual.Sin(x)), hyperdual.Mul(x, x))
			},
			func(x Dual) Dual { return hyperdual.Inv(hyperdual.Sub(x, Dual{Real: p})) },
		}[kind%5]
		r := Check(FromFunc("a function", phi, lo, hi), 2, 1)
		for _, finding := range r.Findings {
			if finding.OK && (math.IsNaN(finding.Worst) || finding.Worst > finding.Limit) {
				t.Fatalf("%+v passes", finding)
			}
		}
		_ = r.String()
	})
}

// must returns v, or panics with err.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// inGradient allocates in ∇φ, once.
type inGradient struct{ Ball }

func (b inGradient) Gradient(dst, x []float64) {
	sink = append([]float64(nil), x...)
	b.Ball.Gradient(dst, x)
}

// Half of the calls are of ∇φ, half of ∇φ*; one that allocates once makes a half on average.
func TestCheckAllocations(t *testing.T) {
	for _, c := range []struct {
		m    Modulus
		want float64
	}{{inGradient{Ball{2}}, 0.5}, {mutant{Modulus: Ball{2}, conj: func(_, _ []float64) {}}, 0.5}, {Ball{2}, 0}} {
		f := Finding{OK: true}
		k := newChecker(c.m, 3)
		k.allocations(&f)
		if f.Worst != c.want || f.Limit != 0.1 {
			t.Errorf("%T: %g allocations, limit %g, want %g", c.m, f.Worst, f.Limit, c.want)
		}
	}
}

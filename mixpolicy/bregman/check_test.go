package bregman

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/num/hyperdual"
	"gonum.org/v1/gonum/stat"
)

// halfSphere is the modulus of the ball by automatic differentiation.
func halfSphere(r float64, d int) Modulus {
	return FromVectorFunc("half sphere", func(x []Dual) Dual {
		gap := Dual{Real: r * r}
		for _, v := range x {
			gap = hyperdual.Sub(gap, hyperdual.Mul(v, v))
		}
		return hyperdual.Scale(-1, hyperdual.Sqrt(gap))
	}, make([]float64, d))
}

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
		Scale(Ball{2}, 3), Scale(NegativeEntropy(), 0.2), Scale(FermiDirac(lo, hi), 3), halfSphere(2, d),
	)
	return ms
}

// All that the package offers passes its own examination, in several dimensions.
func TestCheckPasses(t *testing.T) {
	book := openBook(t, "testdata/moduli.txt")
	for _, d := range []int{1, 2, 5} {
		if testing.Short() && d == 1 {
			continue
		}
		for _, m := range everything(t, d) {
			t.Run(fmt.Sprintf("%v in %d", m, d), func(t *testing.T) {
				r := Check(m, d, 1)
				if err := r.Err(); err != nil {
					t.Error(err)
				}
				if *update || book.reports[t.Name()] != "" { // a new one has no report yet
					book.compare(t, t.Name(), r)
				}
			})
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

// A mutant is a modulus with a mistake.
type mutant struct {
	Modulus
	name   string
	value  func(x []float64) float64
	grad   func(dst, x []float64)
	conj   func(dst, y []float64)
	domain func(x []float64) bool
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
	if m.conj != nil && &dst[0] == &y[0] {
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
	examine func(*checker, *Examination)
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
	infinite := mutant{conj: func(dst, y []float64) {
		if maxAbs(y) > 1e200 {
			dst[0] = math.NaN()
		}
	}}
	all := []mistake{
		{"repeats", (*checker).repeats, off{}, outOfPlace{m}},
		{"numbers", (*checker).numbers, off{mutant: mutant{grad: func(dst, _ []float64) { dst[2] = math.NaN() }}}, nil},
		{"numbers", (*checker).numbers, off{mutant: mutant{value: func([]float64) float64 { return math.Inf(1) }}}, nil},
		{"taylor", (*checker).taylor, off{mutant: mutant{grad: first(1e-5)}}, nil},
		{"numbers", (*checker).numbers, off{mutant: mutant{grad: func(dst, _ []float64) { dst[0] = math.NaN() }}}, nil},
		{"monotone", (*checker).monotone, off{mutant: mutant{grad: func(dst, _ []float64) { dst[0] = -dst[0] }}}, nil},
		{"increments", (*checker).increments, off{mutant: mutant{value: func(x []float64) float64 {
			return m.Value(x) + 0.1*math.Abs(m.Value(x))*math.Copysign(1, x[0]-center[0])
		}}}, nil},
		{"inversePrimal", (*checker).inversePrimal, off{mutant: mutant{conj: first(part)}}, nil},
		{"inverseDual", (*checker).inverseDual, off{mutant: mutant{conj: first(part)}}, nil},
		{"fenchel", (*checker).fenchel, off{conjugate: part}, nil},
		{"fenchel", (*checker).fenchel, off{conjugate: -1e-3}, nil},
		{"divergence", (*checker).divergence, off{divergence: part}, nil},
		{"divergence", (*checker).divergence, off{divergence: -part}, nil},
		{"divergence", (*checker).divergence, off{divergence: 1e-3}, nil},
		{"positive", (*checker).positive, off{divergence: -1 - part}, nil},
		{"positive", (*checker).positive, off{}, lessDivergence{m}},
		{"boundary", (*checker).boundary, off{}, boundless{m}},
		{"boundary", (*checker).boundary, off{}, wide{m, center}},
		{"outside", (*checker).outside, off{mutant: mutant{value: func([]float64) float64 { return -1 }}}, nil},
		{"extremes", (*checker).extremes, off{mutant: infinite}, nil},
		{"projection", (*checker).projection, off{shift: part}, nil},
		{"projection", (*checker).projection, off{shift: -part}, nil},
		{"projection", (*checker).projection, off{}, failingShift{m, "no shift"}},
		{"curvature", (*checker).curvature, off{curvature: 1e-5}, nil},
		{"curvature", (*checker).curvature, off{curvature: -1e-5}, nil},
		{"curvature", (*checker).curvature, off{curvature: -1e6}, nil},
		{"closedForm", (*checker).closedForm, off{shift: part}, nil},
		{"closedForm", (*checker).closedForm, off{}, failingShift{m, "no shift"}},
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
	book := openBook(t, "testdata/examinations.txt")
	for _, m := range []Modulus{Ball{2}, Cube(2), Burg(), NegativeEntropy()} {
		for i, c := range mistakes(m, d) {
			right, wrong := Examination{OK: true}, Examination{OK: true}
			c.examine(newChecker(m, d, 44), &right)
			k := newChecker(c.wrong, d, 44)
			c.examine(k, &wrong)
			book.examined(t, fmt.Sprintf("%v: %d, %s", m, i+1, c.name), k, wrong)
			if !right.OK || right.Where != "" || right.Limit == 0 && right.Note == "" {
				t.Fatalf("%v: %s: %+v", m, c.name, right)
			}
			if wrong.OK || wrong.Where == "" || strings.Contains(wrong.Where, "%!") {
				t.Fatalf("%v with a mistake: %s: %+v", m, c.name, wrong)
			}
		}
	}
}

// What is badly wrong shows in all digits: kernels with each mistake of a sickKernel, alone and beside right
// ones, and a ball of which something is off by a fifth.
func TestExaminationsOfTheSick(t *testing.T) {
	const d = 3
	book := openBook(t, "testdata/sick.txt")
	fifth := func(dst, _ []float64) { dst[1] *= 1.2 }
	sick := []Modulus{
		off{mutant: mutant{Modulus: Ball{2}, conj: fifth}}, off{mutant: mutant{Modulus: Ball{2}, grad: fifth}},
		off{mutant: mutant{Modulus: Ball{2}, value: func(x []float64) float64 { return 1.2 * Ball{2}.Value(x) }}},
		off{mutant: mutant{Modulus: Ball{2}}, divergence: -2.2, conjugate: 0.2, shift: 0.2, curvature: 0.2, constant: 0.2},
		Separable{Each: []Kernel{square{}, sickKernel{2, 0.2, 0.5}, entropy{}}},
		Separable{Kernel: square{}, Mu: 2, P: 2},
	}
	for mistake := range uint8(8) {
		sick = append(sick, Separable{Kernel: sickKernel{mistake, 0.2, 0.5}})
	}
	for i, m := range sick {
		for _, x := range examinations[:len(examinations)-2] { // the last two are of calls
			c, e := newChecker(m, d, 44), Examination{OK: true}
			if c.protect(func() { x.examine(c, &e) }); !e.OK || i < 5 && e.Note != "" {
				book.examined(t, fmt.Sprintf("%d: %s", i+1, x.name), c, e)
			}
		}
	}
}

// naiveCube computes its map as the paper's formula invites one to.
type naiveCube struct{ cube }

func (k naiveCube) ConjDeriv(y float64) float64 {
	return k.R * (math.Exp(y) - 1) / (math.Exp(y) + 1)
}

// elsewhere is a copy that is too large for the stack.
func elsewhere(x []float64) []float64 {
	y := make([]float64, 1000+len(x))
	return y[:copy(y, x)]
}

// allocating does so in ∇φ*, once, and inGradient in ∇φ.
type allocating struct{ Ball }

func (b allocating) ConjugateGradient(dst, y []float64) {
	b.Ball.ConjugateGradient(dst, elsewhere(y))
}

func TestReportCurves(t *testing.T) {
	r := Check(Ball{2}, 3, 1)
	if len(r.Taylor) < 5 || len(r.Boundary) < 20 || !(r.Speed > 0) {
		t.Errorf("%d points of the Taylor curve, %d of the boundary curve, %g ns", len(r.Taylor), len(r.Boundary), r.Speed)
	}
	if s := r.String(); !strings.Contains(s, "ball, R = 2, d = 3") || strings.Count(s, "\n") != len(r.Examinations)+1 {
		t.Error(s)
	}
	if a, b := Check(Cube(2), 3, 5), Check(Cube(2), 3, 5); a.String() != b.String() {
		t.Errorf("the same seed gives different reports:\n%v\n%v", a, b)
	}
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
		c := newChecker(Euclidean(), 1, 44)
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
	c := newChecker(Euclidean(), 1, 44)
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
		c := newChecker(m, d, 44)
		for i := range logs {
			logs[i] = math.Log(math.Abs(c.gradient(c.point())[0]))
		}
		mean, deviation := moments(logs)
		sigma := math.Sqrt(16./12 + math.Pi*math.Pi/8)
		near(fmt.Sprint(m, " mean"), mean, normalMean, sigma)
		near(fmt.Sprint(m, " deviation"), deviation, sigma, sigma)
	}
	for _, m := range []Modulus{Scale(Ball{2}, 1e-9), Scale(Euclidean(), 1e-9), Scale(Burg(), 1e9), Scale(Cube(1), 1e-5)} {
		c := newChecker(struct{ Modulus }{m}, 2, 44)
		for range 20 {
			if x := c.point(); !m.InDomain(x) || norm2(x) >= 1e4 {
				t.Errorf("%v: %v", m, x)
			}
		}
	}
	// Half of a separable modulus's points are spread: 10 exp(−12u) in (0, ∞).
	c, far := newChecker(Burg(), 1, 44), 0.0
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
	if got := newChecker(Cube(2), 2, 44).size([]float64{1.5, -1.5}); math.Abs(got-2*Cube(2).Value([]float64{1.5, -1.5})) > 1e-12 {
		t.Errorf("size of the cube's φ: %g", got)
	}
	if got := newChecker(Ball{2}, 1, 44).size([]float64{0.1}); math.Abs(got-1-math.Sqrt(4-0.01)) > 1e-12 {
		t.Errorf("size of the ball's φ: %g", got)
	}
	cubes := newChecker(Cube(2), 2, 44)
	a, b := []float64{1.5, -1.5}, []float64{0.3, 0.4}
	sum := terms{values: [][]float64{a, b}, left: [][]float64{b, {3, 4}}, right: [][]float64{{5, 12}, {0, 2}}}
	if got, want := cubes.rounding(sum), ulp*(cubes.size(a)+cubes.size(b)+(0.5+5)*(13+2)); math.Abs(got-want) > 4*ulp*want {
		t.Errorf("rounding of %v: %g, want %g", sum, got, want)
	}
	const amplitude = 1e-9
	c := newChecker(mutant{Modulus: Ball{2}, value: func(x []float64) float64 {
		return Ball{2}.Value(x) + amplitude*math.Sin(1e15*x[0])
	}}, 1, 44)
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

// An examination keeps the case that is worst against its limit; what is not a number is the worst of all.
func TestWorse(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		cases [][2]float64 // error, limit
		want  Examination
	}{
		{[][2]float64{{1, 10}, {3, 20}, {1, 10}}, Examination{OK: true, Worst: 3, Limit: 20}},
		{[][2]float64{{1, 0.5}, {30, 40}}, Examination{Worst: 1, Limit: 0.5, Where: "case 0"}},
		{[][2]float64{{2, 2}, {1, 1}}, Examination{OK: true, Worst: 2, Limit: 2}},
		{[][2]float64{{1, 2}, {4, 2}, {4, 2}}, Examination{Worst: 4, Limit: 2, Where: "case 1"}},
		{[][2]float64{{math.NaN(), 2}, {4, 2}}, Examination{Worst: inf, Limit: 1, Where: "case 0"}},
		{[][2]float64{{0, 0}}, Examination{OK: true}},
		{[][2]float64{{1, 0}, {1, 2}}, Examination{Worst: inf, Limit: 1, Where: "case 0"}},
		{[][2]float64{{-1, 2}, {-3, 2}}, Examination{OK: true, Worst: -1, Limit: 2}},
		{[][2]float64{{-1, 0}}, Examination{OK: true, Worst: -1}},
		{[][2]float64{{-1, 2}}, Examination{OK: true, Worst: -1, Limit: 2}},
	} {
		var f Examination
		for i, e := range c.cases {
			f.worse(e[0], e[1], "case %d", i)
		}
		if f != c.want {
			t.Errorf("%v: %+v, want %+v", c.cases, f, c.want)
		}
	}
	var f Examination
	if f.worse(2, 2, "what is allowed") || !f.worse(2.1, 2, "more") {
		t.Error("what is allowed is wrong, or more is not")
	}
	f = Examination{}
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
	r := &Report{
		Modulus: "m", Dim: 3,
		Findings: []Finding{
			{Kind: Disagrees, Words: "Deriv is −1 times the derivative of Value", Where: "x = 0.3", Measured: 0.5, Claimed: -0.5},
			{Kind: Panics, Words: "Deriv panics: oh", Where: "a.go:3", Measured: math.NaN()},
		},
		Examinations: []Examination{
			{Name: "first", OK: true, Worst: 0.12, Limit: 0.5, Note: "claimed 1"},
			{Name: "second one", Worst: 2, Limit: 1, Note: "of two", Where: "x = 1"},
			{Name: "third", OK: true, Note: "left out"},
			{Name: "fourth", OK: true},
		},
	}
	const findings = "methods disagree: Deriv is −1 times the derivative of Value, at x = 0.3: measured 0.5, claimed −0.5\n%sa panic: Deriv panics: oh, at a.go:3"
	want := "m, d = 3\n" + fmt.Sprintf(findings, "") + "\nholds  first       24 %     claimed 1\nFAILS  second one  2 times  of two x = 1\n–      third                left out\nholds  fourth               \n"
	if r.String() != want {
		t.Errorf("%q, want %q", r, want)
	}
	if err, want := r.Err(), "bregman: m in ℝ^3:\n\t"+fmt.Sprintf(findings, "\t"); fmt.Sprint(err) != want {
		t.Errorf("%v, want %v", err, want)
	}
	if err := (&Report{Examinations: r.Examinations}).Err(); err != nil {
		t.Error(err)
	}
}

func TestShare(t *testing.T) {
	for want, e := range map[string]Examination{
		"": {Worst: 0}, "0 %": {Worst: -3, Limit: 1e-9}, "< 0.1 %": {Worst: 9e-4, Limit: 1}, "0.1 %": {Worst: 1e-3, Limit: 1},
		"100 %": {Worst: 2, Limit: 2}, "1.01 times": {Worst: 2.02, Limit: 2}, "4e+11 times": {Worst: 4.2e11, Limit: 1}, "+Inf times": {Worst: math.Inf(1), Limit: 1},
	} {
		if got := e.Share(); got != want {
			t.Errorf("%g of %g is %q, want %q", e.Worst, e.Limit, got, want)
		}
	}
	if got := (Examination{Limit: 1}).Share(); got != "0 %" {
		t.Errorf("0 of 1 is %q", got)
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
		consistent(t, Check(FromFunc("a function", phi, lo, hi), 2, 1))
	})
}

// consistent sees that there are findings if and only if an examination fails, that each says what
// is wrong, and that nothing passes that is no number or beyond its limit.
func consistent(t *testing.T, r *Report) {
	t.Helper()
	fails := len(r.Examinations) == 0
	for _, e := range r.Examinations {
		fails = fails || !e.OK
		if e.OK && (math.IsNaN(e.Worst) || e.Worst > e.Limit) {
			t.Fatalf("%+v passes", e)
		}
	}
	if fails != (r.Err() != nil) {
		t.Fatalf("examinations fail: %v; findings: %v", fails, r.Err())
	}
	for _, f := range r.Findings {
		if f.Words == "" || strings.Contains(f.String(), "%!") {
			t.Fatalf("%+v", f)
		}
		for _, p := range slices.Concat(f.MeasuredCurve, f.ClaimedCurve) {
			if s := p.X + p.Y; s-s != 0 {
				t.Fatalf("%v: its curve has the point %v", f, p)
			}
		}
		if s := f.Measured + f.Claimed; s-s != 0 {
			continue // the curves leave such a point out
		}
		for curve, y := range map[*[]Point]float64{&f.MeasuredCurve: f.Measured, &f.ClaimedCurve: f.Claimed} {
			through := slices.ContainsFunc(*curve, func(p Point) bool { return math.Abs(p.Y-y) <= 1e-6*math.Abs(y) })
			if len(f.MeasuredCurve) != len(f.ClaimedCurve) || len(*curve) > 0 && !through {
				t.Fatalf("%v: of its curves of %d and %d points one misses %v", f, len(f.MeasuredCurve), len(f.ClaimedCurve), y)
			}
		}
	}
	if s := r.String(); strings.Contains(s, "%!") {
		t.Fatal(s)
	}
}

// must returns v, or panics with err.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type inGradient struct{ Ball }

func (b inGradient) Gradient(dst, x []float64) {
	b.Ball.Gradient(dst, elsewhere(x))
}

// Half of the calls are of ∇φ, half of ∇φ*; one that allocates once makes a half on average.
func TestCheckAllocations(t *testing.T) {
	for _, c := range []struct {
		m    Modulus
		want float64
	}{{inGradient{Ball{2}}, 0.5}, {allocating{Ball{2}}, 0.5}, {Ball{2}, 0}} {
		f := Examination{OK: true}
		k := newChecker(c.m, 3, 44)
		k.allocations(&f)
		if f.Worst != c.want || f.Limit != 0.1 {
			t.Errorf("%T: %g allocations, limit %g, want %g", c.m, f.Worst, f.Limit, c.want)
		}
	}
	k := newChecker(mutant{Modulus: Euclidean(), conj: func(_, _ []float64) { time.Sleep(100 * time.Microsecond) }}, 1000, 44)
	if k.allocations(&Examination{OK: true}); k.report.Speed < 100 || k.report.Speed > 1e5 { // or in another unit
		t.Errorf("%g ns an entry, want at least 100", k.report.Speed)
	}
}

// panicking does so in three places.
type panicking struct{ Ball }

func (b panicking) Value([]float64) float64 { panic("no value") }

func (b panicking) Gradient(_, x []float64) {
	if x[0] > 0 {
		panic("above")
	}
	panic("below")
}

// panickingConstant does so where something else is wrong.
type panickingConstant struct{ inGradient }

func (b panickingConstant) Gradient(dst, x []float64) {
	b.Ball.Gradient(dst, x)
	floats.Scale(2, dst)
}

func (panickingConstant) StrongConvexity() (mu, p float64) { panic("no constant") }

// Of several findings the worst comes first, and each panic is told once, with nothing that may follow from it.
func TestSeveralFindings(t *testing.T) {
	twice := mutant{Modulus: allocating{Ball{2}}, grad: func(dst, _ []float64) { floats.Scale(2, dst) }}
	for _, c := range []struct {
		m    Modulus
		want []string
	}{
		{twice, []string{"Gradient is 2 times the gradient of Value", "a call of Gradient or ConjugateGradient allocates memory"}},
		{panickingConstant{inGradient{Ball{2}}}, []string{"StrongConvexity panics: no constant"}},
		{panicking{Ball{2}}, []string{"Value panics: no value", "Gradient panics: above", "Gradient panics: below"}},
	} {
		r := Check(c.m, 3, 1)
		var got []string
		for _, f := range r.Findings {
			got = append(got, f.Words)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%T: %q, want %q", c.m, got, c.want)
		}
	}
}

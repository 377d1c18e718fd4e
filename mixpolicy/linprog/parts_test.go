package linprog

import (
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
)

func TestSolutionFinite(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want bool
	}{{3, true}, {-math.MaxFloat64, true}, {math.MaxFloat64, true}, {math.Inf(1), false}, {math.Inf(-1), false}, {math.NaN(), false}} {
		for k, set := range []func(s *Solution){
			func(s *Solution) { s.Objective = c.v },
			func(s *Solution) { s.Bound = c.v },
			func(s *Solution) { s.Hyperplane = c.v },
			func(s *Solution) { s.Ball = c.v },
			func(s *Solution) { s.Rows[0].Value = c.v },
			func(s *Solution) { s.Rows[1].Value = c.v },
		} {
			s := &Solution{Objective: 1, Bound: 1, Dual: Dual{Rows: make([]Multiplier, 2), Hyperplane: 1}, Ball: 1}
			if set(s); s.finite() != c.want {
				t.Errorf("number %d is %v: finite %v", k, c.v, !c.want)
			}
		}
	}
}

// What is told when no proof was found goes with the costs, as a solution does: the bound of costs
// below all numbers is that of the multipliers that are left.
func TestRescale(t *testing.T) {
	psi := Columns{{1, 0}, {0, 1}}
	for _, exponent := range []int{-1074, -900, -3, 0, 300} {
		s := math.Ldexp(1, exponent)
		p := Mixture{B: []float64{5 * s, 6 * s}, Psi: psi, R: 2}.program()
		sol := &Solution{Theta: []float64{.5, .5}, Objective: 5.5, Dual: Dual{Rows: []Multiplier{{0, .25, 1}, {1, 1, 1}}, Hyperplane: 4}, Ball: 2, Bound: -9, Radius: 2}
		e := &StalledError{Violation: .5, Pivots: 3, Bound: -7, Objective: 5.5}
		p.rescale(sol, e, s)
		rows := []Multiplier{{0, .25 * s, 1}, {1, s, 1}}
		if exponent == -1074 {
			rows = rows[1:]
		}
		if sol.Objective != 5.5*s || sol.Hyperplane != 4*s || sol.Ball != 2*s || !slices.Equal(sol.Rows, rows) {
			t.Errorf("2^%d: %+v", exponent, sol)
		}
		if *e != (StalledError{Violation: .5, Pivots: 3, Bound: sol.Bound, Objective: 5.5 * s}) || sol.Bound != sol.Dual.bound(p.b, p.g, psi, L2, 2) || !(sol.Bound < 4*s) {
			t.Errorf("2^%d: %+v, bound %v", exponent, e, sol.Bound)
		}
	}
	ray := &UnboundedError{Slope: -3}
	program{}.rescale(nil, ray, 4)
	if ray.Slope != -12 {
		t.Errorf("slope %v", ray.Slope)
	}
}

// A scan puts the worst rows into the pool, as many as may be active and some more, and improves
// the best point by the one on the way to x; a ray's direction is no point.
func TestSeparate(t *testing.T) {
	const n, d = 1 << 15, 8
	rng := rand.New(rand.NewPCG(7, 7))
	psi := columns(n, d, func(_, _ int) float64 { return rng.NormFloat64() })
	s := newSolver(Mixture{B: costs(d, 1), Psi: psi, R: 2}.program())
	s.x = vector(d, rng.NormFloat64)
	found, _, err := s.scan(background, s.x, nil)
	if err != nil || len(found) != 8*d {
		t.Fatalf("%d candidates, %v", len(found), err)
	}
	found = slices.Clone(found)
	slices.SortFunc(found, func(a, b candidate) int {
		if a.by > b.by {
			return -1
		}
		return 1
	})
	more, err := s.separate(background, partial)
	if err != nil || !more || s.violation != found[0].by || s.scans != 1 || len(s.pool) != 2*d+32+2 {
		t.Errorf("violation %v, want %v; %d rows after %d scans: %v", s.violation, found[0].by, len(s.pool), s.scans, err)
	}
	for k, c := range s.pool {
		if c.row != found[k].row {
			t.Fatalf("row %d is %d, want %d", k, c.row, found[k].row)
		}
	}

	// What is violated by 8(d+4)2⁻⁵³‖x‖ is told from rounding.
	for _, f := range []float64{.9, 1.1} {
		s := newSolver(Mixture{B: []float64{1, 2}, Psi: Columns{{1}, {0}}, R: 9}.program())
		s.x = []float64{-f * 5 * s.rounding(), 5}
		if more, err := s.separate(background, partial); err != nil || more != (f > 1) || len(s.pool) != 0 != more || math.Abs(s.violation+s.x[0]) > 0x1p-52*s.violation {
			t.Errorf("violated by %v of the rounding: %v, %v", f, more, err)
		}
	}

	b := costs(d, 4)
	s = newSolver(Mixture{B: b, Psi: measures(600, d, 0, 9), R: math.Inf(1)}.program())
	if err := s.begin(background); err != nil || s.best.centre == nil {
		t.Fatal(err)
	}
	before := s.best.objective
	for j := range s.v { // a good direction, of sum 0
		s.v[j] = 1e3 * (floats.Sum(b)/d - b[j])
	}
	for j := range s.x {
		s.x[j] = 1. / d * (1 + .1*s.v[j]/floats.Norm(s.v, 2))
	}
	x := slices.Clone(s.x)
	if _, err := s.separate(background, ray); err != nil || s.scans != 3 {
		t.Fatal(s.scans, err)
	}
	if math.Abs(floats.Sum(s.best.theta)-1) > slack(d)*L2.Of(s.best.theta) || !(s.best.objective < before) || math.Abs(s.best.objective-floats.Dot(b, x)) > slack(d)*L2.Of(b) {
		t.Errorf("best %v at %v of sum %v; it was %v, and is %v at x", s.best.objective, s.best.theta, floats.Sum(s.best.theta), before, floats.Dot(b, x))
	}
}

func TestCone(t *testing.T) {
	c := cone{Columns{{1, 2, 3, 4}, {0, -1, 5, 2}}, []float64{7, 8, 9, -2}, 2}
	if n, d := c.Dims(); n != 4 || d != 3 {
		t.Errorf("%d × %d", n, d)
	}
	theta, row := []float64{2, 3, .5}, make([]float64, 3)
	for from := range 3 {
		dst := make([]float64, 2)
		c.Apply(dst, from, theta)
		for k, got := range dst {
			i := from + k
			want := []float64{c.a.(Columns)[0][i], c.a.(Columns)[1][i], -c.h[i]}
			if c.Row(row, i); !slices.Equal(row, want) || got != floats.Dot(want, theta) {
				t.Errorf("row %d is %v, want %v; product %v", i, row, want, got)
			}
		}
	}
}

func TestInequalitiesBadData(t *testing.T) {
	a := Columns{{1, 0}, {0, 1}}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := Inequalities{B: []float64{1, 2}, A: a, H: []float64{0, v}}.Solve(background, Settings{})
		if err == nil || !strings.HasPrefix(err.Error(), "linprog: h[1] = ") {
			t.Errorf("h = %v: %v", v, err)
		}
	}
	for _, c := range []struct{ b, h []float64 }{{make([]float64, 2), make([]float64, 3)}, {make([]float64, 1), make([]float64, 2)}} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "linprog: b has") {
					t.Errorf("%d costs, %d right sides: panic %q", len(c.b), len(c.h), s)
				}
			}()
			Inequalities{B: c.b, A: a, H: c.h}.Solve(background, Settings{})
		}()
	}
}

// unitPath is a path of min bᵀx on xₙ = 1 with the cuts xₖ ≥ rhsₖ active: their multipliers are rhsₖ + t b̂ₖ.
func unitPath(b []float64, rhs ...float64) *path {
	p := newPath(Inequalities{B: b, A: unread{0, len(b)}}.program())
	for k, h := range rhs {
		normal := make([]float64, p.d)
		normal[k] = 1
		p.split(normal)
		p.add(&cut{normal: normal, rhs: h})
	}
	p.solve()
	return p
}

// Active cuts are given up until no multiplier is negative, but to within rounding of their sum.
func TestMoveTo(t *testing.T) {
	const sum = 1 + 3 // the hyperplane's is 1
	for _, f := range []float64{.9, 1.1} {
		p := unitPath([]float64{1, 1, 1}, 0, 3)
		p.cuts[1].rhs = -f * p.rounding() * sum
		p.solve()
		p.moveTo(0)
		if f < 1 && (len(p.cuts) != 3 || p.u[1] != 0 || p.u[2] != 3) || f > 1 && (len(p.cuts) != 2 || p.cuts[1].rhs != 3) {
			t.Errorf("a multiplier of −%v of what is rounding: %d cuts, %v", f, len(p.cuts), p.u)
		}
	}
	p := unitPath([]float64{1, 0, 0}, -5, 2, -1)
	p.moveTo(3) // u = −5 + 3, 2, −1
	if p.t != 3 || len(p.cuts) != 2 || p.cuts[1].rhs != 2 || p.u[1] != 2 || !slices.Equal(p.x, []float64{-3, 2, 0, 1}) {
		t.Errorf("t = %v, x = %v, multipliers %v", p.t, p.x, p.u)
	}
	p = unitPath([]float64{1, 0, 0}, -5, 2)
	p.moveTo(6)
	if len(p.cuts) != 3 || p.u[1] != 1 || !slices.Equal(p.x, []float64{-5, 2, 0, 1}) {
		t.Errorf("x = %v, multipliers %v", p.x, p.u)
	}
}

// Of cuts that are violated alike the first is taken, and what is violated by no more than least is not.
func TestWorst(t *testing.T) {
	p := &path{x: []float64{1, 2}}
	at := func(rhs float64) *cut { return &cut{normal: []float64{0, 1}, rhs: rhs} }
	pool := []*cut{at(2), at(3), at(5), at(5), at(4)}
	var all []miss
	if c, by := p.worst(pool, 1, &all); c != pool[2] || by != 3 || !slices.Equal(all, []miss{{pool[2], 3}, {pool[3], 3}, {pool[4], 2}}) {
		t.Errorf("by %v, all %v", by, all)
	}
	if c, by := p.worst(pool, 3, nil); c != nil || by != 3 {
		t.Errorf("%v by %v", c, by)
	}
}

// With and without rounding the same cuts become active, in the same steps, and show the same
// contradiction, where nothing is degenerate. The limit on steps begins anew each time.
func TestEnterAsWithoutRounding(t *testing.T) {
	outcomes := map[outcome]int{}
	partial := 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 21))
		d := 2 + rng.IntN(8)
		n := 2*d + rng.IntN(6*d)
		lean := pick(rng, 0, .3, 1)
		m := Mixture{B: costs(d, seed), Psi: columns(n, d, func(_, _ int) float64 { return rng.NormFloat64() + lean }), R: math.Inf(1)}.program()
		rounded, exact := newSolver(m), newSolver(m)
		for i := range n {
			if rounded.learn(i) != nil || exact.learn(i) != nil {
				t.Fatal("a bad row")
			}
		}
		at := pick(rng, 0, .5, 4)
		rounded.pivots = 1e6
		rounded.moveTo(at)
		exact.withoutRounding()
		exact.t = at
		got, err := rounded.settle(background)
		want, other := exact.settle(background)
		if err != nil || other != nil || got != want {
			t.Errorf("%d: outcome %v, %v, without rounding %v, %v", seed, got, err, want, other)
			continue
		}
		outcomes[got]++
		if rounded.pivots-1e6 != exact.pivots {
			t.Errorf("%d: %d steps, without rounding %d", seed, rounded.pivots-1e6, exact.pivots)
		}
		partial += exact.pivots - len(exact.cuts) + 1
		a, b := rounded.cuts, exact.cuts
		if got == infeasible {
			a, b = rounded.refuting, exact.refuting
		}
		rows := func(cuts []*cut) (out []int) {
			for _, c := range cuts {
				out = append(out, c.row)
			}
			return out
		}
		if !slices.Equal(rows(a), rows(b)) {
			t.Errorf("%d: cuts %v, without rounding %v", seed, rows(a), rows(b))
			continue
		}
		// Normals at random have a condition far below 10⁶.
		const tol = 1e-9
		if got == bounded && floats.Distance(rounded.x, exact.x, 2) > tol*L2.Of(exact.x) {
			t.Errorf("%d: x = %v, without rounding %v", seed, rounded.x, exact.x)
		}
		if got == infeasible {
			scale := exact.weights[len(b)-1] / rounded.weights[len(a)-1]
			for k, v := range exact.weights {
				if len(exact.weights) != len(rounded.weights) || math.Abs(v-scale*rounded.weights[k]) > tol {
					t.Errorf("%d: weights %v, without rounding %v", seed, rounded.weights, exact.weights)
					break
				}
			}
		}
	}
	if outcomes[bounded] < 50 || outcomes[infeasible] < 50 || partial < 50 {
		t.Errorf("%v, %d partial steps", outcomes, partial)
	}
}

// Steps are given up where they may go round, and not before: all rows at once take many.
func TestSettleTakesManySteps(t *testing.T) {
	const n, d = 3000, 60
	s := newSolver(Mixture{B: costs(d, 1), Psi: measures(n, d, .2, 5), Norm: LInf, R: 1e9}.program())
	for i := range n {
		if err := s.learn(i); err != nil {
			t.Fatal(err)
		}
	}
	s.moveTo(1e3)
	if out, err := s.settle(background); out != bounded || err != nil || s.pivots <= 1100 {
		t.Errorf("%v, %v after %d steps", out, err, s.pivots)
	}
}

// The greatest numbers with which exact arithmetic goes on are 10 × 2¹⁰ bits, those of all active cuts and of the
// entering one together.
func TestExactBits(t *testing.T) {
	if got := (&integral{a: []*big.Int{big.NewInt(-5), big.NewInt(1 << 10), new(big.Int)}}).bits(); got != 11 {
		t.Errorf("%d bits, want 11", got)
	}
	for _, more := range []uint{0, 1} {
		s := newSolver(Inequalities{B: []float64{1, 2}, A: unread{0, 2}}.program())
		s.withoutRounding()
		if out, err := s.settle(background); out != bounded || err != nil {
			t.Fatal(out, err)
		}
		one := func(k int, bits uint) *cut {
			f := &integral{a: []*big.Int{new(big.Int), new(big.Int), new(big.Int)}, rhs: big.NewInt(7)}
			f.a[k].Lsh(big.NewInt(1), bits-1)
			return &cut{form: f, row: k}
		}
		plane := s.integral(s.cuts[0]).bits()
		first, second := one(0, 3000), one(1, 10<<10-3000-uint(plane)+more)
		if out, err := s.exact.enter(background, s.path, first); out != bounded || err != nil {
			t.Fatal(out, err)
		}
		if got := s.exact.bits(s.path); got != plane+3000 {
			t.Errorf("%d bits, want %d", got, plane+3000)
		}
		want := []outcome{bounded, stalled}[more]
		if out, err := s.exact.enter(background, s.path, second); out != want || err != nil {
			t.Errorf("%d bits more than the limit: %v, %v", more, out, err)
		}
	}
}

// The cut that an infinitely far point is farthest beyond, in units of unit normals: what goes with t
// decides, then the rest, and then the order of the pool.
func TestExactViolated(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 2))
	ties := 0
	for range 500 {
		const d = 3
		n := 1 + rng.IntN(8)
		psi := columns(n, d, func(_, _ int) float64 { return small(rng, -2, 2) })
		for i := 1; i < n; i++ {
			if rng.IntN(3) == 0 {
				for j := range psi {
					psi[j][i] = psi[j][i-1]
				}
			}
		}
		s := newSolver(Mixture{B: ones(d), Psi: psi, Norm: LInf, R: 100}.program())
		for i := range n {
			if err := s.learn(i); err != nil {
				t.Fatal(err)
			}
		}
		numbers := func(zero bool) (out []*big.Int) {
			for range d {
				v := rng.Int64N(7) - 3
				if zero {
					v = 0
				}
				out = append(out, big.NewInt(v))
			}
			return out
		}
		e := &exactPath{x: position{lead: numbers(rng.IntN(2) == 0), rest: numbers(false), den: big.NewInt(2)}}
		value := func(i int, x []*big.Int) float64 { // of the unit normal
			sum, square := 0.0, 0.0
			for j := range d {
				f, _ := x[j].Float64()
				sum += f * psi[j][i]
				square += psi[j][i] * psi[j][i]
			}
			return -sum / math.Sqrt(square)
		}
		// Different sums of these numbers differ by more than 10⁻³.
		after := func(x, y [2]float64) bool {
			if math.Abs(x[0]-y[0]) > 1e-9 {
				return x[0] > y[0]
			}
			return x[1] > y[1]+1e-9
		}
		want, most := -1, [2]float64{}
		for i := range n {
			if psi[0][i] == 0 && psi[1][i] == 0 && psi[2][i] == 0 {
				continue
			}
			v := [2]float64{value(i, e.x.lead), value(i, e.x.rest)}
			if after(v, most) {
				want, most = i, v
			}
		}
		got := e.violated(s.path)
		switch {
		case got == nil && want < 0:
		case got == nil || want < 0:
			t.Fatalf("%v, want row %d", got, want)
		case got.row != want:
			// Rows of other lengths may be as far from x, to within rounding.
			v := [2]float64{value(got.row, e.x.lead), value(got.row, e.x.rest)}
			if after(most, v) || slices.Equal(s.pool[0].normal, got.normal) && got != s.pool[0] {
				t.Fatalf("row %d by %v, want row %d by %v", got.row, v, want, most)
			}
			for _, c := range s.pool {
				if c.row < got.row && slices.Equal(c.normal, got.normal) {
					t.Fatalf("row %d, as row %d before it", got.row, c.row)
				}
			}
			ties++
		}
	}
	// A cut of the ball joins the pool.
	s := newSolver(Mixture{B: ones(2), Psi: unread{0, 2}, Norm: LInf, R: 2}.program())
	s.inside = true
	e := &exactPath{x: position{lead: []*big.Int{{}, {}}, rest: []*big.Int{big.NewInt(5), big.NewInt(-4)}, den: big.NewInt(1)}}
	if c := e.violated(s.path); c == nil || len(s.pool) != 1 || s.pool[0] != c || e.violated(s.path) != c || len(s.pool) != 1 {
		t.Errorf("%d cuts", len(s.pool))
	}
}

// gathered lets the calls of Apply go on when as many as there are workers have come.
type gathered struct {
	Rows
	calls   *atomic.Int64
	workers int64
	all     *sync.WaitGroup
}

func (g gathered) Apply(dst []float64, from int, theta []float64) {
	if g.calls.Add(1) <= g.workers {
		g.all.Done()
		g.all.Wait()
	}
	g.Rows.Apply(dst, from, theta)
}

// Any number of workers finds what one does, when each of them has a part in it.
func TestScanOnAnyNumberOfCores(t *testing.T) {
	const workers = 3
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
	const n, d = 40000, 3
	psi := columns(n, d, func(i, j int) float64 { return math.Sin(float64(i*(j+1))) + 1.1 })
	x := []float64{1, -2, 1.5}
	scan := func(psi Rows) ([]candidate, float64, error) {
		s := newScanner(gathered{psi, new(atomic.Int64), workers, new(sync.WaitGroup)})
		if len(s.passes) != workers {
			t.Fatalf("%d workers", len(s.passes))
		}
		s.psi.(gathered).all.Add(workers)
		return s.scan(background, x, ones(d))
	}
	one := newScanner(psi)
	one.passes = one.passes[:1]
	want, part, err := one.scan(background, x, ones(d))
	if err != nil || len(want) < 10 || !(0 < part && part < 1) {
		t.Fatal(want, part, err)
	}
	if found, share, err := scan(psi); !slices.Equal(found, want) || share != part || err != nil {
		t.Errorf("%d rows, share %v, %v; want %d and %v", len(found), share, err, len(want), part)
	}
	for _, bad := range [][]int{{39999}, {20}, {21000, 33000}} {
		rows := Columns{slices.Clone(psi[0]), psi[1], psi[2]}
		for _, i := range bad {
			rows[0][i] = math.NaN()
		}
		first := newScanner(rows)
		first.passes = first.passes[:1]
		_, _, want := first.scan(background, x, nil)
		if found, _, err := scan(rows); found != nil || err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("bad rows %v: %d rows, %v; want %v", bad, len(found), err, want)
		}
	}
}

// Rows that say nothing don't end the way to x, and a product that overflows has no sign.
func TestScanOfZerosAndOverflow(t *testing.T) {
	s := newScanner(Columns{{0, 1}, {0, 1}})
	if found, share, err := s.scan(background, []float64{1, 1}, []float64{.5, .5}); len(found) != 0 || share != 1 || err != nil {
		t.Errorf("%v, share %v, %v", found, share, err)
	}
	// 2¹⁰²⁴ − 3·0.9·2¹⁰²³ < 0, of which the first term is +∞.
	s = newScanner(Columns{{0x1p440}, {-.9 * 0x1p440}, {-.9 * 0x1p440}, {-.9 * 0x1p440}})
	if found, _, err := s.scan(background, []float64{0x1p584, 0x1p583, 0x1p583, 0x1p583}, nil); len(found) != 1 || err != nil {
		t.Errorf("%v, %v, want row 0", found, err)
	}
}

// The level at which Σⱼ (s yⱼ − α)₊ = mass is known to a few roundings of its depth, of however many
// terms.
func TestWaterline(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	cases := [][]float64{append(slices.Repeat([]float64{-.1}, 1000), 0), {-5, -7, -6.5}, {3}}
	for range 200 {
		shift := pick(rng, 0., -100, 40)
		cases = append(cases, vector(1+rng.IntN(40), func() float64 { return shift + rng.NormFloat64() }))
	}
	for _, y := range cases {
		for _, s := range []float64{1, -1} {
			mass := pick(rng, 1, .25, 3)
			w := waterlineOf(y, s, mass)
			sorted := make([]float64, len(y))
			floats.ScaleTo(sorted, s, y)
			slices.Sort(sorted)
			slices.Reverse(sorted)
			if w.top != sorted[0] {
				t.Fatalf("top %v, want %v", w.top, sorted[0])
			}
			// α = max (sum of the k greatest − mass)/k, from the top.
			var want *big.Rat
			sum := new(big.Rat).Neg(rat(mass))
			for k, v := range sorted {
				sum.Add(sum, rat(v)).Sub(sum, rat(w.top))
				if level := new(big.Rat).Quo(sum, big.NewRat(int64(k+1), 1)); want == nil || level.Cmp(want) > 0 {
					want = level
				}
			}
			depth, _ := want.Float64()
			// v − top, its sum with the depth, the sum of what is above, which is the mass, and the depth's own.
			off, _ := want.Sub(want, rat(w.depth)).Float64()
			if math.Abs(off) > 0x1p-53*(3*math.Abs(depth)+mass) {
				t.Errorf("%d entries, mass %v: depth %v is off by %v", len(y), mass, w.depth, off)
			}
		}
	}
}

// κ is within r of the one at which the sum is 1, or its neighbour, however large the entries are.
func TestBoxShift(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 10))
	for range 2000 {
		d := 2 + rng.IntN(6)
		r := pick(rng, .75, 1, 3)
		size := pick(rng, 1, 1e5, 1e17, 1e40)
		y := vector(d, func() float64 { return size * math.Round(8*rng.NormFloat64()) })
		excess := func(kappa *big.Rat) int { // of the sum over 1
			sum := rat(-1)
			for _, v := range y {
				w := new(big.Rat).Sub(rat(v), kappa)
				switch {
				case w.Cmp(rat(r)) > 0:
					w = rat(r)
				case w.Cmp(rat(-r)) < 0:
					w = rat(-r)
				}
				sum.Add(sum, w)
			}
			return sum.Sign()
		}
		kappa := boxShift(y, r)
		// Of entries of a common size below 2⁴⁰r κ is known to d + 1 roundings, and else within r.
		unit := rat(r)
		if math.Abs(kappa) < 0x1p40*r {
			unit = rat(0x1p-50 * float64(d) * (r + math.Abs(kappa)))
		}
		if excess(new(big.Rat).Sub(rat(kappa), unit)) < 0 || excess(new(big.Rat).Add(rat(kappa), unit)) > 0 {
			t.Fatalf("y = %v, r = %v: κ = %v", y, r, kappa)
		}
	}
}

// From any t the search ends on the sphere, or inside it at the solution, or in x(0) where the ball
// touches the feasible set to within rounding, and shows where the ball misses it.
func TestToSphere(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 31))
		d := 2 + rng.IntN(5)
		n := d + rng.IntN(4*d)
		lean := pick(rng, .5, 1, 2)
		psi := columns(n, d, func(_, _ int) float64 { return rng.NormFloat64() + lean })
		p := Mixture{B: costs(d, seed), Psi: psi, R: 1}.program()
		s := newSolver(p)
		s.limit = math.Inf(1)
		for i := range n {
			if err := s.learn(i); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := s.settle(background); out != bounded || err != nil {
			continue
		}
		least := L2.Of(s.x)
		kind := pick(rng, "misses", "touches", "reaches", "reaches", "reaches far", "reaches far")
		switch kind {
		case "misses":
			s.radius = least * pick(rng, .5, .99, 1-4*s.rounding())
		case "touches":
			s.radius = least * (1 + pick(rng, -.5, 0, .5)*s.rounding())
		case "reaches":
			s.radius = least * pick(rng, 1+1e-9, 1.001, 1.2, 2)
		case "reaches far":
			s.radius = least * pick(rng, 5, 30, 1e6)
		}
		s.moveTo(pick(rng, 0, 1e-3, .5, 20, 1e5))
		out, err := s.toSphere(background)
		if err != nil {
			t.Fatal(err)
		}
		norm := L2.Of(s.x)
		switch kind {
		case "misses":
			if out != infeasible || s.t != 0 {
				t.Errorf("%d: %s: %v at t = %v", seed, kind, out, s.t)
			}
		case "touches":
			if out != bounded || s.t != 0 {
				t.Errorf("%d: %s: %v at t = %v", seed, kind, out, s.t)
			}
		default:
			if s.optimal && norm < s.radius {
				kind = "inside"
			} else if math.Abs(norm-s.radius) > s.rounding()*s.radius {
				t.Errorf("%d: %s: ‖x‖ = %v, R = %v", seed, kind, norm, s.radius)
			}
			if out != bounded {
				t.Errorf("%d: %s: %v", seed, kind, out)
			}
		}
		seen[kind]++
	}
	for _, kind := range []string{"misses", "touches", "reaches", "reaches far", "inside"} {
		if seen[kind] < 20 {
			t.Errorf("%v", seen)
		}
	}
}

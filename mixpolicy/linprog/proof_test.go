package linprog

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
)

func float(x *big.Float) float64 { f, _ := x.Float64(); return f }

// A doubled sum of products is that of rational numbers to within γ² of its terms, γ = 2k 2⁻⁵³.
func TestDouble(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var sum double
		exact, size, terms := new(big.Rat), 0.0, 2+rng.IntN(9)
		for range terms {
			x, y, z := math.Ldexp(rng.NormFloat64(), rng.IntN(60)), rng.NormFloat64(), rng.NormFloat64()
			sum = sum.addProduct(x, y).add(z)
			exact.Add(exact, new(big.Rat).Mul(rat(x), rat(y)))
			exact.Add(exact, rat(z))
			size += math.Abs(x*y) + math.Abs(z)
		}
		for range 2 { // take off what there is: the rest is of the second word
			gamma := 4 * float64(terms+2) * 0x1p-53
			want, _ := exact.Float64()
			if math.Abs(sum.value()-want) > 2*gamma*gamma*size+0x1p-52*math.Abs(want) {
				t.Fatalf("%v, want %v", sum.value(), want)
			}
			v := sum.value()
			sum = sum.add(-v)
			exact.Sub(exact, rat(v))
		}
	}
}

// randomDual has up to six rows, and a residual that may be all rounding.
func randomDual(rng *rand.Rand) (y Dual, b, g []float64, psi Columns) {
	d := 1 + rng.IntN(5)
	n := rng.IntN(7)
	psi = columns(n, d, func(_, _ int) float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(30)) })
	b, g = make([]float64, d), vector(d, rng.NormFloat64)
	y.Hyperplane = rng.NormFloat64()
	floats.AddScaled(b, y.Hyperplane, g)
	row := make([]float64, d)
	for i := range n {
		psi.Row(row, i)
		m := Multiplier{Row: i, Value: rng.ExpFloat64(), Scale: powerOfTwo(LInf.Of(row))}
		y.Rows = append(y.Rows, m)
		floats.AddScaled(b, m.Lambda(), row)
	}
	if rng.IntN(2) == 0 {
		floats.Add(b, vector(d, rng.NormFloat64))
	}
	return y, b, g, psi
}

// Bounds are bounds, and by no more below what they bound than their roundings.
func TestBoundsAreTight(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	for range 300 {
		y, b, g, psi := randomDual(rng)
		norm, r := anyNorm(rng), pick(rng, .5, 1, 3)
		d, k := float64(len(b)), float64(len(y.Rows)+2)
		exact, _, err := reducedCostsRat(y, b, g, psi)
		if err != nil {
			t.Fatal(err)
		}
		size := vector(len(b), func() float64 { return 0 })
		row := make([]float64, len(b))
		for j := range b {
			size[j] = math.Abs(b[j]) + math.Abs(y.Hyperplane*g[j])
			for _, m := range y.Rows {
				psi.Row(row, m.Row)
				size[j] += m.Lambda() * math.Abs(row[j])
			}
		}
		acc, got := y.reducedCosts(b, g, psi)
		gamma := 2 * k * 0x1p-53
		for j, e := range exact {
			want, _ := e.Float64()
			if math.Abs(acc[j].value()-want) > 2*gamma*gamma*size[j]+0x1p-52*math.Abs(want) || math.Abs(got[j]-size[j]) > 2*k*0x1p-53*size[j] {
				t.Fatalf("reduced cost %v of terms %v, want %v of %v", acc[j].value(), got[j], want, size[j])
			}
		}
		least := float(normRat(norm.Dual(), exact))
		upper := y.residual(b, g, psi, norm)
		if upper < least || upper > least*(1+2*(d+9)*0x1p-52)+4*gamma*gamma*L1.Of(size) {
			t.Fatalf("%v: residual %v, exactly %v", norm, upper, least)
		}
		want := new(big.Float).SetPrec(200).SetFloat64(upper)
		want.Mul(want, big.NewFloat(r)).Sub(big.NewFloat(y.Hyperplane).SetPrec(200), want)
		bound := y.bound(b, g, psi, norm, r)
		below := float(new(big.Float).Sub(want, big.NewFloat(bound)))
		if allowed := 0x1p-51 * (math.Abs(y.Hyperplane) + r*upper); below < 0 || below > 2*allowed {
			t.Fatalf("bound %v, want %v", bound, float(want))
		}
		if inf := y.bound(b, g, psi, norm, math.Inf(1)); !math.IsInf(inf, -1) {
			t.Fatalf("bound %v without a ball", inf)
		}
		// The best μ for ℓ₁.
		lo, hi := math.Inf(1), math.Inf(-1)
		free, _, _ := reducedCostsRat(Dual{Rows: y.Rows}, b, g, psi)
		for _, e := range free {
			f, _ := e.Float64()
			lo, hi = min(lo, f), max(hi, f)
		}
		centred := Dual{Rows: y.Rows, Hyperplane: y.Hyperplane}
		half := centred.centre(b, psi)
		if tol := 8 * k * 0x1p-53 * L1.Of(size); math.Abs(half-(hi-lo)/2) > tol || math.Abs(centred.Hyperplane-(hi+lo)/2) > tol {
			t.Fatalf("μ = %v ± %v, want the middle of %v and %v", centred.Hyperplane, half, lo, hi)
		}
		// κ/‖Ψᵀλ + κg‖⁎ from below.
		e := &InfeasibleError{Rows: y.Rows, Hyperplane: math.Abs(y.Hyperplane), Norm: norm}
		minus, _, _ := reducedCostsRat(Dual{Rows: e.Rows, Hyperplane: e.Hyperplane}, make([]float64, len(b)), g, psi)
		ratio := new(big.Float).Quo(big.NewFloat(e.Hyperplane).SetPrec(200), normRat(norm.Dual(), minus))
		radius := e.radius(g, psi)
		if new(big.Float).Sub(ratio, big.NewFloat(radius)).Sign() < 0 || radius < float(ratio)*(1-(2*d+40)*0x1p-52) {
			t.Fatalf("radius %v, want %v", radius, float(ratio))
		}
	}
	// Roundings that all go one way: of 1 + 2⁻⁵³ + 2⁻⁵³ + … in order nothing but the 1 is left.
	b := make([]float64, 200)
	for j := range b {
		b[j] = 0x1p-53
	}
	b[0] = 1
	row := Multiplier{Value: 0, Scale: 1}
	y := Dual{Rows: []Multiplier{row}}
	if got := y.residual(b, ones(200), Columns(slices.Repeat([][]float64{{0}}, 200)), LInf); got < 1+199*0x1p-53 {
		t.Errorf("residual 1 + %v, want 1 + 199·2⁻⁵³ at least", got-1)
	}
	// One term has no more than the roundings that are named, d + 8 of them.
	if got := y.residual([]float64{1}, []float64{0}, Columns{{0}}, L2); got < 1 || got > 1+10*0x1p-52 {
		t.Errorf("residual 1 + %v, want 1 + 9·2⁻⁵²", got-1)
	}
	// A product that underflows is there in the bound: 2⁻¹⁰⁴⁰.
	y = Dual{Rows: []Multiplier{{Value: 0x1p-520, Scale: 1}}}
	if got := y.residual([]float64{0}, []float64{0}, Columns{{0x1.8p-560}}, L2); got < 0x1p-1040 {
		t.Errorf("residual %v, want 2⁻¹⁰⁴⁰ at least", got)
	}
	// What the residual has more than the doubled sum is γ²₂ₖ Σ|terms|, γₙ = n2⁻⁵³/(1 − n2⁻⁵³), of Ogita, Rump and Oishi
	// and 2⁻¹⁰⁰⁰ a term, and twice the first at most.
	for k := 3.; k < 9; k++ {
		y = Dual{}
		for i := range int(k) - 2 {
			y.Rows = append(y.Rows, Multiplier{Row: i, Value: 1, Scale: 1})
		}
		n := len(y.Rows)
		for _, size := range []float64{0, 1} {
			column := slices.Repeat([]float64{size}, n)
			for i := range n / 2 {
				column[i] = -size
			}
			b := 0.
			if n%2 == 1 {
				b = size
			}
			gamma := 2 * k * 0x1p-53 / (1 - 2*k*0x1p-53)
			least := gamma*gamma*(size*float64(n)+b) + k*0x1p-1000
			if got := y.residual([]float64{b}, []float64{0}, Columns{column}, LInf); got < least || got > 2.01*gamma*gamma*(size*float64(n)+b)+1.01*k*0x1p-1000 {
				t.Errorf("%v terms of %v: residual %v, want %v and a little more", k, size, got, least)
			}
		}
	}
	// For the caller's roundings (d + 8)/2 − 2 units are left.
	for d := 1; d < 6; d++ {
		b := make([]float64, d)
		b[0] = 1
		if got := (Dual{}).residual(b, ones(d), Columns(slices.Repeat([][]float64{{}}, d)), L1); got < 1+(float64(d+8)/2-2)*0x1p-52 {
			t.Errorf("d = %d: residual 1 + %v", d, got-1)
		}
	}
	// b = μg has no residual, and its bound no rounding.
	y = Dual{Hyperplane: .1}
	if got := y.bound([]float64{.1, .1}, ones(2), Columns{{}, {}}, L2, math.Inf(1)); got != .1 {
		t.Errorf("bound %v of a constant, want 0.1", got)
	}
}

// An exact proof of infeasibility is one exactly if κ > R‖Ψᵀλ + κ1‖⁎.
func TestProvesExactly(t *testing.T) {
	psi := Columns{{-3, 2}, {1, -5}, {0, 1}}
	rows := []Multiplier{{Row: 0, Value: .5, Scale: 2}, {Row: 1, Value: 2, Scale: 4}} // λ = ¼, ½
	// Ψᵀλ = (¼, −9/4, ½), and with κ = 2: (9/4, −¼, 5/2).
	combined := []*big.Rat{big.NewRat(9, 4), big.NewRat(-1, 4), big.NewRat(5, 2)}
	exact := func(kappa *big.Rat) []*big.Rat { return []*big.Rat{big.NewRat(1, 2), big.NewRat(2, 1), kappa} }
	e := &InfeasibleError{Rows: rows, Exact: exact(big.NewRat(2, 1))}
	for j, v := range e.combination(ones(3), psi) {
		if v.Cmp(combined[j]) != 0 {
			t.Errorf("entry %d of the combination is %v, want %v", j, v, combined[j])
		}
	}
	for _, c := range []struct {
		norm Norm
		want float64 // 2/‖·‖⁎
	}{{L2, 2 / math.Sqrt((81.+1+100)/16)}, {LInf, 2. / 5}, {L1, 2 / 2.5}} {
		for _, share := range []float64{.5, 1 - 1e-12, 1 + 1e-12, 2, math.Inf(1)} {
			e := &InfeasibleError{Rows: rows, Exact: exact(big.NewRat(2, 1)), Norm: c.norm, R: c.want * share}
			radius, ok := e.provesExactly(ones(3), psi)
			if ok != (share < 1) || ok && (radius < e.R || radius > c.want*(1+0x1p-52) || radius < c.want*(1-0x1p-49)) {
				t.Errorf("%v: radius %v, %v; want %v, R = %v", c.norm, radius, ok, c.want, e.R)
			}
		}
	}
	// At equality there is no proof.
	e = &InfeasibleError{Rows: rows, Exact: exact(big.NewRat(2, 1)), Norm: LInf, R: .4}
	e.R = .25
	e.Exact[2] = big.NewRat(1, 1) // (5/4, −5/4, 3/2): 1 = ¼·4
	if _, ok := e.provesExactly(ones(3), psi); ok {
		t.Error("κ = R‖Ψᵀλ + κ1‖⁎ is taken for a proof")
	}
	for k := range 3 {
		for _, v := range []int64{0, -1} {
			e := &InfeasibleError{Rows: rows, Exact: exact(big.NewRat(2, 1)), Norm: LInf, R: 1e-3}
			e.Exact[k] = big.NewRat(v, 1)
			if _, ok := e.provesExactly(ones(3), psi); ok {
				t.Errorf("multiplier %d is %d, and proves", k, v)
			}
		}
	}
	// (−1, −1)θ ≥ 0 and 1ᵀθ = 1 exclude each other.
	e = &InfeasibleError{Rows: []Multiplier{{Row: 0, Value: 3, Scale: 1}}, Exact: []*big.Rat{big.NewRat(3, 1), big.NewRat(3, 1)}, R: math.Inf(1)}
	if radius, ok := e.provesExactly(ones(2), Columns{{-1}, {-1}}); !ok || !math.IsInf(radius, 1) {
		t.Errorf("radius %v, %v; want +∞", radius, ok)
	}
	for _, c := range []struct {
		e    InfeasibleError
		want bool
	}{
		{InfeasibleError{R: 2, Radius: 2}, false},
		{InfeasibleError{R: 2, Radius: 2.1}, true},
		{InfeasibleError{R: 2, Radius: 1, Exact: e.Exact}, true},
		{InfeasibleError{R: math.Inf(1), Radius: 0x1p20}, false},
		{InfeasibleError{R: math.Inf(1), Radius: 0x1.1p20}, true},
	} {
		if c.e.proves() != c.want {
			t.Errorf("%+v proves: %v", c.e, !c.want)
		}
	}
}

func TestInfeasibleErrorTells(t *testing.T) {
	rows := func(n int) (m []Multiplier) {
		for i := range n {
			m = append(m, Multiplier{Row: 10 + i})
		}
		return m
	}
	for _, c := range []struct {
		e    InfeasibleError
		want string
	}{
		{InfeasibleError{R: .5, Radius: .7}, "linprog: infeasible: every θ with 1ᵀθ = 1 has ‖θ‖₂ ≥ 0.7, more than R = 0.5"},
		{InfeasibleError{Rows: rows(1), R: math.Inf(1)}, "linprog: infeasible: row 10 of Ψθ ⪰ 0 and 1ᵀθ = 1 exclude each other"},
		{InfeasibleError{Rows: rows(4), R: math.Inf(1)}, "linprog: infeasible: rows 10 11 12 13 of Ψθ ⪰ 0 and 1ᵀθ = 1 exclude each other"},
		{InfeasibleError{Rows: rows(6), R: 1, Radius: 2, Norm: L1}, "linprog: infeasible: by rows 10 11 12 13 … (6 in all) of Ψθ ⪰ 0, every θ with 1ᵀθ = 1 has ‖θ‖₁ ≥ 2, more than R = 1"},
	} {
		if got := c.e.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	stalled := (&StalledError{Violation: .5, Pivots: 7, Bound: 1, Objective: 2}).Error()
	if !strings.Contains(stalled, "no proof after 7 steps, with a violation of 0.5") || !strings.HasSuffix(stalled, "between 1 and 2") {
		t.Error(stalled)
	}
}

// A solution that is off by more than rounding in its rows, its hyperplane, its ball or its gap has
// no proof, and a ray neither.
func TestProvesNoMore(t *testing.T) {
	psi := measures(30, 3, .2, 5)
	for _, norm := range []Norm{L2, LInf, L1} {
		for _, r := range []float64{1, 1.1, math.Inf(1)} { // 1: the ball touches the feasible set in 1/d
			p := Mixture{B: costs(3, 1), Psi: psi, Norm: norm, R: r * norm.OnHyperplane(3)}.program()
			if r == 1.1 { // costs and their μ of either sign
				floats.AddConst(-90, p.b)
			}
			s := newSolver(p)
			if err := s.begin(background); err != nil {
				t.Fatal(err)
			}
			sol, err := s.run(background)
			if err != nil || !s.proves(sol) {
				t.Fatal(err, sol)
			}
			tol := s.rounding() * L2.Of(sol.Theta)
			root := math.Sqrt(3)
			size := L2.Of(s.b) + math.Abs(sol.Hyperplane)*root + sol.Ball
			for _, m := range sol.Rows {
				size += 2 * root * m.Value
			}
			radius := sol.Radius
			if s.norm == LInf {
				radius *= root
			}
			gap := 4 * s.rounding() * size * radius
			for name, change := range map[string]func(sol *Solution, f float64){
				"violation": func(sol *Solution, f float64) { sol.Violation = 2 * tol * f },
				"gap":       func(sol *Solution, f float64) { sol.Bound = sol.Objective - gap*f },
				"other gap": func(sol *Solution, f float64) { sol.Bound = sol.Objective + gap*f },
				"plane": func(sol *Solution, f float64) {
					off := 1 - floats.Sum(sol.Theta) + 2*tol*root*f // of which a third in every entry
					floats.AddConst(off/3, sol.Theta)
					s.radius *= 2
				},
				"ball": func(sol *Solution, f float64) {
					s.radius = s.norm.Of(sol.Theta) - 2*tol*f
					if s.norm == L1 {
						s.radius = s.norm.Of(sol.Theta) - 4*root*tol*f
					}
				},
			} {
				for _, f := range []float64{.9, 1.2, -.9, -1.2} {
					if f < 0 && name != "plane" {
						continue
					}
					if name == "ball" && s.norm == L2 && f < 1 {
						continue
					}
					off := *sol
					off.Theta = slices.Clone(sol.Theta)
					before := s.radius
					change(&off, f)
					if got := s.proves(&off); got != (math.Abs(f) < 1) {
						t.Errorf("%v, R = %v: %s off by %v of what is allowed, and proved: %v", norm, before, name, f, got)
					}
					s.radius = before
				}
			}
		}
	}
	ray := Mixture{B: []float64{1, 2, 4}, Psi: Columns{{1, 5}, {1, -1}, {1, 0}}, R: math.Inf(1)}
	s := newSolver(ray.program())
	if err := s.begin(background); err != nil {
		t.Fatal(err)
	}
	_, err := s.run(background)
	var e *UnboundedError
	if !errors.As(err, &e) || !s.descends(e) {
		t.Fatal(err)
	}
	flat := *e
	if flat.Slope = 0; s.descends(&flat) {
		t.Error("a ray along which nothing falls")
	}
	tol := 2 * s.rounding()
	for name, change := range map[string]func(e *UnboundedError, f float64){
		"slope": func(e *UnboundedError, f float64) { e.Slope *= 1.1 - f },
		"direction": func(e *UnboundedError, f float64) {
			floats.AddConst((tol*math.Sqrt(3)*f-floats.Sum(e.Direction))/3, e.Direction)
		},
		"point": func(e *UnboundedError, f float64) {
			floats.AddConst((1+tol*math.Sqrt(3)*L2.Of(e.Point)*f-floats.Sum(e.Point))/3, e.Point)
		},
		"violation": func(e *UnboundedError, f float64) { s.violation = tol * L2.Of(e.Point) * f },
	} {
		for _, f := range []float64{.9, 1.2, -.9, -1.2} {
			if f < 0 && name != "direction" && name != "point" {
				continue
			}
			off := &UnboundedError{Point: slices.Clone(e.Point), Direction: slices.Clone(e.Direction), Slope: e.Slope}
			before := s.violation
			change(off, f)
			if got := s.descends(off); got != (math.Abs(f) < 1) {
				t.Errorf("%s off by %v of what is allowed, and descends: %v", name, f, got)
			}
			s.violation = before
		}
	}
}

func TestScannerSizes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, c := range []struct{ n, d, group, block, workers int }{
		{0, 3, 1, 2048, 1},
		{100, 4, 3, 3 * 682, 1},
		{1 << 14, 3, 682, 682 * 3, 1}, // 3·2¹⁴ products
		{1 << 14, 4, 512, 2048, 3},    // 2¹⁶
		{4000, 20, 25, 25 * 81, 2},    // two blocks
		{1 << 20, 2, 2048, 2048, 3},   // the largest group
		{1<<16 + 1, 4, 2048, 2048, 3}, {3000, 1, 375, 375 * 5, 1},
	} {
		s := newScanner(unread{c.n, c.d})
		if s.group != c.group || s.block != c.block || len(s.passes) != c.workers {
			t.Errorf("%d × %d: groups of %d, blocks of %d, %d workers", c.n, c.d, s.group, s.block, len(s.passes))
		}
		for _, p := range s.passes {
			if len(p.dot) != min(c.block, c.n) || len(p.row) != c.d {
				t.Errorf("%d × %d: scratch of %d and %d", c.n, c.d, len(p.dot), len(p.row))
			}
		}
	}
}

// unread is a matrix of which only the size is known.
type unread struct{ n, d int }

func (u unread) Dims() (n, d int)                { return u.n, u.d }
func (u unread) Apply([]float64, int, []float64) { panic("read") }
func (u unread) Row([]float64, int)              { panic("read") }

// A scan finds rows of any size, whose products may underflow or overflow.
func TestScanOfRowsOfAnySize(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	const n, d = 97, 3
	for range 60 {
		size := vector(n, func() float64 { return math.Ldexp(1, rng.IntN(2090)-1070) })
		psi := columns(n, d, func(i, _ int) float64 {
			return max(-math.MaxFloat64, min(math.MaxFloat64, pick(rng, 0, 1., 1, 2)*rng.NormFloat64()*size[i]))
		})
		x := vector(d, func() float64 { return 16 * rng.NormFloat64() })
		s := newScanner(psi)
		found, _, err := s.scan(background, x, nil)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float64, d)
		for from, at := 0, 0; from < n; from += s.group {
			by := make([]float64, s.group)
			for i := from; i < min(n, from+s.group); i++ {
				if psi.Row(row, i); LInf.Of(row) > 0 {
					v := new(big.Float).SetPrec(200).SetRat(dotRat(toRat(row), toRat(x)))
					by[i-from] = -float(v.Quo(v, normRat(L2, toRat(row))))
				}
			}
			worst := slices.Max(by)
			if worst <= 0 {
				continue
			}
			// Rows of one entry tie, to within the rounding of a product.
			tol := slack(d) / 2 * L2.Of(x)
			if at >= len(found) || found[at].row < from || found[at].row >= from+s.group || math.Abs(found[at].by-worst) > tol || math.Abs(by[found[at].row-from]-worst) > tol {
				t.Fatalf("rows from %d: %+v, want one by %v", from, found, worst)
			}
			at++
		}
	}
}

func TestNormalise(t *testing.T) {
	for _, exponent := range []int{-1070, -1000, -3, 0, 5, 1000} {
		row := []float64{math.Ldexp(3, exponent), 0, math.Ldexp(-4, exponent)}
		length, scale, err := normalise(row, 2)
		if err != nil || scale != math.Ldexp(4, exponent) || length != 1.25 || math.Abs(row[0]-.6) > 0x1p-53 || row[1] != 0 || math.Abs(row[2]+.8) > 0x1p-53 {
			t.Errorf("2^%d: length %v, scale %v, %v, %v", exponent, length, scale, row, err)
		}
	}
	if length, scale, err := normalise([]float64{0, 0}, 1); length != 0 || scale != 1 || err != nil {
		t.Errorf("zeros: length %v, scale %v, %v", length, scale, err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if length, scale, err := normalise([]float64{1, v}, 7); length != 0 || scale != 0 || err == nil || !strings.HasPrefix(err.Error(), "linprog: Ψ[7,1] = ") {
			t.Errorf("%v: length %v, scale %v, %v", v, length, scale, err)
		}
	}
}

// Of several rows with bad entries the error is that of the first, on any number of cores.
func TestScanNamesTheFirstBadRow(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n, d = 40000, 3
	psi := columns(n, d, func(_, _ int) float64 { return 1 })
	for _, i := range []int{21000, 33000, 39999} {
		psi[2][i] = math.NaN()
	}
	for range 10 {
		if found, share, err := newScanner(psi).scan(background, ones(d), nil); err == nil || !strings.Contains(err.Error(), "Ψ[21000,2]") || found != nil || share != 0 {
			t.Fatalf("%v, %v, %v", found, share, err)
		}
	}
}

// A refutation in rational numbers, asked for where rounding has a proof too, is one.
func TestSharpen(t *testing.T) {
	seen := map[Norm]int{}
	for seed := range uint64(400) {
		m := smallProgram(rand.New(rand.NewPCG(seed, 12)))
		p := m.program()
		s := newSolver(p)
		s.withoutRounding()
		if err := s.begin(background); err != nil {
			t.Fatal(err)
		}
		_, err := s.run(background)
		var e *InfeasibleError
		if !errors.As(err, &e) || e.Rows == nil {
			continue
		}
		got := s.contradiction()
		common := math.Abs(got.Hyperplane) * L2.Of(p.g)
		for _, c := range s.refuting {
			for _, m := range got.Rows {
				if m.Row == c.row {
					common = max(common, m.Value*c.length)
				}
			}
		}
		if got.Exact == nil && p.norm != L1 && !slices.ContainsFunc(s.refuting, func(c *cut) bool { return c.row == ball }) && !(.999 < common && common < 2.001) {
			t.Errorf("%d: multipliers of a size of %v, want between 1 and 2", seed, common)
		}
		if s.sharpen(got); got.Exact == nil {
			t.Errorf("%d: no proof: %+v", seed, e)
			continue
		}
		seen[p.norm]++
		if err := checkExact(p, got); err != nil {
			t.Errorf("%d: %v", seed, err)
		}
		if len(got.Exact) != len(got.Rows)+1 || !slices.IsSortedFunc(got.Rows, func(a, b Multiplier) int { return a.Row - b.Row }) {
			t.Errorf("%d: %d numbers of %v", seed, len(got.Exact), got.Rows)
		}
		kappa, _ := got.Exact[len(got.Rows)].Float64()
		if got.Hyperplane != kappa || math.IsInf(p.radius, 1) && !math.IsInf(got.Radius, 1) || got.Radius < p.radius || got.Radius < e.Radius*(1-0x1p-49) {
			t.Errorf("%d: %+v of %+v", seed, got, e)
		}
		most := 0.0
		for _, m := range e.Rows {
			most = max(most, m.Value)
		}
		if most > 4 || math.Abs(most) < 1e-3 {
			t.Errorf("%d: multipliers of size %v", seed, most)
		}
	}
	for _, norm := range []Norm{L2, LInf, L1} {
		if seen[norm] < 5 {
			t.Errorf("%v: %d proofs", norm, seen[norm])
		}
	}
}

// What is told early is the best feasible point and the best bound, or what there is.
func TestUnfinished(t *testing.T) {
	for _, r := range []float64{2, math.Inf(1)} {
		s := newSolver(Mixture{B: []float64{1, 2}, Psi: Columns{{1, 0}, {0, 1}}, R: r}.program())
		s.violation = .25
		sol := s.unfinished()
		if s.bound != sol.Bound || s.dual.Hyperplane != sol.Hyperplane || math.IsInf(sol.Bound, 0) {
			t.Errorf("%+v, kept %v of %+v", sol, s.bound, s.dual)
		}
		if !slices.Equal(sol.Theta, s.x) || sol.Violation != .25 {
			t.Errorf("%+v, want the present point", sol)
		}
		if math.IsInf(r, 1) && sol.Radius != 1024*L2.Of(s.x) || r == 2 && sol.Radius != 2 {
			t.Errorf("radius %v, R = %v", sol.Radius, r)
		}
		s.best = incumbent{theta: []float64{.75, .25}, objective: 1.25}
		s.bound, s.dual = 1.125, Dual{Hyperplane: 1.125}
		sol = s.unfinished()
		if !slices.Equal(sol.Theta, []float64{.75, .25}) || sol.Objective != 1.25 || sol.Violation != 0 {
			t.Errorf("%+v, want the incumbent", sol)
		}
		if r == 2 && (sol.Bound != 1.125 || sol.Hyperplane != 1.125) {
			t.Errorf("%+v, want the best bound", sol)
		}
		s.cuts = append(s.cuts, &cut{}, &cut{})
		s.u0, s.u1 = []float64{-5, 1, 1}, []float64{1, 2, -3}
		if got := s.nearby(.5); !slices.Equal(got, []float64{-4.5, 2, 0}) {
			t.Errorf("multipliers %v", got)
		}
	}
}

// A ball of ℓ₁ that is not active has no multiplier, and rounding gives it none.
func TestInactiveBall(t *testing.T) {
	for seed := range uint64(20) {
		for _, norm := range []Norm{L2, LInf, L1} {
			sol, err := Mixture{B: costs(5, seed), Psi: measures(60, 5, .2, seed), Norm: norm, R: 1e3}.Solve(background, Settings{})
			if err != nil || norm.Of(sol.Theta) > 900 || sol.Ball != 0 {
				t.Errorf("%v: %+v, %v", norm, sol, err)
			}
		}
	}
}

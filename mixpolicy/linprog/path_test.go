package linprog

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// b = mean·g + length·b̂ with gᵀb̂ = 0 and ‖b̂‖₂ = 1, or b̂ = 0 where that is all rounding.
func TestNewPath(t *testing.T) {
	for _, c := range []struct {
		b, g, unit   []float64
		mean, length float64
	}{
		{[]float64{5, 1}, []float64{1, 1}, []float64{math.Sqrt(.5), -math.Sqrt(.5)}, 3, math.Sqrt(8)},
		{[]float64{8, 1}, []float64{2, 0}, []float64{0, 1}, 4, 1},
		{[]float64{1, 1 + 0x1p-51}, []float64{1, 1}, []float64{0, 0}, 1 + 0x1p-52, 0}, // 2⁻⁵¹/√2 of 2⁻⁵¹√2
		{[]float64{1, 1, 0x1.5p-51}, []float64{1, 1, 0}, []float64{0, 0, 0}, 1, 0},    // ‖g‖ = √2
		{[]float64{8, 0x1.fp-49}, []float64{2, 0}, []float64{0, 0}, 4, 0},             // 2⁻⁵¹·4·2 and less is rounding
		{[]float64{8, 0x1.1p-48}, []float64{2, 0}, []float64{0, 1}, 4, 0x1.1p-48},
	} {
		p := newPath(program{b: c.b, g: c.g, psi: unread{0, len(c.b)}, norm: L2, radius: math.Inf(1)})
		const tol = 8 * 0x1p-53 // 2d + 2 roundings
		if math.Abs(p.mean-c.mean) > tol*c.mean || math.Abs(p.length-c.length) > tol*c.length || floats.Distance(p.objective, c.unit, 2) > tol {
			t.Errorf("b = %v, g = %v: mean %v, length %v, b̂ = %v", c.b, c.g, p.mean, p.length, p.objective)
		}
	}
}

// The cut of a polyhedral ball is the most violated of all its facets.
func TestBallCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 400 {
		d := 2 + rng.IntN(4)
		norm, r := pick(rng, LInf, L1), pick(rng, 1, 1.25, 2)
		p := newPath(Mixture{B: costs(d, 1), Psi: unread{0, d}, Norm: norm, R: r}.program())
		p.x = vector(d, func() float64 { return math.Round(4*rng.NormFloat64()) / 4 })
		if c, by := p.ballCut(0); c != nil || by != 0 {
			t.Fatal("a cut of a ball that is left out")
		}
		p.inside = true
		worst := 0.0
		if norm == LInf {
			for _, v := range p.x {
				worst = max(worst, math.Abs(v)-r)
			}
		} else {
			for set := 1; set < 1<<d; set++ {
				sum, size := 0.0, 0.0
				for j, v := range p.x {
					if set>>j&1 == 1 {
						sum, size = sum+v, size+1
					}
				}
				if r > 1 || size == 1 { // the facets of the simplex are those of one entry
					worst = max(worst, (-(r-1)/2-sum)/math.Sqrt(size))
				}
			}
		}
		// Without rounding the cut is one of those that are violated: of ℓ₁ that of all negative
		// entries, or of one for the simplex.
		e := &exactPath{x: position{den: big.NewInt(4)}}
		for _, v := range p.x {
			e.x.lead, e.x.rest = append(e.x.lead, new(big.Int)), append(e.x.rest, big.NewInt(int64(4*v)))
		}
		negative := 0
		for _, v := range p.x {
			if v < 0 {
				negative++
			}
		}
		switch c := e.ballCut(p); {
		case c == nil:
			if norm == LInf && worst > 0 || norm == L1 && L1.Of(p.x)-floats.Sum(p.x) > r-1 {
				t.Fatalf("%v, R = %v, x = %v: no cut", norm, r, p.x)
			}
		case c.rhs <= floats.Dot(c.normal, p.x):
			t.Fatalf("%v, R = %v, x = %v: %+v", norm, r, p.x, c)
		case norm == L1:
			entries := 0
			for j, v := range c.normal {
				if v > 0 {
					entries++
				}
				if v > 0 != (p.x[j] < 0) && (v > 0 || r > 1) {
					t.Fatalf("R = %v, x = %v: cut %v", r, p.x, c.normal)
				}
			}
			if r == 1 && entries != 1 || r > 1 && entries != negative {
				t.Fatalf("R = %v, x = %v: cut %v", r, p.x, c.normal)
			}
		}
		c, by := p.ballCut(0)
		if (c != nil) != (worst > 0) || by != worst {
			t.Fatalf("%v, R = %v, x = %v: %+v by %v, want %v", norm, r, p.x, c, by, worst)
		}
		if c == nil {
			continue
		}
		// Quarters have no rounding; of a unit normal's product it is that of d + 4 operations.
		tol := slack(d) / 16
		if miss := c.rhs - floats.Dot(c.normal, p.x); math.Abs(miss-by) > tol*(r+L2.Of(p.x)) || math.Abs(floats.Norm(c.normal, 2)-1) > tol || c.row != ball || c.scale != 1 {
			t.Fatalf("%+v: off by %v, want %v", c, miss, by)
		}
		// It joins the pool, once.
		if c, v := p.violated(); c == nil || v != by || len(p.pool) != 1 || p.pool[0] != c {
			t.Fatalf("violated by %v, want %v; a pool of %d", v, by, len(p.pool))
		}
		if again, _ := p.violated(); norm == LInf && (again != p.pool[0] || len(p.pool) != 1) { // nothing is rounded
			t.Fatalf("a cut made twice")
		}
		// Ties go to the first entries, and what is not beyond the limit is no cut.
		if norm == LInf {
			at := slices.IndexFunc(c.normal, func(v float64) bool { return v != 0 })
			if slices.IndexFunc(p.x, func(v float64) bool { return math.Abs(v) == LInf.Of(p.x) }) != at {
				t.Fatalf("x = %v, cut %v", p.x, c.normal)
			}
		}
		if norm == L1 {
			for i := range d {
				for j := range i {
					if p.x[i] == p.x[j] && c.normal[i] > 0 && c.normal[j] == 0 {
						t.Fatalf("x = %v, cut %v", p.x, c.normal)
					}
				}
			}
		}
		if c, _ := p.ballCut(by); c != nil {
			t.Fatalf("a cut by no more than %v", by)
		}
	}
}

func TestPathParts(t *testing.T) {
	p := newPath(Mixture{B: []float64{1, 2, 4}, Psi: unread{0, 3}, R: math.Inf(1)}.program())
	// u = u0 + t u1 ends at t = 3/½ and 8/2; the hyperplane's has no sign.
	p.cuts = append(p.cuts, &cut{}, &cut{}, &cut{})
	p.u0, p.u1 = []float64{1, 3, 8, 5}, []float64{-1, -.5, -2, 0}
	if got := p.release(); got != 4 {
		t.Errorf("release at t = %v, want 4", got)
	}
	p.u1 = []float64{-1, 1, 0, 2}
	if got := p.release(); !math.IsInf(got, 1) {
		t.Errorf("release at t = %v, want +∞", got)
	}
	p.v = []float64{300, -400, 0}
	least := p.rounding() * 500
	for _, c := range []struct {
		normal []float64
		want   bool
	}{{[]float64{1, 0, 0}, true}, {[]float64{0, 1, 0}, false}, {[]float64{-.9 * least / 300, 0, 0}, true}, {[]float64{-1.1 * least / 300, 0, 0}, false}} {
		p.pool = []*cut{{normal: []float64{0, 0, 1}}, {normal: c.normal}}
		if got := p.recedes(); got != c.want {
			t.Errorf("v = %v recedes from %v: %v", p.v, c.normal, got)
		}
	}
}

// Of a long pool the 64 cuts that were violated most are kept, and read before the others.
func TestLongPool(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	const d = 64
	for _, n := range []int{1 << 11, 1<<11 + 1} {
		p := newPath(Mixture{B: costs(d, 1), Psi: unread{0, d}, R: math.Inf(1)}.program())
		p.x = vector(d, rng.NormFloat64)
		for range n {
			a := vector(d, rng.NormFloat64)
			floats.Scale(1/L2.Of(a), a)
			p.pool = append(p.pool, &cut{normal: a})
		}
		by := func(c *cut) float64 { return -floats.Dot(c.normal, p.x) }
		sorted := slices.Clone(p.pool)
		slices.SortFunc(sorted, func(a, b *cut) int {
			if by(a) > by(b) {
				return -1
			}
			return 1
		})
		c, most := p.violated()
		if c != sorted[0] || most != by(c) {
			t.Errorf("violated by %v, want %v", most, by(sorted[0]))
		}
		if n*d > 1<<17 && !slices.Equal(p.short, sorted[:64]) || n*d <= 1<<17 && len(p.short) > 0 {
			t.Errorf("%d cuts: a short list of %d", n, len(p.short))
		}
		// Where the other way is violated, and nothing of the short list, the list is made anew.
		floats.Scale(-1, p.x)
		slices.Reverse(sorted)
		if c, _ := p.violated(); c != sorted[0] || len(p.short) > 0 && !slices.Equal(p.short, sorted[:64]) {
			t.Errorf("%d cuts: a short list of %d that is not new", n, len(p.short))
		}
		p.short = sorted[5:9]
		if c, _ := p.violated(); c != sorted[5] {
			t.Error("the short list is not read first")
		}
	}
}

package linprog

import (
	"math"
	"math/rand/v2"
	"testing"
)

// work is what solving takes: passes over all rows, steps, and rows and other cuts in the pool.
type work struct{ scans, pivots, rows, cuts int }

func workOf(s *solver) work { return work{s.scans, s.pivots, len(s.known), len(s.pool)} }

func (w work) within(most work) bool {
	return w.scans <= most.scans && w.pivots <= most.pivots && w.rows <= most.rows && w.cuts <= most.cuts
}

// The rules by which rows are chosen and t is raised make no other solution but more or less work.
// This is the most that they take now, with products and sums fused or not, in any order of a sum
// that gonum has: a change may make it less.
func TestWork(t *testing.T) {
	const n, d = 2000, 12
	rng := rand.New(rand.NewPCG(2, 4))
	leaning := columns(n, d, func(_, _ int) float64 { return rng.NormFloat64() + 1 })
	for _, c := range []struct {
		psi  Rows
		norm Norm
		r    float64 // in units of the least
		most work
	}{
		{measures(n, d, .2, 5), L2, 1.3, work{4, 4, 91, 91}},
		{measures(n, d, .2, 5), L2, 3, work{9, 86, 260, 260}},
		{measures(n, d, .2, 5), LInf, 1.3, work{11, 154, 245, 254}},
		{measures(n, d, .2, 5), LInf, 3, work{10, 158, 244, 248}},
		{measures(n, d, .2, 5), L1, 3, work{9, 126, 244, 244}},
		{leaning, L2, 1.5, work{5, 24, 28, 28}},
		{leaning, L2, math.Inf(1), work{6, 23, 109, 109}},
		{leaning, LInf, 1.2, work{8, 49, 110, 121}},
		{leaning, L1, 1, work{7, 35, 109, 111}},
		{leaning, L1, 1.05, work{7, 37, 109, 111}},
	} {
		p := Mixture{B: costs(d, 1), Psi: c.psi, Norm: c.norm, R: c.r * c.norm.OnHyperplane(d)}
		s := newSolver(p.program())
		if err := s.begin(background); err != nil {
			t.Fatal(err)
		}
		_, err := s.run(background)
		if got := workOf(s); err != nil || !got.within(c.most) || s.exact != nil {
			t.Errorf("%v, R = %v: %+v, %v, want at most %+v; exact %v", c.norm, c.r, got, err, c.most, s.exact != nil)
		}
		if sol, err := p.Solve(background, Settings{}); err != nil || sol.Scans != s.scans || sol.Pivots != s.pivots {
			t.Errorf("%v, R = %v: %+v, want %+v; %v", c.norm, c.r, sol, workOf(s), err)
		}
	}
	// All kinds of degenerate programs together, with rounding and without.
	var rounded, exact work
	for seed := range 54 {
		p := degenerate(seed, rand.New(rand.NewPCG(uint64(seed), 9)))
		if !math.IsInf(p.radius, 1) && p.norm.misses(p.radius, len(p.b)) {
			continue
		}
		for k, total := range []*work{&rounded, &exact} {
			s := newSolver(p)
			if k == 1 {
				if len(p.b) > 4 {
					continue
				}
				s.withoutRounding()
			}
			if err := s.begin(background); err != nil {
				t.Fatal(err)
			}
			s.run(background)
			w := workOf(s)
			total.scans += w.scans
			total.pivots += w.pivots
			total.rows += w.rows
			total.cuts += w.cuts
		}
	}
	if most := (work{225, 321, 537, 546}); !rounded.within(most) {
		t.Errorf("degenerate programs: %+v, want at most %+v", rounded, most)
	}
	if most := (work{45, 49, 138, 138}); !exact.within(most) {
		t.Errorf("degenerate programs without rounding: %+v, want at most %+v", exact, most)
	}
}

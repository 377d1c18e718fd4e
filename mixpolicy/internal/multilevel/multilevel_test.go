package multilevel

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// chain builds a chain from its moves; a move to where it is, is none.
func chain(n int, moves func(i int, move func(j int, p float64))) Chain {
	c := Chain{Leave: make([]float64, n)}
	b := sparse.NewBuilder(n, n, 4*n)
	row := map[int]float64{}
	for i := range n {
		clear(row)
		moves(i, func(j int, p float64) {
			if j != i && j >= 0 && j < n {
				row[j] += p
			}
		})
		to := make([]int, 0, len(row)) // in order, since addition must be reproducible
		for j := range row {
			to = append(to, j)
		}
		slices.Sort(to)
		for _, j := range to {
			b.Set(j, row[j])
			c.Leave[i] += row[j]
		}
		b.EndRow()
	}
	c.In = b.Matrix().Transpose()
	return c
}

// walk is a walk on a grid of side² states, which moves by one in either coordinate.
// Its coordinates are independent birth–death chains, so μ is a product of two
// geometric distributions, of ratios up1/down1 and up2/down2. A state's reach is the sum of
// those of its coordinates: two walks that make the same moves meet when it has come to 0 in
// both.
func walk(side int, up1, down1, up2, down2 float64) (c Chain, mu, reach []float64) {
	c = chain(side*side, func(i int, move func(int, float64)) {
		x, y := i/side, i%side
		if x+1 < side {
			move(i+side, up1)
		}
		if x > 0 {
			move(i-side, down1)
		}
		if y+1 < side {
			move(i+1, up2)
		}
		if y > 0 {
			move(i-1, down2)
		}
	})
	mu, reach = make([]float64, side*side), make([]float64, side*side)
	first, second := descent(side, up1, down1), descent(side, up2, down2)
	for i := range mu {
		mu[i] = math.Exp(float64(i/side)*math.Log(up1/down1) + float64(i%side)*math.Log(up2/down2))
		reach[i] = first[i/side] + second[i%side]
	}
	normalise(mu)
	return c, mu, reach
}

// descent returns the expected number of steps from each state of a birth–death chain to 0:
// from k to k−1 it is (1 + up/down + … + (up/down)^{n−1−k})/down.
func descent(n int, up, down float64) []float64 {
	h, step := make([]float64, n), make([]float64, n+1)
	for k := n - 1; k > 0; k-- {
		step[k] = (1 + up*step[k+1]) / down
	}
	for k := 1; k < n; k++ {
		h[k] = h[k-1] + step[k]
	}
	return h
}

// descent returns the expected number of steps from each state to the one of number 0: h with
// h(i)·Σ_{j≠i} P(i, j) = 1 + Σ_{j≠i} P(i, j) h(j). What a state that is eliminated has on the
// right goes to those that lead to it.
func (x *elimination) descent() []float64 {
	n := len(x.p)
	right, h := make([]float64, n), make([]float64, n)
	for i := range right {
		right[i] = 1
	}
	for k := n - 1; k > 0; k-- {
		for i := range k {
			right[i] += x.p[i][k] * right[k]
		}
	}
	for k := 1; k < n; k++ {
		h[k] = (right[k] + floats.Dot(x.p[k][:k], h[:k])) / x.out[k]
	}
	h[0], h[x.heavy] = h[x.heavy], h[0]
	return h
}

// rounding bounds what rounding may do to the stationary distribution μ, in ℓ₁: flows into a
// state, of as many terms as it has neighbours, and out of it are balanced to so many units in
// the last place of the flow. An imbalance r, Σr = 0, is an error of up to 2Σ|rᵢ|·reachᵢ, where
// reachᵢ is how many steps a chain that starts in i needs, in the mean, to meet one that starts
// in a state that is the same for all i.
func rounding(c Chain, mu, reach []float64) (sum float64) {
	neighbours := make([]int, len(mu))
	for i := range mu {
		from, _ := c.In.Row(i)
		neighbours[i] += len(from)
		for _, j := range from {
			neighbours[j]++
		}
	}
	for i, k := range neighbours {
		sum += 2 * float64(k+2) * 0x1p-53 * mu[i] * c.Leave[i] * reach[i]
	}
	return sum
}

func uniform(n int) []float64 {
	mu := make([]float64, n)
	for i := range mu {
		mu[i] = 1
	}
	return mu
}

// check compares what Stationary finds with the truth, and its estimate of the error
// with the error; for reach see rounding.
func check(t *testing.T, name string, c Chain, want []float64, tolerance float64, reach []float64) {
	t.Helper()
	mu := uniform(len(want))
	r, err := Stationary(context.Background(), c, mu, Settings{Tolerance: tolerance, MaxSweeps: 2000})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	off := floats.Distance(mu, want, 1)
	floor := rounding(c, want, reach)
	t.Logf("%-22s %4d sweeps, residual %.2g, error %.2g, estimated %.2g, rounding %.2g", name, r.Sweeps, r.Residual, off, r.Error, floor)
	if r.Residual > tolerance {
		t.Errorf("%s: residual %.3g, want %.3g", name, r.Residual, tolerance)
	}
	// The estimate solves for the error up to a half.
	if off > 2*r.Error+floor || r.Error > 4*off+floor {
		t.Errorf("%s: error %.3g, estimated %.3g", name, off, r.Error)
	}
	if floats.Min(mu) <= 0 {
		t.Errorf("%s: a mass is %v, want all positive", name, floats.Min(mu))
	}
}

func TestKnownMeasures(t *testing.T) {
	for _, k := range []struct {
		name                   string
		side                   int
		up1, down1, up2, down2 float64
	}{
		{"symmetric walk", 60, .2, .2, .2, .2},
		{"slow drift", 100, .2, .21, .2, .21},
		{"strong drift", 100, .1, .3, .12, .3},
		{"fast and slow", 60, .002, .0022, .2, .21},
	} {
		c, mu, reach := walk(k.side, k.up1, k.down1, k.up2, k.down2)
		check(t, k.name, c, mu, 1e-12, reach)
	}
	// A line, on which groups are of two.
	const n = 5000
	line := chain(n, func(i int, move func(int, float64)) { move(i+1, .458); move(i-1, .46) })
	mu := make([]float64, n)
	for i := range mu {
		mu[i] = math.Exp(float64(i) * math.Log(.458/.46))
	}
	normalise(mu)
	// At the first tolerance the error is above what rounding does, at the second it is not.
	for _, tolerance := range []float64{1e-12, 1e-13} {
		check(t, "line", line, mu, tolerance, descent(n, .458, .46))
	}
}

// Chains without a closed form, against elimination of all states.
func TestAgainstElimination(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	const n = 700
	for _, k := range []struct {
		name string
		c    Chain
	}{
		{"random", chain(n, func(i int, move func(int, float64)) {
			move((i+1)%n, .05)
			for range 9 {
				move(rng.IntN(n), .1*rng.Float64())
			}
		})},
		// Sweeps seem to have converged long before the masses of the clusters have.
		{"two clusters", chain(n, func(i int, move func(int, float64)) {
			const half = n / 2
			move(i/half*half+(i+1)%half, .1)
			for range 5 {
				move(i/half*half+rng.IntN(half), .1)
			}
			if i == 0 {
				move(n-1, 2e-4)
			}
			if i == half {
				move(1, 1e-3)
			}
		})},
		{"one-way ring", chain(n, func(i int, move func(int, float64)) { move((i+1)%n, .1+.9*rng.Float64()) })},
		// Sweeps would cycle if they did not use each mass as soon as it is updated.
		{"periodic", chain(n, func(i int, move func(int, float64)) {
			move((i+1)%n, .5+.3*math.Sin(float64(i)))
			move((i+n-1)%n, .5-.3*math.Sin(float64(i)))
		})},
		{"hub", chain(n, func(i int, move func(int, float64)) {
			if i == 0 {
				for j := range n {
					move(j, rng.Float64()/n)
				}
				return
			}
			move(0, rng.Float64()/2)
			move((i+n/2)%n, .1)
		})},
	} {
		x := newElimination(n)
		x.factor(k.c.In, uniform(n))
		mu := make([]float64, n)
		x.stationary(mu)
		check(t, k.name, k.c, mu, 1e-14, x.descent())
	}
}

// Two clusters, entered and left once in 10⁹ steps. Balances find their masses to the last
// digits. The estimate of the error can't know that: it is made from a residual that is
// rounded, by 10⁻¹⁵, which over 10⁹ steps may move 10⁻⁶ of the mass.
func TestTrap(t *testing.T) {
	const n, half = 700, 350
	rng := rand.New(rand.NewPCG(4, 3))
	c := chain(n, func(i int, move func(int, float64)) {
		for range 4 {
			move(i/half*half+rng.IntN(half), .2)
		}
		move(i/half*half+(i+1)%half, .1)
		if i%half == 7 {
			move((i+half)%n, 1e-9*float64(1+i/half))
		}
	})
	want, mu := eliminated(c), uniform(n)
	r, err := Stationary(t.Context(), c, mu, Settings{Tolerance: 1e-13, MaxSweeps: 2000})
	if err != nil {
		t.Fatal(err)
	}
	if off := floats.Distance(mu, want, 1); off > 1e-11 || r.Error > 1e-4 {
		t.Errorf("error %v, estimated %v", off, r.Error)
	}
}

// Ten clusters in a ring, from each of which one in 10³⁰⁰ moves on, or fewer: numbers
// near the least there are, products of them below. Elimination knows every mass to its
// last digits; so do balances.
func TestTinyProbabilities(t *testing.T) {
	const clusters, size = 10, 60
	const n = clusters * size
	rng := rand.New(rand.NewPCG(3, 1))
	c := chain(n, func(i int, move func(int, float64)) {
		first := i / size * size
		move(first+(i+1-first)%size, .3)
		move(first+rng.IntN(size), .3)
		if i == first {
			move((i+size)%n, 1e-300*math.Pow(10, -float64(i/size%5)))
		}
	})
	want, mu := eliminated(c), uniform(n)
	if _, err := Stationary(t.Context(), c, mu, Settings{Tolerance: 1e-14, MaxSweeps: 2000}); err != nil {
		t.Fatal(err)
	}
	for i, v := range mu {
		// Shares in a cluster are known to 1e-14 of the mass that moves there, and a state
		// has a hundredth of it or so.
		if math.Abs(v-want[i]) > 1e-10*want[i] {
			t.Fatalf("state %d has mass %v, want %v", i, v, want[i])
		}
	}
}

// eliminated is the stationary distribution by elimination of all states.
func eliminated(c Chain) []float64 {
	mu := make([]float64, len(c.Leave))
	x := newElimination(len(mu))
	x.factor(c.In, uniform(len(mu)))
	x.stationary(mu)
	return mu
}

// entrywise is the relative error that elimination of n states may leave in a mass, or in an
// expected number of visits. To eliminate the last of k states changes the probabilities of the
// others by up to k+3 roundings each. What is sought is a ratio of sums of products of at most k
// of them, all positive (the matrix-tree theorem), and so changes by 2k(k+3), in all by
// Σ_{k<n} 2k(k+3) ≤ 2n³ roundings (O'Cinneide 1993).
func entrywise(n int) float64 { return 2 * float64(n*n*n) * 0x1p-53 }

// Elimination against the definition: μP = μ, and e(I − P) = b.
func TestElimination(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		c := chain(n, func(i int, move func(int, float64)) {
			move((i+1)%n, rapid.Float64Range(.01, .5).Draw(t, "p"))
			move(rapid.IntRange(0, n-1).Draw(t, "j"), rapid.Float64Range(.01, .5).Draw(t, "p"))
		})
		l := &level{in: c.In, leave: c.Leave}
		mass := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "mass")
		x := newElimination(n)
		x.factor(c.In, mass)
		mu, b, e, left := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		x.stationary(mu)
		l.imbalance(left, mu)
		if norm1(left) > 2*entrywise(n) { // what enters and leaves, in all at most 1 each
			t.Fatalf("stationary: residual %v", norm1(left))
		}
		for i := range b {
			b[i] = rapid.Float64Range(-1, 1).Draw(t, "b")
		}
		floats.AddConst(-floats.Sum(b)/float64(n), b)
		x.solve(e, b)
		l.imbalance(left, e)
		floats.Add(left, b)
		// Before Σe = 0 is seen to, e is what |b| would be carried to at most, with signs: in all
		// Σ|bᵢ|·(steps from i to the heavy state). As much of μ is then taken away. What Σb is by
		// rounding stays.
		var carried float64
		for i, h := range x.descent() {
			carried += math.Abs(b[i]) * (1 + h)
		}
		if tol := 4*entrywise(n)*carried + math.Abs(floats.Sum(b)); norm1(left) > tol || math.Abs(floats.Sum(e)) > tol {
			t.Fatalf("solve: residual %v, sum %v, want at most %v", norm1(left), floats.Sum(e), tol)
		}
	})
}

// Lumped under its own stationary distribution, a chain has the group masses as its
// stationary distribution; and the cycles leave the distribution alone.
func TestLumpedChainKeepsTheMeasure(t *testing.T) {
	c, mu, _ := walk(40, .2, .25, .2, .22)
	s := newSolver(context.Background(), c, slices.Clone(mu), Settings{})
	s.top.build()
	s.top.freeze(mu, every(len(mu)))
	levels := 0
	for l := s.top; l != nil; l = l.next {
		left := make([]float64, len(l.mass))
		l.imbalance(left, l.mass)
		if l.next != nil && norm1(left) > 1e-14 || math.Abs(floats.Sum(l.mass)-1) > 1e-12 && l.next != nil {
			t.Errorf("level %d: residual %v, mass %v", levels, norm1(left), floats.Sum(l.mass))
		}
		levels++
	}
	if levels < 2 {
		t.Fatalf("%d levels for 1600 states", levels)
	}
	z := slices.Clone(mu)
	s.top.balance(z)
	normalise(z)
	if d := floats.Distance(z, mu, 1); d > 1e-11 {
		t.Errorf("a balance moves the stationary distribution by %v", d)
	}
}

func TestPairs(t *testing.T) {
	c, _, _ := walk(30, .2, .1, .2, .1)
	x := pair(c.In, alone(c.In.Rows))
	group, groups := x.group, x.groups()
	size := make([]int, groups)
	next := int32(0)
	for _, g := range group {
		if g > next {
			t.Fatalf("group %d comes before group %d", g, next)
		}
		if g == next {
			next++
		}
		size[g]++
	}
	if slices.Min(size) < 2 {
		t.Errorf("a group of %d, want two states or more in each", slices.Min(size))
	}
}

// Results are the same to the bit in a second run, and with any number of processors, for
// a chain that has blocks of several colours and one whose blocks are split.
func TestSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	grid, _, _ := walk(150, .2, .21, .2, .22)
	for k, c := range []Chain{grid, shuffled(20_000)} {
		n := len(c.Leave)
		o := newOrder(c.In)
		if want := k == 1; o.split != want || !want && len(o.colours) < 2 {
			t.Fatalf("blocks of %d colours, split: %v", len(o.colours), o.split)
		}
		var first []float64
		for _, processors := range []int{1, 1, 2, 5} {
			runtime.GOMAXPROCS(processors)
			mu := uniform(n)
			r, err := Stationary(t.Context(), c, mu, Settings{Tolerance: 1e-12, MaxSweeps: 1000})
			if err != nil {
				t.Fatal(err)
			}
			mu = append(mu, r.Residual, r.Error)
			if first == nil {
				first = mu
			}
			if !slices.Equal(mu, first) {
				t.Errorf("chain %d: another result with %d processors", k, processors)
			}
		}
	}
}

// No block has a move to another of its colour; rows are arranged as they are visited;
// and every block is visited once.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40_000).Draw(t, "n")
		jumps := rapid.SliceOfN(rapid.IntRange(1, max(1, n/4)), 1, 3).Draw(t, "jumps")
		b := sparse.NewBuilder(n, n, n*len(jumps))
		for i := range n {
			row := map[int]bool{}
			for _, k := range jumps {
				if j := (i + k) % n; j != i && !row[j] {
					row[j] = true
					b.Set(j, float64(k))
				}
			}
			b.EndRow()
		}
		in := b.Matrix()
		o := newOrder(in)
		split, later := o.arrange(in)
		when := make([]int, n) // a forward sweep visits a state
		clock := 0
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		o.visit(false, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				clock++
				when[i] = clock
			}
		})
		if clock != n {
			t.Fatalf("%d of %d states visited", clock, n)
		}
		// Some of the states are visited in the order of all.
		var some, seen []int32
		for i := range n {
			if i%7 == 3 || i > n/2 && i < 2*n/3 {
				some = append(some, int32(i))
			}
		}
		among := o.among(some)
		among.visit(false, func(lo, hi int) { seen = append(seen, some[lo:hi]...) })
		if len(seen) != len(some) || !slices.IsSortedFunc(seen, func(i, j int32) int { return when[i] - when[j] }) {
			t.Fatalf("%d of %d states visited, or not in the order of all", len(seen), len(some))
		}
		for i := range n {
			for e := in.Ptr[i]; e < in.Ptr[i+1]; e++ {
				j := int(in.Col[e])
				if in.Val[e] != float64((j-i+n)%n) && len(jumps) == 1 {
					t.Fatalf("row %d has lost its values", i)
				}
				if a, b := i>>o.shift, j>>o.shift; a != b && o.colour[a] == o.colour[b] {
					if !o.split || e < split[i] || e >= later[i] {
						t.Fatalf("state %d is entered from %d, in another block of its colour", i, j)
					}
					continue
				}
				if (e < split[i]) != (when[j] < when[i]) || (e >= later[i]) != (when[j] > when[i]) {
					t.Fatalf("state %d comes from %d in place %d of its row, where later ones begin at %d", i, j, e, later[i])
				}
			}
		}
	})
}

// shuffled is a chain whose numbering is unrelated to its transitions, so its blocks are split.
func shuffled(n int) Chain {
	rng := rand.New(rand.NewPCG(2, 7))
	return chain(n, func(i int, move func(int, float64)) {
		move((i+1)%n, .1)
		for range 3 {
			move(rng.IntN(n), .3*rng.Float64())
		}
	})
}

// What a correction leaves of b is what it says it leaves, in all states and in some.
func TestCorrectionLeaves(t *testing.T) {
	grid, _, _ := walk(150, .2, .25, .2, .22)
	for _, c := range []Chain{grid, shuffled(20_000)} {
		n := len(c.Leave)
		s := newSolver(t.Context(), c, uniform(n), Settings{})
		s.top.build()
		s.top.balance(s.mu)
		normalise(s.mu)
		var some []int32
		for i := range n {
			if i%100 > 30 && i%3 > 0 {
				some = append(some, int32(i))
			}
		}
		for _, states := range [][]int32{every(n), some} {
			s.cycle = s.top.freeze(s.mu, states)
			e, b, r := make([]float64, len(states)), make([]float64, len(states)), make([]float64, len(states))
			for k := range b {
				b[k] = math.Sin(float64(k * k))
			}
			floats.AddConst(-floats.Sum(b)/float64(len(b)), b)
			s.cycle.correct(e, b, r, true)
			all, left := make([]float64, n), make([]float64, n)
			for k, i := range states {
				all[i] = e[k]
			}
			s.top.imbalance(left, all)
			want := gather(left, states)
			floats.Add(want, b)
			// Sums of a dozen terms like e are rounded.
			if off := floats.Distance(r, want, 1); off > 1e-15*floats.Norm(e, 1) {
				t.Errorf("%d of %d states: what is left is off by %v of %v", len(states), n, off, floats.Norm(want, 1))
			}
			if left := floats.Norm(r, 1); left > .9*floats.Norm(b, 1) {
				t.Errorf("%d of %d states: %v is left of %v", len(states), n, left, floats.Norm(b, 1))
			}
		}
	}
}

// Corrections are for the states that have all but a part of the mass and of the residual;
// what is found with them is as good.
func TestHeavyStates(t *testing.T) {
	c, want, _ := walk(200, .1, .15, .12, .15)
	mu := slices.Clone(want)
	s := newSolver(t.Context(), c, mu, Settings{Tolerance: 1e-10})
	for i := range s.residual {
		s.residual[i] = 1e-13 * mu[i] * math.Sin(float64(i))
	}
	const light = 1e-11
	heavy := s.heavy(light)
	if len(heavy) == 0 || 4*len(heavy) > 3*len(mu) {
		t.Fatalf("%d of %d states, want a part of them", len(heavy), len(mu))
	}
	var left float64
	for i, within := range numbers(len(mu), heavy) {
		if within == none {
			left += mu[i] + math.Abs(s.residual[i])
		}
	}
	// Weights go by powers of two, so at least a part of what may be left is.
	if left > light || left < light/64 {
		t.Errorf("%v is left to the others, want up to %v", left, light)
	}
	mu = uniform(len(want))
	r, err := Stationary(t.Context(), c, mu, Settings{Tolerance: 1e-10, MaxSweeps: 200})
	if off := floats.Distance(mu, want, 1); err != nil || off > 2*r.Error {
		t.Errorf("off by %v, estimated %v, error %v", off, r.Error, err)
	}
}

func TestStops(t *testing.T) {
	c, _, _ := walk(60, .2, .21, .2, .21)
	n := 3600
	for _, after := range []int{0, 10, 13, 20, 30} {
		ctx, cancel := context.WithCancel(context.Background())
		mu := uniform(n)
		_, err := Stationary(ctx, c, mu, Settings{Tolerance: 1e-300, MaxSweeps: 10_000, Progress: func(sweeps int, _ float64) {
			if sweeps >= after {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after %d sweeps: error %v, want context.Canceled", after, err)
		}
		if floats.HasNaN(mu) || floats.Min(mu) < 0 || math.Abs(floats.Sum(mu)-1) > 1e-12 {
			t.Errorf("after %d sweeps: masses from %v, sum %v, want a distribution", after, floats.Min(mu), floats.Sum(mu))
		}
	}
	mu := uniform(n)
	r, err := Stationary(context.Background(), c, mu, Settings{Tolerance: 1e-300, MaxSweeps: 100})
	if err == nil || r.Sweeps < 100 || r.Sweeps > 110 {
		t.Errorf("%d sweeps of 100, error %v", r.Sweeps, err)
	}
}

package multilevel_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/multilevel"
	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// chain builds a chain from its moves. It leaves out moves to the same state or out of range.
func chain(n int, moves func(i int, move func(j int, p float64))) multilevel.Chain {
	c := multilevel.Chain{Leave: make([]float64, n)}
	b := sparse.NewBuilder(n, n, 4*n)
	row := map[int]float64{}
	for i := range n {
		clear(row)
		moves(i, func(j int, p float64) {
			if j != i && j >= 0 && j < n {
				row[j] += p
			}
		})
		to := make([]int, 0, len(row)) // sorted, so that sums are reproducible
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

// walk returns a walk on a grid of side² states, whose steps change one coordinate by one, and its measure μ.
// By detailed balance, μ is a product of two geometric distributions, with the ratios up1/down1 and up2/down2.
func walk(side int, up1, down1, up2, down2 float64) (c multilevel.Chain, mu []float64) {
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
	mu = make([]float64, side*side)
	for i := range mu {
		mu[i] = math.Exp(float64(i/side)*math.Log(up1/down1) + float64(i%side)*math.Log(up2/down2))
	}
	floats.Scale(1/floats.Sum(mu), mu)
	return c, mu
}

// eliminated returns the stationary distribution, by elimination of the states one by one, without subtractions. So the
// relative error of each mass, however small, is at most some n³ roundings (Grassmann, Taksar and Heyman 1985;
// O'Cinneide 1993).
func eliminated(c multilevel.Chain) []float64 {
	n := len(c.Leave)
	p, out := make([][]float64, n), make([]float64, n)
	for i := range p {
		p[i] = make([]float64, n)
	}
	for j := range n {
		from, prob := c.In.Row(j)
		for e, i := range from {
			p[i][j] = prob[e]
		}
	}
	for k := n - 1; k > 0; k-- {
		out[k] = floats.Sum(p[k][:k])
		for i := range k {
			if p[i][k] > 0 {
				floats.AddScaled(p[i][:k], p[i][k]/out[k], p[k][:k])
				p[i][i] = 0
			}
		}
	}
	mu := make([]float64, n)
	mu[0] = 1
	for k := 1; k < n; k++ {
		for i := range k {
			mu[k] += mu[i] * p[i][k] / out[k]
		}
	}
	floats.Scale(1/floats.Sum(mu), mu)
	return mu
}

func uniform(n int) []float64 {
	mu := make([]float64, n)
	for i := range mu {
		mu[i] = 1
	}
	return mu
}

// check compares the result of Stationary with the true measure, and the estimated error with the true error. Up to
// rounding, the error is at most twice the estimate, and the estimate is at most four times the error.
func check(t *testing.T, name string, c multilevel.Chain, want []float64, rounding float64) {
	t.Helper()
	for _, tolerance := range []float64{1e-9, 1e-13} {
		mu := uniform(len(want))
		r, err := multilevel.Stationary(t.Context(), c, mu, multilevel.Settings{Tolerance: tolerance, MaxSweeps: 2000})
		off := floats.Distance(mu, want, 1)
		wrong := off > 2*r.Error+rounding || r.Error > 4*off+rounding
		if r.Error == 2 { // no estimate: allowed for the larger tolerance only
			wrong = tolerance < 1e-12
		}
		if err != nil || r.Residual > tolerance || wrong || floats.Min(mu) <= 0 {
			t.Errorf("%s: residual %.3g, error %.3g, estimated %.3g, %v: %v", name, r.Residual, off, r.Error, err, mu)
		}
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
		{"most mass in a corner", 200, .1, .15, .12, .15}, // corrections leave out the states with hardly any mass
	} {
		c, mu := walk(k.side, k.up1, k.down1, k.up2, k.down2)
		check(t, k.name, c, mu, 1e-11)
	}
	// A line, whose groups are pairs of states.
	const n = 5000
	line := chain(n, func(i int, move func(int, float64)) { move(i+1, .458); move(i-1, .46) })
	mu := make([]float64, n)
	for i := range mu {
		mu[i] = math.Exp(float64(i) * math.Log(.458/.46))
	}
	floats.Scale(1/floats.Sum(mu), mu)
	check(t, "line", line, mu, 1e-9)
}

// Chains without a closed form, against elimination of all states.
func TestAgainstElimination(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	const n = 700
	for _, k := range []struct {
		name  string
		c     multilevel.Chain
		steps float64 // number of steps after which two clusters balance; 0 for other chains
	}{
		{"random", chain(n, func(i int, move func(int, float64)) {
			move((i+1)%n, .05)
			for range 9 {
				move(rng.IntN(n), .1*rng.Float64())
			}
		}), 0},
		// Sweeps seem to have converged long before the masses of the clusters converge.
		{"two clusters", clusters(rng, 2, n/2, func(k int) float64 { return []float64{2e-4, 1e-3}[k] }), n / 2 / 1.2e-3},
		{"one-way ring", chain(n, func(i int, move func(int, float64)) { move((i+1)%n, .1+.9*rng.Float64()) }), 0},
		// Sweeps would cycle if they did not use each mass as soon as it is updated.
		{"periodic", chain(n, func(i int, move func(int, float64)) {
			move((i+1)%n, .5+.3*math.Sin(float64(i)))
			move((i+n-1)%n, .5-.3*math.Sin(float64(i)))
		}), 0},
		{"hub", chain(n, func(i int, move func(int, float64)) {
			if i == 0 {
				for j := range n {
					move(j, rng.Float64()/n)
				}
				return
			}
			move(0, rng.Float64()/2)
			move((i+n/2)%n, .1)
		}), 0},
	} {
		// The residual of a state in a cluster has a rounding error of .6μ2⁻⁵²√9. Independent
		// rounding errors add up like √n. The mass that they move from one cluster to the other stays
		// there for the given number of steps, and the estimate counts this mass up to four times.
		check(t, k.name, k.c, eliminated(k.c), 1e-11+4*.6*3*0x1p-52/math.Sqrt(n)*k.steps)
	}
}

// clusters is a ring of clusters. From the first state of each cluster, a step leads to the next cluster with
// probability leave.
func clusters(rng *rand.Rand, count, size int, leave func(cluster int) float64) multilevel.Chain {
	return chain(count*size, func(i int, move func(int, float64)) {
		first := i / size * size
		move(first+(i+1-first)%size, .1)
		for range 5 {
			move(first+rng.IntN(size), .1)
		}
		if i == first {
			move((i+size)%(count*size), leave(i/size))
		}
	})
}

// A ring and random cycles, whose weights differ by factors of up to 10⁶, as do the masses of the states. Every rate is
// the result of a few roundings, which change a mass by a fraction of at most 10nu (see package reduction). The
// residual that a few corrections leave hides much of the error.
func TestEstimate(t *testing.T) {
	const n = 2000
	for seed := range uint64(20) {
		rng, flows, want, most := rand.New(rand.NewPCG(seed, 1)), make([]map[int]float64, n), make([]float64, n), 0.
		for i := range n {
			flows[i], want[i] = map[int]float64{(i + 1) % n: 4096}, math.Pow(10, 6*rng.Float64())
		}
		for _, p := range [][]int{rng.Perm(n), rng.Perm(n)} {
			for len(p) > 0 {
				k, weight := min(len(p), 2+rng.IntN(100)), 1024*math.Pow(10, 6*rng.Float64())
				for at, i := range p[:k] {
					flows[i][p[(at+1)%k]] += weight
				}
				p = p[k:]
			}
		}
		for i, f := range flows {
			most = max(most, floats.Sum(slices.Sorted(maps.Values(f)))/want[i])
		}
		c := chain(n, func(i int, move func(int, float64)) {
			for j, w := range flows[i] {
				move(j, w/want[i]/most)
			}
		})
		floats.Scale(1/floats.Sum(want), want)
		mu := uniform(n)
		r, err := multilevel.Stationary(t.Context(), c, mu, multilevel.Settings{Tolerance: 1e-14, MaxSweeps: 1500})
		if off := floats.Distance(mu, want, 1); err == nil && off > r.Error+10*n*0x1p-53 {
			t.Errorf("seed %d: off by %v, estimated %v", seed, off, r.Error)
		}
	}
}

// Clusters that a walk leaves once in 10⁹ steps, or once in 10³⁰⁰ steps or more: such small
// probabilities are near the least positive number, and their products are below that number.
// Nevertheless, elimination and Stationary agree on every mass. The estimate of the error is coarser:
// it comes from a residual with rounding errors of 10⁻¹⁵, which may move 10⁻⁶ of the mass in 10⁹ steps.
func TestTraps(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 3))
	for k, c := range []multilevel.Chain{
		clusters(rng, 2, 350, func(k int) float64 { return 1e-9 * float64(1+k) }),
		clusters(rng, 10, 60, func(k int) float64 { return 1e-300 * math.Pow(10, -float64(k%5)) }),
	} {
		want, mu := eliminated(c), uniform(len(c.Leave))
		r, err := multilevel.Stationary(t.Context(), c, mu, multilevel.Settings{Tolerance: 1e-14, MaxSweeps: 2000})
		if err != nil || k == 0 && r.Error > 1e-4 {
			t.Errorf("chain %d: error estimated %v, %v", k, r.Error, err)
		}
		for i, v := range mu {
			// In a cluster, the masses are known to 1e-14 of the mass that moves there, and a state has about a
			// hundredth of this mass.
			if math.Abs(v-want[i]) > 1e-10*want[i] {
				t.Fatalf("chain %d: state %d has mass %v, want %v", k, i, v, want[i])
			}
		}
	}
}

// Results are the same to the bit in a second run, and with any number of processors, even for a chain whose
// numbering is unrelated to its transitions.
func TestSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	grid, _ := walk(150, .2, .21, .2, .22)
	rng := rand.New(rand.NewPCG(2, 7))
	const n = 20_000
	shuffled := chain(n, func(i int, move func(int, float64)) {
		move((i+1)%n, .1)
		for range 3 {
			move(rng.IntN(n), .3*rng.Float64())
		}
	})
	for k, c := range []multilevel.Chain{grid, shuffled} {
		var first []float64
		for _, processors := range []int{1, 1, 2, 5} {
			runtime.GOMAXPROCS(processors)
			mu := uniform(len(c.Leave))
			r, err := multilevel.Stationary(t.Context(), c, mu, multilevel.Settings{Tolerance: 1e-12, MaxSweeps: 1000})
			mu = append(mu, r.Residual, r.Error)
			if first == nil {
				first = mu
			}
			if err != nil || !slices.Equal(mu, first) {
				t.Errorf("chain %d: another result with %d processors, %v", k, processors, err)
			}
		}
	}
}

func TestStops(t *testing.T) {
	c, _ := walk(60, .2, .21, .2, .21)
	n := 3600
	for _, after := range []int{0, 10, 13, 20, 30} {
		ctx, cancel := context.WithCancel(context.Background())
		mu := uniform(n)
		set := multilevel.Settings{Tolerance: 1e-300, MaxSweeps: 10_000, Progress: func(sweeps int, _ float64) {
			if sweeps >= after {
				cancel()
			}
		}}
		_, err := multilevel.Stationary(ctx, c, mu, set)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after %d sweeps: error %v, want context.Canceled", after, err)
		}
		if floats.HasNaN(mu) || floats.Min(mu) < 0 || math.Abs(floats.Sum(mu)-1) > 1e-12 {
			t.Errorf("after %d sweeps: masses from %v, sum %v, want a distribution", after, floats.Min(mu), floats.Sum(mu))
		}
	}
	mu := uniform(n)
	r, err := multilevel.Stationary(t.Context(), c, mu, multilevel.Settings{Tolerance: 1e-300, MaxSweeps: 100})
	if err == nil || r.Sweeps < 100 || r.Sweeps > 110 {
		t.Errorf("%d sweeps of 100, error %v", r.Sweeps, err)
	}
}

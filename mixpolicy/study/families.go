package study

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Family is a distribution of problems. The MDPs are sparse and random ([models.Garnet]), with 100 states, 4 actions, 4
// next states for each pair, costs drawn uniformly from [0, 1), and the discount factor 0.95. In every state, each of
// the Dim base policies has probabilities drawn uniformly from the simplex. The oracle adds noise to the revealed
// costs, except in the families with [Exact] costs. Methods are tuned on some instances of the family and judged on
// other instances of it. Families are not independent: instance k has the same MDP in all families, and the base
// policies of instance k for a smaller Dim are the first base policies of instance k for a greater Dim.
type Family struct {
	Dim   int
	Noise Noise
}

// Noise is the distribution of the noise that the oracle adds to a cost. All these distributions have mean 0.
type Noise int

const (
	Exact    Noise = iota
	Gaussian       // standard deviation 1; the costs themselves are in [0, 1)
	Heavy          // Student's t with 1.5 degrees of freedom: the variance is infinite
	Outliers       // 1000 and −1000, each with probability 1/500; otherwise 0
)

func (n Noise) String() string {
	return [...]string{"exact costs", "Gaussian noise", "heavy tails", "rare outliers"}[n]
}

var outliers = [500]float64{1000, -1000}

// draw returns the generator of the noise, or nil for [Exact].
func (n Noise) draw() func(*rand.Rand) float64 {
	switch n {
	case Gaussian:
		return (*rand.Rand).NormFloat64
	case Heavy:
		return func(rng *rand.Rand) float64 { return distuv.StudentsT{Sigma: 1, Nu: 1.5, Src: rng}.Rand() }
	case Outliers:
		return func(rng *rand.Rand) float64 { return outliers[rng.IntN(len(outliers))] }
	}
	return nil
}

// Families returns the recorded families with the given kinds of noise, or with all kinds if none is given.
func Families(noises ...Noise) (all []Family) {
	if noises == nil {
		noises = []Noise{Exact, Gaussian, Heavy, Outliers}
	}
	for _, n := range noises {
		for _, d := range []int{2, 5, 10, 20, 50} {
			all = append(all, Family{d, n})
		}
	}
	return all
}

// String returns the name of the family in the record, such as "random, d = 10, heavy tails".
func (f Family) String() string { return fmt.Sprintf("random, d = %d, %v", f.Dim, f.Noise) }

// FamilyNames returns the names of the families that [Families] returns.
func FamilyNames(noises ...Noise) (all []string) {
	for _, f := range Families(noises...) {
		all = append(all, f.String())
	}
	return all
}

func family(name string) (f Family, known bool) {
	if k := slices.Index(FamilyNames(), name); k >= 0 {
		return Families()[k], true
	}
	return f, false
}

// Instance draws the k-th problem on which methods are tuned or, if tuning is false, the k-th problem on which the
// tuned methods are judged. These two problems differ.
func (f Family) Instance(k int, tuning bool) (p *mixpolicy.Problem, err error) {
	defer catch(&err)
	seed := uint64(k)
	if tuning {
		seed = ^seed
	}
	x := must(models.Garnet{States: 100, Actions: 4, Branches: 4, Seed: seed, Criterion: mixpolicy.Discounted(0.95)}.MDP())
	rng := rand.New(rand.NewPCG(seed, 1<<32)) // Garnet uses lower streams
	base := make([]*mixpolicy.Policy, f.Dim)
	for j := range base {
		base[j] = must(mixpolicy.PolicyFunc(x, func(_ int, row []float64) {
			var total float64
			for a := range row {
				row[a] = rng.ExpFloat64()
				total += row[a]
			}
			for a := range row {
				row[a] /= total
			}
		}))
	}
	p = must(mixpolicy.NewProblem(must(mixpolicy.NewFeatures(context.Background(), x, base...)), mixpolicy.Ball(2)))
	return p.WithNoise(f.Noise.draw()), nil
}

// Deviation returns the greatest standard deviation of an entry of plug-in's b̂ after T queries, with noise of variance
// σ². Here, T = queries and σ² = variance. The result is the maximum over j of
//
//	√(v_j/T),    v_j = Σ_i ψʲ_i² (c_i² + σ²)/q_i − b_j² ≤ d (E_{ψʲ} c² + σ²),
//
// where the inequality holds because q = (1/d) Σ ψʲ ≥ ψʲ/d. The right side does not depend on the numbers of states and
// actions. b̂ is the mean of the sampled gradients (3.5a) of Algorithm 1 at λ = 0, and also of the sampled gradients of
// the penalty method where Ψθ ⪰ 0.
func Deviation(p *mixpolicy.Problem, variance float64, queries int) (most float64) {
	f, costs := p.Features(), p.MDP().Costs()
	q, b := f.Sampling(), p.BaseCosts()
	for j := range b {
		v := -b[j] * b[j]
		for i, psi := range f.Column(j) {
			if psi > 0 {
				v += psi * psi * (costs[i]*costs[i] + variance) / q[i]
			}
		}
		most = max(most, math.Sqrt(v/float64(queries)))
	}
	return most
}

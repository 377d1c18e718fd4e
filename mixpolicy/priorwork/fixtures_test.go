package priorwork

import (
	"context"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

var background = context.Background()

const u = 0x1p-53

var allCriteria = []mixpolicy.Criterion{mixpolicy.Discounted(0.3), mixpolicy.Discounted(0.95), mixpolicy.AverageCost}

var classes = []mixpolicy.Class{mixpolicy.Ball(2), mixpolicy.Cube(2), mixpolicy.Simplex(), mixpolicy.Ball(.75)}

// identity returns the basis of unit vectors, which spans all value functions.
func identity(n int) *mat.Dense {
	phi := mat.NewDense(n, n, nil)
	for s := range n {
		phi.Set(s, s, 1)
	}
	return phi
}

// random returns a small MDP with positive costs.
func random(t *rapid.T, criterion mixpolicy.Criterion) *mixpolicy.MDP {
	n := rapid.IntRange(2, 8).Draw(t, "n")
	return mixpolicy.Must(models.Garnet{
		States: n, Actions: rapid.IntRange(1, 3).Draw(t, "m"), Branches: rapid.IntRange(1, min(3, n)).Draw(t, "branches"),
		Seed: rapid.Uint64().Draw(t, "seed"), Ring: true, Criterion: criterion,
	}.MDP())
}

func randomBasis(t *rapid.T, n int) *mat.Dense {
	d := rapid.IntRange(1, min(n, 3)).Draw(t, "d")
	return normalBasis(n, d, rapid.Uint64().Draw(t, "basis"))
}

// normalBasis returns a basis whose first column is all ones, and whose other entries are normal.
func normalBasis(n, d int, seed uint64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 0))
	phi := mat.NewDense(n, d, nil)
	for s := range n {
		for j := range d {
			phi.Set(s, j, rng.NormFloat64())
		}
		phi.Set(s, 0, 1)
	}
	return phi
}

// randomWeights returns a distribution over n states that gives every state a positive weight.
func randomWeights(t *rapid.T, n int) []float64 {
	w := rapid.SliceOfN(rapid.Float64Range(.05, 1), n, n).Draw(t, "w")
	floats.Scale(1/floats.Sum(w), w)
	return w
}

// queueProblem is (2.18) for a queue and the base policies of section 6.
func queueProblem(q models.Queue, class mixpolicy.Class) *mixpolicy.Problem {
	x := mixpolicy.Must(q.MDP())
	f := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), x, mixpolicy.Must(q.Policies(x))...))
	return mixpolicy.Must(mixpolicy.NewProblem(f, class))
}

// section6 is (2.18) for the queue of section 6.
func section6(class mixpolicy.Class) *mixpolicy.Problem { return queueProblem(models.Queue{}, class) }

// deFariasVanRoy returns a shorter form of the queue on which de Farias and Van Roy (2003) tested approximate linear
// programming; their queue has 50,000 lengths. The parameters are from a secondary source.
func deFariasVanRoy(buffer int) models.Queue {
	return models.Queue{Buffer: buffer, Reading: models.SlowArrivals, Criterion: mixpolicy.Discounted(.98), Empty: true,
		Cost: func(length int, rate float64) float64 { return float64(length) + 60*rate*rate*rate }}
}

// geometric returns the weights that de Farias and Van Roy give to the lengths x. The weights are proportional to 0.9ˣ.
func geometric(x *mixpolicy.MDP) []float64 {
	w := vector(x.States(), func(s int) float64 { return math.Pow(.9, float64(s)) })
	floats.Scale(1/floats.Sum(w), w)
	return w
}

// discountedQueue returns the queue of 50 lengths, and its problem (2.18).
func discountedQueue() (models.Queue, *mixpolicy.Problem) {
	q := deFariasVanRoy(49)
	return q, queueProblem(q, mixpolicy.Ball(100))
}

// everyPair returns the machine, and its problem with one feature per state–action pair. The
// features are not occupation measures, but every occupation measure is a mixture of them.
func everyPair(criterion mixpolicy.Criterion) (models.Machine, *mixpolicy.Problem) {
	w := models.Machine{Criterion: criterion}
	x := mixpolicy.Must(w.MDP())
	columns := make([][]float64, x.Pairs())
	for i := range columns {
		columns[i] = identity(x.Pairs()).RawRowView(i)
	}
	f := mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, columns...))
	return w, mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Simplex()))
}

// garnetProblem returns a problem with four different policies of a random discounted MDP.
func garnetProblem(class mixpolicy.Class) *mixpolicy.Problem {
	x := mixpolicy.Must(models.Garnet{States: 8, Actions: 2, Branches: 3, Ring: true, Seed: 5, Criterion: mixpolicy.Discounted(.9)}.MDP())
	policies := make([]*mixpolicy.Policy, 4)
	for j := range policies {
		policies[j] = mixpolicy.Must(mixpolicy.PolicyFunc(x, func(s int, row []float64) {
			row[0] = []float64{.95, .5, .05}[((s+1)*(j*j+1)/2+j)%3]
			row[1] = 1 - row[0]
		}))
	}
	return mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), x, policies...)), class))
}

// begin starts a method on stream 0 of seed 1 and returns the run, whose type is R.
func begin[R mixpolicy.Run](p *mixpolicy.Problem, m mixpolicy.Method) R {
	return mixpolicy.Must(m.Start(p, mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0)))).(R)
}

// learn runs a method and returns its result without a certificate.
func learn(p *mixpolicy.Problem, m mixpolicy.Method, steps int, seed uint64) (*mixpolicy.Result, error) {
	return mixpolicy.Solve(background, p, m, mixpolicy.Settings{Iterations: steps, Seed: seed, Uncertified: true})
}

// solve runs a method on stream 0 of seed 1 and returns its result with a certificate.
func solve(p *mixpolicy.Problem, m mixpolicy.Method, iterations int) *mixpolicy.Result {
	return mixpolicy.Must(mixpolicy.Solve(background, p, m, mixpolicy.Settings{Iterations: iterations, Seed: 1}))
}

// wantError checks that err contains a text, and the prefix of exactly one package.
func wantError(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v, want one that says %q", err, says)
	} else if prefixes := regexp.MustCompile(`\b(priorwork|mixpolicy|linprog|bregman|alias): `).FindAllString(err.Error(), -1); len(prefixes) != 1 {
		t.Errorf("error %v has prefixes %q, want one", err, prefixes)
	}
}

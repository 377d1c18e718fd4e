// Package adversary searches for counterexamples to the corrected bounds: the bounds that package theory computes, and
// the bounds of sections 4 and 5 and of the appendix of the paper. For each bound, a search over spaces of small
// instances maximises the ratio of the left side to the right side. data/adversaries.csv records the worst instance of
// each bound in each space; go run ./mixpolicy/study/record adversaries writes the file. Some inequalities of section
// 5, and (A.2), come from [paper.Laws]; package paper also evaluates these inequalities, along longer runs.
//
// In section 4, (4.9) is tested only for samples for which the constraints that ν̂ violates have a total probability of
// at most (1−γ)ε/4mζ under the sampling distribution η. A sample of the size in the corrected (4.6) has this property
// with probability at least 1 − δ. (4.15) is tested without its O(ε) term. (4.16) is not tested, because the paper does
// not define the C in (4.16).
//
// Every evaluation during a search counts as an instance: see [Search]. A search from one random start evaluates at
// most 500 instances, and each instance after the start differs from an earlier one in at most two parameters. At some
// instances, the bound says nothing, so the record also counts the instances whose ratio is positive.
package adversary

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
)

// Space is a set of instances, each given by a vector of parameters.
type Space struct {
	Name       string
	Parameters []Parameter
	// Laws returns the bounds at an instance: the same bounds, in the same order, at every instance.
	Laws func(x []float64) []Law
	// Cells is the number of spaces among which the instances of a bound are divided.
	Cells int
}

// Law is the corrected form of an inequality of the paper, at an instance.
type Law struct {
	Statement string // the number of the inequality in the paper, or of the statement that contains it
	What      string // the inequality, as left ≤ right
	Loose     string // why no recorded instance of any space has a ratio of ½ or more; empty if a recorded instance has such a ratio
	Side
}

// Parameter has values in [Lo, Hi]. Search changes the parameter on a linear scale or, if Log is set, on a
// logarithmic scale.
type Parameter struct {
	Name   string
	Lo, Hi float64
	Log    bool
}

// uniform and logarithmic return n parameters in [lo, hi], named name1, name2, …, or name if n is 1. Only logarithmic
// sets Log.
var uniform, logarithmic = parameters(false), parameters(true)

func parameters(log bool) func(n int, name string, lo, hi float64) []Parameter {
	return func(n int, name string, lo, hi float64) []Parameter {
		all := slices.Repeat([]Parameter{{name, lo, hi, log}}, n)
		for i := 0; n > 1 && i < n; i++ {
			all[i].Name += strconv.Itoa(i + 1)
		}
		return all
	}
}

// Side holds the left and the right side of a bound at an instance.
type Side struct {
	// Size is the magnitude of the terms that are subtracted from each other in Left or in Right, or 0 if
	// Right alone bounds the rounding error: see Allowed.
	Left, Right, Size float64
}

// rounding bounds the relative error of a side: it is about 10⁶ · 2⁻⁵³. Most sides take some hundred
// operations, including the steps of mirror descent and a small linear program.
const rounding = 1e-10

// Allowed returns a bound on the amount by which rounding errors alone can raise Left above Right.
func (s Side) Allowed() float64 { return rounding * max(s.Size, math.Abs(s.Right)) }

// Violated reports whether Left exceeds Right by more than Allowed, or whether a side is NaN.
func (s Side) Violated() bool {
	return math.IsNaN(s.Left) || !(s.Left-s.Right <= s.Allowed() || math.IsInf(s.Right, 1))
}

// Ratio returns Left divided by Right, or 0 if Right is infinite, is not positive, or is at most 10⁻⁴ Size.
func (s Side) Ratio() float64 {
	if !(s.Right > 1e-4*s.Size && s.Right > 0) || math.IsInf(s.Right, 1) {
		return 0
	}
	return s.Left / s.Right
}

// Record holds the worst instance that a search found for a bound, and counts the instances.
type Record = data.Adversary

// climb is the greatest number of instances that a search evaluates from one random start.
const climb = 500

// Search evaluates the given number of instances of a space, at most 500 from each random start. Search changes one or
// two parameters at a time, by 2⁻³⁰ to 1 times the parameter's range; about half of the changes are less than 2⁻¹⁵
// times the range. Search assigns the starts to the bounds in turn. From each start, it keeps the changes that do not
// lower the ratio of the start's bound. The records depend on the seed, not on the number of workers. After the search
// from each start, Search calls the function done with the number of instances of this start. The function must be safe
// for concurrent calls.
func Search(ctx context.Context, s Space, instances int, seed uint64, workers int, done func(instances int)) ([]Record, error) {
	found := make([][]Record, (instances+climb-1)/climb)
	var group errgroup.Group
	group.SetLimit(max(1, workers))
	for k := range found {
		group.Go(func() error {
			n := min(climb, instances-k*climb)
			found[k] = s.climb(ctx, rand.New(rand.NewPCG(seed, uint64(k))), k, n)
			done(n)
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	total := found[0]
	for _, records := range found[1:] {
		for i := range total {
			total[i] = worse(total[i], records[i])
		}
	}
	for i, r := range total {
		total[i].Text = s.Text(r.Instance)
	}
	return total, nil
}

// Text returns the text that records an instance exactly: "name=value …".
func (s Space) Text(x []float64) string {
	text := ""
	for j, v := range x {
		text += fmt.Sprintf(" %s=%g", s.Parameters[j].Name, v)
	}
	return strings.TrimSpace(text)
}

// worse joins two records of a bound. It adds their counts, and keeps the instance with the greater ratio, or r's
// instance if the ratios are equal.
func worse(r, o Record) Record {
	o.Instances, o.Nontrivial, o.Violations = o.Instances+r.Instances, o.Nontrivial+r.Nontrivial, o.Violations+r.Violations
	if r.Instances > 0 && !(o.Ratio > r.Ratio) {
		o.Ratio, o.Left, o.Right, o.Allowed, o.Instance = r.Ratio, r.Left, r.Right, r.Allowed, r.Instance
	}
	return o
}

// climb maximises the ratio of one bound over n instances from start k, and records all bounds. It
// stops early if ctx ends.
func (s Space) climb(ctx context.Context, rng *rand.Rand, k, n int) (records []Record) {
	evaluate := func(x []float64) float64 {
		laws := s.Laws(x)
		for i, l := range laws {
			if len(records) == i {
				records = append(records, Record{Space: s.Name, Statement: l.Statement, What: l.What, Loose: l.Loose, Ratio: math.Inf(-1)})
			}
			one := records[i]
			one.Instances, one.Nontrivial, one.Violations = 1, 0, 0
			one.Ratio, one.Left, one.Right, one.Allowed, one.Instance = l.Ratio(), l.Left, l.Right, l.Allowed(), x
			if l.Violated() {
				one.Violations = 1
			}
			if one.Ratio > 0 {
				one.Nontrivial = 1
			}
			records[i] = worse(records[i], one)
		}
		return laws[k%len(laws)].Ratio()
	}
	u := make([]float64, len(s.Parameters))
	for j := range u {
		if u[j] = rng.Float64(); rng.IntN(4) == 0 {
			u[j] = math.Round(u[j]) // an end of the range
		}
	}
	best, try := evaluate(s.instance(u)), slices.Clone(u)
	for i := 1; i < n && ctx.Err() == nil; i++ {
		for slices.Equal(try, u) { // a step beyond an end of the range changes nothing
			for range 1 + rng.IntN(2) {
				j := rng.IntN(len(u))
				try[j] += math.Exp2(-30*rng.Float64()) * float64(1-2*rng.IntN(2))
				try[j] = min(max(try[j], 0), 1)
			}
		}
		if ratio := evaluate(s.instance(try)); ratio >= best {
			best = ratio
			copy(u, try)
		}
		copy(try, u)
	}
	return records
}

// instance returns the parameters at u ∈ [0, 1]ᵏ.
func (s Space) instance(u []float64) []float64 {
	x := make([]float64, len(u))
	for j, p := range s.Parameters {
		if x[j] = p.Lo + u[j]*(p.Hi-p.Lo); p.Log {
			x[j] = min(max(p.Lo*math.Pow(p.Hi/p.Lo, u[j]), p.Lo), p.Hi)
		}
	}
	return x
}

// Spaces returns all spaces. If a bound depends on γ, or on γ and an ε, there is a space, called a cell, for each point
// of a small grid of these parameters. The records of the cells are separate, so they also reveal a bound that is loose
// in only one cell. The instances of a bound are divided among its cells. (Proposition 3.1 and (3.38) are exceptions:
// their bounds are evaluated at the full number of instances for each γ.)
func Spaces() (all []Space) {
	join, log := slices.Concat[[]Parameter], logarithmic
	unit := func(n int, name string) []Parameter { return uniform(n, name, 0, 1) }
	mix := join(unit(18, "P"), unit(3, "π"), uniform(1, "steps", 1, 6), log(1, "ε", 1e-3, 0.999), log(1, "leak", 1e-3, 1))
	program := join(uniform(3, "v", 1e-3, 1), log(2, "α", 1e-9, 1), unit(18, "P"), log(1, "1−leak", 1e-9, 1), unit(3, "gap"),
		uniform(3, "f", -1, 1), log(3, "u", 1, 2), uniform(1, "set", 1, 63), log(1, "Γ", 1, 100))
	run := join(gameParameters, uniform(1, "T", 1, 3), log(2, "η", 1e-3, 10), uniform(1, "δ", 1e-3, 0.999))
	for _, gamma := range []float64{0.1, 0.5, 0.9, 0.99, 1} {
		cells, leak, by, at := 4, 1e-3, mixpolicy.AverageCost, fmt.Sprintf(", γ = %g", gamma)
		if gamma < 1 {
			cells, leak, by = 16, 1e-9, mixpolicy.Discounted(gamma)
			all = append(all, Space{"approximate programs" + at, join(uniform(1, "γ", gamma, gamma), uniform(1, "ε", 0.1, 0.1), program),
				func(x []float64) []Law { return programs(x)[1:] }, 4})
		}
		all = append(all, Space{"runs of one or two steps" + at, run, func(x []float64) []Law { return newGame(x, by).laws(x[13:]) }, 1})
		for _, epsilon := range []float64{0.001, 0.01, 0.1, 0.5} {
			at, cell := fmt.Sprintf("%s, ε = %g", at, epsilon), join(uniform(1, "γ", gamma, gamma), uniform(1, "ε", epsilon, epsilon))
			all = append(all, Space{"processes of three states" + at, join(cell, unit(18, "P"), unit(6, "π"), unit(3, "α"),
				log(1, "leak", leak, 1), uniform(6, "c", -1, 1)), func(x []float64) []Law { return chains(x, by) }, cells})
			if gamma < 1 {
				all = append(all,
					Space{"sampled constraints" + at, join(cell, program), func(x []float64) []Law { return programs(x)[:1] }, cells})
			}
		}
	}
	return append(all, []Space{
		{"mixing", mix, mixing, 1},
		{"masses", mix, ergodicity, 1},
		{"one path of up to three steps", join(gameParameters, uniform(1, "T", 1, 4), uniform(1, "θ", -1, 1),
			log(3, "η", 1e-3, 10), uniform(3, "i", 0, 3), unit(3, "λ")), paths, 1},
		{"two points of a class", join(uniform(1, "class", 0, 3), log(1, "R", 0.6, 1e3), log(1, "near", 1e-3, 1),
			uniform(3, "x", -1, 1), uniform(3, "y", -1, 1)), divergences, 1},
		{"numbers of iterations", log(1, "T", 1, 1e6), stepSums, 1},
		{"martingales of three steps", join(unit(7, "a"), unit(7, "b"), log(3, "c", 1e-3, 1), unit(1, "δ")), martingales, 1},
		{"variables of three values", join(uniform(3, "x", -1, 1), uniform(3, "y", -1, 1), log(3, "p", 1e-6, 1)), norms, 1},
		{"vectors of three values", join(uniform(6, "z", -1, 1), log(3, "p", 1e-4, 1)), vectors, 1},
		{"differences of bounded Orlicz norm",
			join(log(3, "a", 1e-3, 1e3), log(3, "b", 1e-3, 1e3), uniform(3, "from", -1, 1), unit(1, "δ")), exponentials, 1},
		{"sums of squares", join(unit(1, "r"), log(1, "λ", 1e-4, 0.4999), log(1, "d", 1, 1e6)), gaussians, 1},
	}...)
}

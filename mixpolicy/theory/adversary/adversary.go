// Package adversary searches for counterexamples of the corrected bounds: of the functions of
// package theory, of section 5 of the paper, and of its appendix. Each bound has a space of small
// instances, in which a search maximises left side over right side. data/adversaries.csv records
// the worst instance of each; go run ./mixpolicy/study/record adversaries makes it. The laws of section 5 are
// those of package paper, which evaluates them along longer runs.
//
// An instance that is counted is one evaluation of a coordinate search, see [Search]: 500 of them
// belong to one random start, and each is near an earlier one. At some the bound says nothing; the
// record counts those that put it to the test too.
package adversary

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/mixpolicy/lab/internal/csvrows"
)

// Space is a set of instances, each given by a vector of parameters.
type Space struct {
	Name       string
	Parameters []Parameter
	// Laws returns the bounds at an instance: the same ones, in the same order, at each.
	Laws func(x []float64) []Law
	// Every is whether the one parameter goes through the integers from Lo on, in place of a search.
	Every bool
}

// Law is an inequality of the paper in its corrected form, at an instance.
type Law struct {
	Statement string // its number in the paper, or what it serves
	What      string // left ≤ right
	Loose     string // why no instance is within a factor of 2; empty if one is
	Side
}

// Parameter has values in [Lo, Hi]. The search is uniform in it, or in its logarithm.
type Parameter struct {
	Name   string
	Lo, Hi float64
	Log    bool
}

// uniform returns n parameters in [lo, hi], called name1, name2, …, or name if there is one; logarithmic the same for the logarithm.
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

// Side is the left and the right side of a bound at an instance.
type Side struct {
	// Size is that of the terms of which differences are made, for the rounding error. 0 means
	// that the sides have no differences.
	Left, Right, Size float64
}

// rounding is the relative error of sides that are made of some hundred operations each, the
// steps of a mirror descent and a small linear program among them: 10⁶ · 2⁻⁵³.
const rounding = 1e-10

// Allowed is by how much rounding may put left above right.
func (s Side) Allowed() float64 { return rounding * max(s.Size, math.Abs(s.Right)) }

// Violated reports whether left is greater than right by more than rounding, or one is NaN.
func (s Side) Violated() bool {
	return math.IsNaN(s.Left) || !(s.Left-s.Right <= s.Allowed() || math.IsInf(s.Right, 1))
}

// Ratio is left over right, and 0 where the right side is infinite, or so small that rounding
// decides.
func (s Side) Ratio() float64 {
	if !(s.Right > 1e-4*s.Size && s.Right > 0) || math.IsInf(s.Right, 1) {
		return 0
	}
	return s.Left / s.Right
}

// Record is the worst case of a bound that a search found, a line of data/adversaries.csv.
type Record struct {
	Statement  string    `csv:"statement"`
	What       string    `csv:"bound"`
	Space      string    `csv:"space"`
	Instances  int       `csv:"instances"`  // evaluated
	Nontrivial int       `csv:"nontrivial"` // among them: left is positive, and right finite and more than rounding
	Violations int       `csv:"violations"`
	Ratio      float64   `csv:"ratio,%.12g"`
	Left       float64   `csv:"left,%.12g"`
	Right      float64   `csv:"right,%.12g"`
	Allowed    float64   `csv:"allowed,%.12g"` // by how much rounding may put left above right
	Text       string    `csv:"instance"`      // where the ratio is greatest, exactly, as "name=value …"
	Loose      string    `csv:"loose"`
	Instance   []float64 // the values of Text
}

// climb is how many instances a search from one random start evaluates.
const climb = 500

// Search evaluates the given number of instances of a space, 500 from each random start: it changes
// one or two parameters, by 1 to 2⁻³⁰ of their range, half of the time by less than 2⁻¹⁵, and keeps
// what does not lower the ratio of one of the bounds, which takes turns. The records depend on the seed only, not on
// the number of workers.
// done is called after every start, from several goroutines.
func Search(ctx context.Context, s Space, instances int, seed uint64, workers int, done func(instances int)) ([]Record, error) {
	if s.Every {
		instances = min(instances, int(s.Parameters[0].Hi))
	}
	starts := (instances + climb - 1) / climb
	found := make([][]Record, starts)
	var group errgroup.Group
	group.SetLimit(max(1, workers))
	for k := range starts {
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
		for i, r := range records {
			t := &total[i]
			r.Instances, r.Nontrivial, r.Violations = r.Instances+t.Instances, r.Nontrivial+t.Nontrivial, r.Violations+t.Violations
			if !(r.Ratio > t.Ratio) { // what was found first stays
				r.Ratio, r.Left, r.Right, r.Allowed, r.Instance = t.Ratio, t.Left, t.Right, t.Allowed, t.Instance
			}
			*t = r
		}
	}
	for i := range total {
		for j, v := range total[i].Instance {
			total[i].Text += fmt.Sprintf(" %s=%g", s.Parameters[j].Name, v)
		}
		total[i].Text = strings.TrimSpace(total[i].Text)
	}
	return total, nil
}

// climb maximises the ratio of one bound over n instances from start k, and records all bounds. It
// ends with the context.
func (s Space) climb(ctx context.Context, rng *rand.Rand, k, n int) []Record {
	var records []Record
	evaluate := func(x []float64) float64 {
		laws := s.Laws(x)
		for i, l := range laws {
			if len(records) == i {
				records = append(records, Record{Space: s.Name, Statement: l.Statement, What: l.What, Loose: l.Loose, Ratio: math.Inf(-1)})
			}
			r, ratio := &records[i], l.Ratio()
			r.Instances++
			if l.Violated() {
				r.Violations++
			}
			if ratio > 0 {
				r.Nontrivial++
			}
			if ratio > r.Ratio {
				r.Ratio, r.Left, r.Right, r.Allowed, r.Instance = ratio, l.Left, l.Right, l.Allowed(), x
			}
		}
		return laws[k%len(laws)].Ratio()
	}
	if s.Every {
		for i := 0; i < n && ctx.Err() == nil; i++ {
			evaluate([]float64{s.Parameters[0].Lo + float64(k*climb+i)})
		}
		return records
	}
	u := make([]float64, len(s.Parameters))
	for j := range u {
		if u[j] = rng.Float64(); rng.IntN(4) == 0 {
			u[j] = math.Round(u[j]) // an end of the range
		}
	}
	best, try := evaluate(s.instance(u)), slices.Clone(u)
	for i := 1; i < n && ctx.Err() == nil; i++ {
		for slices.Equal(try, u) { // a step off an end of the range changes nothing
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

// Spaces returns all spaces.
func Spaces() []Space {
	chain := slices.Concat(uniform(18, "P", 0, 1), uniform(6, "π", 0, 1), logarithmic(1, "θ", 1e-3, 1e3), logarithmic(1, "leak", 1e-3, 1))
	mix := slices.Concat(uniform(18, "P", 0, 1), uniform(3, "π", 0, 1), uniform(1, "steps", 1, 6), logarithmic(1, "ε", 1e-3, 0.999),
		logarithmic(1, "leak", 1e-3, 1))
	return []Space{
		{"processes of three states, average cost", chain, chains, false},
		{"processes of three states, discounted", slices.Concat(chain, uniform(3, "α", 0, 1),
			logarithmic(1, "1−γ", 1e-3, 0.999)), chains, false},
		{"mixing", mix, mixing, false},
		{"masses", mix, ergodicity, false},
		{"runs of one or two steps, every path", slices.Concat(gameParameters, uniform(1, "T", 1, 3), logarithmic(2, "η", 1e-3, 10),
			uniform(1, "δ", 1e-3, 0.999)), games, false},
		{"one path of up to three steps", slices.Concat(gameParameters, uniform(1, "T", 1, 4), uniform(1, "θ", -1, 1),
			logarithmic(3, "η", 1e-3, 10), uniform(3, "i", 0, 3), uniform(3, "λ", 0, 1)), paths, false},
		{"two points of a class", slices.Concat(uniform(1, "class", 0, 3), logarithmic(1, "R", 0.6, 1e3), logarithmic(1, "near", 1e-3, 1),
			uniform(3, "x", -1, 1), uniform(3, "y", -1, 1)), divergences, false},
		{"numbers of iterations", uniform(1, "T", 1, 1_000_000), stepSums, true},
		{"martingales of three steps", slices.Concat(uniform(7, "a", 0, 1), uniform(7, "b", 0, 1), logarithmic(3, "c", 1e-3, 1),
			uniform(1, "δ", 0, 1)), martingales, false},
		{"variables of three values", slices.Concat(uniform(3, "x", -1, 1), uniform(3, "y", -1, 1),
			logarithmic(3, "p", 1e-6, 1)), norms, false},
		{"vectors of three values", slices.Concat(uniform(6, "z", -1, 1), logarithmic(3, "p", 1e-4, 1)), vectors, false},
		{"differences of bounded Orlicz norm", slices.Concat(logarithmic(3, "a", 1e-3, 1e3), logarithmic(3, "b", 1e-3, 1e3),
			uniform(3, "from", -1, 1), uniform(1, "δ", 0, 1)), exponentials, false},
		{"sums of squares", slices.Concat(uniform(1, "r", 0, 1), logarithmic(1, "λ", 1e-4, 0.4999),
			logarithmic(1, "d", 1, 1e6)), gaussians, false},
	}
}

// Read reads records that [csvrows.Encode] has written. An error names the line.
func Read(r io.Reader) ([]Record, error) {
	records, err := csvrows.Decode(r, func(r *Record) error {
		spaces, words := Spaces(), strings.Fields(r.Text)
		k := slices.IndexFunc(spaces, func(s Space) bool { return s.Name == r.Space })
		if k < 0 || len(words) != len(spaces[k].Parameters) {
			return fmt.Errorf("instance %q of space %q, want all parameters of a space", r.Text, r.Space)
		}
		for j, p := range spaces[k].Parameters {
			value, ok := strings.CutPrefix(words[j], p.Name+"=")
			v, err := strconv.ParseFloat(value, 64)
			if !ok || err != nil || math.IsNaN(v) {
				return fmt.Errorf("instance has %q, want %s=<number>", words[j], p.Name)
			}
			r.Instance = append(r.Instance, v)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("adversary: %w", err)
	}
	return records, nil
}

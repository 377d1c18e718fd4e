package beam

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Statistic summarises numbers x₁, …, x_n. It holds n, Σx and Σx² without any rounding and, for at most [MostValues]
// numbers, the numbers themselves. Its methods give the same results, bit for bit, for any order and grouping of the
// numbers. For more than [MostValues] numbers, Counts replaces Values. Counts holds the number of x between
// neighbouring powers of (1+ε)/(1−ε), with ε = [SketchError]. A quantile then has a relative error of at most ε (except
// that magnitudes below 2⁻¹⁰²² count as 0), and the memory used depends on the range of the numbers, not on n. The zero
// value summarises no numbers. Mean, Median and Quantile panic if n = 0.
//
// Source of the counts: Masson, Rim and Lee, DDSketch, VLDB 2019.
type Statistic struct {
	N           int
	Sum, Square *big.Float
	Values      []float64
	Counts      map[float64]int // Counts[v] is the number of x in the interval that v represents
}

const (
	// MostValues is the greatest n for which a [Statistic] keeps all its numbers, so that quantiles are exact.
	MostValues = 10_000
	// SketchError is ε: it bounds the relative error of a quantile of more than MostValues numbers.
	SketchError = 0.001
)

// near returns a number within the relative error SketchError of x. With γ = (1+ε)/(1−ε) and γⁱ ≤ |x| < γⁱ⁺¹, near(x) is
// γⁱ(1+ε) with the sign of x. If |x| is below the range of normal floating-point numbers, near(x) is 0.
func near(x float64) float64 {
	width := math.Log((1 + SketchError) / (1 - SketchError))
	if math.Abs(x) < 0x1p-1022 {
		return 0
	}
	return math.Copysign(math.Exp(math.Floor(math.Log(math.Abs(x))/width)*width)*(1+SketchError), x)
}

// exact is a number of bits that is enough for any sum of 2⁶⁴ squares of float64s: the bits of a square stand for 2⁻²¹⁴⁸
// to 2²⁰⁴⁸.
const exact = 2148 + 2048 + 64

func total() *big.Float { return new(big.Float).SetPrec(exact) }

// Add adds numbers, whose magnitudes must be at most MaxFloat64/2.
func (s *Statistic) Add(x ...float64) {
	t := Statistic{N: len(x), Sum: total(), Square: total(), Values: x}
	for _, v := range x {
		e := total().SetFloat64(v)
		t.Sum.Add(t.Sum, e)
		t.Square.Add(t.Square, e.Mul(e, e))
	}
	s.Merge(t)
}

// Merge adds the numbers of t, and leaves t unchanged.
func (s *Statistic) Merge(t Statistic) {
	if t.N == 0 {
		return
	}
	if s.N == 0 {
		s.Sum, s.Square = total(), total()
	}
	s.N += t.N
	s.Sum.Add(s.Sum, t.Sum)
	s.Square.Add(s.Square, t.Square)
	s.Values = append(s.Values, t.Values...)
	if s.N > MostValues {
		if s.Counts == nil {
			s.Counts = map[float64]int{}
		}
		for _, v := range s.Values {
			s.Counts[near(v)]++
		}
		s.Values = nil
		for v, n := range t.Counts {
			s.Counts[v] += n
		}
	}
}

// countable reports whether [Statistic.Add] accepts x: |x| is at most MaxFloat64/2, so near(x) is finite.
func countable(x float64) bool { return math.Abs(x) <= math.MaxFloat64/2 }

// Mean returns the mean, with Student's interval at confidence level 0.95. The result is like the result of
// [race.TInterval], but is computed from the exact sums.
func (s *Statistic) Mean() race.Interval {
	n := float64(s.N)
	wide := new(big.Float).SetPrec(2 * exact)
	spread := wide.Mul(s.Sum, s.Sum)
	spread.Quo(spread, big.NewFloat(n)).Sub(s.Square, spread)
	mean, _ := total().Quo(s.Sum, big.NewFloat(n)).Float64()
	if s.N == 1 {
		return race.TInterval([]float64{mean}, confidence)
	}
	variance, _ := spread.Quo(spread, big.NewFloat(n-1)).Float64()
	v := race.Interval{Mean: mean, Std: math.Sqrt(max(0, variance)), Confidence: confidence, N: s.N}
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1+confidence)/2) * v.Std / math.Sqrt(n)
	v.Lo, v.Hi = mean-half, mean+half
	return v
}

const confidence = 0.95

// Median returns the median and its interval at confidence level 0.95. For at most [MostValues] numbers, [race.Median]
// computes both. For more numbers, the median and the ends of the interval come from the counts. The ranks of these
// ends come from the normal approximation of the binomial distribution.
func (s *Statistic) Median() race.Interval {
	if s.Counts == nil {
		return race.Median(s.Values, confidence)
	}
	n := float64(s.N)
	k := int((n - distuv.UnitNormal.Quantile((1+confidence)/2)*math.Sqrt(n)) / 2)
	return race.Interval{Mean: s.rank((s.N + 1) / 2), Lo: s.rank(k), Hi: s.rank(s.N + 1 - k), Confidence: confidence, N: s.N}
}

// Quantile returns the p-quantile: the least of the numbers x for which at least pn of the n numbers are ≤ x. For more
// than [MostValues] numbers, the result has the relative error that [Statistic] states.
func (s *Statistic) Quantile(p float64) float64 {
	return s.rank(min(max(1, int(math.Ceil(p*float64(s.N)))), s.N))
}

// rank returns the k-th smallest number; k starts at 1.
func (s *Statistic) rank(k int) float64 {
	if s.Counts == nil {
		return slices.Sorted(slices.Values(s.Values))[k-1]
	}
	values := slices.Sorted(maps.Keys(s.Counts))
	for i := 0; ; i++ {
		if k -= s.Counts[values[i]]; k <= 0 {
			return values[i]
		}
	}
}

// Summary summarises runs of a method in one setting on a problem.
type Summary struct {
	Looks  [][]Statistic // Looks[q][k] summarises quantity q at recording k; the last quantity is the number of iterations or queries
	Failed int
	First  failure // the failed run whose stream has the lowest number
}

type failure struct {
	Stream uint64
	Steps  int
	Why    string
}

// add adds a run, with a number for each quantity and recording.
func (s *Summary) add(values [][]float64) {
	t := Summary{Looks: make([][]Statistic, len(values))}
	for q, v := range values {
		t.Looks[q] = make([]Statistic, len(v))
		for k := range v {
			if !math.IsNaN(v[k]) { // the method has no such number
				t.Looks[q][k].Add(v[k])
			}
		}
	}
	s.merge(t)
}

func (s *Summary) fail(f failure) { s.merge(Summary{Failed: 1, First: f}) }

func (s *Summary) merge(t Summary) {
	if t.Failed > 0 && (s.Failed == 0 || t.First.Stream < s.First.Stream) {
		s.First = t.First
	}
	s.Failed += t.Failed
	for q, looks := range t.Looks {
		if len(s.Looks) == q {
			s.Looks = append(s.Looks, make([]Statistic, len(looks)))
		}
		for k := range looks {
			s.Looks[q][k].Merge(looks[k])
		}
	}
}

// rows returns the record of a method: for each quantity and recording, the median, the mean, and the 5 %
// and 95 % quantiles over the runs that did not fail. If runs failed, the first row counts them.
func (s *Summary) rows(like race.Row, names []string) (rows race.Record) {
	if s.Failed > 0 {
		failed, steps := like, float64(s.First.Steps)
		failed.Quantity, failed.Settings = race.Failure, s.First.Why
		rows = append(rows, race.Interval{Mean: steps, Lo: steps, Hi: steps, N: s.Failed}.Row(failed))
	}
	for q := range len(s.Looks) - 1 {
		name, before := names[q], -1.
		for k := range s.Looks[q] {
			v := &s.Looks[q][k]
			like := like
			like.At = s.Looks[len(names)][k].Mean().Mean
			if v.N == 0 || like.At == before {
				continue // not a quantity of this method, or one recording for several numbers of the list Queries
			}
			before = like.At
			like.Quantity = MeanOf + name
			mean := v.Mean().Row(like)
			if like.Quantity = name; v.Counts != nil {
				like.Settings = strings.TrimSpace(like.Settings + " " + Sketched)
			}
			rows = append(rows, v.Median().Row(like), mean)
			for _, p := range []float64{.05, .95} {
				x := v.Quantile(p)
				like.Quantity = fmt.Sprintf("%g %% of %s", 100*p, name)
				rows = append(rows, race.Interval{Mean: x, Lo: x, Hi: x, N: v.N}.Row(like))
			}
		}
	}
	return rows
}

// MeanOf precedes the name of a quantity in the rows that contain the quantity's mean. A row with the name alone
// contains the median, as in package study.
const MeanOf = "mean of "

// Sketched is added to the settings in a row with a median or another quantile that comes from [Statistic.Counts].
var Sketched = fmt.Sprintf("(quantile within %g %%)", 100*SketchError)

// pack encodes a part for transport between workers, and unpack decodes it.
func pack(p Part) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(p)
	return b.Bytes(), err
}

func unpack(b []byte) (p Part, err error) {
	return p, gob.NewDecoder(bytes.NewReader(b)).Decode(&p)
}

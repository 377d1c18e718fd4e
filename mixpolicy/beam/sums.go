package beam

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/DataDog/sketches-go/ddsketch/mapping"
	"github.com/DataDog/sketches-go/ddsketch/store"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Statistic is what is kept of numbers x₁, …, x_n, the same to the bit in whatever order and
// groups they come: n, Σx and Σx² without any rounding, and the numbers themselves, or, if they are
// more than [MostValues], a DDSketch of them (Masson, Rim and Lee 2019), whose quantiles are
// off by at most [SketchError] of their size. The memory it takes does not grow with n from there on.
// The zero value is of no number.
type Statistic struct {
	N           int
	Sum, Square *big.Float
	Values      []float64
	Sketch      *ddsketch.DDSketch
}

const (
	// MostValues is how many numbers are kept, for exact quantiles.
	MostValues = 10_000
	// SketchError is the relative error of quantiles of more numbers.
	SketchError = 0.001
)

// exact holds any sum of 2⁶⁴ squares of float64s: their bits stand for 2⁻²¹⁴⁸ to 2²⁰⁴⁸.
const exact = 2148 + 2048 + 64

func total() *big.Float { return new(big.Float).SetPrec(exact) }

// Add adds numbers of a size that [countable] allows.
func (s *Statistic) Add(x ...float64) {
	t := Statistic{N: len(x), Sum: total(), Square: total(), Values: x}
	for _, v := range x {
		e := total().SetFloat64(v)
		t.Sum.Add(t.Sum, e)
		t.Square.Add(t.Square, e.Mul(e, e))
	}
	s.Merge(t)
}

// Merge adds the numbers of t, which stays as it is.
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
		if s.Sketch == nil {
			s.Sketch = sketch()
		}
		for _, v := range s.Values {
			s.Sketch.Add(v) // no error for countable numbers
		}
		if s.Values = nil; t.Sketch != nil {
			s.Sketch.MergeWith(t.Sketch) // none for one mapping
		}
	}
}

// countable tells whether a number is finite, and the sketch has a place for it.
func countable(x float64) bool { return math.Abs(x) <= logarithmic.MaxIndexableValue() }

var logarithmic = func() mapping.IndexMapping {
	m, err := mapping.NewLogarithmicMapping(SketchError)
	if err != nil {
		panic(err)
	}
	return m
}()

func sketch() *ddsketch.DDSketch {
	return ddsketch.NewDDSketch(logarithmic, store.NewSparseStore(), store.NewSparseStore())
}

// Mean returns Student's interval of confidence 0.95, as [race.TInterval] does, of sums that are
// rounded once.
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

// Median returns [race.Median], or of more than [MostValues] numbers that of their sketch. The ranks of
// its interval are then those of the normal approximation.
func (s *Statistic) Median() race.Interval {
	if s.Sketch == nil {
		return race.Median(s.Values, confidence)
	}
	n := float64(s.N)
	k := math.Floor((n - distuv.UnitNormal.Quantile((1+confidence)/2)*math.Sqrt(n)) / 2)
	return race.Interval{Mean: s.rank(math.Floor((n + 1) / 2)), Lo: s.rank(k), Hi: s.rank(n + 1 - k), Confidence: confidence, N: s.N}
}

// Quantile returns the least number that at least the part p of the numbers is not above.
func (s *Statistic) Quantile(p float64) float64 {
	return s.rank(min(max(1, math.Ceil(p*float64(s.N))), float64(s.N)))
}

// rank returns the k-th number in order, from 1 on.
func (s *Statistic) rank(k float64) float64 {
	if s.Sketch == nil {
		return slices.Sorted(slices.Values(s.Values))[int(k)-1]
	}
	below, zeros := s.Sketch.GetNegativeValueStore(), s.Sketch.GetZeroCount()
	n := below.TotalCount()
	switch {
	case k <= n:
		return -logarithmic.Value(below.KeyAtRank(n - k))
	case k <= n+zeros:
		return 0
	}
	return logarithmic.Value(s.Sketch.GetPositiveValueStore().KeyAtRank(k - 1 - n - zeros))
}

// Summary is what is kept of some runs of a method on a problem.
type Summary struct {
	At     []int         // Σ iterations or queries at each look, over runs that finished
	Looks  [][]Statistic // of each quantity at each look
	Failed int
	First  failure // the failed run of the lowest stream
}

type failure struct {
	Stream uint64
	Steps  int
	Why    string
}

// add adds a run, of which each quantity has a number for each look.
func (s *Summary) add(at []int, values [][]float64) {
	t := Summary{At: at, Looks: make([][]Statistic, len(values))}
	for q, v := range values {
		t.Looks[q] = make([]Statistic, len(v))
		for k := range v {
			if !math.IsNaN(v[k]) { // what the method has no number for
				t.Looks[q][k].Add(v[k])
			}
		}
	}
	s.merge(t)
}

func (s *Summary) fail(f failure) { s.merge(Summary{Failed: 1, First: f}) }

// merge adds the runs of t.
func (s *Summary) merge(t Summary) {
	if t.Failed > 0 && (s.Failed == 0 || t.First.Stream < s.First.Stream) {
		s.First = t.First
	}
	s.Failed += t.Failed
	if t.At == nil {
		return
	}
	if s.At == nil {
		s.At, s.Looks = make([]int, len(t.At)), make([][]Statistic, len(t.Looks))
		for q := range s.Looks {
			s.Looks[q] = make([]Statistic, len(t.Looks[q]))
		}
	}
	for k, v := range t.At {
		s.At[k] += v
	}
	for q := range t.Looks {
		for k := range t.Looks[q] {
			s.Looks[q][k].Merge(t.Looks[q][k])
		}
	}
}

// rows are the record of a method: of each quantity and look the median, the mean and the numbers
// that one run of twenty is below, and above.
func (s *Summary) rows(like race.Row, names []string) (rows race.Record) {
	if s.Failed > 0 {
		failed := like
		v := float64(s.First.Steps)
		failed.Quantity, failed.Value, failed.Lo, failed.Hi = race.Failure, v, v, v
		failed.Trials, failed.Settings = s.Failed, s.First.Why
		rows = append(rows, failed)
	}
	for q, looks := range s.Looks {
		before := -1
		for k := range looks {
			v := &looks[k]
			if v.N == 0 || s.At[k] == before {
				continue // not of this method, or one answer for several marks
			}
			before = s.At[k]
			like := like
			like.At = float64(s.At[k]) / float64(v.N)
			like.Quantity = MeanOf + names[q]
			mean := v.Mean().Row(like)
			if like.Quantity = names[q]; v.Sketch != nil {
				like.Settings = strings.TrimSpace(like.Settings + " " + Sketched)
			}
			rows = append(rows, v.Median().Row(like), mean)
			for _, p := range []float64{.05, .95} {
				x := v.Quantile(p)
				like.Quantity = fmt.Sprintf("%g %% of %s", 100*p, names[q])
				rows = append(rows, race.Interval{Mean: x, Lo: x, Hi: x, N: v.N}.Row(like))
			}
		}
	}
	return rows
}

// MeanOf comes before the name of a quantity in rows of its mean; rows of the name itself have
// the median, as those of package study do.
const MeanOf = "mean of "

// Sketched ends the settings in rows of quantiles that are those of a sketch.
var Sketched = fmt.Sprintf("(quantile within %g %%)", 100*SketchError)

// GobEncode is for the way between workers.
func (s Statistic) GobEncode() ([]byte, error) {
	p := parts{N: s.N, Sum: s.Sum, Square: s.Square, Values: s.Values}
	if s.Sketch != nil {
		s.Sketch.Encode(&p.Sketch, false)
	}
	return pack(p)
}

// GobDecode undoes GobEncode.
func (s *Statistic) GobDecode(b []byte) error {
	p, err := unpack[parts](b)
	*s = Statistic{N: p.N, Sum: p.Sum, Square: p.Square, Values: p.Values}
	if err == nil && p.Sketch != nil {
		s.Sketch, err = ddsketch.DecodeDDSketch(p.Sketch, store.SparseStoreConstructor, logarithmic)
	}
	return err
}

type parts struct {
	N           int
	Sum, Square *big.Float
	Values      []float64
	Sketch      []byte
}

func pack[T any](v T) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func unpack[T any](b []byte) (v T, err error) {
	return v, gob.NewDecoder(bytes.NewReader(b)).Decode(&v)
}

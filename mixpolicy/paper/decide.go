package paper

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/internal/csvrows"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// Decision is the verdict on a claim, computed from numbers.
type Decision struct {
	Verdict Verdict `csv:"verdict"`
	// For the verdict Depends, On states the choice on which the claim depends. For Undecided, the field On gives the
	// confidence interval. If Holm's method decided the claim, On also gives the size of an effect that the comparison
	// would have found with probability 0.9 or more.
	On string `csv:"on"`
}

// String returns the verdict, followed by a colon and the field On, unless this field is empty.
func (d Decision) String() string { return strings.TrimSuffix(string(d.Verdict)+": "+d.On, ": ") }

// either returns Holds if holds is true, and other if not.
func either(holds bool, other Verdict) Decision {
	if holds {
		return Decision{Verdict: Holds}
	}
	return Decision{Verdict: other}
}

// atMost decides "x is at most bound" for numbers that are exact up to rounding. A NaN fails.
func atMost(x, bound float64) Decision { return either(x <= bound, Fails) }

// found decides "there is one" from the number n of instances that were found.
func found(n int) Decision { return either(n > 0, Fails) }

// inText decides "the text contains one" by the number n of matching entries in the index; if n is 0, the claim is
// [Missing].
func inText(n int) Decision { return either(n > 0, Missing) }

// less decides "smaller than bound" by an interval. A difference that is 0 in every trial is
// not smaller than 0.
func less(iv race.Interval, bound float64) Decision {
	return decided(iv, iv.Hi < bound, iv.Lo >= bound)
}

// same decides "makes no difference" by the interval of a difference.
func same(iv race.Interval) Decision {
	return decided(iv, iv.Lo == 0 && iv.Hi == 0, iv.Lo > 0 || iv.Hi < 0)
}

// decided returns Holds if holds is true, Fails if only fails is true, and else Undecided with the interval.
func decided(iv race.Interval, holds, fails bool) Decision {
	if holds || fails {
		return either(holds, Fails)
	}
	return Decision{Undecided, fmt.Sprintf("[%.4g, %.4g]", iv.Lo, iv.Hi)}
}

// argued decides a claim O(Tᵖ) by the exponents of T in the claim and in the bound that the argument proves, without
// the logarithms that both contain. If the proved exponent is at most the claimed one, up to the error of the fit, the
// claim holds. If not, the claim fails if runs contradict the claim, and is not proved if no run does.
func argued(proved, claimed float64, contradicted bool) Decision {
	const fit = 0.005 // error of an exponent measured between T = 10⁵⁰ and 10⁶⁰, where lower powers and logarithms still show
	if contradicted {
		return either(proved <= claimed+fit, Fails)
	}
	return either(proved <= claimed+fit, NotProved)
}

// polynomial decides "at most a power of d" by the degrees of an upper bound over a first and over a last range of d.
// If the degree grows or is infinite, we count the bound as proving nothing.
func polynomial(first, last float64) Decision {
	return either(last <= first && !math.IsInf(first, 1), NotProved)
}

// every decides a claim of several parts: it returns the first decision that is not Holds, or Holds if there is none.
func every(parts ...Decision) Decision {
	for _, d := range parts {
		if d.Verdict != Holds {
			return d
		}
	}
	return parts[0]
}

// readings decides a claim that can be interpreted, measured or set up in several ways. The argument on states how the
// ways differ. The result is Depends if one way holds and another fails, else Undecided if one way is undecided, else
// the first decision.
func readings(on string, ways ...Decision) Decision {
	has := func(v Verdict) int { return slices.IndexFunc(ways, func(d Decision) bool { return d.Verdict == v }) }
	if has(Holds) >= 0 && has(Fails) >= 0 {
		return Decision{Depends, on}
	}
	if k := has(Undecided); k >= 0 && has(Fails) >= 0 {
		return Decision{Undecided, on + "; the claim fails in one interpretation, and in another the interval is " + ways[k].On}
	} else if k >= 0 {
		return ways[k]
	}
	return ways[0]
}

// confidence is the level of all intervals, as in the paper; power is the probability with which a test finds the
// effect that an undecided comparison states.
const confidence, power = 0.95, 0.9

// A comparison compares one quantity of two methods over the same streams. It tests the mean difference against 0, or
// the ratio of standard deviations against 1.
type comparison struct {
	race.Interval
	null float64
	p    float64 // two-sided p-value
	// finds returns the effect that a test of the given level finds with the probability [power].
	finds func(level float64) float64
	Decision
}

// paired compares means by the t interval of the differences.
func paired(x, y []float64) *comparison {
	d := difference(x, y)
	iv := race.TInterval(d, confidence)
	t := distuv.StudentsT{Sigma: 1, Nu: float64(iv.N - 1)}
	return &comparison{Interval: iv, p: race.TTest(d), finds: func(level float64) float64 {
		return (t.Quantile(1-level/2) + t.Quantile(power)) * iv.Std / math.Sqrt(float64(iv.N))
	}}
}

// spread compares standard deviations by the bootstrap of their ratio.
func spread(x, y []float64, seed uint64) *comparison {
	iv, p, se := race.SpreadRatio(x, y, confidence, seed)
	return &comparison{Interval: iv, null: 1, p: p, finds: func(level float64) float64 {
		return math.Exp((distuv.UnitNormal.Quantile(1-level/2) + distuv.UnitNormal.Quantile(power)) * se)
	}}
}

// holm decides "smaller than null" for a family of comparisons by Holm's method: with probability at least
// [confidence], every verdict that a test gives is right. If two methods do not differ in any trial, the verdict is
// Fails without a test.
func holm(family ...*comparison) {
	level := (1 - confidence) / float64(len(family))
	for k, adjusted := range race.Holm(mapped(family, func(c *comparison) float64 { return c.p })) {
		c := family[k]
		rejected, none := adjusted <= 1-confidence, c.Lo == c.Hi && c.Lo == c.null // none: the methods do not differ in any trial
		if c.Decision = decided(c.Interval, rejected && c.Mean < c.null, rejected || none); c.Verdict == Undecided {
			c.On += fmt.Sprintf("; an effect of %.3g would be found with probability %g or more", c.finds(level), power)
		}
	}
}

// Claim is a statement of the paper that can be tested; we take each statement in the sense that, we think, the authors
// intended. A section of data/claims.md states the claim. Results are numbers about the claim; the first results decide
// the claim or one of its interpretations. Formulas are TeX between dollar signs.
type Claim struct {
	ID      string `csv:"id"` // a fixed name that begins with the number of the section, or with 0 for the abstract, as in "6-cost"
	Claim   string `csv:"claim"`
	Setting string `csv:"setting"` // how the experiment tests the claim
	Results []Result
	Note    string `csv:"note"` // a remark on the numbers
	Decision
}

// claim returns the claim of a section of data/claims.md. The numbers fill the blanks of its setting.
func claim(id string, d Decision, results []Result, numbers ...any) Claim {
	c := Claim{ID: id, Results: results, Decision: d}
	_, texts, err := sections("claims.md")
	noError(err)
	noError(setFields("claims.md", id, texts[id], map[string]*string{"claim": &c.Claim, "setting": &c.Setting, "note": &c.Note}))
	c.Setting = fmt.Sprintf(c.Setting, numbers...)
	return c
}

// Result is a number about a claim.
type Result struct {
	Quantity string  `csv:"quantity"`
	Of       string  `csv:"of"`             // what the number belongs to, such as a method or a parameter
	Compared string  `csv:"compared"`       // "difference" or "ratio" if the field Of names two methods or settings, else ""
	Value    float64 `csv:"estimate,%.8g,"` // an estimate from trials if Lo < Hi, else a number without an interval
	Lo       float64 `csv:"lo,%.8g,"`       // Lo and Hi are the ends of the 95 % interval, or equal to Value if there is none
	Hi       float64 `csv:"hi,%.8g,"`
	Unit     string  `csv:"unit"`
}

// exactly, mean and nanoseconds return the result for a number without an interval, a mean of trials, and a time.
func exactly(quantity, of string, v float64) Result {
	return Result{Quantity: quantity, Of: of, Value: v, Lo: v, Hi: v}
}

func mean(quantity, of string, x []float64) Result {
	iv := race.TInterval(x, confidence)
	return Result{Quantity: quantity, Of: of, Value: iv.Mean, Lo: iv.Lo, Hi: iv.Hi}
}

func nanoseconds(of string, v float64) Result {
	return Result{Quantity: "time", Of: of, Value: v, Lo: v, Hi: v, Unit: "ns"}
}

func (c *comparison) result(quantity, of, compared string) Result {
	return Result{Quantity: quantity, Of: of, Compared: compared, Value: c.Mean, Lo: c.Lo, Hi: c.Hi}
}

// String returns the number and its unit. An exact number has at most six digits, or one digit if the number is a
// rounding error. Unless the interval is a point, a mean is followed by ± and half the length of the interval, and a
// difference or a ratio is followed by the interval. With an interval, all numbers get as many decimals as half the
// length of the interval needs to show two digits.
func (r Result) String() string {
	half, text := (r.Hi-r.Lo)/2, fmt.Sprintf("%.6g", r.Value)
	switch {
	case math.Abs(r.Value) < 1e-9 && half < 1e-9: // a rounding error
		text = fmt.Sprintf("%.0e", r.Value)
	case half > 0:
		digits := max(0, 1-int(math.Floor(math.Log10(half))))
		text = fmt.Sprintf("%.*f ± %.*f", digits, r.Value, digits, half)
		if r.Compared != "" {
			text = fmt.Sprintf("%.*f [%.*f, %.*f]", digits, r.Value, digits, r.Lo, digits, r.Hi)
		}
	}
	return strings.TrimSpace(strings.Replace(text, "0e+00", "0", 1) + " " + r.Unit)
}

// Sentences returns the results as text. Consecutive results that agree in Quantity and Compared share a sentence.
func (c Claim) Sentences() (all []string) {
	for i, r := range c.Results {
		number := r.String()
		if r.Of != "" {
			number += " (" + r.Of + ")"
		}
		if what := strings.TrimSpace(r.Quantity + " " + r.Compared); i > 0 &&
			r.Quantity == c.Results[i-1].Quantity && r.Compared == c.Results[i-1].Compared {
			all[len(all)-1] += ", " + number
		} else if r.Compared != "" {
			all = append(all, r.Compared+" of the "+r.Quantity+": "+number)
		} else {
			all = append(all, what+": "+number)
		}
	}
	for i, s := range all {
		all[i] = strings.ToUpper(s[:1]) + s[1:] + "."
	}
	return all
}

// Numbers returns the [Claim.Sentences] as one text, with plain Unicode instead of TeX.
func (c Claim) Numbers() string { return plotting.Unicode(strings.Join(c.Sentences(), " ")) }

// claimRow is a row of data/claims.csv: a result with its claim, or a claim alone.
type claimRow struct {
	Claim
	Result
}

// WriteClaims writes the claims as CSV with a header and a row for each result. WriteClaims omits times, because they
// depend on the machine and the day. A claim that has no results except times gets one row, without numbers.
func WriteClaims(w io.Writer, claims []Claim) error {
	var rows []claimRow
	for _, c := range claims {
		recorded := slices.DeleteFunc(slices.Clone(c.Results), func(r Result) bool { return r.Unit == "ns" })
		if len(recorded) == 0 {
			recorded = []Result{{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}}
		}
		for _, r := range recorded {
			rows = append(rows, claimRow{c, r})
		}
	}
	return csvrows.Encode(w, rows)
}

// RecordedClaims returns the claims that data/claims.csv records. [Claims] computed these claims.
func RecordedClaims() (claims []Claim, err error) {
	rows, err := data.Rows[claimRow]("claims.csv")
	if err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	for _, r := range rows {
		if n := len(claims); n == 0 || claims[n-1].ID != r.ID {
			claims = append(claims, r.Claim)
		}
		if c := &claims[len(claims)-1]; r.Quantity != "" {
			c.Results = append(c.Results, r.Result)
		}
	}
	return claims, nil
}

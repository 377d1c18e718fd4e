package paper

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/internal/csvrows"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// Claim is a sentence of the paper that can be measured, as its authors would read it: a section of
// data/claims.md, with the numbers and the rule that decide it. Formulas are TeX between dollar signs.
type Claim struct {
	ID      string `csv:"id"` // stable, such as "6-cost"; begins with the section, 0 being the abstract
	Claim   string `csv:"claim"`
	Setting string `csv:"setting"` // in which it was tried
	Results []Result
	Note    string `csv:"note"` // on the numbers
	Decision
}

// claim is a section of data/claims.md, with the numbers that its setting leaves open.
func claim(id string, d Decision, results []Result, numbers ...any) Claim {
	c := Claim{ID: id, Results: results, Decision: d}
	_, texts, err := sections("claims.md")
	noError(err)
	noError(setFields("claims.md", id, texts[id], map[string]*string{"claim": &c.Claim, "setting": &c.Setting, "note": &c.Note}))
	if len(numbers) > 0 {
		c.Setting = fmt.Sprintf(c.Setting, numbers...)
	}
	return c
}

// Result is a number about a claim. The first of them decide.
type Result struct {
	Quantity string  `csv:"quantity"`
	Of       string  `csv:"of"`                  // which of several: a method, a parameter
	Compared string  `csv:"compared"`            // "difference" or "ratio" of the two that Of names; else ""
	Value    float64 `csv:"estimate,8,optional"` // a mean over trials, if Lo < Hi
	Lo       float64 `csv:"lo,8,optional"`       // of a 95 % interval
	Hi       float64 `csv:"hi,8,optional"`
	Unit     string  `csv:"unit"`
}

// exactly is a result without an interval, mean that of trials, and nanoseconds that of a clock.
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

// String returns the number with two digits of its interval, or with six if it is exact.
func (r Result) String() string {
	half, text := (r.Hi-r.Lo)/2, fmt.Sprintf("%.6g", r.Value)
	switch {
	case math.Abs(r.Value) < 1e-9 && half < 1e-9: // of rounding
		text = fmt.Sprintf("%.0e", r.Value)
	case half > 0 && r.Compared != "":
		text = fmt.Sprintf("%.4g [%.4g, %.4g]", r.Value, r.Lo, r.Hi)
	case half > 0:
		digits := max(0, 1-int(math.Floor(math.Log10(half))))
		text = fmt.Sprintf("%.*f ± %.*f", digits, r.Value, digits, half)
	}
	return strings.TrimSpace(strings.Replace(text, "0e+00", "0", 1) + " " + r.Unit)
}

// Sentences tells of the results, a sentence for each quantity.
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
			all = append(all, r.Compared+" of the "+r.Quantity+" "+number)
		} else {
			all = append(all, what+": "+number)
		}
	}
	for i, s := range all {
		all[i] = strings.ToUpper(s[:1]) + s[1:] + "."
	}
	return all
}

// Numbers tells of the results in plain Unicode.
func (c Claim) Numbers() string { return plotting.Unicode(strings.Join(c.Sentences(), " ")) }

// claimRow is a row of data/claims.csv: a result with its claim, or a claim alone.
type claimRow struct {
	Claim
	Result
}

// WriteClaims writes the claims as CSV with a header, a row for each result. Times are of one machine and one
// day, and are left out.
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

// RecordedClaims returns the claims of data/claims.csv, which [Claims] computed.
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

package data

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/mixpolicy/lab/internal/csvrows"
)

// Adversary is a row of adversaries.csv: for one bound, the worst case that a search over a space of instances found.
type Adversary struct {
	Statement  string    `csv:"statement"`
	What       string    `csv:"bound"`
	Space      string    `csv:"space"`
	Instances  int       `csv:"instances"`  // number of instances evaluated
	Nontrivial int       `csv:"nontrivial"` // number of instances whose ratio is positive
	Violations int       `csv:"violations"`
	Ratio      float64   `csv:"ratio,%.12g"` // Left divided by Right; 0 if Right is infinite, ≤ 0, or at most 10⁻⁴ Size
	Left       float64   `csv:"left,%.12g"`
	Right      float64   `csv:"right,%.12g"`
	Allowed    float64   `csv:"allowed,%.12g"` // the greatest excess of Left over Right that rounding alone can cause
	Text       string    `csv:"instance"`      // the instance with the greatest ratio, as "name=value …" with all digits
	Loose      string    `csv:"loose"`         // why the ratio is below ½ in all rows of this bound; empty if it reaches ½ in any row
	Instance   []float64 // the values of Text
}

// Adversaries reads rows that [csvrows.Encode] has written. If a row is wrong, the error names its line.
func Adversaries(r io.Reader) ([]Adversary, error) {
	rows, err := csvrows.Decode(r, func(a *Adversary) error {
		for _, word := range strings.Fields(a.Text) {
			_, value, _ := strings.Cut(word, "=")
			v, err := strconv.ParseFloat(value, 64)
			if err != nil || math.IsNaN(v) {
				return fmt.Errorf("the instance contains %q, want <name>=<number>", word)
			}
			a.Instance = append(a.Instance, v)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("data: adversaries: %w", err)
	}
	return rows, nil
}

package adversary_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mixpolicy/lab/mixpolicy/theory/adversary"
)

func TestTrial(t *testing.T) {
	for _, s := range adversary.Spaces() {
		begin := time.Now()
		n := 20000
		r, err := adversary.Search(t.Context(), s, n, 1, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("== %s: %.1f µs\n", s.Name, time.Since(begin).Seconds()/float64(n)*1e6)
		for _, r := range r {
			fmt.Printf("   %-14s %8.4f  viol %d  %.6g ≤ %.6g  %s\n", r.Bound.Statement, r.Ratio, r.Violations, r.Left, r.Right, r.Bound.What)
		}
	}
}

package paper_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/paper"
	"github.com/mixpolicy/lab/plotting"
)

// Evidence can be shown: for what is right the two pictures, for a slip the measured slope beside the
// claimed one.
func TestEvidence(t *testing.T) {
	value := func(x float64) float64 { return -math.Sqrt(1 - x*x) }
	turned := func(x float64) float64 { return -x / math.Sqrt(1-x*x) }
	inverse := func(y float64) float64 { return y / math.Hypot(1, y) }
	for _, c := range []struct {
		m    bregman.Modulus
		want []string
	}{
		{bregman.Ball{R: 2}, []string{"Taylor remainder", "Towards the boundary the gradient grows"}},
		{bregman.FromClosures("turned", value, turned, inverse, -1, 1), []string{"Deriv is −1 times the derivative of Value", "measured: the derivative of Value", "claimed: Deriv"}},
		{bregman.Ball{R: -1}, []string{"want 0 < R < 1e300"}},
	} {
		var all strings.Builder
		for _, v := range paper.Evidence(bregman.Check(context.Background(), c.m, 2, 1)) {
			d, err := plotting.DisplayData(v)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range d.Data {
				if s, ok := text.(string); ok {
					all.WriteString(s)
				}
			}
		}
		for _, w := range c.want {
			if !strings.Contains(all.String(), w) {
				t.Errorf("%v: %q is not shown", c.m, w)
			}
		}
	}
}

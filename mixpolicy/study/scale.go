package study

import (
	"context"
	"time"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Scale states what one machine needs to make a network of four queues, the occupation measures Ψ of two rules there,
// and the exact optimum of (2.18) over ‖θ‖₂ ≤ 2.
type Scale struct {
	States   int     `csv:"states"` // n
	Moves    int     `csv:"moves"`  // the transitions of all pairs together
	Model    float64 `csv:"model,%.3g"`
	Measures float64 `csv:"measures,%.3g"`
	Optimum  float64 `csv:"optimum,%.3g"`  // seconds, like Model and Measures
	Residual float64 `csv:"residual,%.3g"` // the greater ‖μ − μP‖₁ of the two
	Gap      float64 `csv:"gap,%.3g"`      // gap of the optimum's certificate, relative to the optimum
	Memory   float64 `csv:"memory,%.3g"`   // bytes, at the peak
	Machine  string  `csv:"machine"`
	Date     string  `csv:"date"`
}

// Scales returns the buffers of networks of about 10⁴, 10⁵, 10⁶ and 10⁷ states.
func Scales() [][4]int {
	return [][4]int{{12, 8, 8, 12}, {21, 14, 14, 21}, {38, 25, 25, 38}, {68, 45, 45, 68}}
}

// MeasureScale returns all but the memory, the machine and the date, which the caller fills in. If ctx ends while the
// model is made, its construction continues in the background.
func MeasureScale(ctx context.Context, buffers [4]int) (s Scale, err error) {
	defer catch(&err)
	w := models.Network{Buffers: buffers}
	begin := time.Now()
	lap := func() float64 {
		last := begin
		begin = time.Now()
		return begin.Sub(last).Seconds()
	}
	var x *mixpolicy.MDP
	var base []*mixpolicy.Policy
	made := make(chan error, 1)
	go func() {
		var err error
		if x, err = w.MDP(); err == nil {
			base, err = w.Policies(x, models.Longer, models.LastBuffer)
		}
		made <- err
	}()
	select {
	case err := <-made:
		must(0, err)
	case <-ctx.Done():
		return s, ctx.Err()
	}
	s.States, s.Moves, s.Model = x.States(), x.Transitions(), lap()
	psi := must(mixpolicy.NewFeatures(ctx, x, base...))
	for j := range base {
		s.Residual = max(s.Residual, psi.Measure(j).Residual)
	}
	s.Measures = lap()
	best := must(must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2))).Optimum(ctx))
	s.Gap, s.Optimum = best.Gap()/best.Objective, lap()
	return s, nil
}

// RecordedScales returns the rows of data/scale.csv, the smallest network first.
func RecordedScales() ([]Scale, error) { return data.Rows[Scale]("scale.csv") }

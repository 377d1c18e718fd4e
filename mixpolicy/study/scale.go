package study

import (
	"context"
	"time"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Scales returns the buffers of four networks, which have about 10⁴, 10⁵, 10⁶ and 10⁷ states.
func Scales() [][4]int {
	return [][4]int{{12, 8, 8, 12}, {21, 14, 14, 21}, {38, 25, 25, 38}, {68, 45, 45, 68}}
}

// MeasureScale solves (2.18) over ‖θ‖₂ ≤ 2 for a network with the base policies LONGER and LBFS. It returns the size of
// the network, and the times and errors of this computation. The caller fills in the memory, the machine and the date.
// If ctx ends during the construction of the model, MeasureScale returns an error, but the construction continues in
// the background.
func MeasureScale(ctx context.Context, buffers [4]int) (s data.Scale, err error) {
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

package study

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/internal/csvrows"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Scale is what it takes one machine to make a network of four queues, the occupation measures Ψ of
// two rules there, and the exact optimum of (2.18) over ‖θ‖₂ ≤ 2.
type Scale struct {
	States, Moves            int     // n, and the transitions of all pairs together
	Model, Measures, Optimum float64 // seconds
	Residual                 float64 // the larger ‖μ − μP‖₁ of the two
	Gap                      float64 // of the optimum's certificate, as a part of the optimum
	Memory                   float64 // bytes, at the most
	Machine, Date            string
}

// Scales are the buffers of networks of about 10⁴, 10⁵, 10⁶ and 10⁷ states.
func Scales() [][4]int {
	return [][4]int{{12, 8, 8, 12}, {21, 14, 14, 21}, {38, 25, 25, 38}, {68, 45, 45, 68}}
}

// MeasureScale takes the times. Memory, machine and date are for the caller to fill in. If ctx ends
// while the model is made, that goes on behind, for nobody.
func MeasureScale(ctx context.Context, buffers [4]int) (s Scale, err error) {
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
	case err = <-made:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return s, err
	}
	s.States, s.Moves, s.Model = x.States(), x.Transitions(), lap()
	psi, err := mixpolicy.NewFeatures(ctx, x, base...)
	if err != nil {
		return s, err
	}
	for j := range base {
		s.Residual = max(s.Residual, psi.Measure(j).Residual)
	}
	s.Measures = lap()
	p, err := mixpolicy.NewProblem(psi, mixpolicy.Ball(2))
	if err != nil {
		return s, err
	}
	best, err := p.Optimum(ctx)
	if err != nil {
		return s, err
	}
	s.Gap, s.Optimum = best.Gap()/best.Objective, lap()
	return s, nil
}

var scaleHeader = []string{"states", "moves", "model", "measures", "optimum", "residual", "gap", "memory", "machine", "date"}

func (s *Scale) fields() []any {
	return []any{&s.States, &s.Moves, &s.Model, &s.Measures, &s.Optimum, &s.Residual, &s.Gap, &s.Memory, &s.Machine, &s.Date}
}

// WriteScales writes them as CSV with a header, numbers to three digits.
func WriteScales(w io.Writer, all []Scale) error {
	if err := csvrows.Write(w, scaleHeader, all, (*Scale).fields, 3); err != nil {
		return fmt.Errorf("study: scale.csv: %w", err)
	}
	return nil
}

// RecordedScales are those of data/scale.csv, the smallest network first.
func RecordedScales() ([]Scale, error) {
	f, err := data.Files.Open("scale.csv")
	if err != nil {
		return nil, fmt.Errorf("study: %w", err)
	}
	defer f.Close()
	last := 0
	all, err := csvrows.Read(f, scaleHeader, (*Scale).fields, func(s *Scale) error {
		if s.States <= last || s.Moves < s.States {
			return fmt.Errorf("states %d with %d moves after %d states, want more", s.States, s.Moves, last)
		}
		last = s.States
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("study: scale.csv: %w", err)
	}
	return all, nil
}

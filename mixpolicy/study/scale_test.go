package study

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
)

// For a network of 4·3·3·4 states, MeasureScale reports the size of the model and an accurate solution.
func TestMeasureScale(t *testing.T) {
	s := mixpolicy.Must(MeasureScale(t.Context(), [4]int{3, 2, 2, 3}))
	timed := s.Model > 0 && s.Measures > 0 && s.Optimum > 0 && s.Model+s.Measures+s.Optimum < 60
	if s.States != 144 || s.Moves <= 4*s.States || s.Residual > 1e-10 || math.Abs(s.Gap) > 1e-9 || !timed {
		t.Errorf("%+v", s)
	}
}

// An interrupt ends MeasureScale during the construction of the model, which takes seconds.
func TestMeasureScaleStops(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	began := time.Now()
	_, err := MeasureScale(ctx, Scales()[2])
	if late := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || late > time.Second {
		t.Errorf("ended after %v with %v", late, err)
	}
}

// The record covers all networks, up to 10⁷ states, each with an accurate solution.
func TestScales(t *testing.T) {
	all := mixpolicy.Must(data.Scales())
	if len(all) != len(Scales()) {
		t.Fatalf("%d networks, want %d", len(all), len(Scales()))
	}
	for k, s := range all {
		states := 1
		for _, b := range Scales()[k] {
			states *= b + 1
		}
		if s.States != states || !(s.Residual <= 1e-10 && math.Abs(s.Gap) <= 1e-9 && s.Memory > 0) {
			t.Errorf("%+v", s)
		}
	}
}

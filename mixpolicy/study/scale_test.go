package study

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mixpolicy/lab/internal/csvrows"
	"github.com/mixpolicy/lab/mixpolicy"
)

// A network of 4·3·3·4 states: what is measured is of its model, and of a solution.
func TestMeasureScale(t *testing.T) {
	s := mixpolicy.Must(MeasureScale(t.Context(), [4]int{3, 2, 2, 3}))
	timed := s.Model > 0 && s.Measures > 0 && s.Optimum > 0 && s.Model+s.Measures+s.Optimum < 60
	if s.States != 144 || s.Moves <= 4*s.States || s.Residual > 1e-10 || math.Abs(s.Gap) > 1e-9 || !timed {
		t.Errorf("%+v", s)
	}
	var b strings.Builder
	s.Machine = "a machine"
	if err := csvrows.Encode(&b, []Scale{s}); err != nil || strings.Count(b.String(), "\n") != 2 || !strings.Contains(b.String(), "144,") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// An interrupt ends it while the model is made, which takes seconds.
func TestMeasureScaleStops(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	began := time.Now()
	_, err := MeasureScale(ctx, Scales()[2])
	if late := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || late > time.Second {
		t.Errorf("ended after %v with %v", late, err)
	}
}

// The record has all networks, up to 10⁷ states, each solved.
func TestRecordedScales(t *testing.T) {
	all := mixpolicy.Must(RecordedScales())
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

package fault

import (
	"errors"
	"io"
	"testing"
)

func TestAtHasOnePrefix(t *testing.T) {
	for in, want := range map[string]string{
		"mixpolicy: policy is nil":      "theory: policy 3: policy is nil",
		"entries add up to 2, want 1":   "theory: policy 3: entries add up to 2, want 1",
		"measure: 1 entries, want 2":    "theory: policy 3: measure: 1 entries, want 2",
		"paper: run 1: no step":         "theory: policy 3: run 1: no step",
		"bregman: θ is not in (0, ∞)":   "theory: policy 3: θ is not in (0, ∞)",
		"a place that says mixpolicy: ": "theory: policy 3: a place that says mixpolicy: ",
	} {
		if got := At("theory", "policy 3", errors.New(in)).Error(); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	for _, p := range packages {
		if got := At("theory", "", errors.New(p+": x")).Error(); got != "theory: x" {
			t.Errorf("%q became %q, want another prefix", p+": x", got)
		}
	}
	if err := At("theory", "policy 3", io.EOF); !errors.Is(err, io.EOF) {
		t.Errorf("%v does not wrap its cause", err)
	}
}

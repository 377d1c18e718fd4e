package paper

import (
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Every step of section 5 holds along every run in the corrected form. Those that are
// right as printed are evaluated as printed only.
func TestProofs(t *testing.T) {
	steps, err := Proofs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	corrected := map[string]bool{}
	for _, s := range steps {
		if s.Form == mixpolicy.Corrected {
			corrected[s.Equation] = true
			if !s.Holds() {
				t.Errorf("%+v does not hold", s)
			}
		}
	}
	for _, s := range steps {
		if s.Form == mixpolicy.Printed && s.Holds() == corrected[s.Equation] {
			t.Errorf("%+v: printed and corrected form, or one that holds, are wanted", s)
		}
		if s.Form == mixpolicy.Corrected || !corrected[s.Equation] {
			continue
		}
		if b := s.Beside; b == nil || b.Form != mixpolicy.Corrected || b.Run != s.Run || b.At != s.At || !b.Holds() {
			t.Errorf("%+v: the corrected form beside it is %+v", s, b)
		}
	}
}

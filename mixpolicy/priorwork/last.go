package priorwork

import "github.com/mixpolicy/lab/mixpolicy"

var _ mixpolicy.Method = LastIterate{}

// LastIterate answers with the last iterate θ_t of a method instead of the average θ̂_t
// of (3.27). For a saddle point of a bilinear 𝓛 that is no better than the iterates
// are: with steps that do not vanish they circle, and no theorem of the paper applies. It
// is there to be compared.
type LastIterate struct{ mixpolicy.Method }

// Name implements [mixpolicy.Method].
func (a LastIterate) Name() string { return a.Method.Name() + ", last iterate" }

// View implements [mixpolicy.Method].
func (a LastIterate) View(s *mixpolicy.Snapshot) error {
	err := a.Method.View(s)
	s.Average = s.Last
	return err
}

package priorwork

import "github.com/mixpolicy/lab/mixpolicy"

var _ mixpolicy.Method = LastIterate{}

// LastIterate answers with the last iterate θ_t of a method instead of the average θ̂_t
// of (3.27). For a saddle point of a bilinear 𝓛 that is no better than the iterates
// are: with steps that do not vanish they circle, and no theorem of the paper applies. It
// is there to be compared.
type LastIterate struct{ Of mixpolicy.Method }

// Name implements [mixpolicy.Method].
func (a LastIterate) Name() string { return a.Of.Name() + ", last iterate" }

// Start implements [mixpolicy.Method].
func (a LastIterate) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	r, err := a.Of.Start(p, o)
	return lastIterate{r}, err
}

type lastIterate struct{ mixpolicy.Run }

// View implements [mixpolicy.Run].
func (a lastIterate) View(s *mixpolicy.Snapshot) error {
	err := a.Run.View(s)
	s.Average = s.Last
	return err
}

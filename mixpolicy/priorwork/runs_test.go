package priorwork

import (
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// begin starts a method on stream 0 of seed 1 and returns the run as what it is.
func begin[R mixpolicy.Run](t testing.TB, p *mixpolicy.Problem, m mixpolicy.Method) R {
	t.Helper()
	r, err := m.Start(p, mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0)))
	if err != nil {
		t.Fatal(err)
	}
	return r.(R)
}

// learn runs a method and returns what it leaves, without a certificate.
func learn(p *mixpolicy.Problem, m mixpolicy.Method, steps int, seed uint64) (*mixpolicy.Result, error) {
	return mixpolicy.Solve(background, p, m, mixpolicy.Settings{Iterations: steps, Seed: seed, Uncertified: true})
}

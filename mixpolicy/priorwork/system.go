package priorwork

import (
	"context"
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy"
)

// System learns a policy from an oracle: the interface on which everything that
// section 4 names can be compared.
//
// Init makes every allocation and validates the parameters. Step does one iteration. Answer
// may take long: a system that solves a linear program at the end does it there. A System
// value holds the state of one run.
type System interface {
	Name() string
	Init(p *mixpolicy.Problem, o *mixpolicy.Oracle) error
	Step() error
	Answer(ctx context.Context) (*Answer, error)
}

// Answer is what a system has learned so far. It belongs to the caller.
type Answer struct {
	Policy *mixpolicy.Policy
	// Theta is θ̂ for systems that solve (2.18), else nil.
	Theta []float64
}

// Mixing makes a System of a method for (2.18): its policy is π^θ̂ of (2.20).
func Mixing(m mixpolicy.Method) System { return &mixing{m: m} }

type mixing struct {
	m    mixpolicy.Method
	p    *mixpolicy.Problem
	snap mixpolicy.Snapshot
}

func (s *mixing) Name() string { return s.m.Name() }

func (s *mixing) Init(p *mixpolicy.Problem, o *mixpolicy.Oracle) error {
	s.p = p
	return s.m.Init(p, o)
}

func (s *mixing) Step() error { return s.m.Step() }

func (s *mixing) Answer(context.Context) (*Answer, error) {
	if err := s.m.View(&s.snap); err != nil {
		return nil, err
	}
	theta := append([]float64(nil), s.snap.Average...)
	policy, err := s.p.Features().PolicyOf(theta)
	if err != nil {
		return nil, err
	}
	return &Answer{Policy: policy, Theta: theta}, nil
}

// Run does the given number of steps of a system and returns its answer. The random
// numbers are those of PCG(seed, stream).
func Run(ctx context.Context, p *mixpolicy.Problem, s System, steps int, seed, stream uint64) (*Answer, error) {
	o, err := mixpolicy.NewOracle(p, seed, stream)
	if err != nil {
		return nil, err
	}
	if err := s.Init(p, o); err != nil {
		return nil, err
	}
	const look = 1024 // steps between looks at the context
	for t := range steps {
		if t%look == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("priorwork: %s stopped after %d of %d steps: %w", s.Name(), t, steps, ctx.Err())
		}
		if err := s.Step(); err != nil {
			return nil, fmt.Errorf("priorwork: %s, step %d: %w", s.Name(), t, err)
		}
	}
	return s.Answer(ctx)
}

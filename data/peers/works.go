package main

import (
	"context"
	"fmt"
	"math"

	"github.com/mixpolicy/lab/data"
)

// A work is something that we and others can do.
type work struct {
	name    string // for --only, and in the file
	measure func(ctx context.Context, b *bench) ([]data.Comparison, error)
}

// works are in the order of the tables.
var works = []work{
	{"stationary", races(stationary)},
	{"step", steps},
	{"mixture", races(mixture)},
	{"valuation", races(valuation)},
	{"projection", races(projection)},
	{"queries", queries},
	{"memory", memory},
}

// races measures all races of a work, each made when its turn comes: they are large.
func races(entries func(ctx context.Context, quick bool) ([]func() (race, error), error)) func(context.Context, *bench) ([]data.Comparison, error) {
	return func(ctx context.Context, b *bench) ([]data.Comparison, error) {
		makers, err := entries(ctx, b.quick)
		if err != nil {
			return nil, err
		}
		var all []data.Comparison
		for _, make := range makers {
			r, err := make()
			if err != nil {
				return nil, err
			}
			rows, err := b.run(ctx, r)
			if err != nil {
				return nil, err
			}
			all = append(all, rows...)
		}
		return all, nil
	}
}

// within reports the first entry of theirs that is further from ours than the tolerance.
func within(tolerance float64) func(ours, theirs []float64) error {
	return func(ours, theirs []float64) error {
		if len(theirs) != len(ours) {
			return fmt.Errorf("%d entries, want %d", len(theirs), len(ours))
		}
		for i, v := range ours {
			if !(math.Abs(theirs[i]-v) <= tolerance) {
				return fmt.Errorf("entry %d is %.9g, want %.9g ± %.1g", i, theirs[i], v, tolerance)
			}
		}
		return nil
	}
}

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/paper"
)

const root = "../.."

// moved lists the rows of the index whose symbol has changed since the record was made.
var moved = []string{"3.5a", "3.14a", "3.25a", "3.27a"}

// The record covers every row of the index with its symbol. The tests kill at least nine of ten mutants.
func TestRecord(t *testing.T) {
	scores := mixpolicy.Must(data.Rows[data.Score]("mutations.csv"))
	mutants, killed := 0, 0
	for _, e := range paper.Index() {
		recorded := func(s data.Score) bool {
			return s.Number == e.Number && (s.Symbol == e.Symbol || slices.Contains(moved, e.Number))
		}
		if !slices.ContainsFunc(scores, recorded) {
			t.Errorf("(%s) has no record of %s; go run ./data/mutations index makes it", e.Number, e.Symbol)
		}
	}
	for _, s := range scores {
		mutants, killed = mutants+s.Mutants, killed+s.Killed
	}
	if 10*killed < 9*mutants {
		t.Errorf("%d of %d mutants die, want nine tenths", killed, mutants)
	}
}

// Every row of the index leads to code, and an unknown row is an error.
func TestIndexTargets(t *testing.T) {
	all, err := indexTargets(root, nil)
	if err != nil || len(all) != len(paper.Index()) {
		t.Errorf("%d targets, %v", len(all), err)
	}
	if _, err := indexTargets(root, []string{"9.99"}); err == nil || !strings.Contains(err.Error(), "9.99") {
		t.Errorf("a row that is not there: %v", err)
	}
}

// The command reports mutants that the tests of a package do not notice.
func TestRun(t *testing.T) {
	targets := mixpolicy.Must(packageTarget("../../internal/mutation/testdata/module", "shape", "Total"))
	var scores []data.Score
	err := run(t.Context(), "../../internal/mutation/testdata/module", 2, targets, func(s data.Score) error {
		scores = append(scores, s)
		return nil
	})
	if err != nil || len(scores) != 1 || scores[0].Mutants < 6 || scores[0].Killed != 0 {
		t.Errorf("%+v, %v: want no mutant of Total killed", scores, err)
	}
	if _, err := packageTarget(root, "mixpolicy/bregman", "Sphere"); err == nil || !strings.Contains(err.Error(), "Sphere") {
		t.Errorf("a function that is not there: %v", err)
	}
}

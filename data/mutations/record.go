package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mixpolicy/lab/internal/atomicfile"
	"github.com/mixpolicy/lab/internal/csvrows"
	"github.com/mixpolicy/lab/internal/mutation"
)

// Score is a row of data/mutations.csv: how many mutants of some code its tests kill.
type Score struct {
	Scope      string // number of a row of the index, or folder of a package
	Symbol     string // what was broken: the symbol of a row, or a file of a package, as far as its tests cover it
	Hash       string // of its code
	Mutants    int    // that compile
	Killed     int
	Equivalent int // that survive, and compute the same: their reasons are in data/survivors.csv
}

// Share is the share of the mutants killed among those that are not equivalent.
func (s Score) Share() float64 {
	if s.Mutants == s.Equivalent {
		return 1
	}
	return float64(s.Killed) / float64(s.Mutants-s.Equivalent)
}

// add adds the numbers of another score.
func (s *Score) add(other Score) {
	s.Mutants, s.Killed, s.Equivalent = s.Mutants+other.Mutants, s.Killed+other.Killed, s.Equivalent+other.Equivalent
}

var scoreHeader = []string{"scope", "symbol", "hash", "mutants", "killed", "equivalent"}

func (s *Score) fields() []any {
	return []any{&s.Scope, &s.Symbol, &s.Hash, &s.Mutants, &s.Killed, &s.Equivalent}
}

// Survivor is a row of data/survivors.csv: a mutant that no test noticed.
type Survivor struct {
	Scope, Function, Operator, From, To string
	Why                                 string // why it computes the same, as a reader of the code found
	Left                                string // or what it changes that no test decides
}

var survivorHeader = []string{"scope", "function", "operator", "from", "to", "why", "left"}

func (s *Survivor) fields() []any {
	return []any{&s.Scope, &s.Function, &s.Operator, &s.From, &s.To, &s.Why, &s.Left}
}

// readScores reads data/mutations.csv, readSurvivors data/survivors.csv.
func readScores(root string) ([]Score, error) {
	return read(root, "mutations.csv", scoreHeader, (*Score).fields, func(s *Score) error {
		if s.Killed < 0 || s.Equivalent < 0 || s.Killed+s.Equivalent > s.Mutants {
			return fmt.Errorf("%d killed and %d equivalent of %d mutants", s.Killed, s.Equivalent, s.Mutants)
		}
		return nil
	})
}

func readSurvivors(root string) ([]Survivor, error) {
	return read(root, "survivors.csv", survivorHeader, (*Survivor).fields, func(s *Survivor) error {
		if s.Why != "" && s.Left != "" {
			return fmt.Errorf("%s: it computes the same, and changes something", s.Function)
		}
		return nil
	})
}

func read[Row any](root, name string, header []string, fields func(*Row) []any, check func(*Row) error) ([]Row, error) {
	f, err := os.Open(filepath.Join(root, "data", name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csvrows.Read(f, header, fields, check)
	if err != nil {
		return nil, fmt.Errorf("data/%s: %w", name, err)
	}
	return rows, nil
}

// update puts rows in the place of those of the same scope.
func update(root string, scores []Score, survivors []Survivor) error {
	made := map[string]bool{}
	for _, s := range scores {
		made[s.Scope] = true
	}
	old, err := readScores(root)
	if err != nil {
		return err
	}
	oldSurvivors, err := readSurvivors(root)
	if err != nil {
		return err
	}
	order := map[string]int{}
	for i, number := range allScopes() {
		order[number] = i
	}
	scores = append(scores, slices.DeleteFunc(old, func(s Score) bool { return made[s.Scope] })...)
	survivors = append(survivors, slices.DeleteFunc(oldSurvivors, func(s Survivor) bool { return made[s.Scope] })...)
	gone := func(scope string) bool { _, ok := order[scope]; return !ok }
	scores = slices.DeleteFunc(scores, func(s Score) bool { return gone(s.Scope) })
	survivors = slices.DeleteFunc(survivors, func(s Survivor) bool { return gone(s.Scope) })
	slices.SortStableFunc(scores, func(a, b Score) int { return cmp.Compare(order[a.Scope], order[b.Scope]) })
	slices.SortStableFunc(survivors, func(a, b Survivor) int { return cmp.Compare(order[a.Scope], order[b.Scope]) })
	if err := atomicfile.Write(filepath.Join(root, "data", "mutations.csv"), func(w io.Writer) error {
		return csvrows.Write(w, scoreHeader, scores, (*Score).fields, 0)
	}); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(root, "data", "survivors.csv"), func(w io.Writer) error {
		return csvrows.Write(w, survivorHeader, survivors, (*Survivor).fields, 0)
	})
}

// survivor makes the row of a mutant, with what is known of the same change.
func (w *work) survivor(scope string, m mutation.Mutant) Survivor {
	s := Survivor{Scope: scope, Function: m.Folder + "." + m.Function, Operator: string(m.Operator), From: m.From, To: m.To}
	for _, k := range w.known {
		if k.Function == s.Function && k.Operator == s.Operator && k.From == s.From && k.To == s.To && k.Why+k.Left != "" {
			s.Why, s.Left = k.Why, k.Left
		}
	}
	return s
}

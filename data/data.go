// Package data holds computed results, which notebooks and tests read. Among them are reference values with their
// provenance, verdicts on claims, and comparisons with other packages. Package data also holds texts written by hand:
// the paper's statements and claims, the errata of the paper, and the index of its equations.
package data

import (
	"embed"
	"fmt"

	"github.com/mixpolicy/lab/internal/csvrows"
)

// Files are the tables and texts of this folder.
//
//go:embed *.csv statements.md errata.md claims.md
var Files embed.FS

// Rows reads a table of this folder. Each column of the table is a field of Row; see [csvrows.Encode].
func Rows[Row any](name string) ([]Row, error) {
	f, err := Files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csvrows.Decode[Row](f, nil)
	if err != nil {
		return nil, fmt.Errorf("data/%s: %w", name, err)
	}
	return rows, nil
}

// Score is a row of mutations.csv: how many mutants of a symbol the tests kill. A mutant is the code with one small
// change. A test kills the mutant if the test fails on the changed code.
type Score struct {
	Number  string `csv:"number"` // as in index.csv
	Symbol  string `csv:"symbol"`
	Mutants int    `csv:"mutants"` // number of mutants that compile
	Killed  int    `csv:"killed"`  // number of mutants that the tests kill
}

// Package data holds results that the code computed and that notebooks and tests
// read: reference values with their provenance, claims with their verdicts,
// comparisons with other packages; and, written by hand, the paper's statements.
package data

import "embed"

// Files are the tables of this folder.
//
//go:embed *.csv statements.md
var Files embed.FS

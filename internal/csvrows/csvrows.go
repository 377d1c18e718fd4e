// Package csvrows reads and writes CSV files with a header whose lines are structs.
package csvrows

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Write writes the header and a line for each row. fields returns pointers to the fields of
// a row in the order of the header: *string, *int, *uint64, or *float64, which is written to
// the given number of digits. A string with a carriage return, which could not be read back, is
// an error.
func Write[Row any](w io.Writer, header []string, rows []Row, fields func(*Row) []any, digits int) error {
	lines := [][]string{header}
	for k, row := range rows {
		var line []string
		for i, field := range fields(&row) {
			switch v := field.(type) {
			case *string:
				if strings.Contains(*v, "\r") {
					return wrong(k, header[i], *v, text)
				}
				line = append(line, *v)
			case *float64:
				line = append(line, strconv.FormatFloat(*v, 'g', digits, 64))
			case *int:
				line = append(line, strconv.Itoa(*v))
			case *uint64:
				line = append(line, strconv.FormatUint(*v, 10))
			}
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}

const text = "a text without a carriage return" // of \r\n, CSV reads back \n

func wrong(row int, column, field, want string) error {
	return fmt.Errorf("line %d: %s %q, want %s", row+2, column, field, want)
}

// Read reads what [Write] has written. Errors name the line and the column: another header, a
// field that is no number, NaN among them, and what check says of a row.
func Read[Row any](r io.Reader, header []string, fields func(*Row) []any, check func(*Row) error) ([]Row, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 || !slices.Equal(lines[0], header) {
		return nil, fmt.Errorf("want a header of the columns %q", header)
	}
	rows := make([]Row, len(lines)-1)
	for k, line := range lines[1:] {
		for i, field := range fields(&rows[k]) {
			var err error
			want := ""
			switch v := field.(type) {
			case *string:
				want = text
				if *v = line[i]; strings.Contains(*v, "\r") {
					err = strconv.ErrSyntax
				}
			case *float64:
				want = "a number"
				if *v, err = strconv.ParseFloat(line[i], 64); err == nil && math.IsNaN(*v) {
					err = strconv.ErrSyntax
				}
			case *int:
				want = "a whole number"
				*v, err = strconv.Atoi(line[i])
			case *uint64:
				want = "a whole number ≥ 0"
				*v, err = strconv.ParseUint(line[i], 10, 64)
			}
			if err != nil {
				return nil, wrong(k, header[i], line[i], want)
			}
		}
		if err := check(&rows[k]); err != nil {
			return nil, fmt.Errorf("line %d: %w", k+2, err)
		}
	}
	return rows, nil
}

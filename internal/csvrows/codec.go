// Package csvrows reads and writes CSV files whose first line is a header and whose other lines each hold one struct.
package csvrows

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// column is a field of a row's struct.
type column struct {
	name, verb, missing string // verb formats a value, missing stands for NaN
	index               []int  // for [reflect.Value.FieldByIndex]
}

// columns returns the columns of a struct type, in the order of its fields, and their names.
func columns(t reflect.Type, prefix string, index []int) (all []column, names []string) {
	for i := range t.NumField() {
		f, at := t.Field(i), append(slices.Clone(index), i)
		words := []string{"", "%v", "NaN"}
		copy(words, strings.Split(f.Tag.Get("csv"), ","))
		name := prefix + words[0]
		if f.Anonymous || strings.HasSuffix(words[0], "_") {
			inner, innerNames := columns(f.Type, name, at)
			all, names = append(all, inner...), append(names, innerNames...)
		} else if words[0] != "" {
			all, names = append(all, column{name, words[1], words[2], at}), append(names, name)
		}
	}
	return all, names
}

// Encode writes a header, and a line for each row. A row is a struct, and its fields with a `csv` tag are the columns:
//
//	Name   string     `csv:"name"`
//	Value  float64    `csv:"value,%.12g"`    // to 12 digits
//	Lo     float64    `csv:"lo,%g,"`         // NaN is written as the text after the second comma, here as an empty cell
//	Values []float64  `csv:"values,%g,–"`    // separated by spaces, NaN as –
//	Time   Range      `csv:"time_"`          // a struct: its fields are columns whose names begin with time_
//
// Fields may also be of type int, uint64 or bool. The fields of an embedded struct are treated like the row's own
// fields. Other fields without a `csv` tag are omitted. Encode returns an error if a value could not be read back: for
// example, a text with a carriage return, or NaN in a field whose tag gives no text for NaN. The error names the line
// and the column.
func Encode[Row any](w io.Writer, rows []Row) error {
	all, names := columns(reflect.TypeFor[Row](), "", nil)
	lines := [][]string{names}
	for k, row := range rows {
		line, from, back := make([]string, len(all)), reflect.ValueOf(row), reflect.ValueOf(new(Row)).Elem()
		for i, c := range all {
			line[i] = c.format(from.FieldByIndex(c.index))
			if err := c.parse(back.FieldByIndex(c.index), line[i]); err != nil {
				return fmt.Errorf("line %d: %w", k+2, err)
			}
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// Decode reads what [Encode] has written. If check is not nil, Decode calls check for each row. Decode returns an error
// if r does not contain valid CSV, if the header does not name the columns, if a cell is not of the column's type, or
// if check returns an error. An error about a cell names the line and the column. An error that check returns is
// preceded by the number of the line.
func Decode[Row any](r io.Reader, check func(*Row) error) ([]Row, error) {
	all, names := columns(reflect.TypeFor[Row](), "", nil)
	lines, err := csv.NewReader(r).ReadAll()
	if err == nil && (len(lines) == 0 || !slices.Equal(lines[0], names)) {
		err = fmt.Errorf("want a header with the columns %q", names)
	}
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(lines)-1)
	for k := range rows {
		for i, c := range all {
			err = cmp.Or(err, c.parse(reflect.ValueOf(&rows[k]).Elem().FieldByIndex(c.index), lines[k+1][i]))
		}
		if check != nil && err == nil {
			err = check(&rows[k])
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", k+2, err)
		}
	}
	return rows, nil
}

// wants describes the valid cells of each kind.
var wants = map[reflect.Kind]string{
	reflect.String: "a text without a carriage return", // CSV reads \r\n back as \n
	reflect.Int:    "a whole number", reflect.Uint64: "a whole number ≥ 0", reflect.Bool: "true or false",
	reflect.Float64: "a number", reflect.Slice: "numbers or – for missing ones, separated by spaces",
}

// format returns the text of a field.
func (c column) format(v reflect.Value) string {
	text := fmt.Sprintf(c.verb, v)
	if v.Kind() == reflect.Float64 || v.Kind() == reflect.Slice {
		text = strings.ReplaceAll(strings.Trim(text, "[]"), "NaN", c.missing)
	}
	return text
}

// parse sets a field from the text of a cell.
func (c column) parse(v reflect.Value, text string) error {
	good := !strings.Contains(text, "\r")
	number := func(text string) float64 {
		value, err := strconv.ParseFloat(text, 64)
		if text == c.missing && text != "NaN" {
			return math.NaN()
		}
		good = good && err == nil && !math.IsNaN(value)
		return value
	}
	switch x := v.Addr().Interface().(type) {
	case *float64:
		*x = number(text)
	case *[]float64:
		for _, word := range strings.Fields(text) {
			*x = append(*x, number(word))
		}
	case *int, *uint64, *bool:
		good = json.Unmarshal([]byte(text), x) == nil
	default:
		v.SetString(text)
	}
	if !good {
		return fmt.Errorf("%s %q, want %s", c.name, text, wants[v.Kind()])
	}
	return nil
}

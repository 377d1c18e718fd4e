// Package csvrows reads and writes CSV files with a header whose lines are structs.
package csvrows

import (
	"encoding"
	"encoding/csv"
	"encoding/json"
	"errors"
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
	name     string
	index    []int // as [reflect.Value.FieldByIndex] takes it
	digits   int   // of numbers; −1 is as many as it takes to read back the same
	optional bool  // NaN is an empty cell
}

// columns are those of a struct type, in the order of its fields.
func columns(t reflect.Type, prefix string, index []int) (all []column) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("csv")
		words := strings.Split(tag, ",")
		c := column{name: prefix + words[0], index: append(slices.Clone(index), i), digits: -1}
		_, text := reflect.PointerTo(f.Type).MethodByName("UnmarshalText")
		switch {
		case f.Type.Kind() == reflect.Struct && !text && (tagged || f.Anonymous):
			all = append(all, columns(f.Type, c.name, c.index)...)
			continue
		case !tagged:
			continue
		}
		for _, option := range words[1:] {
			if n, err := strconv.Atoi(option); err == nil {
				c.digits = n
			}
			c.optional = c.optional || option == "optional"
		}
		all = append(all, c)
	}
	return all
}

// Encode writes a header and a line for each row, a struct whose fields with a tag are the columns:
//
//	Name   string     `csv:"name"`
//	Value  float64    `csv:"value,12"`      // to 12 digits; without a number, to as many as it takes
//	Lo     float64    `csv:"lo,optional"`   // NaN is an empty cell; without optional it is an error
//	Values []float64  `csv:"values"`        // separated by spaces, NaN as –
//	Time   Range      `csv:"time_"`         // a struct: its columns, whose names begin with time_
//
// Other fields may be whole numbers, booleans, and types with MarshalText and UnmarshalText. Fields without a tag
// are left out, but for embedded structs. An error names the line and the column: a text with a carriage return,
// which could not be read back, and NaN.
func Encode[Row any](w io.Writer, rows []Row) error {
	all := columns(reflect.TypeFor[Row](), "", nil)
	lines := [][]string{header(all)}
	for k := range rows {
		var line []string
		for _, c := range all {
			cell, err := c.format(reflect.ValueOf(&rows[k]).Elem().FieldByIndex(c.index))
			if err != nil {
				return at(k, c, cell, err)
			}
			line = append(line, cell)
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// Decode reads what [Encode] has written. Errors name the line and the column: another header, a cell that is not
// of the column's type, and what check says of a row, if it is not nil.
func Decode[Row any](r io.Reader, check func(*Row) error) ([]Row, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	all := columns(reflect.TypeFor[Row](), "", nil)
	if len(lines) == 0 || !slices.Equal(lines[0], header(all)) {
		return nil, fmt.Errorf("want a header of the columns %q", header(all))
	}
	rows := make([]Row, len(lines)-1)
	for k, line := range lines[1:] {
		for i, c := range all {
			if err := c.parse(reflect.ValueOf(&rows[k]).Elem().FieldByIndex(c.index), line[i]); err != nil {
				return nil, at(k, c, line[i], err)
			}
		}
		if check != nil {
			if err := check(&rows[k]); err != nil {
				return nil, fmt.Errorf("line %d: %w", k+2, err)
			}
		}
	}
	return rows, nil
}

func header(all []column) (names []string) {
	for _, c := range all {
		names = append(names, c.name)
	}
	return names
}

func at(row int, c column, cell string, err error) error {
	return fmt.Errorf("line %d: %s %q, want %w", row+2, c.name, cell, err)
}

// wants says what a cell should be.
var wants = map[reflect.Kind]string{
	reflect.String: "a text without a carriage return", // of \r\n, CSV reads back \n
	reflect.Int:    "a whole number", reflect.Uint64: "a whole number ≥ 0", reflect.Bool: "true or false",
	reflect.Float64: "a number", reflect.Slice: "numbers or – for missing ones, separated by spaces",
}

// missing stands in a list for NaN.
const missing = "–"

// format returns the text of a field.
func (c column) format(v reflect.Value) (cell string, err error) {
	switch x := v.Addr().Interface().(type) {
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		return string(text), err
	case *[]float64:
		list := make([]string, len(*x))
		for i, value := range *x {
			if list[i] = missing; !math.IsNaN(value) {
				list[i] = strconv.FormatFloat(value, 'g', c.digits, 64)
			}
		}
		return strings.Join(list, " "), nil
	case *float64:
		if c.optional && math.IsNaN(*x) {
			return "", nil
		}
		cell = strconv.FormatFloat(*x, 'g', c.digits, 64)
	default:
		cell = fmt.Sprint(v)
	}
	if strings.Contains(cell, "\r") || v.Kind() == reflect.Float64 && cell == "NaN" {
		err = errors.New(wants[v.Kind()])
	}
	return cell, err
}

// parse sets a field to what a cell says.
func (c column) parse(v reflect.Value, cell string) error {
	good := true
	number := func(text string) float64 {
		value, err := strconv.ParseFloat(text, 64)
		good = good && err == nil && !math.IsNaN(value)
		return value
	}
	switch x := v.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return x.UnmarshalText([]byte(cell))
	case *[]float64:
		for _, text := range strings.Fields(cell) {
			if *x = append(*x, math.NaN()); text != missing {
				(*x)[len(*x)-1] = number(text)
			}
		}
	case *float64:
		if *x = math.NaN(); cell != "" || !c.optional {
			*x = number(cell)
		}
	default:
		if v.Kind() == reflect.String {
			v.SetString(cell)
			good = !strings.Contains(cell, "\r")
		} else {
			good = json.Unmarshal([]byte(cell), x) == nil
		}
	}
	if !good {
		return errors.New(wants[v.Kind()])
	}
	return nil
}

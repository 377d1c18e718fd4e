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
			if option == "optional" {
				c.optional = true
			} else if n, err := strconv.Atoi(option); err == nil {
				c.digits = n
			} else {
				panic(fmt.Sprintf("csvrows: option %q of the column %s, want optional or a number of digits", option, c.name))
			}
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
		if check == nil {
			continue
		}
		if err := check(&rows[k]); err != nil {
			return nil, fmt.Errorf("line %d: %w", k+2, err)
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

// What a cell should be.
var (
	errText   = errors.New("a text without a carriage return") // of \r\n, CSV reads back \n
	errNumber = errors.New("a number")
	plain     = map[reflect.Kind]error{
		reflect.Int: errors.New("a whole number"), reflect.Uint64: errors.New("a whole number ≥ 0"),
		reflect.Bool: errors.New("true or false"),
	}
	errList = errors.New("numbers or – for missing ones, separated by spaces")
)

// missing stands in a list for NaN.
const missing = "–"

// format returns the text of a field.
func (c column) format(v reflect.Value) (cell string, err error) {
	if m, ok := v.Addr().Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		return string(text), err
	}
	switch x := v.Interface().(type) {
	case []float64:
		var list []string
		for _, value := range x {
			if list = append(list, missing); !math.IsNaN(value) {
				list[len(list)-1] = strconv.FormatFloat(value, 'g', c.digits, 64)
			}
		}
		return strings.Join(list, " "), nil
	case float64:
		if cell = strconv.FormatFloat(x, 'g', c.digits, 64); math.IsNaN(x) {
			if c.optional {
				return "", nil
			}
			err = errNumber
		}
		return cell, err
	}
	if cell = fmt.Sprint(v); strings.Contains(cell, "\r") {
		err = errText
	}
	return cell, err
}

// parse sets a field to what a cell says.
func (c column) parse(v reflect.Value, cell string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(cell))
	}
	switch x := v.Addr().Interface().(type) {
	case *[]float64:
		for _, text := range strings.Fields(cell) {
			value, err := strconv.ParseFloat(text, 64)
			if text == missing {
				value, err = math.NaN(), nil
			} else if math.IsNaN(value) || err != nil {
				return errList
			}
			*x = append(*x, value)
		}
		return nil
	case *float64:
		if cell == "" && c.optional {
			*x = math.NaN()
			return nil
		}
		value, err := strconv.ParseFloat(cell, 64)
		if *x = value; err != nil || math.IsNaN(value) {
			return errNumber
		}
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		if v.SetString(cell); strings.Contains(cell, "\r") {
			return errText
		}
	case reflect.Int, reflect.Uint64, reflect.Bool:
		if json.Unmarshal([]byte(cell), v.Addr().Interface()) != nil {
			return plain[v.Kind()]
		}
	default:
		panic(fmt.Sprintf("csvrows: column %s of type %v", c.name, v.Type()))
	}
	return nil
}

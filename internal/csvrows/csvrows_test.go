package csvrows_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/internal/csvrows"
)

type times struct {
	Least    float64 `csv:"least,%.3g"`
	Greatest float64 `csv:"greatest,%g,"`
}

type kind string

type person struct {
	Name kind `csv:"name"`
	Age  int  `csv:"age"`
}

type row struct {
	person
	Notes  string    // left out
	Seed   uint64    `csv:"seed"`
	Exact  bool      `csv:"exact"`
	Time   times     `csv:"time_"`
	Values []float64 `csv:"values,%g,–"`
}

const text = `name,age,seed,exact,time_least,time_greatest,values
"A, ""B""",-3,18446744073709551615,true,0.333,,0.1 – +Inf
"two
lines",0,0,false,1e+06,0.3333333333333333,
`

func TestRoundTrip(t *testing.T) {
	rows := []row{
		{person{`A, "B"`, -3}, "", math.MaxUint64, true, times{1. / 3, math.NaN()}, []float64{0.1, math.NaN(), math.Inf(1)}},
		{person{"two\nlines", 0}, "", 0, false, times{1e6, 1. / 3}, nil},
	}
	for range 2 { // the second time, Encode writes the rows that Decode read
		var b strings.Builder
		if err := csvrows.Encode(&b, rows); err != nil || b.String() != text {
			t.Fatalf("%v\n%s\nwant\n%s", err, b.String(), text)
		}
		var err error
		if rows, err = csvrows.Decode[row](strings.NewReader(text), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// An error names the line and the column, and says what would be right.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"name,age", "age,name", "want a header with the columns"},
		{"-3", "3.5", `line 2: age "3.5", want a whole number`},
		{"18446744073709551615", "-1", `line 2: seed "-1", want a whole number ≥ 0`},
		{"true", "maybe", `line 2: exact "maybe", want true or false`},
		{"1e+06", "much", `line 3: time_least "much", want a number`},
		{"1e+06", "", `line 3: time_least "", want a number`},
		{"0.333,", "NaN,", `line 2: time_least "NaN", want a number`},
		{"0.1 –", "0.1 NaN", `line 2: values "0.1 NaN +Inf", want numbers or –`},
		{"B", "B\r", `want a text without a carriage return`},
		{"0.1 –", "x", "line 2: values"},
		{",0,0,", ",7,0,", "line 3: too old"},
	} {
		_, err := csvrows.Decode(strings.NewReader(strings.Replace(text, c.old, c.new, 1)), func(r *row) error {
			if r.Age > 6 {
				return errors.New("too old")
			}
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in place of %q: %v, want %q", c.new, c.old, err, c.want)
		}
	}
	for _, bad := range []row{{person: person{Name: "\r"}}, {Time: times{Least: math.NaN()}}} {
		if err := csvrows.Encode(&strings.Builder{}, []row{{}, bad}); err == nil || !strings.Contains(err.Error(), "line 3: ") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

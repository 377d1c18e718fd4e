package mixpolicy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// jsonTable is the form of a file.
type jsonTable struct {
	Columns []string          `json:"columns"`
	Pairs   []json.RawMessage `json:"pairs"`
}

type jsonRow struct {
	S      *int      `json:"s"`
	A      *int      `json:"a"`
	Values []float64 `json:"values"`
}

func (x *MDP) writePairsJSON(w io.Writer, names []string, row func(dst []float64, i int)) error {
	text, err := json.Marshal(names)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "{\n\"columns\": %s,\n\"pairs\": [", text)
	values := make([]float64, len(names))
	separator := "\n"
	for i := range x.Pairs() {
		row(values, i)
		if zero(values) {
			continue
		}
		s, a := i/x.m, i%x.m
		text, err := json.Marshal(jsonRow{&s, &a, values})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s", separator, text); err != nil {
			return err
		}
		separator = ",\n"
	}
	_, err = io.WriteString(w, "\n]\n}\n")
	return err
}

func (t *pairTable) readJSON(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := checkJSON(text); err != nil {
		return err
	}
	var file jsonTable
	if err := strict(text, &file); err != nil {
		return err
	}
	if err := t.setHeader(file.Columns); err != nil {
		return err
	}
	if file.Pairs == nil {
		return errors.New("pairs is missing, want the list of pairs")
	}
	x := t.x
	for k, raw := range file.Pairs {
		var row jsonRow
		if err := strict(raw, &row); err != nil {
			return fmt.Errorf("pairs[%d]: %w", k, err)
		}
		switch {
		case row.S == nil || *row.S < 0 || *row.S >= x.n:
			return fmt.Errorf("pairs[%d].s: want a state, 0 to %d", k, x.n-1)
		case row.A == nil || *row.A < 0 || *row.A >= x.m:
			return fmt.Errorf("pairs[%d].a: want an action, 0 to %d", k, x.m-1)
		}
		name := x.pairName(*row.S, *row.A)
		if len(row.Values) != len(t.columns) {
			return fmt.Errorf("pairs[%d].values: %s: %d numbers, want %d", k, name, len(row.Values), len(t.columns))
		}
		if err := t.set(x.Pair(*row.S, *row.A), k+1, row.Values); err != nil {
			return fmt.Errorf("pairs[%d]: %s: %w", k, name, err)
		}
	}
	return nil
}

package mixpolicy

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

func (x *MDP) writePairsCSV(w io.Writer, names []string, row func(dst []float64, i int)) error {
	if err := errors.Join(checkLabels("state", labels(x.stateLabel, x.n)), checkLabels("action", labels(x.actionLabel, x.m))); err != nil {
		return err
	}
	table := csv.NewWriter(w)
	table.Write(append([]string{"s", "a"}, names...))
	values, line := make([]float64, len(names)), make([]string, 2+len(names))
	for i := range x.Pairs() {
		row(values, i)
		if zero(values) {
			continue
		}
		line[0], line[1] = x.StateName(i/x.m), x.ActionName(i%x.m)
		for j, v := range values {
			line[2+j] = number(v)
		}
		table.Write(line)
	}
	table.Flush()
	return table.Error()
}

// zero tells whether x is all zeros, of which −0 is none: it would not come back.
func zero(x []float64) bool {
	for _, v := range x {
		if math.Float64bits(v) != 0 {
			return false
		}
	}
	return true
}

func (t *pairTable) readCSV(r io.Reader) error {
	state, err := lookup("state", t.x.stateLabel, t.x.n)
	if err != nil {
		return err
	}
	action, err := lookup("action", t.x.actionLabel, t.x.m)
	if err != nil {
		return err
	}
	f := &csvFile{in: bufio.NewReader(r), last: '\n'}
	if bom, _ := f.in.Peek(3); bytes.Equal(bom, []byte("\uFEFF")) { // spreadsheets put it first
		f.in.Discard(3)
	}
	table := csv.NewReader(f)
	table.FieldsPerRecord, table.ReuseRecord = -1, true
	var values []float64
	for {
		record, err := table.Read()
		if err == io.EOF {
			break
		}
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			return fmt.Errorf("line %d: %w", bad.StartLine, bad.Err)
		}
		if err != nil {
			return err
		}
		line, _ := table.FieldPos(0)
		for i := range record {
			record[i] = strings.TrimSpace(record[i])
		}
		if t.columns == nil {
			if len(record) < 3 || record[0] != "s" || record[1] != "a" {
				return fmt.Errorf("line %d: columns %q, want s,a,%s1,…", line, record, t.name)
			}
			if err := t.setHeader(record[2:]); err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
			values = make([]float64, len(t.columns))
			continue
		}
		if len(record) != 2+len(values) {
			return fmt.Errorf("line %d: %d fields, want %d: s,a,%s", line, len(record), 2+len(values), strings.Join(header(t.name, len(values)), ","))
		}
		if err := t.addRecord(line, record, values, state, action); err != nil {
			return fmt.Errorf("line %d: state %s, action %s: %w", line, record[0], record[1], err)
		}
	}
	switch {
	case f.last != '\n':
		return errTruncated
	case t.columns == nil:
		return fmt.Errorf("no table, want a line s,a,%s1,… and lines below it", t.name)
	}
	return nil
}

func (t *pairTable) addRecord(line int, record []string, values []float64, state, action func(string) (int, error)) error {
	s, err := state(record[0])
	if err != nil {
		return err
	}
	a, err := action(record[1])
	if err != nil {
		return err
	}
	for j, field := range record[2:] {
		if values[j], err = strconv.ParseFloat(field, 64); err != nil {
			return fmt.Errorf("%s%d is %q, want a finite number ≥ 0", t.name, j+1, field)
		}
	}
	return t.set(t.x.Pair(s, a), line, values)
}

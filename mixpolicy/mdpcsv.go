package mixpolicy

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// csvHeader names s, a, s′, p, c.
var csvHeader = []string{"s", "a", "s'", "p", "c"}

// WriteCSV writes a table of transitions that spreadsheets and data frames read:
//
//	# criterion: discount 0.9
//	# initial: uniform
//	s,a,s',p,c
//	0,0,0,0.5,1
//	0,0,1,0.5,1
//	…
//
// A line holds P_a(s,s′) = p and c_a(s) = c, which repeats on the lines of a pair.
// States and actions go by their labels, or by their numbers from 0. The initial
// distribution is "uniform", or its probabilities in the order of the states.
// Numbers have the digits that make them come back to the bit.
//
// Labels must be told apart, have no control characters or outer spaces, and not be
// numbers in another order.
func (x *MDP) WriteCSV(w io.Writer) error {
	for _, of := range []struct {
		what   string
		labels []string
	}{{"state", labels(x.stateLabel, x.n)}, {"action", labels(x.actionLabel, x.m)}} {
		if err := checkLabels(of.what, of.labels); err != nil {
			return fmt.Errorf("mixpolicy: %w", err)
		}
		if of.labels != nil && numbered(of.labels) {
			return fmt.Errorf("mixpolicy: %s 0 has the label %s: a CSV file would be read in the order of the numbers; want other labels, or JSON", of.what, of.labels[0])
		}
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# criterion: %v\n# initial:", x.criterion)
	if uniform(x.initial) {
		out.WriteString(" uniform")
	} else {
		for _, v := range x.initial {
			out.WriteString(" " + number(v))
		}
	}
	out.WriteString("\n")
	table := csv.NewWriter(out)
	table.Write(csvHeader)
	for s := range x.n {
		for a := range x.m {
			line := []string{x.StateName(s), x.ActionName(a), "", "", number(x.Cost(s, a))}
			to, p := x.Next(s, a)
			for k, s2 := range to {
				line[2], line[3] = x.StateName(int(s2)), number(p[k])
				table.Write(line)
			}
		}
	}
	table.Flush()
	return errors.Join(table.Error(), out.Flush())
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// ReadCSV reads the format of [MDP.WriteCSV]; it takes s′ for s' as well, lines in
// any order, and spaces around fields. If the labels in use are the numbers 0 to
// n−1, they are the indices; otherwise indices follow the first appearance in
// column s, or a, and the labels are kept. Other comment lines may come before the
// header.
//
// Errors name the line, state and action: a line with other than 5 fields, a number
// that is none, a pair that is missing or whose costs differ, a next state without
// lines of its own, and all that [New] refuses. A last line without its newline is
// taken for what is left of a truncated file.
func ReadCSV(r io.Reader) (*MDP, error) {
	f := &csvFile{last: '\n'}
	if err := f.read(r); err != nil {
		return nil, located("", err)
	}
	x, err := f.mdp()
	if err != nil {
		return nil, located("", err)
	}
	return x, nil
}

// csvFile is what a file says, before it is arranged.
type csvFile struct {
	in   *bufio.Reader
	last byte // read so far
	line int  // lines read before the table

	criterion      Criterion
	initial        string
	states, action names
	rows           []csvRow
}

type csvRow struct {
	s, a, next int32 // in order of first appearance
	line       int
	p, c       float64
}

// names numbers labels by first appearance.
type names struct {
	index map[string]int32
	list  []string
}

func (n *names) number(label string) int32 {
	i, ok := n.index[label]
	if !ok {
		label = strings.Clone(label)
		i = int32(len(n.list))
		if n.index == nil {
			n.index = map[string]int32{}
		}
		n.index[label] = i
		n.list = append(n.list, label)
	}
	return i
}

// Read notes the last byte of the file.
func (f *csvFile) Read(p []byte) (int, error) {
	n, err := f.in.Read(p)
	if n > 0 {
		f.last = p[n-1]
	}
	return n, err
}

func (f *csvFile) read(r io.Reader) error {
	f.in = bufio.NewReader(r)
	if bom, _ := f.in.Peek(3); bytes.Equal(bom, []byte("\uFEFF")) { // spreadsheets put it first
		f.in.Discard(3)
	}
	if err := f.readComments(); err != nil {
		return err
	}
	table := csv.NewReader(f)
	table.FieldsPerRecord, table.ReuseRecord = -1, true
	header := false
	for {
		record, err := table.Read()
		if err == io.EOF {
			break
		}
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			return fmt.Errorf("line %d: %w", f.line+bad.StartLine, bad.Err)
		}
		if err != nil {
			return err
		}
		line, _ := table.FieldPos(0)
		line += f.line
		for i := range record {
			record[i] = strings.TrimSpace(record[i])
		}
		if len(record) != 5 {
			return fmt.Errorf("line %d: %d fields, want 5: %s", line, len(record), strings.Join(csvHeader, ","))
		}
		if !header {
			header = true
			record[2] = strings.ReplaceAll(record[2], "′", "'")
			if !slices.Equal(record, csvHeader) {
				return fmt.Errorf("line %d: columns %q, want %s", line, record, strings.Join(csvHeader, ","))
			}
			continue
		}
		if err := f.add(record); err != nil {
			return fmt.Errorf("line %d: state %s, action %s: %w", line, record[0], record[1], err)
		}
		f.rows[len(f.rows)-1].line = line
	}
	switch {
	case f.last != '\n':
		return errTruncated
	case len(f.rows) == 0:
		return fmt.Errorf("no transitions, want a line %s and lines below it", strings.Join(csvHeader, ","))
	}
	return nil
}

// readComments reads the lines above the header.
func (f *csvFile) readComments() error {
	var criterion string
	for {
		if b, err := f.in.Peek(1); err != nil || b[0] != '#' {
			break
		}
		line, err := f.in.ReadString('\n')
		if err != nil {
			return errors.New("the file ends before the table")
		}
		f.line++
		key, value, _ := strings.Cut(strings.TrimSpace(line[1:]), ":")
		to := map[string]*string{"criterion": &criterion, "initial": &f.initial}[key]
		if to == nil {
			continue
		}
		if *to != "" {
			return fmt.Errorf("line %d: %s is said twice", f.line, key)
		}
		*to = strings.TrimSpace(value)
	}
	if criterion == "" {
		return errors.New("want a line \"# criterion: average cost\" or \"# criterion: discount γ\" above the table")
	}
	if f.initial == "" {
		return errors.New("want a line \"# initial: uniform\", or with the probabilities of all states, above the table")
	}
	if err := f.criterion.UnmarshalText([]byte(criterion)); err != nil {
		return err
	}
	return nil
}

func (f *csvFile) add(record []string) error {
	for i, field := range record {
		if field == "" {
			return fmt.Errorf("%s is empty", csvHeader[i])
		}
	}
	var value [2]float64
	for i, field := range record[3:] {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s is %q, want a finite number", csvHeader[3+i], field)
		}
		value[i] = v
	}
	f.rows = append(f.rows, csvRow{
		s: f.states.number(record[0]), a: f.action.number(record[1]), next: f.states.number(record[2]),
		p: value[0], c: value[1],
	})
	return nil
}

// arrange returns the index of each name, and labels unless they are numbers. first
// holds the names in the order that counts.
func arrange(list []string, first []int32) (index []int32, ordered []string) {
	index = make([]int32, len(list))
	if numbered(list) {
		for k, l := range list {
			i, _ := strconv.Atoi(l)
			index[k] = int32(i)
		}
		return index, nil
	}
	ordered = make([]string, len(first))
	for i, k := range first {
		index[k], ordered[i] = int32(i), list[k]
	}
	return index, ordered
}

func (f *csvFile) mdp() (*MDP, error) {
	// States count in the order in which they appear in column s.
	seen := make([]bool, len(f.states.list))
	var states []int32
	for _, r := range f.rows {
		if !seen[r.s] {
			seen[r.s] = true
			states = append(states, r.s)
		}
	}
	for _, r := range f.rows {
		if !seen[r.next] {
			return nil, fmt.Errorf("line %d: state %s, action %s: next state %s has no lines of its own", r.line, f.states.list[r.s], f.action.list[r.a], f.states.list[r.next])
		}
	}
	stateIndex, stateLabels := arrange(f.states.list, states)
	actions := make([]int32, len(f.action.list))
	for k := range actions {
		actions[k] = int32(k)
	}
	actionIndex, actionLabels := arrange(f.action.list, actions)
	for _, err := range []error{checkLabels("state", stateLabels), checkLabels("action", actionLabels)} {
		if err != nil {
			return nil, err
		}
	}
	n, m := len(stateIndex), len(actionIndex)
	for i := range f.rows {
		r := &f.rows[i]
		r.s, r.a, r.next = stateIndex[r.s], actionIndex[r.a], stateIndex[r.next]
	}
	slices.SortStableFunc(f.rows, func(x, y csvRow) int { return cmp.Or(cmp.Compare(x.s, y.s), cmp.Compare(x.a, y.a)) })

	spec := Spec{States: n, Actions: m, Criterion: f.criterion, StateLabel: naming(stateLabels), ActionLabel: naming(actionLabels)}
	var err error
	if spec.Initial, err = f.initialDistribution(n); err != nil {
		return nil, err
	}
	// The rows of each pair, in order; a pair without rows shows before memory is
	// set aside for all.
	pairs := make([][]csvRow, 0, min(n*m, len(f.rows)))
	listed := make([]*csvRow, n) // the last row with that next state
	for rest := f.rows; len(pairs) < n*m; {
		s, a := len(pairs)/m, len(pairs)%m
		name := func() string {
			return fmt.Sprintf("state %s, action %s", label(spec.StateLabel, s), label(spec.ActionLabel, a))
		}
		k := 0
		for ; k < len(rest) && int(rest[k].s) == s && int(rest[k].a) == a; k++ {
			r := &rest[k]
			if r.c != rest[0].c {
				return nil, fmt.Errorf("line %d: %s: cost %v, but %v in line %d", r.line, name(), r.c, rest[0].c, rest[0].line)
			}
			if q := listed[r.next]; q != nil && q.s == r.s && q.a == r.a {
				return nil, fmt.Errorf("line %d: %s: next state %s is in line %d already", r.line, name(), label(spec.StateLabel, int(r.next)), q.line)
			}
			listed[r.next] = r
		}
		if k == 0 {
			return nil, fmt.Errorf("%s: no line, want transitions for each of the %d actions in each of the %d states", name(), m, n)
		}
		pairs = append(pairs, rest[:k])
		rest = rest[k:]
	}
	last := -1 // pair seen by New
	var next []Transition
	spec.Dynamics = func(s, a int) (float64, []Transition) {
		last = s*m + a
		next = next[:0]
		for _, r := range pairs[last] {
			next = append(next, Transition{int(r.next), r.p})
		}
		return pairs[last][0].c, next
	}
	x, err := New(spec)
	if err != nil && last >= 0 {
		of := pairs[last]
		where := fmt.Sprintf("line %d", of[0].line)
		if len(of) > 1 {
			where = fmt.Sprintf("lines %d to %d", of[0].line, of[len(of)-1].line)
		}
		return nil, located(where, err)
	}
	return x, err
}

func (f *csvFile) initialDistribution(n int) ([]float64, error) {
	if f.initial == "uniform" {
		return nil, nil
	}
	fields := strings.Fields(f.initial)
	if len(fields) != n {
		return nil, fmt.Errorf("initial distribution has %d probabilities, want one per state: %d", len(fields), n)
	}
	alpha := make([]float64, n)
	for s, field := range fields {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil, fmt.Errorf("initial distribution: probability %d is %q, want a number", s, field)
		}
		alpha[s] = v
	}
	return alpha, nil
}

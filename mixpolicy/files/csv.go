package files

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// titles are the columns of a table, in the order of a table without a header.
var titles = []string{"s", "a", "next", "p", "c"}

var wantColumns = strings.Join(titles, ", ")

// columnOf maps the names that a header may use to the columns that they mean.
var columnOf = map[string]string{
	"s": "s", "state": "s", "a": "a", "action": "a", "next": "next", "s'": "next", "s′": "next", "p": "p", "c": "c", "cost": "c",
}

// row is a line of a table.
type row struct {
	name       [3]string // names of the state, the action and the next state
	s, a, next int       // their numbers in the model
	p, c       float64
	line       int
}

func readCSV(r io.Reader, set Settings) (*mixpolicy.MDP, error) {
	rows, err := readRows(r)
	if err != nil {
		return nil, err
	}
	state, stateNames, err := numbering("state", rows, 0)
	if err != nil {
		return nil, err
	}
	action, actionNames, err := numbering("action", rows, 1)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		r := &rows[i]
		next, known := state[r.name[2]]
		if !known {
			return nil, fmt.Errorf("line %d: next state %s has no row of its own, want a row that begins in this state", r.line, r.name[2])
		}
		r.s, r.a, r.next = state[r.name[0]], action[r.name[1]], next
	}
	first, err := pairs(rows, stateNames, actionNames, set.ActionSets)
	if err != nil {
		return nil, err
	}
	var allowed func(s, a int) bool
	if set.ActionSets {
		allowed = func(s, a int) bool { i := s*len(action) + a; return first[i] < first[i+1] }
	}
	line := 0
	var next []mixpolicy.Transition
	x, err := mixpolicy.New(mixpolicy.Spec{
		States: len(state), Actions: len(action), Transitions: len(rows),
		Criterion: cmp.Or(set.Criterion, mixpolicy.AverageCost), Initial: set.Initial, Allowed: allowed,
		StateLabel:  func(s int) string { return stateNames[s] },
		ActionLabel: func(a int) string { return actionNames[a] },
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			i := s*len(action) + a
			of := rows[first[i]:first[i+1]]
			line = of[0].line
			next = next[:0]
			for _, r := range of {
				next = append(next, mixpolicy.Transition{To: r.next, P: r.p})
			}
			return of[0].c, next
		},
	})
	if err != nil && line > 0 {
		return nil, fault.At("files", fmt.Sprintf("rows from line %d on", line), err)
	}
	return x, err
}

// newTable returns a reader of CSV that skips a byte-order mark.
func newTable(r io.Reader) *csv.Reader {
	in := bufio.NewReader(r)
	const mark = "\ufeff"
	if start, _ := in.Peek(len(mark)); string(start) == mark {
		in.Discard(len(mark))
	}
	table := csv.NewReader(in)
	table.FieldsPerRecord = -1 // readRows and readVisits check the number of fields, with better errors
	table.TrimLeadingSpace = true
	return table
}

func readRows(r io.Reader) ([]row, error) {
	table := newTable(r)
	var rows []row
	at := map[string]int{}
	for i, name := range titles {
		at[name] = i
	}
	for start := true; ; start = false {
		record, err := table.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err // err names the line
		}
		line, _ := table.FieldPos(0)
		if len(record) != len(titles) {
			return nil, fmt.Errorf("line %d: %d fields, want %d, separated by commas: %s", line, len(record), len(titles), wantColumns)
		}
		if start && !slices.ContainsFunc(record, isNumber) {
			if at, err = placed(record, columnOf, wantColumns+", each once, or rows without a header"); err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
			continue
		}
		r, err := readRow(record, at)
		if err != nil {
			return nil, fmt.Errorf("line %d, field %w", line, err)
		}
		r.line = line
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no row, want one per transition: %s", wantColumns)
	}
	return rows, nil
}

func isNumber(field string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// placed returns the index of each column in a header; known maps names to columns.
func placed(record []string, known map[string]string, want string) (map[string]int, error) {
	at := map[string]int{}
	for i, name := range record {
		k := known[strings.ToLower(strings.TrimSpace(name))]
		if _, seen := at[k]; k == "" || seen {
			return nil, fmt.Errorf("column %q, want %s", name, want)
		}
		at[k] = i
	}
	return at, nil
}

// readRow parses the fields of a line. The error begins with the field's name.
func readRow(record []string, at map[string]int) (r row, err error) {
	field := func(k string) string { return strings.TrimSpace(record[at[k]]) }
	for k := range r.name {
		if r.name[k] = field(titles[k]); r.name[k] == "" {
			return r, fmt.Errorf("%s: empty, want a name or a number", titles[k])
		}
		if strings.Contains(r.name[k], "\r") { // a CSV reader would turn \r\n into \n
			return r, fmt.Errorf("%s: %q, want a name without a carriage return", titles[k], r.name[k])
		}
	}
	if r.p, err = strconv.ParseFloat(field("p"), 64); err != nil || !(r.p >= 0) || math.IsInf(r.p, 0) {
		return r, fmt.Errorf("p: %q, want a number in [0, 1]", field("p"))
	}
	if r.c, err = strconv.ParseFloat(field("c"), 64); err != nil || math.IsNaN(r.c) || math.IsInf(r.c, 0) {
		return r, fmt.Errorf("c: %q, want a finite number", field("c"))
	}
	return r, nil
}

// numbering numbers the names in a column: consecutive whole numbers in numerical order,
// other names by first occurrence.
func numbering(kind string, rows []row, column int) (number map[string]int, names []string, err error) {
	number = make(map[string]int)
	for _, r := range rows {
		name := r.name[column]
		if _, known := number[name]; !known {
			number[name] = len(names)
			names = append(names, name)
		}
	}
	whole := make([]int, len(names))
	for i, name := range names {
		if whole[i], err = strconv.Atoi(name); err != nil || strconv.Itoa(whole[i]) != name {
			return number, names, nil
		}
	}
	slices.Sort(whole)
	for i, k := range whole {
		if k != whole[0]+i {
			return nil, nil, fmt.Errorf("%s %d has no row, but %s %d has one: want consecutive numbers, or names that are not numbers",
				kind, whole[0]+i, kind, k)
		}
		names[i] = strconv.Itoa(k)
		number[names[i]] = i
	}
	return number, names, nil
}

// pairs sorts the rows by pair: the rows of pair i become rows[first[i]:first[i+1]]. The error names a pair with two
// costs, a repeated transition or, unless holes are allowed, a hole (a pair without a row). If holes are allowed, pairs
// also returns the error of affordable.
func pairs(rows []row, states, actions []string, holes bool) (first []int, err error) {
	slices.SortFunc(rows, func(x, y row) int {
		return cmp.Or(cmp.Compare(x.s, y.s), cmp.Compare(x.a, y.a), cmp.Compare(x.next, y.next), cmp.Compare(x.line, y.line))
	})
	name := func(s, a int) string { return fmt.Sprintf("state %s, action %s", states[s], actions[a]) }
	if holes {
		if err := affordable(rows, len(states), len(actions)); err != nil {
			return nil, err
		}
	}
	for i, r := range rows {
		if i > 0 && r.s == rows[i-1].s && r.a == rows[i-1].a {
			before := rows[i-1]
			if r.next == before.next {
				return nil, fmt.Errorf("line %d: %s, next state %s is also in line %d, want it once",
					r.line, name(r.s, r.a), states[r.next], before.line)
			}
			if r.c != before.c {
				return nil, fmt.Errorf("line %d, field c: %s costs %v here, and %v in line %d; want one cost",
					r.line, name(r.s, r.a), r.c, before.c, before.line)
			}
			continue
		}
		pair := r.s*len(actions) + r.a
		if len(first) < pair && !holes {
			break
		}
		for len(first) <= pair {
			first = append(first, i)
		}
	}
	if k := len(first); k < len(states)*len(actions) && !holes {
		return nil, fmt.Errorf("%s has no row, want a row for each state–action pair (%d states, %d actions), or set Settings.ActionSets",
			name(k/len(actions), k%len(actions)), len(states), len(actions))
	}
	for len(first) <= len(states)*len(actions) {
		first = append(first, len(rows))
	}
	return first, nil
}

// most is the greatest number of pairs that a table with holes may define. It is also the greatest
// number of transitions, unless the table itself has more rows. At some 36 bytes each, 2²⁵ transitions
// take about 1 GiB.
const most = 1 << 25

// affordable returns an error if the model of a table with holes has more pairs or transitions than the
// constant most allows, because a pair without a row takes memory for its index in first, and for a copy of the
// transitions of another pair.
func affordable(rows []row, states, actions int) error {
	if states > most/actions {
		return fmt.Errorf("%d states and %d actions, want at most 2²⁵ pairs with Settings.ActionSets", states, actions)
	}
	next := make([]int, states) // number of transitions of the first pair with rows, for each state
	own := make([]int, states)  // number of pairs with rows, for each state
	for i, r := range rows {    // the rows are sorted by pair
		if i == 0 || r.s != rows[i-1].s || r.a != rows[i-1].a {
			own[r.s]++
		}
		if own[r.s] == 1 {
			next[r.s]++
		}
	}
	total := len(rows)
	for s, k := range own {
		total += (actions - k) * next[s]
	}
	if limit := max(most, len(rows)); total > limit {
		return fmt.Errorf("%d transitions, including copies for the actions without a row, want at most %d", total, limit)
	}
	return nil
}

func writeCSV(w io.Writer, x *mixpolicy.MDP) error {
	state := namesOrNumbers(x.States(), x.StateName)
	action := namesOrNumbers(x.Actions(), x.ActionName)
	decimal := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	named := 0 // the actions 0 … named−1 have occurred, in this order
	for i := range x.Pairs() {
		if s, a := x.StateAction(i); x.Allowed(s, a) && a >= named {
			if a > named {
				action = strconv.Itoa
				break
			}
			named++
		}
	}
	out := csv.NewWriter(w)
	out.Write(titles) // out.Error returns any error of Write
	for i := range x.Pairs() {
		s, a := x.StateAction(i)
		if !x.Allowed(s, a) {
			continue
		}
		next, p := x.Next(s, a)
		for k, s2 := range next {
			out.Write([]string{state(s), action(a), state(int(s2)), decimal(p[k]), decimal(x.Cost(s, a))})
		}
	}
	out.Flush()
	return out.Error()
}

// namesOrNumbers returns the given function if a reader would keep the k names of states or actions, and
// number them 0, …, k−1 in this order. Otherwise, it returns strconv.Itoa.
func namesOrNumbers(k int, name func(int) string) func(int) string {
	rows := make([]row, k)
	for i := range rows {
		rows[i].name[0] = name(i)
		if v := name(i); v == "" || strings.TrimSpace(v) != v || strings.Contains(v, "\r") {
			return strconv.Itoa
		}
	}
	number, _, err := numbering("", rows, 0)
	for i, r := range rows {
		if err != nil || number[r.name[0]] != i {
			return strconv.Itoa
		}
	}
	return name
}

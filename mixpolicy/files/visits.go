package files

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy"
)

// visitColumns maps the names that the header of a log may use to their columns.
var visitColumns = map[string]string{"s": "s", "state": "s", "a": "a", "action": "a", "visits": "visits", "run": "run"}

// mostVisits is the greatest number of counts in all runs together. 2²⁷ counts take 1 GiB. A log with only one run may
// have more counts.
const mostVisits = 1 << 27

func readVisits(r io.Reader, x *mixpolicy.MDP, most int) (runs [][]int64, err error) {
	table := newTable(r)
	first, err := table.Read()
	if err != nil && err != io.EOF {
		return nil, err // err names the line
	}
	at, err := placed(first, visitColumns, "s, a and, optionally, visits and run, each once")
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	for _, k := range []string{"s", "a"} {
		if _, there := at[k]; !there {
			return nil, fmt.Errorf("line 1: no column %s, want a header with s, a and, optionally, visits and run", k)
		}
	}
	state, action := numbers(x.States(), x.StateName), numbers(x.Actions(), x.ActionName)
	number := map[string]int{} // the number of each run, by its name
	for {
		record, err := table.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		line, _ := table.FieldPos(0)
		if len(record) != len(first) {
			return nil, fmt.Errorf("line %d: %d fields, want %d, as in the header", line, len(record), len(first))
		}
		field := func(k string) string { return strings.TrimSpace(record[at[k]]) }
		s, known := state[field("s")]
		if !known || s < 0 {
			return nil, fmt.Errorf("line %d, field s: %q, want the name of one state of the model", line, field("s"))
		}
		a, known := action[field("a")]
		if !known || a < 0 {
			return nil, fmt.Errorf("line %d, field a: %q, want the name of one action of the model", line, field("a"))
		}
		if !x.Allowed(s, a) {
			return nil, fmt.Errorf("line %d: state %s, action %s is not allowed", line, field("s"), field("a"))
		}
		visits := int64(1)
		if _, there := at["visits"]; there {
			if visits, err = strconv.ParseInt(field("visits"), 10, 64); err != nil || visits < 0 {
				return nil, fmt.Errorf("line %d, field visits: %q, want a whole number ≥ 0", line, field("visits"))
			}
		}
		run := ""
		if _, there := at["run"]; there {
			run = field("run")
		}
		k, known := number[run]
		if !known {
			if k = len(runs); k > 0 && k >= most/x.Pairs() {
				return nil, fmt.Errorf("line %d: more than %d runs of %d pairs, want at most %d numbers in all", line, k, x.Pairs(), most)
			}
			number[run] = k
			runs = append(runs, make([]int64, x.Pairs()))
		}
		if i := x.Pair(s, a); visits > math.MaxInt64-runs[k][i] {
			return nil, fmt.Errorf("line %d: more than 2⁶³−1 visits to state %s, action %s", line, field("s"), field("a"))
		} else {
			runs[k][i] += visits
		}
	}
	if !slices.ContainsFunc(runs, func(visits []int64) bool { return slices.Max(visits) > 0 }) {
		return nil, fmt.Errorf("no visit, want at least one")
	}
	return runs, nil
}

// numbers maps the names of k states or actions to their numbers, and a name that several share to −1.
func numbers(k int, name func(int) string) map[string]int {
	number := make(map[string]int, k)
	for i := range k {
		v := strings.TrimSpace(name(i))
		if _, twice := number[v]; twice {
			i = -1
		}
		number[v] = i
	}
	return number
}

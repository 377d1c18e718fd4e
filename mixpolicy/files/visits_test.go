package files

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// ReadVisits returns the numbers of visits, however a log orders its rows and splits the visits of a pair into rows.
func TestReadVisits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := mixpolicy.Must(models.Queue{Buffer: rapid.IntRange(2, 4).Draw(t, "n")}.MDP())
		want := make([][]int64, rapid.IntRange(1, 3).Draw(t, "runs"))
		var lines []string
		for k := range want {
			want[k] = make([]int64, x.Pairs())
			for i := range want[k] {
				for range rapid.IntRange(0, 2).Draw(t, "parts") {
					v := rapid.Int64Range(0, 1<<60).Draw(t, "visits")
					want[k][i] += v
					s, a := x.StateAction(i)
					lines = append(lines, fmt.Sprintf("%d, %s,run %d,%s", v, x.ActionName(a), k, x.StateName(s)))
				}
			}
		}
		lines = rapid.Permutation(lines).Draw(t, "lines")
		got, err := ReadVisits(strings.NewReader("\ufeffVisits,action,run, s\r\n"+strings.Join(lines, "\r\n")), x)
		for k := len(want) - 1; k >= 0; k-- { // a run without a row is not in the result
			if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "run "+strconv.Itoa(k)) }) {
				want = slices.Delete(want, k, k+1)
			}
		}
		any := slices.ContainsFunc(want, func(visits []int64) bool { return slices.Max(visits) > 0 })
		if !any {
			if err == nil {
				t.Fatal("no visit and no error")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got, slices.Compare) // runs come in the order of their first rows
		slices.SortFunc(want, slices.Compare)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func TestReadVisitsErrors(t *testing.T) {
	x := mixpolicy.Must(ReadCSV(strings.NewReader(door), Settings{ActionSets: true}))
	for table, says := range map[string]string{
		"":                             "files: line 1: no column s, want a header",
		"s,visits\n":                   "line 1: no column a, want a header with s, a",
		"s,a,count\n":                  `line 1: column "count", want s, a and, optionally, visits and run, each once`,
		"s,a\"\n":                      `parse error on line 1, column 4`,
		"s,a,visits\nshut,wait,0\n":    "files: no visit",
		"s,a\nshut,wait,1\n":           "line 2: 3 fields, want 2, as in the header",
		"s,a\nclosed,wait\n":           `line 2, field s: "closed", want the name of one state of the model`,
		"s,a\nshut,knock\n":            `line 2, field a: "knock", want the name of one action of the model`,
		"s,a\nshut,wait\nopen,open it": "line 3: state open, action open it is not allowed",
		"a,s,visits\nwait,shut,1.5\n":  `line 2, field visits: "1.5", want a whole number`,
		"a,s,visits\nwait,shut,-1\n":   `line 2, field visits: "-1", want a whole number`,
		"a,s,visits\nwait,shut,9223372036854775807\nwait,shut,1": "line 3: more than 2⁶³−1 visits to state shut, action wait",
	} {
		runs, err := ReadVisits(strings.NewReader(table), x)
		if wantError(t, err, says); runs != nil {
			t.Errorf("%q: visits come with the error", table)
		}
	}
	twins := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{States: 2, Actions: 1, Criterion: mixpolicy.Discounted(.5),
		StateLabel: func(int) string { return "twin" },
		Dynamics:   func(s, _ int) (float64, []mixpolicy.Transition) { return 0, []mixpolicy.Transition{{To: s, P: 1}} },
	}))
	_, err := ReadVisits(strings.NewReader("s,a\ntwin,0\n"), twins)
	wantError(t, err, `line 2, field s: "twin", want the name of one state of the model`)
	const three = "s,a,run\nshut,wait,1\nshut,wait,2\nopen,wait,1\nopen,wait,3\n"
	if runs, err := readVisits(strings.NewReader(three), x, 18); err != nil || len(runs) != 3 {
		t.Errorf("%v, %v", runs, err)
	}
	if _, err := readVisits(strings.NewReader(three), x, 17); err == nil || err.Error() != "line 5: more than 2 runs of 6 pairs, want at most 17 numbers in all" {
		t.Error(err)
	}
}

// FuzzVisits: PolicyFromVisits accepts whatever ReadVisits returns.
func FuzzVisits(f *testing.F) {
	x := mixpolicy.Must(ReadCSV(strings.NewReader(door), Settings{ActionSets: true}))
	f.Add("s,a,visits,run\nshut,wait,3,1\nopen,shut it,2,1\nopen,wait,7,2\n")
	f.Add("\ufeffaction,state\r\nwait,shut\r\n\"wait\",open")
	f.Add("s,a,visits\nshut,wait,9223372036854775807\nopen,wait,9223372036854775807\n")
	f.Fuzz(func(t *testing.T, table string) {
		runs, err := ReadVisits(strings.NewReader(table), x)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "files: ") {
				t.Errorf("%v: want our prefix", err)
			}
			return
		}
		if len(runs) > strings.Count(table, "\n") {
			t.Errorf("%d runs from the table %q", len(runs), table)
		}
		mixpolicy.Must(mixpolicy.PolicyFromVisits(x, mixpolicy.VisitSettings{UniformUnseen: true}, runs...))
	})
}

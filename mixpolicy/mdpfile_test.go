package mixpolicy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

func ExampleReadCSV() {
	x, err := mixpolicy.ReadCSV(strings.NewReader(`# criterion: average cost
# initial: uniform
s,a,s',p,c
idle,wait,idle,0.75,0
idle,wait,busy,0.25,0
busy,wait,busy,1,2
idle,serve,idle,1,3
busy,serve,idle,0.5,5
busy,serve,busy,0.5,5
`))
	fmt.Println(x.States(), x.Actions(), x.StateName(1), x.ActionName(1), x.Cost(1, 1), err)
	// Output: 2 2 busy serve 5 <nil>
}

func ExampleMDP_WriteJSON() {
	flip().WriteJSON(os.Stdout)
	// Output:
	// {
	// "criterion": "average cost",
	// "states": 2,
	// "actions": 1,
	// "pairs": [
	// {"s":0,"a":0,"c":0,"next":[1],"p":[1]},
	// {"s":1,"a":0,"c":1,"next":[0],"p":[1]}
	// ]
	// }
}

// format is one of the two forms of a file.
type format struct {
	ext   string
	read  func(io.Reader) (*mixpolicy.MDP, error)
	write func(*mixpolicy.MDP, io.Writer) error
}

var formats = []format{
	{".csv", mixpolicy.ReadCSV, (*mixpolicy.MDP).WriteCSV},
	{".json", mixpolicy.ReadJSON, (*mixpolicy.MDP).WriteJSON},
}

// sameMDP tells how two MDPs differ, bits included.
func sameMDP(x, y *mixpolicy.MDP) error {
	if x.States() != y.States() || x.Actions() != y.Actions() || x.Criterion() != y.Criterion() {
		return fmt.Errorf("%d × %d, %v and %d × %d, %v", x.States(), x.Actions(), x.Criterion(), y.States(), y.Actions(), y.Criterion())
	}
	same := func(a, b []float64) bool {
		return slices.EqualFunc(a, b, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
	}
	if !same(x.Initial(), y.Initial()) {
		return fmt.Errorf("initial distributions %v and %v", x.Initial(), y.Initial())
	}
	if !same(x.Costs(), y.Costs()) {
		return fmt.Errorf("costs %v and %v", x.Costs(), y.Costs())
	}
	for s := range x.States() {
		if x.StateName(s) != y.StateName(s) {
			return fmt.Errorf("state %d is %q and %q", s, x.StateName(s), y.StateName(s))
		}
		for a := range x.Actions() {
			if x.ActionName(a) != y.ActionName(a) {
				return fmt.Errorf("action %d is %q and %q", a, x.ActionName(a), y.ActionName(a))
			}
			to, p := x.Next(s, a)
			to2, p2 := y.Next(s, a)
			if !slices.Equal(to, to2) || !same(p, p2) {
				return fmt.Errorf("pair (%d,%d): %v %v and %v %v", s, a, to, p, to2, p2)
			}
		}
	}
	return nil
}

// drawLabels draws n different labels that a file can hold, or nil.
func drawLabels(t *rapid.T, n int, name string) func(int) string {
	if rapid.Bool().Draw(t, name+" numbered") {
		return nil
	}
	label := rapid.StringMatching(`[^\pZ\pC]([^\pC]{0,6}[^\pZ\pC])?`)
	list := rapid.SliceOfNDistinct(label, n, n, rapid.ID[string]).Draw(t, name)
	if slices.Sort(list); n == 1 && list[0] == "0" { // "0" alone is its own number
		return nil
	}
	return func(i int) string { return list[i] }
}

// What is written comes back to the bit, labels and criterion included.
func TestFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, drawCriterion(t))
		stateLabel, actionLabel := drawLabels(t, x.States(), "states"), drawLabels(t, x.Actions(), "actions")
		split := rapid.Float64Range(0.01, 0.99).Draw(t, "digits")
		y := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
			States: x.States(), Actions: x.Actions(), Criterion: x.Criterion(), Initial: x.Initial(),
			StateLabel: stateLabel, ActionLabel: actionLabel,
			Dynamics: func(s, a int) (float64, transitions) { // probabilities with all their digits
				var next transitions
				to, p := x.Next(s, a)
				for k, s2 := range to {
					next = append(next, mixpolicy.Transition{To: int(s2), P: p[k] * split})
				}
				next = mixpolicy.Merge(append(next, mixpolicy.Transition{To: s, P: 1 - split}))
				return x.Cost(s, a) * split, next
			},
		}))
		for _, f := range formats {
			var file bytes.Buffer
			if err := f.write(y, &file); err != nil {
				if f.ext == ".csv" && strings.Contains(err.Error(), "in the order of the numbers") {
					continue
				}
				t.Fatal(err)
			}
			z, err := f.read(bytes.NewReader(file.Bytes()))
			if err != nil {
				t.Fatalf("%s: %v\n%s", f.ext, err, file.String())
			}
			if err := sameMDP(y, z); err != nil {
				t.Fatalf("%s: %v\n%s", f.ext, err, file.String())
			}
		}
	})
}

// The paper's queue, saved and loaded under a name.
func TestSaveLoad(t *testing.T) {
	x := mixpolicy.Must(models.Queue{}.MDP())
	dir := t.TempDir()
	for _, f := range formats {
		path := filepath.Join(dir, "queue"+f.ext)
		for range 2 { // the second time over the first
			if err := x.Save(path); err != nil {
				t.Fatal(err)
			}
		}
		y, err := mixpolicy.LoadMDP(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := sameMDP(x, y); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("files left behind: %v", left)
	}
}

// A file is written whole or not at all, and errors name it.
func TestSaveLoadErrors(t *testing.T) {
	dir := t.TempDir()
	x := flip()
	wantError(t, x.Save(filepath.Join(dir, "x.txt")), "x.txt: want a name that ends in .csv or .json")
	wantError(t, x.Save(filepath.Join(dir, "none", "x.csv")), "none")
	_, err := mixpolicy.LoadMDP(filepath.Join(dir, "absent.json"))
	wantError(t, err, "absent.json")
	_, err = mixpolicy.LoadMDP("x.yaml")
	wantError(t, err, "x.yaml: want a name")

	path := filepath.Join(dir, "x.csv")
	if err := os.WriteFile(path, []byte("# criterion: average cost\n# initial: uniform\ns,a,s',p,c\n0,0,0,0.5,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = mixpolicy.LoadMDP(path)
	wantError(t, err, "mixpolicy: "+path+": line 4: state 0, action 0: probabilities add up to 0.5, want 1")

	before, _ := os.ReadFile(path)
	bad := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: 2, Actions: 1, Criterion: mixpolicy.AverageCost,
		Dynamics:   func(s, a int) (float64, transitions) { return 0, transitions{{To: s, P: 1}} },
		StateLabel: func(int) string { return "same" },
	}))
	wantError(t, bad.Save(path), path, `label "same" is of state 0 and of state 1`)
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("a failed Save changed the file")
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("files left behind: %v", left)
	}
}

// Labels that a file could not give back are refused.
func TestWriteLabelErrors(t *testing.T) {
	for _, c := range []struct {
		labels []string
		says   string
	}{
		{[]string{"a", ""}, "label of state 1 is empty"},
		{[]string{"a", "a"}, `label "a" is of state 0 and of state 1`},
		{[]string{"a\n", "b"}, `label "a\n" of state 0 has a control character`},
		{[]string{"a", "\xff"}, "of state 1 has a control character or is not UTF-8"},
		{[]string{" a", "b"}, `label " a" of state 0 begins or ends with a space`},
		{[]string{"1", "0"}, "state 0 has the label 1: a CSV file would be read in the order of the numbers"},
	} {
		x := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
			States: 2, Actions: 1, Criterion: mixpolicy.AverageCost,
			Dynamics:   func(s, a int) (float64, transitions) { return 0, transitions{{To: s, P: 1}} },
			StateLabel: func(s int) string { return c.labels[s] },
		}))
		for _, f := range formats {
			err := f.write(x, io.Discard)
			if f.ext == ".json" && strings.Contains(c.says, "CSV") {
				if err != nil {
					t.Errorf("JSON: %v", err)
				}
				continue
			}
			wantError(t, err, c.says)
		}
	}
}

const goodCSV = `# a machine
# criterion: discount 0.5
# initial: 0.25 0.75
s,a,s',p,c
low,wait,low,0.5,1
low,wait,high,0.5,1
high,wait,high,1,2
high,go,low,1,-3
low,go,low,1,4
`

// Every way in which a CSV file can be wrong is told with its line.
func TestReadCSVErrors(t *testing.T) {
	x, err := mixpolicy.ReadCSV(strings.NewReader(goodCSV))
	if err != nil {
		t.Fatal(err)
	}
	if x.StateName(1) != "high" || x.ActionName(1) != "go" || x.Cost(1, 1) != -3 || x.Initial()[1] != 0.75 || x.Gamma() != 0.5 {
		t.Errorf("read %v %v %v", x.StateName(1), x.ActionName(1), x.Cost(1, 1))
	}
	for _, c := range []struct{ old, new, says string }{
		{"# criterion: discount 0.5\n", "", `want a line "# criterion:`},
		{"# criterion: discount 0.5\n", "# criterion: discount 1.5\n", "γ = 1.5, want 0 < γ < 1"},
		{"# criterion: discount 0.5\n", "# criterion: discounted\n", `criterion "discounted", want "average cost" or "discount γ"`},
		{"# criterion: discount 0.5\n", "# criterion: discount 0.5\n# criterion: average cost\n", "line 3: criterion is said twice"},
		{"# initial: 0.25 0.75\n", "", `want a line "# initial: uniform"`},
		{"# initial: 0.25 0.75\n", "# initial: 0.25\n", "1 probabilities, want one per state: 2"},
		{"# initial: 0.25 0.75\n", "# initial: 0.25 x\n", `probability 1 is "x", want a number`},
		{"# initial: 0.25 0.75\n", "# initial: 0.25 NaN\n", "entry 1 is NaN"},
		{"# initial: 0.25 0.75\n", "# initial: 0.25 0.7\n", "add up to 0.95, want 1"},
		{"s,a,s',p,c\n", "", `line 4: columns ["low" "wait" "low" "0.5" "1"], want s,a,s',p,c`},
		{"s,a,s',p,c\n", "state,a,s',p,c\n", "line 4: columns"},
		{"low,wait,high,0.5,1\n", "low,wait,high,0.5\n", "line 6: 4 fields, want 5: s,a,s',p,c"},
		{"low,wait,high,0.5,1\n", "low,wait,high,0.5,1,7\n", "line 6: 6 fields, want 5"},
		{"low,wait,high,0.5,1\n", "low,wait,high,half,1\n", `line 6: state low, action wait: p is "half", want a finite number`},
		{"low,wait,high,0.5,1\n", "low,wait,high,NaN,1\n", `line 6: state low, action wait: p is "NaN", want a finite number`},
		{"low,wait,high,0.5,1\n", "low,wait,high,0.5,1e999\n", `line 6: state low, action wait: c is "1e999", want a finite number`},
		{"low,wait,high,0.5,1\n", "low,wait,,0.5,1\n", "line 6: state low, action wait: s' is empty"},
		{"low,wait,high,0.5,1\n", "low,wait,high,0.8,1\n", "lines 5 to 6: state low, action wait: probabilities add up to 1.3, want 1"},
		{"low,wait,high,0.5,1\n", "low,wait,high,-0.5,1\n", "lines 5 to 6: state low, action wait: probability -0.5 of next state high"},
		{"low,wait,high,0.5,1\n", "low,wait,low,0.5,1\n", "line 6: state low, action wait: next state low is in line 5 already"},
		{"low,wait,high,0.5,1\n", "low,wait,high,0.5,2\n", "line 6: state low, action wait: cost 2, but 1 in line 5"},
		{"low,wait,high,0.5,1\n", "low,wait,middle,0.5,1\n", "line 6: state low, action wait: next state middle has no lines of its own"},
		{"low,wait,high,0.5,1\n", "low,wait,\"high,0.5,1\n", "line 6: "},
		{"high,go,low,1,-3\n", "", "state high, action go: no line, want transitions for each of the 2 actions in each of the 2 states"},
		{"low,go,low,1,4\n", "low,go,low,1,4", "the last line does not end with a newline: the file is truncated"},
		{goodCSV, "", `want a line "# criterion`},
		{goodCSV, "# criterion: average cost", "the file ends before the table"},
		{goodCSV, "# criterion: average cost\n# initial: uniform\n", "no transitions"},
		{goodCSV, "# criterion: average cost\n# initial: uniform\ns,a,s',p,c\n", "no transitions"},
	} {
		if !strings.Contains(goodCSV, c.old) {
			t.Fatalf("nothing to replace: %q", c.old)
		}
		x, err := mixpolicy.ReadCSV(strings.NewReader(strings.Replace(goodCSV, c.old, c.new, 1)))
		wantError(t, err, "mixpolicy: ", c.says)
		if x != nil {
			t.Errorf("%q: an MDP comes with the error", c.says)
		}
	}
}

// Numbers are indices, in whatever order the lines come; spreadsheets' marks pass.
func TestReadCSVForms(t *testing.T) {
	x, err := mixpolicy.ReadCSV(strings.NewReader("\uFEFF# criterion: average cost\r\n# initial: uniform\r\ns, a, s′, p, c\r\n1, 0, 0, 1, 7\r\n0, 0, 1, 1, 5\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if x.Cost(0, 0) != 5 || x.Cost(1, 0) != 7 || x.StateName(1) != "1" {
		t.Errorf("costs %v", x.Costs())
	}
	// Counted from 1, numbers are labels like others.
	x, err = mixpolicy.ReadCSV(strings.NewReader("# criterion: average cost\n# initial: uniform\ns,a,s',p,c\n2,1,1,1,7\n1,1,2,1,5\n"))
	if err != nil {
		t.Fatal(err)
	}
	if x.Cost(0, 0) != 7 || x.StateName(0) != "2" || x.ActionName(0) != "1" {
		t.Errorf("costs %v, first state %s", x.Costs(), x.StateName(0))
	}
}

const goodJSON = `{
"criterion": "discount 0.5",
"initial": [0.25, 0.75],
"states": ["low", "high"],
"actions": 2,
"pairs": [
{"s":0,"a":0,"c":1,"next":[0,1],"p":[0.5,0.5]},
{"s":0,"a":1,"c":4,"next":[0],"p":[1]},
{"s":1,"a":1,"c":-3,"next":[0],"p":[1]},
{"s":1,"a":0,"c":2,"next":[1],"p":[1]}
]
}
`

// Every way in which a JSON file can be wrong is told with its place.
func TestReadJSONErrors(t *testing.T) {
	x, err := mixpolicy.ReadJSON(strings.NewReader(goodJSON))
	if err != nil {
		t.Fatal(err)
	}
	if x.StateName(1) != "high" || x.ActionName(1) != "1" || x.Cost(1, 1) != -3 || x.Initial()[1] != 0.75 || x.Gamma() != 0.5 {
		t.Errorf("read %v %v %v", x.StateName(1), x.ActionName(1), x.Cost(1, 1))
	}
	for _, c := range []struct{ old, new, says string }{
		{`"criterion": "discount 0.5",`, ``, `criterion is missing, want "average cost" or "discount γ"`},
		{`"discount 0.5"`, `"discount 1"`, "γ = 1, want 0 < γ < 1, or AverageCost"},
		{`"discount 0.5"`, `0.5`, "criterion"},
		{`"discount 0.5"`, `null`, "line 2: criterion: null, want a value"},
		{`[0.25, 0.75]`, `[0.25]`, "initial distribution: 1 probabilities, want 2"},
		{`[0.25, 0.75]`, `[0.25, 0.8]`, "initial distribution: entries add up to 1.05, want 1"},
		{`["low", "high"]`, `0`, "states: want a number ≥ 1"},
		{`["low", "high"]`, `"two"`, "want a number, or a list of labels"},
		{`["low", "high"]`, `["low", "low"]`, `label "low" is of state 0 and of state 1`},
		{`["low", "high"]`, `["low", ""]`, "label of state 1 is empty"},
		{`["low", "high"]`, `1000000000000000`, "state 2, action 0: not among the 4 pairs"},
		{`"actions": 2`, `"actions": 3`, "state low, action 2: not among the 4 pairs, want one for each of the 3 actions in each of the 2 states"},
		{`"actions": 2`, `"actions": 1`, "pairs[1].a: want an action, 0 to 0"},
		{`"actions": 2`, `"action": 2`, `line 5: unknown field "action"`},
		{`"actions": 2`, `"actions": 2, "actions": 2`, "line 5: actions: is given twice"},
		{`"c":4`, `"c":"4"`, "pairs[1]: c: string, want float64"},
		{`"c":4`, `"c":null`, "line 8: pairs[1].c: null"},
		{`"c":4`, `"c":NaN`, "line 8: "},
		{`"c":4`, `"c":1e999`, "pairs[1]: c: number 1e999, want float64"},
		{`"c":4,`, ``, "pairs[1].c: state low, action 1: cost is missing"},
		{`"c":4`, `"c":4,"c":5`, "line 8: pairs[1].c: is given twice"},
		{`"c":4`, `"C":4`, `line 8: pairs[1]: unknown field "C"`},
		{`"s":0,"a":1`, `"s":2,"a":1`, "pairs[1].s: want a state, 0 to 1"},
		{`"s":0,"a":1`, `"a":1`, "pairs[1].s: want a state, 0 to 1"},
		{`"s":0,"a":1`, `"s":0,"a":0`, "pairs[1]: state low, action 0: is in pairs[0] already"},
		{`"next":[0,1]`, `"next":[0]`, "pairs[0]: state low, action 0: 1 next states and 2 probabilities, want as many"},
		{`"next":[0,1]`, `"next":[0,0]`, "pairs[0]: state low, action 0: next state low is listed twice"},
		{`"next":[0,1]`, `"next":[0,null]`, "line 7: pairs[0].next[1]: null, want a value"},
		{`"next":[0,1]`, `"next":[0,2]`, "pairs[0]: state low, action 0: next state 2, want 0 to 1"},
		{`"p":[0.5,0.5]`, `"p":[0.5,0.8]`, "pairs[0]: state low, action 0: probabilities add up to 1.3, want 1"},
		{`"p":[0.5,0.5]`, `"p":[1.5,-0.5]`, "pairs[0]: state low, action 0: probability 1.5 of next state low"},
		{`"p":[0.5,0.5]`, `"p":[[0.5],[0.5]]`, "pairs[0].p[0]: lists and objects are nested too deep"},
		{"{\"s\":1,\"a\":1,\"c\":-3,\"next\":[0],\"p\":[1]},\n", "", "state high, action 1: not among the 3 pairs"},
		{"]\n}\n", "", "the file ends in the middle of a value: it is truncated"},
		{"]\n}\n", "]\n}\n{}", "something follows the closing brace"},
		{"low", "l\xffw", "not UTF-8"},
		{goodJSON, "", "truncated"},
		{goodJSON, "[]", ""},
		{goodJSON, "{", "truncated"},
	} {
		if !strings.Contains(goodJSON, c.old) {
			t.Fatalf("nothing to replace: %q", c.old)
		}
		x, err := mixpolicy.ReadJSON(strings.NewReader(strings.Replace(goodJSON, c.old, c.new, 1)))
		wantError(t, err, "mixpolicy: ", c.says)
		if x != nil {
			t.Errorf("%q: an MDP comes with the error", c.says)
		}
	}
}

// A file cut anywhere is either refused or, where only a comment or white space is
// missing, the same.
func TestTruncatedFiles(t *testing.T) {
	x := mixpolicy.Must(mixpolicy.ReadCSV(strings.NewReader(goodCSV)))
	for _, f := range formats {
		var file bytes.Buffer
		if err := f.write(x, &file); err != nil {
			t.Fatal(err)
		}
		for n := range file.Len() {
			y, err := f.read(bytes.NewReader(file.Bytes()[:n]))
			if err == nil && sameMDP(x, y) != nil {
				t.Errorf("%s: the first %d bytes are read as another MDP", f.ext, n)
			}
			if err != nil && y != nil {
				t.Errorf("%s: an MDP comes with the error %v", f.ext, err)
			}
		}
	}
}

func TestCriterionText(t *testing.T) {
	for _, c := range []mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(0.1), mixpolicy.Discounted(1 - 1e-15)} {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back mixpolicy.Criterion
		if err := json.Unmarshal(text, &back); err != nil || back != c {
			t.Errorf("%v became %s and %v, %v", c, text, back, err)
		}
	}
	if _, err := json.Marshal(mixpolicy.Criterion{}); err == nil {
		t.Error("the zero criterion is written")
	}
}

// fuzz checks that a reader does not panic, and that whatever it takes is an MDP
// which comes back from both formats.
func fuzz(f *testing.F, read func(io.Reader) (*mixpolicy.MDP, error)) {
	f.Fuzz(func(t *testing.T, file []byte) {
		x, err := read(bytes.NewReader(file))
		if err != nil {
			return
		}
		for s := range x.States() {
			for a := range x.Actions() {
				var total float64
				_, p := x.Next(s, a)
				for _, v := range p {
					total += v
				}
				if math.Abs(total-1) > 1e-12 || math.IsNaN(x.Cost(s, a)) || math.IsInf(x.Cost(s, a), 0) {
					t.Fatalf("pair (%d,%d) adds up to %v and costs %v", s, a, total, x.Cost(s, a))
				}
			}
		}
		for _, to := range formats {
			var again bytes.Buffer
			if err := to.write(x, &again); err != nil {
				if to.ext == ".csv" && strings.Contains(err.Error(), "in the order of the numbers") {
					continue
				}
				t.Fatal(err)
			}
			y, err := to.read(bytes.NewReader(again.Bytes()))
			if err != nil {
				t.Fatalf("%v\n%s", err, again.String())
			}
			if err := sameMDP(x, y); err != nil {
				t.Fatalf("%v\n%s", err, again.String())
			}
		}
	})
}

func FuzzReadCSV(f *testing.F) {
	f.Add([]byte(goodCSV))
	f.Add([]byte("# criterion: average cost\n# initial: uniform\ns,a,s',p,c\n0,0,0,1,-0\n"))
	f.Add([]byte("# criterion: average cost\n# initial: 1\ns,a,s',p,c\n\"a,b\",\"x\"\"y\",\"a,b\",0x1p0,1e-300\n"))
	fuzz(f, mixpolicy.ReadCSV)
}

func FuzzReadJSON(f *testing.F) {
	f.Add([]byte(goodJSON))
	f.Add([]byte(`{"criterion":"average cost","states":1,"actions":["#"],"pairs":[{"s":0,"a":0,"c":-0,"next":[0],"p":[1]}]}`))
	fuzz(f, mixpolicy.ReadJSON)
}

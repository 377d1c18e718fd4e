package files

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// numbersOf returns all numbers of a model as text, exact to the bit; setsOf and namesOf return action sets and names.
func numbersOf(x *mixpolicy.MDP) string {
	text := fmt.Sprintln(x.States(), x.Actions(), x.Criterion(), x.Initial())
	for i := range x.Pairs() {
		s, a := x.StateAction(i)
		to, p := x.Next(s, a)
		text += fmt.Sprintln(s, a, to, p, x.Cost(s, a))
	}
	return text
}

func setsOf(x *mixpolicy.MDP) (sets string) {
	for i := range x.Pairs() {
		sets += fmt.Sprint(x.Allowed(x.StateAction(i)), " ")
	}
	return sets
}

func namesOf(k int, name func(int) string) (names []string) {
	for i := range k {
		names = append(names, name(i))
	}
	return names
}

// difference returns the numbers of two models if the numbers differ, else "".
func difference(x, y *mixpolicy.MDP) string {
	if a, b := numbersOf(x), numbersOf(y); a != b {
		return a + "and\n" + b
	}
	return ""
}

func wantError(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v\nwant %q", err, says)
	} else if s := err.Error(); strings.Contains(s, "mixpolicy: ") || strings.Count(s, "files: ") > 1 {
		t.Errorf("error %v: want one prefix", err)
	}
}

// However a table is written, ReadCSV reads the same model.
func TestCSVForms(t *testing.T) {
	want := "2 states, 2 actions: idle wait to [0 1] [0.75 0.25] for 1; idle go to [0] [1] for 2; busy wait to [1] [1] for 0; busy go to [0 1] [0.5 0.5] for -3e-05; "
	const table = "idle,wait,idle,.75,1\nidle,wait,busy,.25,1\nidle,go,idle,1,2\nbusy,wait,busy,1,0\nbusy,go,busy,0.5,-3e-5\nbusy,go,idle,0.5,-3e-5\n"
	number := strings.NewReplacer("idle", "0", "busy", "1", "wait", "0", "go", "1")
	from := strings.NewReplacer("idle", "1", "busy", "2", "wait", "-1", "go", "0")
	padded := strings.NewReplacer("idle", "01", "busy", "00", "wait", "1.0", "go", "+2") // names, not numbers
	shuffled := strings.SplitAfter(number.Replace(table), "\n")
	slices.Reverse(shuffled)
	for name, c := range map[string]struct {
		table  string
		rename *strings.Replacer
	}{
		"names":           {table, strings.NewReplacer()},
		"header":          {"s,a,s',p,c\n" + table, strings.NewReplacer()},
		"prime":           {"s,a,s′,p,c\n" + table, strings.NewReplacer()},
		"mark, CRLF":      {"\ufeff" + strings.ReplaceAll("State,Action,Next,P,Cost\n"+table, "\n", "\r\n"), strings.NewReplacer()},
		"mark, no header": {"\ufeff" + table, strings.NewReplacer()},
		"order": {"cost,p,next,a,s\n1,.75,idle,wait,idle\n1,.25,busy,wait,idle\n2,1,idle,go,idle\n" +
			"0,1,busy,wait,busy\n-3e-5,0.5,busy,go,busy\n-3e-5,0.5,idle,go,busy\n", strings.NewReplacer()},
		"no last line":   {strings.TrimSpace(table), strings.NewReplacer()},
		"spaces, quotes": {"\n" + strings.ReplaceAll(table, "idle,", ` "idle", `)[1:] + "\n\n", strings.NewReplacer()},
		"spaces":         {strings.ReplaceAll(table, ",", " ,\t"), strings.NewReplacer()},
		"padded numbers": {padded.Replace(table), padded},
		"no chance":      {table + "idle,go,busy,0,2\n", strings.NewReplacer()},
		"numbers":        {number.Replace(table), number},
		"any order":      {strings.Join(shuffled, ""), number},
		"from 1":         {from.Replace(table), from},
	} {
		x, err := ReadCSV(strings.NewReader(c.table), Settings{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := fmt.Sprintf("%d states, %d actions: ", x.States(), x.Actions())
		for s := range x.States() {
			for a := range x.Actions() {
				to, p := x.Next(s, a)
				got += fmt.Sprintf("%s %s to %v %v for %v; ", x.StateName(s), x.ActionName(a), to, p, x.Cost(s, a))
			}
		}
		if want := c.rename.Replace(want); got != want || !x.Criterion().Average() {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
}

// Settings give the criterion and the initial distribution, which a table cannot give.
func TestCSVSettings(t *testing.T) {
	const table = "0,0,1,1,0\n1,0,0,1,1\n"
	x, err := ReadCSV(strings.NewReader(table), Settings{Criterion: mixpolicy.Discounted(0.5), Initial: []float64{0.25, 0.75}})
	if err != nil || x.Gamma() != 0.5 || x.Initial()[1] != 0.75 {
		t.Errorf("%v, %v", x, err)
	}
	_, err = ReadCSV(strings.NewReader(table), Settings{Criterion: mixpolicy.Discounted(1.5)})
	wantError(t, err, "files: discount γ = 1.5, want 0 < γ < 1")
	_, err = ReadCSV(strings.NewReader(table), Settings{Initial: []float64{math.NaN(), 0}})
	wantError(t, err, "files: initial distribution: entry 0 is NaN")
	_, err = ReadCSV(strings.NewReader(table), Settings{Initial: []float64{1}})
	wantError(t, err, "files: initial distribution: 1 probabilities, want 2")
}

func TestCSVErrors(t *testing.T) {
	const rest = "\n1,0,1,1,5\n0,1,0,1,2\n1,1,0,1,2\n" // with line 1, a table of 2 states and 2 actions
	for table, says := range map[string]string{
		"":                                  "files: no row, want one per transition: s, a, next, p, c",
		"s,a,next,p,c\n":                    "files: no row",
		"s,a,next,prob,c\n":                 `line 1: column "prob", want s, a, next, p, c, each once`,
		"s,a,next,s,c\n":                    `line 1: column "s", want s, a, next, p, c, each once`,
		"0,0,0,1,5" + rest + "0,":           "line 5: 2 fields, want 5, separated by commas",
		"0,0,0,1,5\n0,0,\"1,1,5\n":          "line 2, column 12: extraneous or missing \" in quoted-field",
		",0,0,1,5" + rest:                   "line 1, field s: empty, want a name or a number",
		"\"0\r\r\n1\",0,0,1,5" + rest:       `line 1, field s: "0\r\n1", want a name without a carriage return`,
		"0,0,0,,5" + rest:                   `line 1, field p: "", want a number in [0, 1]`,
		"0,0,0,1," + rest:                   `line 1, field c: "", want a finite number`,
		"0,0,0,NaN,5" + rest:                `line 1, field p: "NaN", want`,
		"0,0,0,inf,5" + rest:                `line 1, field p: "inf", want`,
		"0,0,0,-0.5,5" + rest:               `line 1, field p: "-0.5", want`,
		"0,0,0,1.5,5" + rest:                "rows from line 1 on: state 0, action 0: probability 1.5 of next state 0, want a number in [0, 1]",
		"0,0,0,1,-Inf" + rest:               `line 1, field c: "-Inf", want`,
		"c,p,next,a,s\nnan,1,0,0,0\n":       `line 2, field c: "nan", want`,
		"0,0,0,0.9,5" + rest:                "rows from line 1 on: state 0, action 0: probabilities add up to 0.9, want 1; the difference is 0.1",
		"0,0,0,.5,5" + rest + "0,0,1,.25,5": "rows from line 1 on: state 0, action 0: probabilities add up to 0.75, want 1; the difference is 0.25",
		"0,0,0,1,5" + rest + "0,0,0,1,5\n":  "line 5: state 0, action 0, next state 0 is also in line 1, want it once",
		"0,0,0,1,5" + rest + "0,0,1,0,6\n":  "line 5, field c: state 0, action 0 costs 6 here, and 5 in line 1; want one cost",
		"0,0,7,1,5" + rest:                  "line 1: next state 7 has no row of its own",
		rest:                                "state 0, action 0 has no row, want a row for each state–action pair (2 states, 2 actions)",
		"0,0,0,1,5\n1,0,1,1,5\n0,1,0,1,2":   "state 1, action 1 has no row",
		"0,0,0,1,5\n2,0,0,1,5":              "state 1 has no row, but state 2 has one: want consecutive numbers, or names that are not numbers",
		"0,0,0,1,5\n9223372036854775807,0,0,1,5\n-9223372036854775808,0,0,1,5": "state -9223372036854775807 has no row",
	} {
		x, err := ReadCSV(strings.NewReader(table), Settings{})
		if wantError(t, err, says); x != nil {
			t.Errorf("%q: a model comes with the error", table)
		}
	}
}

// drawModel draws a model with names, some of them hard to write.
func drawModel(t *rapid.T) *mixpolicy.MDP {
	n, m := rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "m")
	spec := mixpolicy.Spec{States: n, Actions: m, Criterion: mixpolicy.AverageCost}
	if rapid.Bool().Draw(t, "discounted") {
		spec.Criterion = mixpolicy.Discounted(rapid.Float64Range(0.01, 0.99).Draw(t, "γ"))
	}
	distribution := func(k int) []float64 {
		p := make([]float64, k)
		p[rapid.IntRange(0, k-1).Draw(t, "sure")] = 1
		total := 1.0
		for i := range p {
			v := float64(rapid.IntRange(0, 7).Draw(t, "weight"))
			p[i], total = p[i]+v, total+v
		}
		for i := range p {
			p[i] /= total
		}
		return p
	}
	spec.Initial = distribution(n)
	next, cost := make([][]mixpolicy.Transition, n*m), make([]float64, n*m)
	for i := range next {
		for s2, p := range distribution(n) {
			next[i] = append(next[i], mixpolicy.Transition{To: s2, P: p})
		}
		cost[i] = rapid.Float64Range(-1e300, 1e300).Draw(t, "cost")
	}
	spec.Dynamics = func(s, a int) (float64, []mixpolicy.Transition) { return cost[s*m+a], next[s*m+a] }
	if rapid.Bool().Draw(t, "action sets") {
		also := rapid.SliceOfN(rapid.Bool(), n*m, n*m).Draw(t, "allowed")
		spec.Allowed = func(s, a int) bool { return a == s%m || s == n-1 && a >= n || also[s*m+a] }
	}
	name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"0", "1", "2", "3", "s", " s", "a,b", `"`, "", "\ufeff", "-1", "a\nb", "a\r\nb"}))
	label := func(k int, what string) func(int) string {
		names := rapid.SliceOfN(name, k, k).Draw(t, what)
		return func(i int) string { return names[i] }
	}
	spec.StateLabel, spec.ActionLabel = label(n, "states"), label(m, "actions")
	return mixpolicy.Must(mixpolicy.New(spec))
}

// Written and read again, a model has the same numbers to the bit, whatever its names. Names from a CSV file stay the same.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawModel(t)
		y := again(t, x)
		if d := difference(x, y) + difference(x, throughNPZ(t, x)); d != "" || setsOf(x) != setsOf(y) {
			t.Fatal(d, setsOf(x), setsOf(y))
		}
		z := again(t, y)
		if !slices.Equal(namesOf(y.States(), y.StateName), namesOf(z.States(), z.StateName)) ||
			!slices.Equal(namesOf(y.Actions(), y.ActionName), namesOf(z.Actions(), z.ActionName)) {
			t.Fatal("names of a file are not kept")
		}
	})
}

// throughNPZ writes a model as .npz and reads it.
func throughNPZ(t interface{ Fatal(...any) }, x *mixpolicy.MDP) *mixpolicy.MDP {
	var b bytes.Buffer
	if err := writeModel(&b, x); err != nil {
		t.Fatal(err)
	}
	return mixpolicy.Must(read(b.Bytes(), Settings{}))
}

// again writes a model as CSV and reads it.
func again(t interface{ Fatal(...any) }, x *mixpolicy.MDP) *mixpolicy.MDP {
	var b bytes.Buffer
	if err := WriteCSV(&b, x); err != nil {
		t.Fatal(err)
	}
	return mixpolicy.Must(ReadCSV(&b, Settings{Criterion: x.Criterion(), Initial: x.Initial(), ActionSets: true}))
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("s,a,next,p,c\nidle,0,busy,1,2\nbusy,0,idle,0.25,1\nbusy,0,busy,0.75,1\n"), false)
	f.Add([]byte("\ufeff1,x,1,1,2\r\n2,x,1,1e-1,0x1p-2\r\n2,x,2,.9,.25"), false)
	f.Add([]byte("0,0,0,1,\"5\n"), true)
	f.Add([]byte("0,0,0,1,5\n0,1,1,1,5\n1,1,0,1,3\n"), true)
	f.Add([]byte("x\ry,0,x\ry,1,5\n"), false)
	f.Add([]byte("2,0,0,1,5\n0,go,1,1,5\n1,1,0,1,3\n"), true)
	f.Fuzz(func(t *testing.T, table []byte, sets bool) {
		x, err := ReadCSV(bytes.NewReader(table), Settings{ActionSets: sets})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "files: ") {
				t.Errorf("%v: want our prefix", err)
			}
			return
		}
		if x.Pairs() > len(table) && !sets {
			t.Errorf("%d pairs from a table of %d bytes", x.Pairs(), len(table))
		}
		y := again(t, x)
		if d := difference(x, y); d != "" || setsOf(x) != setsOf(y) {
			t.Error(d, setsOf(x), setsOf(y))
		}
		// WriteCSV writes rows in the order of states. In a table with holes, actions may then occur in another order; if so,
		// WriteCSV writes their numbers.
		actions := namesOf(y.Actions(), y.ActionName)
		if !slices.Equal(namesOf(x.States(), x.StateName), namesOf(y.States(), y.StateName)) ||
			!slices.Equal(namesOf(x.Actions(), x.ActionName), actions) && !(sets && slices.Equal(actions, namesOf(len(actions), strconv.Itoa))) {
			t.Errorf("names of a file are not kept: %q", actions)
		}
	})
}

// The extension of a path decides the format. Errors name the path of a file that is missing or wrong, or that is a folder.
func TestPaths(t *testing.T) {
	x := mixpolicy.Must(models.Machine{}.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, mixpolicy.UniformPolicy(x), mixpolicy.Must(mixpolicy.StateIndependent(x, 0.1, 0.9))))
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	for _, name := range []string{"m.csv", "m.npz", "M.CSV"} {
		if err := Save(in(name), x); err != nil {
			t.Error(err)
		}
		y, err := Load(in(name), Settings{Initial: x.Initial()})
		if err != nil {
			t.Error(err)
		} else if d := difference(x, y); d != "" {
			t.Error(d)
		}
	}
	for _, name := range []string{"m.json", "m", ".", "m.csv.gz"} {
		_, err := Load(in(name), Settings{})
		wantError(t, err, "want a name that ends in .csv or .npz")
		wantError(t, Save(in(name), x), "want a name that ends in .csv or .npz")
		_, err = LoadFeatures(in(name), x)
		wantError(t, err, "want a name that ends in .npz")
	}
	if err := SaveFeatures(in("psi.npz"), psi); err != nil {
		t.Error(err)
	} else if back := mixpolicy.Must(LoadFeatures(in("psi.npz"), x)); !mat.Equal(back.Dense(), psi.Dense()) {
		t.Errorf("Ψ = %v, want %v", back.Dense(), psi.Dense())
	}
	wantError(t, SaveFeatures(in("psi.csv"), psi), "psi.csv: want a name that ends in .npz")
	_, err := Load(in("missing.csv"), Settings{})
	wantError(t, err, "missing.csv: no such file")
	wantError(t, Save(in("missing/m.csv"), x), "no such file")
	if err := os.WriteFile(in("bad.csv"), []byte("0,0,0,2,0"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Load(in("bad.csv"), Settings{})
	wantError(t, err, "files: "+in("bad.csv")+": rows from line 1 on: state 0, action 0: probability 2")
	if err := os.Mkdir(in("d.npz"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = Load(in("d.npz"), Settings{})
	wantError(t, err, "d.npz: ")
	wantError(t, Save(in("d.npz"), x), "d.npz")
}

const door = "shut,open it,open,1,2\nshut,wait,shut,1,0\nopen,wait,open,1,0\nopen,shut it,shut,1,3\n"

// With ActionSets, a pair without a row is not allowed. ReadCSV refuses a table whose few rows make
// too many pairs or transitions before it allocates memory for them.
func TestCSVActionSets(t *testing.T) {
	_, err := ReadCSV(strings.NewReader(door), Settings{})
	wantError(t, err, "files: state shut, action shut it has no row, want a row for each state–action pair (2 states, 3 actions), or set Settings.ActionSets")
	x := mixpolicy.Must(ReadCSV(strings.NewReader(door), Settings{ActionSets: true}))
	for i, want := range []bool{true, true, false, false, true, true} {
		if s, a := x.StateAction(i); x.Allowed(s, a) != want {
			t.Errorf("state %s, action %s: allowed is %v", x.StateName(s), x.ActionName(a), !want)
		}
	}
	var long, wide strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&long, "s%d,a%d,s0,1,0\n", i, i)
	}
	for i := range 3000 { // 9·10⁶ pairs of 12 next states each, all but 3000 of them copies
		for k := range 12 {
			fmt.Fprintf(&wide, "s%d,a%d,s%d,%g,0\n", i, i, k, 1/12.)
		}
	}
	_, err = ReadCSV(strings.NewReader(long.String()), Settings{})
	wantError(t, err, "state s0, action a1 has no row, want a row for each state–action pair (10000 states, 10000 actions)")
	_, err = ReadCSV(strings.NewReader(long.String()), Settings{ActionSets: true})
	wantError(t, err, "files: 10000 states and 10000 actions, want at most 2²⁵ pairs")
	_, err = ReadCSV(strings.NewReader(wide.String()), Settings{ActionSets: true})
	wantError(t, err, "files: 108000000 transitions, including copies for the actions without a row")
}

package mixpolicy_test

import (
	"fmt"
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

func ExampleMDP_LoadPolicies() {
	x := mixpolicy.Must(mixpolicy.ReadCSV(strings.NewReader(goodCSV)))
	dir := mixpolicy.Must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "policies.csv")
	os.WriteFile(path, []byte("s,a,p1,p2\nlow,wait,1,0.25\nlow,go,0,0.75\nhigh,go,1,1\n"), 0o644)

	policies, err := x.LoadPolicies(path)
	fmt.Println(len(policies), policies[1].Row(0), err)
	// Output: 2 [0.25 0.75] <nil>
}

// relabelled returns x with drawn labels.
func relabelled(t *rapid.T, x *mixpolicy.MDP) *mixpolicy.MDP {
	return mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: x.States(), Actions: x.Actions(), Criterion: x.Criterion(), Initial: x.Initial(),
		StateLabel: drawLabels(t, x.States(), "states"), ActionLabel: drawLabels(t, x.Actions(), "actions"),
		Dynamics: func(s, a int) (float64, transitions) {
			var next transitions
			to, p := x.Next(s, a)
			for k, s2 := range to {
				next = append(next, mixpolicy.Transition{To: int(s2), P: p[k]})
			}
			return x.Cost(s, a), next
		},
	}))
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
}

// Policies and features come back from files to the bit, whatever the labels are.
func TestPairFileRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		x := relabelled(t, drawMDP(t, drawCriterion(t)))
		policies := []*mixpolicy.Policy{drawPolicy(t, x), mixpolicy.UniformPolicy(x), mixpolicy.Must(mixpolicy.Deterministic(x, make([]int, x.States())))}
		policies = policies[:rapid.IntRange(1, 3).Draw(t, "d")]
		f := mixpolicy.Must(mixpolicy.NewFeatures(x, policies...))
		for _, ext := range []string{".csv", ".json"} {
			path := filepath.Join(dir, "file"+ext)
			if err := x.SavePolicies(path, policies...); err != nil {
				t.Fatal(err)
			}
			back, err := x.LoadPolicies(path)
			if err != nil || len(back) != len(policies) {
				t.Fatalf("%d policies, %v", len(back), err)
			}
			for j, p := range policies {
				for s := range x.States() {
					if !sameBits(back[j].Row(s), p.Row(s)) {
						t.Fatalf("π%d(%d) = %v, want %v", j, s, back[j].Row(s), p.Row(s))
					}
				}
			}
			if err := f.Save(path); err != nil {
				t.Fatal(err)
			}
			g, err := mixpolicy.LoadFeatures(x, path)
			if err != nil || g.Dim() != f.Dim() {
				t.Fatal(err)
			}
			for j := range f.Dim() {
				if !sameBits(g.Column(j), f.Column(j)) {
					t.Fatalf("ψ%d = %v, want %v", j, g.Column(j), f.Column(j))
				}
			}
		}
	})
}

const goodPolicies = `s,a,p1,p2
low,wait,1,0.25
low,go,0,0.75
high,go,1,1
`

const goodPoliciesJSON = `{
"columns": ["p1","p2"],
"pairs": [
{"s":0,"a":0,"values":[1,0.25]},
{"s":0,"a":1,"values":[0,0.75]},
{"s":1,"a":1,"values":[1,1]}
]
}
`

// Every way in which a file can be wrong is told with its place, state and action.
func TestPairFileErrors(t *testing.T) {
	x := mixpolicy.Must(mixpolicy.ReadCSV(strings.NewReader(goodCSV)))
	for _, c := range []struct{ ext, old, new, says string }{
		{".csv", "s,a,p1,p2", "s,a,p", "line 2: 4 fields, want 3: s,a,p1"},
		{".csv", "s,a,p1,p2", "s,a,p2,p1", `line 1: columns ["p2" "p1"], want p1, p2, …`},
		{".csv", "s,a,p1,p2", "state,a,p1,p2", "line 1: columns"},
		{".csv", "s,a,p1,p2", "s,a,psi1,psi2", "line 1: columns"},
		{".csv", "s,a,p1,p2", "s,a", "line 1: columns"},
		{".csv", "low,go,0,0.75", "low,go,0", "line 3: 3 fields, want 4: s,a,p1,p2"},
		{".csv", "low,go,0,0.75", "middle,go,0,0.75", "line 3: state middle, action go: no such state in the MDP, whose states are low, …"},
		{".csv", "low,go,0,0.75", "low,come,0,0.75", "line 3: state low, action come: no such action in the MDP, whose actions are wait, …"},
		{".csv", "low,go,0,0.75", "low,wait,0,0.75", "line 3: state low, action wait: is in line 2 already"},
		{".csv", "low,go,0,0.75", "low,go,0,x", `line 3: state low, action go: p2 is "x", want a finite number ≥ 0`},
		{".csv", "low,go,0,0.75", "low,go,0,NaN", "line 3: state low, action go: p2 is NaN, want a finite number ≥ 0"},
		{".csv", "low,go,0,0.75", "low,go,-1,0.75", "line 3: state low, action go: p1 is -1, want"},
		{".csv", "low,go,0,0.75", "low,go,0,Inf", "p2 is +Inf"},
		{".csv", "low,go,0,0.75", "low,go,0,0.7", "lines 2 to 3: state low: p2: entries add up to 0.95, want 1"},
		{".csv", "high,go,1,1\n", "", "state high: not in the file"},
		{".csv", "high,go,1,1\n", "high,go,1,0\n", "line 4: state high: p2: entries add up to 0, want 1"},
		{".csv", "high,go,1,1\n", "high,go,1,1", "truncated"},
		{".csv", "high,go,1,1\n", "high,\"go,1,1\n", "line 4: "},
		{".csv", goodPolicies, "", "no table"},
		{".json", `["p1","p2"]`, `["p1","p3"]`, `columns ["p1" "p3"], want p1, p2, …`},
		{".json", `["p1","p2"]`, `[]`, "columns [], want p1, p2, …"},
		{".json", `"columns": ["p1","p2"],`, ``, "columns [], want p1"},
		{".json", `"columns"`, `"column"`, `line 2: unknown field "column"`},
		{".json", `"s":0,"a":1`, `"s":2,"a":1`, "pairs[1].s: want a state, 0 to 1"},
		{".json", `"s":0,"a":1`, `"s":0`, "pairs[1].a: want an action, 0 to 1"},
		{".json", `"s":0,"a":1`, `"s":0,"a":0`, "pairs[1]: state low, action wait: is in pairs[0] already"},
		{".json", `[0,0.75]`, `[0]`, "pairs[1].values: state low, action go: 1 numbers, want 2"},
		{".json", `[0,0.75]`, `[0,-0.75]`, "pairs[1]: state low, action go: p2 is -0.75, want a finite number ≥ 0"},
		{".json", `[0,0.75]`, `[0,0.7]`, "pairs[0] to pairs[1]: state low: p2: entries add up to 0.95, want 1"},
		{".json", `[0,0.75]`, `[0,null]`, "line 5: pairs[1].values[1]: null"},
		{".json", `[0,0.75]`, `"x"`, "pairs[1]: values: string"},
		{".json", ",\n{\"s\":1,\"a\":1,\"values\":[1,1]}", "", "state high: not in the file"},
		{".json", "]\n}\n", "", "truncated"},
		{".json", goodPoliciesJSON, `{"columns":["p1"]}`, "pairs is missing"},
		{".json", goodPoliciesJSON, goodJSON, "unknown field"},
	} {
		good := map[string]string{".csv": goodPolicies, ".json": goodPoliciesJSON}[c.ext]
		if !strings.Contains(good, c.old) && c.old != goodJSON {
			t.Fatalf("nothing to replace: %q", c.old)
		}
		path := filepath.Join(t.TempDir(), "file"+c.ext)
		write(t, path, []byte(strings.Replace(good, c.old, c.new, 1)))
		policies, err := x.LoadPolicies(path)
		wantError(t, err, "mixpolicy: "+path+": ", c.says)
		if policies != nil {
			t.Errorf("%q: policies come with the error", c.says)
		}
	}
	path := filepath.Join(t.TempDir(), "f.csv")
	write(t, path, []byte("s,a,psi1\nlow,wait,0.5\nhigh,wait,0.25\n"))
	_, err := mixpolicy.LoadFeatures(x, path)
	wantError(t, err, "mixpolicy: "+path+": feature column 0 adds up to 0.75, want 1")
	wantError(t, x.SavePolicies(path), "nothing to write")
	wantError(t, x.SavePolicies(path, nil), "policy 0: policy is nil")
	wantError(t, x.SavePolicies(filepath.Join(path, "x.txt")), "want a name that ends in .csv or .json")
	_, err = x.LoadPolicies("absent.csv")
	wantError(t, err, "absent.csv")
	_, err = x.LoadPolicies("absent.txt")
	wantError(t, err, "absent.txt: want a name")
}

// Numbers are names where there are no others, and one column needs no number.
func TestPairFileForms(t *testing.T) {
	x := mixpolicy.Must(models.Garnet{States: 2, Actions: 2, Branches: 1}.MDP())
	for _, text := range []string{"\uFEFFs, a, p\r\n1, 0, 1\r\n0, 1, 1\r\n", "s,a,p1\n0,1,1\n0,0,0\n1,0,1\n"} {
		p, err := mixpolicy.ReadPolicies(x, ".csv", []byte(text))
		if err != nil || len(p) != 1 || p[0].Action(0) != 1 || p[0].Action(1) != 0 {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	for _, label := range []string{"2", "01", "-1", "x"} {
		_, err := mixpolicy.ReadPolicies(x, ".csv", []byte("s,a,p\n0,1,1\n"+label+",0,1\n"))
		wantError(t, err, "line 3: state "+label, "no such state, want 0 to 1")
	}
}

// A file cut anywhere is refused, or is the same.
func TestPairFileTruncated(t *testing.T) {
	x := mixpolicy.Must(mixpolicy.ReadCSV(strings.NewReader(goodCSV)))
	for ext, text := range map[string]string{".csv": goodPolicies, ".json": goodPoliciesJSON} {
		for n := range len(text) {
			p, err := mixpolicy.ReadPolicies(x, ext, []byte(text[:n]))
			if err == nil && strings.TrimSpace(text[n:]) != "" {
				t.Errorf("%s: the first %d bytes are read as %d policies", ext, n, len(p))
			}
		}
	}
}

// Whatever is read are policies or features, which come back from both formats.
func FuzzPairFile(f *testing.F) {
	x := mixpolicy.Must(mixpolicy.ReadCSV(strings.NewReader(goodCSV)))
	dir := f.TempDir()
	f.Add([]byte(goodPolicies), true, false)
	f.Add([]byte(goodPoliciesJSON), false, false)
	f.Add([]byte("s,a,psi1\nlow,wait,0.75\nhigh,go,0.25\n"), true, true)
	f.Add([]byte(`{"columns":["psi1"],"pairs":[{"s":0,"a":0,"values":[-0]},{"s":0,"a":1,"values":[1]}]}`), false, true)
	f.Fuzz(func(t *testing.T, text []byte, csv, features bool) {
		ext := ".json"
		if csv {
			ext = ".csv"
		}
		if features {
			psi, err := mixpolicy.ReadFeatures(x, ext, text)
			if err != nil {
				return
			}
			for _, ext := range []string{".csv", ".json"} {
				path := filepath.Join(dir, "features"+ext)
				if err := psi.Save(path); err != nil {
					t.Fatal(err)
				}
				back, err := mixpolicy.LoadFeatures(x, path)
				if err != nil {
					t.Fatal(err)
				}
				for j := range psi.Dim() {
					if !sameBits(back.Column(j), psi.Column(j)) {
						t.Fatalf("%v comes back as %v", psi.Column(j), back.Column(j))
					}
				}
			}
			return
		}
		policies, err := mixpolicy.ReadPolicies(x, ext, text)
		if err != nil {
			return
		}
		for _, p := range policies {
			for s := range x.States() {
				if total := p.Prob(s, 0) + p.Prob(s, 1); math.Abs(total-1) > 50*u {
					t.Fatalf("π(%d) = %v", s, p.Row(s))
				}
			}
		}
		for _, ext := range []string{".csv", ".json"} {
			path := filepath.Join(dir, "policies"+ext)
			if err := x.SavePolicies(path, policies...); err != nil {
				t.Fatal(err)
			}
			back, err := x.LoadPolicies(path)
			if err != nil {
				t.Fatal(err)
			}
			for j, p := range policies {
				for s := range x.States() {
					if !sameBits(back[j].Row(s), p.Row(s)) {
						t.Fatalf("%v comes back as %v", p.Row(s), back[j].Row(s))
					}
				}
			}
		}
	})
}

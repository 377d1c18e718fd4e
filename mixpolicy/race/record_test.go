package race

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

const line = ",queue,,queries,plug-in,,penalised gap,1,2,1,3,0,0,1,64 8,20,1,,,"

const header = "part,problem,base,race,method,source,quantity,at,value,lo,hi,residual,configuration,configurations,setting,trials,seed,settings,machine,values"

func text(lines ...string) string {
	return header + "\n" + strings.Join(lines, "\n") + "\n"
}

// A record that Read accepts does not change when it is written, read and written again.
func FuzzRead(f *testing.F) {
	f.Add(text(line))
	f.Add(text("small,\"a, b\",two rules,reach,penalty,,x,1e3,+Inf,2,Inf,1e-16,0,1,,20,18446744073709551615,s,m,1 – 2"))
	f.Add("part")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		mixpolicy.Must(0, r.Write(&once))
		again, err := Read(bytes.NewReader(once.Bytes()))
		if err != nil && strings.Contains(err.Error(), "already") {
			return // Write rounds At to twelve digits, so two rows may become equal
		}
		if mixpolicy.Must(0, errors.Join(err, again.Write(&twice))); !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("wrote %q, then %q", once.String(), twice.String())
		}
	})
}

func TestReadErrors(t *testing.T) {
	good := text(line)
	var b bytes.Buffer
	if err := mixpolicy.Must(Read(strings.NewReader(good))).Write(&b); err != nil || b.String() != good {
		t.Errorf("wrote %q (%v), want %q", b.String(), err, good)
	}
	if err := (Record{{Part: "b"}, {Part: "b", Settings: "a\r\nb"}}).Write(&b); err == nil || !strings.Contains(err.Error(), `line 3: settings "a\r\nb"`) {
		t.Errorf("a text that can't be read back was written: %v", err)
	}
	for _, c := range []struct{ text, says string }{
		{"", "header"},
		{strings.Replace(good, ",2,1,3", ",two,1,3", 1), `line 2: value "two"`},
		{text(line, strings.Replace(line, ",2,1,3", ",4,1,5", 1)), `line 3: "penalised gap" of "plug-in" at 1 is already in line 2`},
	} {
		if _, err := Read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: error %v, want one that says %q", c.text, err, c.says)
		}
	}
}

// Update sorts the new rows in among the rows that it keeps. It does not touch a file that it cannot
// read.
func TestUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.csv")
	write := func(text string) { mixpolicy.Must(0, os.WriteFile(path, []byte(text), 0o644)) }
	old := func(row Row) bool { return row.Part == "b" }
	order := func(a, b Row) int { return cmp.Compare(a.Part, b.Part) }
	write(text("a"+line, "b"+line, "c"+line, "c"+strings.Replace(line, "penalised gap", "cost", 1)))
	if err := Update(path, old, Record{{Part: "b", Quantity: "x"}, {Part: "b", Quantity: "y"}}, order); err != nil {
		t.Fatal(err)
	}
	want := []string{"a penalised gap", "b x", "b y", "c penalised gap", "c cost"}
	for k, row := range mixpolicy.Must(ReadFile(path)) {
		if got := row.Part + " " + row.Quantity; got != want[k] {
			t.Errorf("row %d: %q, want %q", k, got, want[k])
		}
	}
	write("nonsense")
	if err := Update(path, old, nil, order); err == nil || !strings.Contains(err.Error(), "header") {
		t.Errorf("error %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "nonsense" {
		t.Errorf("the file is now %q", b)
	}
}

func TestSelect(t *testing.T) {
	r := Record{{Method: "a", Quantity: "x", At: 1, Value: 1}, {Method: "b", Quantity: "x"}, {Method: "a", Quantity: "y"}}
	if n := len(r.Select(Row{Method: "a"})); n != 2 {
		t.Errorf("%d rows of a", n)
	}
	if row, err := r.One(Row{Method: "a", Quantity: "x"}); err != nil || row.Value != 1 {
		t.Errorf("%+v, %v", row, err)
	}
	if _, err := r.One(Row{Quantity: "x"}); err == nil || !strings.Contains(err.Error(), "2 rows like") {
		t.Errorf("error %v", err)
	}
	if names := r.Methods(Row{}); len(names) != 2 || names[1] != "b" {
		t.Errorf("%q", names)
	}
	if row := (Record{{Value: 1.23456789, Values: []float64{2.00000001}}}).Round(6)[0]; row.Value != 1.23457 || row.Values[0] != 2 {
		t.Errorf("rounded to %+v", row)
	}
}

// A stream counts only if both methods have a value on it.
func TestDifferences(t *testing.T) {
	if got := Differences([]float64{5, 7, math.NaN(), 1}, []float64{2, math.NaN(), 1, 4, 9}); !slices.Equal(got, []float64{3, -3}) {
		t.Errorf("%v", got)
	}
}

// Write omits the statistics that Derive computes. Derive keeps the statistics of rows without Values, and skips NaN,
// the value of a failed run.
func TestDerive(t *testing.T) {
	raw := Record{{Method: "a", Values: []float64{3, math.NaN(), 1, 2}}, {Method: "b", Value: 7, Lo: 6, Hi: 8, Trials: 9}}
	got := raw.Derive(func(x []float64) Interval { return Median(x, .5) })
	if row := got[0]; row.Value != 2 || row.Lo != 1 || row.Hi != 3 || row.Trials != 3 || !reflect.DeepEqual(got[1], raw[1]) {
		t.Errorf("%+v", got)
	}
	var one, two bytes.Buffer
	if err := errors.Join(raw.Write(&one), got.Write(&two)); err != nil || one.String() != two.String() || !strings.Contains(one.String(), ",0,0,0,0,") || !strings.Contains(one.String(), "3 – 1 2") {
		t.Errorf("%v\n%s\n%s", err, one.String(), two.String())
	}
}

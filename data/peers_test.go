package data_test

import (
	"bytes"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
)

// The README's table equals the table that WithComparisons makes from peers.csv.
func TestReadmeComparisons(t *testing.T) {
	readme := mixpolicy.Must(os.ReadFile("../README.md"))
	want := mixpolicy.Must(data.WithComparisons(string(readme), mixpolicy.Must(data.Comparisons())))
	if want != string(readme) {
		t.Fatal("the README's table differs from data/peers.csv; go run ./data/peers readme writes the table again")
	}
}

// The committed peers.csv has rows for every work. Each row names a machine and versions, and its times are in order.
func TestComparisonsComplete(t *testing.T) {
	works := map[string]bool{}
	for _, c := range mixpolicy.Must(data.Comparisons()) {
		works[c.Work] = true
		if c.Peer == "" || c.Machine == "" || c.Go == "" || c.Python == "" || c.Date == "" || c.Threads < 1 || c.We.Median <= 0 || c.Repetitions < 1 {
			t.Errorf("incomplete: %+v", c)
		}
		// Neither we nor a peer that finished took less time than memory takes to deliver the arrays once.
		if floor := c.Floor(); (c.Bytes > 0) != (c.Bandwidth > 0) || floor > c.We.Least || c.Outcome == "" && floor > c.They.Least {
			t.Errorf("%s: %s: %v bytes at %v bytes per second do not fit the times: %+v", c.Instance, c.Method, c.Bytes, c.Bandwidth, c)
		}
		for _, m := range []data.Measured{c.We, c.They} {
			if !(m.Least <= m.Median && m.Median <= m.Greatest) {
				t.Errorf("%s: %s: not in order: %+v", c.Instance, c.Method, m)
			}
		}
	}
	for _, name := range []string{"stationary", "step", "mixture", "valuation", "projection"} {
		if !works[name] {
			t.Errorf("%s was not measured", name)
		}
	}
}

func ours(seconds float64) data.Comparison {
	return data.Comparison{Work: "w", Instance: "i", We: data.Measured{Median: seconds}}
}

func against(c data.Comparison, method string, seconds float64, outcome string) data.Comparison {
	c.Peer, c.Method, c.They.Median, c.Outcome = "p 1.0", method, seconds, outcome
	return c
}

func TestBest(t *testing.T) {
	c := ours(2)
	slow, fast := against(c, "slow", 30, ""), against(c, "fast", 20, "")
	early, late := against(c, "early", 5, data.Stopped(5)), against(c, "late", 60, data.Stopped(60))
	failed := against(c, "failed", 0, "MemoryError")
	for _, e := range []struct {
		rows []data.Comparison
		want string
	}{
		{[]data.Comparison{slow, fast}, "fast"},
		{[]data.Comparison{fast, slow}, "fast"},
		{[]data.Comparison{early, slow, late, failed}, "slow"}, // a peer that finished comes before peers that were stopped
		{[]data.Comparison{failed, early, late}, "late"},
		{[]data.Comparison{late, early, failed}, "late"},
		{[]data.Comparison{failed}, "failed"},
	} {
		if got := data.Best(e.rows); len(got) != 1 || got[0].Method != e.want {
			t.Errorf("best is %+v, want %s", got, e.want)
		}
	}
	other := slow
	other.Instance = "j"
	if got := data.Best([]data.Comparison{slow, other, fast}); len(got) != 2 || got[0].Method != "fast" || got[1].Instance != "j" {
		t.Errorf("two instances: %+v", got)
	}
}

// Writing and reading rows keeps their values to four digits. Writing the rows again then gives the same text.
func TestComparisonsRoundTrip(t *testing.T) {
	text := rapid.StringMatching(`[a-zA-Zλ×≥,"0-9. ]*`)
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Custom(func(t *rapid.T) float64 {
			return float64(rapid.IntRange(0, 9999).Draw(t, "digits")) * rapid.SampledFrom([]float64{1, 0x1p-20, 0x1p20}).Draw(t, "scale")
		})
		some := rapid.MakeCustom[data.Comparison](rapid.MakeConfig{Kinds: map[reflect.Kind]*rapid.Generator[any]{
			reflect.String: text.AsAny(), reflect.Float64: number.AsAny(), reflect.Int: rapid.IntRange(0, 99).AsAny(),
		}})
		all := rapid.SliceOfN(some, 1, 4).Draw(t, "rows")
		var first, second bytes.Buffer
		if err := data.WriteComparisons(&first, all); err != nil {
			t.Fatal(err)
		}
		written := first.String()
		back, err := data.ReadComparisons(&first)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if err := data.WriteComparisons(&second, back); err != nil {
			t.Fatal(err)
		}
		if written != second.String() {
			t.Fatalf("written\n%sread and written\n%s", written, second.String())
		}
		for k, c := range back {
			if c.Work != all[k].Work || c.Date != all[k].Date || math.Abs(c.They.Least-all[k].They.Least) > 5e-4*all[k].They.Least {
				t.Fatalf("%+v became %+v", all[k], c)
			}
		}
	})
}

func TestReadComparisonsErrors(t *testing.T) {
	var good bytes.Buffer
	c := against(ours(1), "m", 2, "")
	if err := data.WriteComparisons(&good, []data.Comparison{c}); err != nil {
		t.Fatal(err)
	}
	for _, e := range []struct{ old, new, want string }{
		{"work,", "werk,", "columns"},
		{",2,", ",two,", "peer_median"},
		{",2,", ",-2,", "≥ 0"},
		{",2,", ",NaN,", "want a number"},
		{",2,", ",3,", "ratio"}, // the ratio no longer follows from the times
	} {
		_, err := data.ReadComparisons(strings.NewReader(strings.Replace(good.String(), e.old, e.new, 1)))
		if err == nil || !strings.Contains(err.Error(), e.want) {
			t.Errorf("%q for %q: error %v, want one about %s", e.new, e.old, err, e.want)
		}
	}
	if _, err := data.ReadComparisons(strings.NewReader("")); err == nil {
		t.Error("an empty file is accepted")
	}
}

// Every file that ReadComparisons accepts can be written and read again.
func FuzzReadComparisons(f *testing.F) {
	committed, err := data.Files.ReadFile("peers.csv")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(committed)
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := data.ReadComparisons(bytes.NewReader(text))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := data.WriteComparisons(&again, all); err != nil {
			t.Fatal(err)
		}
		mixpolicy.Must(data.ReadComparisons(&again))
	})
}

func TestWithComparisonsErrors(t *testing.T) {
	if _, err := data.WithComparisons("# A README\n", nil); err == nil || !strings.Contains(err.Error(), "no place") {
		t.Errorf("error %v for a README without the lines", err)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 12345: "12,345", 1028196: "1,028,196"} {
		if got := data.Thousands(n); got != want {
			t.Errorf("%d as %s, want %s", n, got, want)
		}
	}
}

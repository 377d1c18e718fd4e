package plotting

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestFramesShareTheAxes(t *testing.T) {
	given := []Panels{divergence(0, 0.1, 0.4), divergence(0, 1, 4)}
	frames := must(slider("η", 0, given...).aligned())
	a, b := frames[0].Figures[0], frames[1].Figures[0]
	if a.Y.Min != b.Y.Min || a.Y.Max != b.Y.Max || a.Y.Max < 4 {
		t.Errorf("y axes [%g, %g] and [%g, %g]", a.Y.Min, a.Y.Max, b.Y.Min, b.Y.Max)
	}
	if given[0].Figures[0].Y.Max != 0 {
		t.Error("the frames of the caller were changed")
	}
}

// The page contains the frames as live.js expects them: in row-major order, the first frame whole, and of
// every later frame only the parts that differ from the first.
func TestFramesAreInRowMajorOrderAndHoldWhatDiffers(t *testing.T) {
	var seen []string
	d := must(Explorer{
		Controls: []Control{
			{Label: "a", Values: []string{"0", "1"}},
			{Label: "b", Values: []string{"0", "1", "2"}, Start: 2},
			{Label: "c", Values: []string{"none", "some"}, Start: 1, Menu: true},
		},
		Frame: func(at []int) Panels {
			seen = append(seen, fmt.Sprint(at))
			y := float64(100*at[0] + 10*at[1] + at[2])
			return Row(Figure{Title: "where", Layers: []Layer{Line{Name: "y", X: []float64{0, 1}, Y: []float64{y, y}}}})
		},
	}.display())
	if n := len(slices.Compact(slices.Sorted(slices.Values(seen)))); len(seen) != 12 || n != 12 {
		t.Errorf("%d calls of Frame for %d combinations, want 12", len(seen), n)
	}
	if !strings.Contains(d.html, `alt="where (a = 0, b = 2, some)`) {
		t.Error("the still picture is not the frame at which the controls start")
	}
	var charts []struct {
		Columns [][]float64
		Frames  []map[string]json.RawMessage
	}
	// The arguments of live.js are the last JSON of the page.
	args := d.html[strings.LastIndex(d.html, `)([{"key"`)+2:]
	noError(json.NewDecoder(strings.NewReader(args)).Decode(&charts))
	c := charts[0]
	if len(c.Columns) != 13 || len(c.Frames) != 12 {
		t.Fatalf("%d columns and %d frames, want 13 (one x, and 12 y) and 12", len(c.Columns), len(c.Frames))
	}
	for k, f := range c.Frames {
		if k > 0 && len(f) != 1 {
			t.Errorf("frame %d repeats %d parts of the first", k, len(f)-1)
		}
		var sets []struct{ Source []int }
		noError(json.Unmarshal(f["dataset"], &sets))
		want := float64(100*(k/6) + 10*(k/2%3) + k%2)
		if y := c.Columns[sets[0].Source[1]]; y[0] != want {
			t.Errorf("frame %d shows %g, want %g", k, y[0], want)
		}
	}
}

func TestControlsAreWrittenForReadersAndForLiveJS(t *testing.T) {
	evil := Control{Label: "<R>", Values: []string{`"1"`, "<b>", "long value"}, Start: 1}
	for _, menu := range []bool{false, true} {
		evil.Menu = menu
		b := evil.html()
		if strings.Contains(b, "<b>") || strings.Contains(b, "<R>") {
			t.Errorf("unescaped: %s", b)
		}
		data := regexp.MustCompile(`data-values="([^"]*)"`).FindStringSubmatch(b)
		if data == nil || data[1] != `[&#34;\&#34;1\&#34;&#34;,&#34;\u003cb\u003e&#34;,&#34;long value&#34;]` {
			t.Errorf("values %q", data)
		}
		for what, want := range map[string]bool{`value="1"`: true, " selected>&lt;b&gt;": menu, `max="2"`: !menu, `aria-valuetext="&lt;b&gt;"`: !menu} {
			if strings.Contains(b, what) != want {
				t.Errorf("menu %v: %s in %s: want %v", menu, what, b, want)
			}
		}
	}
}

// If a later frame lacks a part of the first frame, the method since sets this part to null, so the chart drops the part.
func TestSinceUndoesWhatIsGone(t *testing.T) {
	first := options{"kept": json.RawMessage("1"), "gone": json.RawMessage("2"), "changed": json.RawMessage("3")}
	now := options{"kept": json.RawMessage("1"), "changed": json.RawMessage("4"), "new": json.RawMessage("5")}
	b, err := json.Marshal(now.since(first))
	if want := `{"changed":4,"gone":null,"new":5}`; err != nil || string(b) != want {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
}

func TestExplorersThatCannotBeShown(t *testing.T) {
	line := func(y float64) Panels { return Row(Figure{Layers: []Layer{Line{X: []float64{0}, Y: []float64{y}}}}) }
	two := []Control{{Label: "R", Values: []string{"1", "2"}}}
	for _, c := range []struct {
		d    Drawing
		want string
	}{
		{Explorer{Controls: two}, "needs controls and a Frame"},
		{Explorer{Controls: []Control{{Label: "η"}}, Frame: func([]int) Panels { return line(1) }}, `control "η": Start is 0, but there are 0 values`},
		{Explorer{Controls: []Control{{Label: "η", Values: []string{"1"}, Start: -1}}, Frame: func([]int) Panels { return line(1) }}, "Start is -1"},
		{Explorer{Controls: two, Frame: func(at []int) Panels { return line(math.Log(float64(-at[0]))) }}, "frame at R = 1: "},
		{Explorer{Controls: two, Frame: func(at []int) Panels { return Row(slices.Repeat(line(1).Figures, 1+at[0])...) }}, "frame at R = 2 has 2 figures, but the first has 1"},
		{slider("η", 0, line(1), Row(Figure{})), "frame at η = 2: "},
	} {
		_, err := c.d.panels()
		_, shown := c.d.display()
		if err == nil || shown == nil || err.Error() != shown.Error() || !strings.Contains(err.Error(), c.want) {
			t.Errorf("errors %v and %v, want both to say %q", err, shown, c.want)
		}
	}
}

package widget

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Controls are what the reader of a widget can move. The function given to [Run]
// asks for the value of each, and by asking declares it: all of them in every
// call, in the same order.
type Controls struct {
	ctx      context.Context
	controls []control
	at       []int // the position of each control
	declared bool  // by a first call
	next     int   // the control that is to be asked for next
}

// A control has finitely many positions, each with the text that is shown
// beside it.
type control struct {
	label  string
	texts  []string
	values []float64 // of a slider; nil for a list
	start  int
}

// Context ends when the reader has moved a control again: the computation can stop,
// and what it returns, or panics with, is not shown.
func (c *Controls) Context() context.Context { return c.ctx }

// Slider is the value in [lo, hi] of a slider that begins at start. It goes in 50
// to 125 round steps of 1, 2 or 5 times a power of ten; lo, start and hi are
// among them.
func (c *Controls) Slider(label string, lo, hi, start float64) float64 {
	checkRange(label, lo, hi, start)
	return c.slider(label, start, linear(lo, hi, start))
}

// LogSlider is a [Controls.Slider] over powers, 0 < lo: 24 steps a decade, rounded
// to two digits.
func (c *Controls) LogSlider(label string, lo, hi, start float64) float64 {
	if lo <= 0 {
		panic(fmt.Sprintf("widget: slider %q: lo is %g: a logarithmic slider needs lo > 0", label, lo))
	}
	checkRange(label, lo, hi, start)
	return c.slider(label, start, logarithmic(lo, hi, start))
}

// Select is the index of the option that is chosen from a list; at first that is 0.
func (c *Controls) Select(label string, options ...string) int {
	if len(options) == 0 {
		panic(fmt.Sprintf("widget: list %q has no options", label))
	}
	return c.position(control{label: label, texts: options})
}

func (c *Controls) slider(label string, start float64, values []float64) float64 {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = text(v)
	}
	return values[c.position(control{label, texts, values, slices.Index(values, start)})]
}

// position is where the control that is asked for stands.
func (c *Controls) position(k control) int {
	if !c.declared {
		c.controls, c.at = append(c.controls, k), append(c.at, k.start)
	}
	i := c.next
	if i >= len(c.controls) || c.controls[i].label != k.label || !slices.Equal(c.controls[i].texts, k.texts) {
		panic(fmt.Sprintf("widget: control %d is %q: every call must ask for the controls of the first, in their order: %s", i, k.label, c))
	}
	c.next++
	return c.at[i]
}

// set makes ready for a call with the controls at these positions.
func (c *Controls) set(ctx context.Context, at []int) { c.ctx, c.at, c.next = ctx, at, 0 }

// String says where the controls stand, such as "η₀ = 64, R = 2".
func (c *Controls) String() string {
	said := make([]string, len(c.controls))
	for i, k := range c.controls {
		said[i] = k.label + " = " + k.texts[c.at[i]]
	}
	return strings.Join(said, ", ")
}

func checkRange(label string, lo, hi, start float64) {
	if !(lo < hi) || math.IsInf(hi-lo, 0) {
		panic(fmt.Sprintf("widget: slider %q: [%g, %g] is not a range", label, lo, hi))
	}
	if !(lo <= start && start <= hi) {
		panic(fmt.Sprintf("widget: slider %q: start is %g, outside of [%g, %g]", label, start, lo, hi))
	}
}

// linear is the multiples in [lo, hi] of the largest round step that a fiftieth of
// the range allows, and the three values given.
func linear(lo, hi, start float64) []float64 {
	step := 0.0
	for _, digit := range []float64{1, 2, 5, 10} {
		power := math.Pow(10, math.Floor(math.Log10((hi-lo)/50)))
		if digit*power <= (hi-lo)/50 {
			step = digit * power
		}
	}
	values := []float64{lo, start, hi}
	first := math.Ceil(lo / step)
	for i := range 126 { // where the range is a few ulps long, first + i may be first
		if v := (first + float64(i)) * step; v < hi {
			values = append(values, rounded(v, 12)) // 3·0.1 is 0.30000000000000004
		}
	}
	return within(values, lo, hi)
}

func logarithmic(lo, hi, start float64) []float64 {
	values := []float64{lo, start, hi}
	first, last := math.Ceil(24*math.Log10(lo)), math.Floor(24*math.Log10(hi))
	for k := first; k <= last; k++ {
		values = append(values, rounded(math.Pow(10, k/24), 2))
	}
	return within(values, lo, hi)
}

// within sorts the values in [lo, hi], each once.
func within(values []float64, lo, hi float64) []float64 {
	values = slices.DeleteFunc(values, func(v float64) bool { return v < lo || v > hi })
	slices.Sort(values)
	return slices.Compact(values)
}

// rounded is v to so many decimal digits.
func rounded(v float64, digits int) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil { // it is beyond the greatest number
		return v
	}
	return short
}

// text is v as a reader would write it: with all its digits, so that the number
// beside a slider is the number computed with.
func text(v float64) string {
	format := byte('g')
	if a := math.Abs(v); v == 0 || 1e-4 <= a && a < 1e7 {
		format = 'f'
	}
	return strings.ReplaceAll(strconv.FormatFloat(v, format, -1, 64), "-", "−")
}

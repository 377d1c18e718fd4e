package plotting

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/combin"
)

// Explorer shows figures computed beforehand. There is one frame of figures for each combination of the controls'
// values. An explorer needs no kernel, so it also works on exported pages. A figure has the same axis ranges in all
// frames. Without scripts, and in a file, only one frame is shown: the frame for the start values of the controls.
//
// A chart stores each column of numbers only once, even if several frames contain the same curve.
type Explorer struct {
	Controls []Control
	// Frame returns the frame in which each control i has the value Controls[i].Values[at[i]]. Each [Show] or [Save] of
	// the explorer calls Frame once for each combination. All frames must have the same number of figures.
	Frame func(at []int) Panels
}

// Control is a parameter whose value the reader chooses with a slider or, if Menu is true, from a menu. A menu suits
// values that are names.
type Control struct {
	Label  string // such as "η"
	Values []string
	Start  int // index of the value that is shown first
	Menu   bool
}

// Slider returns a slider over the given numbers. It starts at the middle number or, if there are two middle numbers,
// at the second of them.
func Slider(label string, values ...float64) Control {
	c := Control{Label: label, Start: len(values) / 2}
	for _, v := range values {
		c.Values = append(c.Values, brief(v))
	}
	return c
}

// String describes the start value of the control: "η = 0.1" for a slider, but only the value for a menu.
func (c Control) String() string {
	if c.Menu {
		return c.Values[c.Start]
	}
	return c.Label + " = " + c.Values[c.Start]
}

func (e Explorer) panels() (Panels, error) {
	frames, err := e.aligned()
	if err != nil {
		return Panels{}, err
	}
	return e.still(frames), nil
}

func (e Explorer) display() (display, error) {
	frames, err := e.aligned()
	if err != nil {
		return display{}, err
	}
	return output(frames, e.still(frames), e.Controls)
}

// still returns the frame at which the controls start. The titles of this frame name the values of the controls.
func (e Explorer) still(frames []Panels) Panels {
	k := 0
	var values []string
	for _, c := range e.Controls {
		k = k*len(c.Values) + c.Start
		values = append(values, c.String())
	}
	where := strings.Join(values, ", ")
	p := frames[k]
	p.Figures = slices.Clone(p.Figures)
	for i := range p.Figures {
		if f := &p.Figures[i]; f.Title == "" {
			f.Title = where
		} else {
			f.Title += " (" + where + ")"
		}
	}
	return p
}

// aligned computes the frames, in row-major order, validates them, and gives them common ranges.
func (e Explorer) aligned() ([]Panels, error) {
	if len(e.Controls) == 0 || e.Frame == nil {
		return nil, errors.New("an explorer needs controls and a Frame")
	}
	var sizes []int
	for _, c := range e.Controls {
		sizes = append(sizes, len(c.Values))
		if c.Start < 0 || c.Start >= len(c.Values) {
			return nil, fmt.Errorf("control %q: Start is %d, but there are %d values", c.Label, c.Start, len(c.Values))
		}
	}
	tell := Progress()
	var out []Panels
	all := combin.Cartesian(sizes)
	for _, at := range all {
		p, err := e.Frame(at).panels()
		if err != nil {
			return nil, fmt.Errorf("frame at %s: %w", e.where(at), err)
		}
		if out != nil && len(p.Figures) != len(out[0].Figures) {
			return nil, fmt.Errorf("frame at %s has %d figures, but the first has %d", e.where(at), len(p.Figures), len(out[0].Figures))
		}
		p.Figures = slices.Clone(p.Figures)
		out = append(out, p)
		tell("frames", len(out), len(all))
	}
	for i := range out[0].Figures {
		x, y := empty, empty
		for _, p := range out {
			layers, err := p.Figures[i].lower()
			if err != nil {
				return nil, err
			}
			fx, fy := p.Figures[i].scales(layers)
			x, y = x.include(fx.lo, fx.hi), y.include(fy.lo, fy.hi)
		}
		for _, p := range out {
			f := &p.Figures[i]
			f.X.Min, f.X.Max, f.Y.Min, f.Y.Max = x.lo, x.hi, y.lo, y.hi
		}
	}
	return out, nil
}

func (e Explorer) where(at []int) string {
	var b []string
	for i, c := range e.Controls {
		c.Start = at[i]
		b = append(b, c.String())
	}
	return strings.Join(b, ", ")
}

// plain describes the control in text.
func (c Control) plain() string {
	return fmt.Sprintf("A %s over %s = %s.", map[bool]string{false: "slider", true: "menu"}[c.Menu], c.Label, strings.Join(c.Values, ", "))
}

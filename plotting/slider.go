package plotting

import "fmt"

// Slider leafs through figures computed beforehand, one frame for each value
// of a parameter. It needs no kernel, so it works on exported pages too. All
// frames share the ranges of the axes. Without scripts, and in a file, it is
// the frame Start.
type Slider struct {
	Label  string   // of the parameter, such as "η"
	Values []string // one for each frame
	Frames []Panels // of one shape: Row(figure) for a single one
	Start  int
}

func (s Slider) panels() (Panels, error) {
	frames, err := s.aligned()
	if err != nil {
		return Panels{}, err
	}
	return s.titled(frames[s.Start]), nil
}

// titled says in the title which frame a still picture is.
func (s Slider) titled(p Panels) Panels {
	figures := append([]Figure(nil), p.Figures...)
	for i := range figures {
		value := fmt.Sprintf("%s = %s", s.Label, s.Values[s.Start])
		if figures[i].Title == "" {
			figures[i].Title = value
		} else {
			figures[i].Title += " (" + value + ")"
		}
	}
	p.Figures = figures
	return p
}

// aligned validates the frames and gives them common ranges.
func (s Slider) aligned() ([]Panels, error) {
	fail := func(format string, a ...any) ([]Panels, error) {
		return nil, fmt.Errorf("plotting: slider %q: %w", s.Label, fmt.Errorf(format, a...))
	}
	if len(s.Frames) == 0 || len(s.Frames) != len(s.Values) {
		return fail("%d frames and %d values: want one value a frame, and at least one", len(s.Frames), len(s.Values))
	}
	if s.Start < 0 || s.Start >= len(s.Frames) {
		return fail("Start is %d, but there are %d frames", s.Start, len(s.Frames))
	}
	out := make([]Panels, len(s.Frames))
	for k, p := range s.Frames {
		p, err := p.panels()
		if err != nil {
			return fail("frame %s: %w", s.Values[k], err)
		}
		if n, want := len(p.Figures), len(s.Frames[0].Figures); n != want {
			return fail("frame %s has %d figures, but frame %s has %d", s.Values[k], n, s.Values[0], want)
		}
		p.Figures = append([]Figure(nil), p.Figures...)
		out[k] = p
	}
	for i := range out[0].Figures {
		x, y := empty, empty
		for _, p := range out {
			fx, fy := p.Figures[i].scales(p.Figures[i].lower())
			x, y = x.include(fx.lo, fx.hi), y.include(fy.lo, fy.hi)
		}
		for _, p := range out {
			f := &p.Figures[i]
			f.X.Min, f.X.Max, f.Y.Min, f.Y.Max = x.lo, x.hi, y.lo, y.hi
		}
	}
	return out, nil
}

func (s Slider) display() (display, error) {
	frames, err := s.aligned()
	if err != nil {
		return display{}, err
	}
	return output(frames, s.titled(frames[s.Start]), s)
}

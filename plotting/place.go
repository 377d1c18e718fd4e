package plotting

import "unicode/utf8"

// corner is where along a rule its label stands.
type corner struct {
	start bool // at the left or lower end, not at the right or upper one
	below bool // under a horizontal rule, left of a vertical one
}

// place finds the corner at which the label of a rule covers the least of the
// other marks.
func (r rule) place(layers []layer, x, y scale, width, height float64) corner {
	// The label's box in units of the axes, from the size of 9 pt letters and
	// of the space that axes and title take.
	w := 0.07 * float64(utf8.RuneCountInString(r.label)) / max(1, width-0.9)
	h := 0.17 / max(1, height-1)
	best, least := corner{}, -1
	for _, c := range []corner{{false, false}, {false, true}, {true, false}, {true, true}} {
		var b bounds
		if r.vertical {
			at := x.unit(r.at)
			b = bounds{interval{at, at + w}, interval{1 - h, 1}}
			if c.below {
				b.x = interval{at - w, at}
			}
			if c.start {
				b.y = interval{0, h}
			}
		} else {
			at := y.unit(r.at)
			b = bounds{interval{1 - w, 1}, interval{at, at + h}}
			if c.below {
				b.y = interval{at - h, at}
			}
			if c.start {
				b.x = interval{0, w}
			}
		}
		covered := 0
		if b.x.lo < 0 || b.x.hi > 1 || b.y.lo < 0 || b.y.hi > 1 {
			covered = 1e6 // outside of the axes: the last resort
		}
		for _, l := range layers {
			for _, m := range l.marks {
				covered += b.covers(m, x, y)
			}
		}
		if least < 0 || covered < least {
			best, least = c, covered
		}
	}
	return best
}

// covers counts the pieces of the mark that the box may touch.
func (b bounds) covers(m mark, x, y scale) int {
	n := 0
	touch := func(x0, x1, y0, y1 float64) {
		sx := empty.include(x.unit(x0), x.unit(x1))
		sy := empty.include(y.unit(y0), y.unit(y1))
		if sx.lo <= b.x.hi && b.x.lo <= sx.hi && sy.lo <= b.y.hi && b.y.lo <= sy.hi {
			n++
		}
	}
	switch m := m.(type) {
	case curve:
		for _, column := range [][]float64{m.y, m.lo, m.hi} {
			for i := 1; i < len(column); i++ {
				touch(m.x[i-1], m.x[i], column[i-1], column[i])
			}
		}
	case boxes:
		for i := range m.x {
			touch(m.x[i]-m.width/2, m.x[i]+m.width/2, max(0, y.lo), m.height[i])
		}
	case glyphs:
		for i := range m.x {
			touch(m.x[i], m.x[i], m.y[i], m.y[i])
		}
	}
	return n
}

package plotting

import "math"

// A mark is a primitive in data coordinates. Layers are lowered to marks, and
// marks are all that the two renderings know.
type mark interface {
	bounds() bounds
}

// curve is a polyline, with the band lo ≤ · ≤ hi around it if there is one, or
// only the band if y is nil.
type curve struct {
	x, y, lo, hi []float64
	arrows       bool // heads along the way: a trajectory
	thin         bool // a level set: half the width
	ink          ink
}

// boxes stand on 0, centred at x.
type boxes struct {
	x, height []float64
	width     float64
	ink       ink
}

// glyphs are markers, with error bars from lo to hi if not nil.
type glyphs struct {
	x, y, lo, hi []float64
	hollow       bool
	ink          ink
}

// rule is a line across the figure.
type rule struct {
	at       float64
	vertical bool
	label    string
	ink      ink
}

// span is a strip across the figure.
type span struct {
	from, to float64
	vertical bool
	label    string
	ink      ink
}

// polygon is filled.
type polygon struct {
	x, y []float64
	ink  ink
}

// layer is what is left of a [Layer] when it is lowered: marks under a name in
// the legend, or none.
type layer struct {
	name  string
	ink   ink
	marks []mark
}

// lower resolves the styles of the figure and turns its layers into marks.
func (f Figure) lower() []layer {
	var out []layer
	auto := 0
	for _, l := range f.Layers {
		in := l.style()
		k := auto
		if in.color == Auto {
			auto++
		}
		in = in.resolve(k)
		ms := l.marks(in)
		_, name := l.describe()
		switch ms[0].(type) {
		case rule, span: // labelled where they lie
			name = ""
		}
		out = append(out, layer{name, in, ms})
	}
	return out
}

// interval is lo ≤ · ≤ hi; empty if lo > hi.
type interval struct{ lo, hi float64 }

var empty = interval{math.Inf(1), math.Inf(-1)}

func (r interval) include(values ...float64) interval {
	for _, v := range values {
		if finite(v) {
			r.lo, r.hi = min(r.lo, v), max(r.hi, v)
		}
	}
	return r
}

// bounds is the rectangle that a mark covers.
type bounds struct{ x, y interval }

func boundsOf(ms []mark) bounds {
	b := bounds{empty, empty}
	for _, m := range ms {
		mb := m.bounds()
		b.x = b.x.include(mb.x.lo, mb.x.hi)
		b.y = b.y.include(mb.y.lo, mb.y.hi)
	}
	return b
}

func (c curve) bounds() bounds {
	return bounds{empty.include(c.x...), empty.include(c.y...).include(c.lo...).include(c.hi...)}
}

func (b boxes) bounds() bounds {
	x := empty.include(b.x...)
	return bounds{interval{x.lo - b.width/2, x.hi + b.width/2}, empty.include(0).include(b.height...)}
}

func (g glyphs) bounds() bounds {
	return bounds{empty.include(g.x...), empty.include(g.y...).include(g.lo...).include(g.hi...)}
}

func (r rule) bounds() bounds {
	if r.vertical {
		return bounds{empty.include(r.at), empty}
	}
	return bounds{empty, empty.include(r.at)}
}

func (s span) bounds() bounds {
	if s.vertical {
		return bounds{empty.include(s.from, s.to), empty}
	}
	return bounds{empty, empty.include(s.from, s.to)}
}

func (p polygon) bounds() bounds {
	return bounds{empty.include(p.x...), empty.include(p.y...)}
}

package plotting

import (
	"bytes"
	"encoding/gob"
	"errors"
	"slices"
)

// A cell that runs in a page only describes its figures; another program, which the page keeps, draws the figures.
// Without the code that draws, the cell's program is half as large, and linking the program takes half the time. The
// description contains only layers of this package: [Pen] records what a user's own layers draw.

// An order asks for panels as a file of the given Format or, if Format is empty, as an output of a cell.
type order struct {
	Format   string
	Frames   []Panels // nil if the order asks for a file; a file shows only Still
	Still    Panels
	Controls []Control
}

// drawn is the result of an order.
type drawn struct {
	HTML, Plain string
	Picture     []byte
	Error       string
}

func init() {
	for _, l := range []Layer{Line{}, Bars{}, Points{}, Rule{}, Span{}, Path{}, Arrow{}, Contour{}, Heatmap{}, layers{}} {
		gob.Register(l)
	}
}

// layers are the layers that a user's own layer draws.
type layers []Layer

// Draw implements [Layer].
func (l layers) Draw(p *Pen) error { return p.Draw(l...) }

// encode returns the order as bytes, with only layers of this package.
func (o order) encode() []byte {
	o.Frames = slices.Clone(o.Frames)
	for k, p := range o.Frames {
		o.Frames[k] = p.described()
	}
	o.Still = o.Still.described()
	return pack(o)
}

// pack returns an [order], or the result of an order ([drawn]), as bytes.
func pack(v any) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		panic(err) // cannot happen: v holds only texts, numbers and our layers
	}
	return b.Bytes()
}

// described returns the panels, which must have been checked. It replaces each layer of a user's own type by the layers
// of this package that the replaced layer draws.
func (p Panels) described() Panels {
	p.Figures = slices.Clone(p.Figures)
	for i, f := range p.Figures {
		f.Layers = slices.Clone(f.Layers)
		for k, l := range f.Layers {
			if _, ours := l.(described); !ours {
				pen := Pen{X: f.X, Y: f.Y}
				pen.Draw(l)
				var drawn layers
				for _, d := range pen.layers {
					drawn = append(drawn, d.of)
				}
				f.Layers[k] = drawn
			}
		}
		p.Figures[i] = f
	}
	return p
}

// decode is the inverse of pack.
func decode[T any](data []byte) (v T, err error) {
	err = gob.NewDecoder(bytes.NewReader(data)).Decode(&v)
	return v, err
}

// result returns what was drawn, or the reason for the failure.
func (d drawn) result() (display, error) {
	if d.Error != "" {
		return display{}, errors.New(d.Error)
	}
	return display{html: d.HTML, png: d.Picture, plain: d.Plain}, nil
}

package plotting

import (
	"bytes"
	"encoding/gob"
	"errors"
	"slices"
)

// A cell that runs in a page describes its figures, and another program, which the page keeps, draws
// them, so the cell's own is half the size and linked in half the time. The description is what is
// drawn with layers of this package: layers of one's own have been asked what they draw.

// An order asks for the picture of panels in a format of files or, where that is empty, for the output of
// a notebook.
type order struct {
	Format   string
	Frames   []Panels // of an output
	Still    Panels
	Controls []Control
}

// drawn is what becomes of an order.
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

// layers are what a layer of one's own draws.
type layers []Layer

// Draw makes it a [Layer].
func (l layers) Draw(p *Pen) error { return p.Draw(l...) }

// encode is the order as bytes, in which there are only layers of this package.
func (o order) encode() []byte {
	o.Frames = slices.Clone(o.Frames)
	for k, p := range o.Frames {
		o.Frames[k] = p.described()
	}
	o.Still = o.Still.described()
	return pack(o)
}

// pack is an order, or what became of one, as bytes.
func pack(v any) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		panic(err) // of texts, numbers and our layers
	}
	return b.Bytes()
}

// described are the panels, which have been checked, without layers of one's own.
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

// decode is pack's inverse.
func decode[T any](data []byte) (v T, err error) {
	err = gob.NewDecoder(bytes.NewReader(data)).Decode(&v)
	return v, err
}

// result gives what was drawn, or the reason why it was not.
func (d drawn) result() (display, error) {
	if d.Error != "" {
		return display{}, errors.New(d.Error)
	}
	return display{html: d.HTML, png: d.Picture, plain: d.Plain}, nil
}

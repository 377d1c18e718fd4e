package plotting

import "errors"

// Drawing is what can be saved to a file: a [Figure], [Panels], a [Slider] or
// an [Explorer].
type Drawing interface {
	View
	panels() (Panels, error)
}

// Panels are figures in a grid, read row by row, their axes aligned. On a page
// as many stand side by side as there is room for.
type Panels struct {
	Figures []Figure
	Columns int // in a file; default: all in one row
}

// Row puts figures side by side.
func Row(figures ...Figure) Panels { return Panels{Figures: figures} }

func (f Figure) panels() (Panels, error) { return Row(f), f.Validate() }

func (p Panels) panels() (Panels, error) {
	if len(p.Figures) == 0 {
		return p, errors.New("plotting: panels without figures: there is nothing to draw")
	}
	if p.Columns < 0 {
		return p, errors.New("plotting: panels with a negative number of columns")
	}
	for _, f := range p.Figures {
		if err := f.Validate(); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p Panels) shape() (rows, cols int) {
	cols = p.Columns
	if cols == 0 {
		cols = len(p.Figures)
	}
	return (len(p.Figures) + cols - 1) / cols, cols
}

// size is the size of the whole in inches: each panel has the size of the
// first figure.
func (p Panels) size() (width, height float64) {
	rows, cols := p.shape()
	w, h := p.Figures[0].size()
	return w * float64(cols), h * float64(rows)
}

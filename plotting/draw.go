//go:build drawer

package plotting

// Draw draws the figures that a cell of a page has described, and returns the result of the drawing, encoded.
func Draw(description []byte) []byte {
	o, err := decode[order](description)
	if err != nil {
		return pack(drawn{Error: err.Error()})
	}
	return pack(o.draw())
}

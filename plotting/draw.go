//go:build drawer

package plotting

// Draw draws the figures that a cell of a page has described: as an output of the cell, or as a file. It returns the
// output, the file or an error, encoded as bytes.
func Draw(description []byte) []byte {
	o, err := decode[order](description)
	if err != nil {
		return pack(drawn{Error: err.Error()})
	}
	return pack(o.draw())
}

//go:build drawer

package plotting

// Draw draws what a cell of a page describes.
func Draw(description []byte) []byte {
	o, err := decode[order](description)
	if err != nil {
		return pack(drawn{Error: err.Error()})
	}
	return pack(o.draw())
}

//go:build drawer

package plotting

// Draw draws the description that a cell of a page has sent.
func Draw(description []byte) []byte {
	o, err := decode[order](description)
	if err != nil {
		return pack(drawn{Error: err.Error()})
	}
	return pack(o.draw())
}

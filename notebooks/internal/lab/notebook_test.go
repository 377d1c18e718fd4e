package lab

import (
	"strings"
	"testing"
)

// FuzzNotebook parses any bytes. If they are a notebook, it handles them like an executed notebook.
func FuzzNotebook(f *testing.F) {
	for _, seed := range []string{
		`{"nbformat": 4, "cells": [{"cell_type": "code", "execution_count": 3, "source": ["a\n", "b"], "outputs": [{"name": "stderr", "text": "exit status 2"}, {"traceback": ["\u001b[31mCell[3]: Line 2\n undefined: b"]}]}]}`,
		`{"nbformat": 4, "cells": [{"cell_type": "code", "execution_count": null, "source": "", "outputs": [{"data": {"image/png": "iVBORw0K\n", "image/svg+xml": ["<svg>", "</svg>"]}}]}]}`,
		`{"nbformat": 4, "cells": [{"outputs": [{"data": {"text/html": "<div data-figure=\"0a\"> <img src=\"data:image/svg+xml;base64,PHN2Zz4=\"></div>"}}]}, null]}`,
		`{"nbformat": 3}`, `{"nbformat": 4, "cells": null}`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := parseNotebook(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		if n := len(nb.code()); n > len(nb.Cells) {
			t.Errorf("%d code cells of %d", n, len(nb.Cells))
		}
		if e := silentFailure(nb); e != nil && nb.Cells[e.Cell].Outputs == nil {
			t.Errorf("cell %d, without outputs, is said to have failed: %s", e.Cell, e.Error)
		}
		for _, c := range nb.Cells {
			if said := (&cellError{notebook: "nb", cell: c, message: "exit"}).Error(); !strings.HasPrefix(said, "nb, cell [") {
				t.Errorf("the error begins with %q", said)
			}
			for _, o := range c.Outputs {
				for _, formats := range figuresOf(&o) {
					if len(formats) == 0 {
						t.Error("a figure has no format")
					}
				}
			}
		}
	})
}

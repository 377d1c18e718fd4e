package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// A notebook holds the parts of a Jupyter notebook (nbformat 4) that we read. This package never encodes a notebook.
type notebook struct {
	NBFormat int `json:"nbformat"`
	Cells    []cell
}

// A cell holds prose or code, and the outputs of its last run.
type cell struct {
	ID             string
	Type           string `json:"cell_type"`
	ExecutionCount int    `json:"execution_count"` // 0 if the cell was not executed
	Metadata       struct{ Tags []string }
	Source         multiline
	Outputs        []output
}

// An output is one thing that a cell showed: a stream's text, an error, or one object in several MIME types.
type output struct {
	Name      string    // the name of a stream, stdout or stderr
	Text      multiline // the text of a stream
	Data      map[string]json.RawMessage
	Traceback []string
}

// A multiline is a string that nbformat may store as a list of lines.
type multiline string

func (t *multiline) UnmarshalJSON(data []byte) error {
	var lines []string
	if err := json.Unmarshal(data, &lines); err != nil {
		return json.Unmarshal(data, (*string)(t))
	}
	*t = multiline(strings.Join(lines, ""))
	return nil
}

func readNotebook(file string) (*notebook, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	nb, err := parseNotebook(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not a notebook: %w", file, err)
	}
	return nb, nil
}

func parseNotebook(data []byte) (*notebook, error) {
	nb := new(notebook)
	if err := json.Unmarshal(data, nb); err != nil {
		return nil, err
	}
	if nb.NBFormat != 4 {
		return nil, fmt.Errorf("nbformat %d; want 4", nb.NBFormat)
	}
	return nb, nil
}

// in returns the output in a textual MIME type, or "" if the output lacks this type.
func (o *output) in(mime string) string {
	var t multiline
	if raw, ok := o.Data[mime]; ok {
		json.Unmarshal(raw, &t)
	}
	return string(t)
}

// code lists the code cells.
func (nb *notebook) code() (cells []cell) {
	for _, c := range nb.Cells {
		if c.Type == "code" {
			cells = append(cells, c)
		}
	}
	return cells
}

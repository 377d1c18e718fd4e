// Package ipynb reads and writes Jupyter notebooks (nbformat 4.5), so that the
// same content is always the same bytes: those that Jupyter itself would write.
package ipynb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/internal/atomicfile"
)

// A Notebook is a list of cells.
type Notebook struct {
	Cells         []Cell         `json:"cells"`
	Metadata      map[string]any `json:"metadata"`
	NBFormat      int            `json:"nbformat"`
	NBFormatMinor int            `json:"nbformat_minor"`
}

// The kinds of cells and of outputs, as nbformat names them.
const (
	Code     = "code"
	Markdown = "markdown"

	Stream  = "stream"
	Error   = "error"
	Display = "display_data"
)

// A Cell holds prose or code, and what the code showed when it last ran.
type Cell struct {
	Attachments    json.RawMessage `json:"attachments,omitempty"`
	Type           string          `json:"cell_type"`
	ExecutionCount *int            `json:"execution_count"`
	ID             string          `json:"id,omitempty"`
	Metadata       map[string]any  `json:"metadata"`
	Outputs        []Output        `json:"outputs"`
	Source         Text            `json:"source"`
}

// An Output is one thing a cell showed: a stream's text, an error, or one
// object in several MIME types.
type Output struct {
	Data           map[string]json.RawMessage `json:"data,omitempty"`
	Ename          string                     `json:"ename,omitempty"`
	Evalue         string                     `json:"evalue,omitempty"`
	ExecutionCount *int                       `json:"execution_count,omitempty"`
	Metadata       map[string]any             `json:"metadata,omitempty"`
	Name           string                     `json:"name,omitempty"`
	Type           string                     `json:"output_type"`
	Text           Text                       `json:"text,omitempty"`
	Traceback      []string                   `json:"traceback,omitempty"`
}

// Text is a string that nbformat stores as a list of lines.
type Text string

func (t *Text) UnmarshalJSON(data []byte) error {
	var lines []string
	if err := json.Unmarshal(data, &lines); err != nil {
		return json.Unmarshal(data, (*string)(t))
	}
	*t = Text(strings.Join(lines, ""))
	return nil
}

func (t Text) MarshalJSON() ([]byte, error) {
	return encode(append([]string{}, slices.Collect(strings.Lines(string(t)))...))
}

// MarshalJSON leaves out what nbformat allows in code cells only.
func (c Cell) MarshalJSON() ([]byte, error) {
	if c.Metadata == nil {
		c.Metadata = map[string]any{}
	}
	if c.Type == Code {
		if c.Outputs == nil {
			c.Outputs = []Output{}
		}
		type code Cell
		return encode(code(c))
	}
	return encode(struct {
		Attachments json.RawMessage `json:"attachments,omitempty"`
		Type        string          `json:"cell_type"`
		ID          string          `json:"id,omitempty"`
		Metadata    map[string]any  `json:"metadata"`
		Source      Text            `json:"source"`
	}{c.Attachments, c.Type, c.ID, c.Metadata, c.Source})
}

// MarshalJSON writes the fields that nbformat requires of this kind of output, even if empty.
func (o Output) MarshalJSON() ([]byte, error) {
	if o.Metadata == nil {
		o.Metadata = map[string]any{}
	}
	switch o.Type {
	case Stream:
		return encode(struct {
			Name string `json:"name"`
			Type string `json:"output_type"`
			Text Text   `json:"text"`
		}{o.Name, o.Type, o.Text})
	case Error:
		return encode(struct {
			Ename     string   `json:"ename"`
			Evalue    string   `json:"evalue"`
			Type      string   `json:"output_type"`
			Traceback []string `json:"traceback"`
		}{o.Ename, o.Evalue, o.Type, append([]string{}, o.Traceback...)})
	case Display:
		return encode(struct {
			Data     map[string]json.RawMessage `json:"data"`
			Metadata map[string]any             `json:"metadata"`
			Type     string                     `json:"output_type"`
		}{o.Data, o.Metadata, o.Type})
	default: // execute_result
		return encode(struct {
			Data           map[string]json.RawMessage `json:"data"`
			ExecutionCount *int                       `json:"execution_count"`
			Metadata       map[string]any             `json:"metadata"`
			Type           string                     `json:"output_type"`
		}{o.Data, o.ExecutionCount, o.Metadata, o.Type})
	}
}

// encode is json.Marshal without the escaping of <, > and &.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// Read reads the notebook in the file.
func Read(file string) (*Notebook, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	nb, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not a notebook: %w", file, err)
	}
	if nb.NBFormat != 4 {
		return nil, fmt.Errorf("%s has nbformat %d; want 4", file, nb.NBFormat)
	}
	return nb, nil
}

func parse(data []byte) (*Notebook, error) {
	nb := new(Notebook)
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // metadata that isn't ours stays as it is
	return nb, dec.Decode(nb)
}

// Bytes is the notebook as a file: keys sorted, indented by one space.
func (nb *Notebook) Bytes() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(nb)
	return b.Bytes(), err
}

// Write writes the notebook to the file, whole or not at all.
func (nb *Notebook) Write(file string) error {
	data, err := nb.Bytes()
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(file, data)
}

// Normalize removes what differs between two runs that showed the same things:
// versions of tools, times, the pieces in which a stream happened to arrive,
// the remarks of cells tagged setup, and the order between streams and
// displays, which reach Jupyter by different pipes. Streams come first, then
// displays in their own order.
func (nb *Notebook) Normalize() {
	nb.NBFormat, nb.NBFormatMinor = 4, 5 // the first with cell ids
	nb.Metadata = map[string]any{
		"kernelspec":    map[string]any{"display_name": "Go (gonb)", "language": "go", "name": "gonb"},
		"language_info": map[string]any{"file_extension": ".go", "mimetype": "text/x-go", "name": "go"},
	}
	count := 0
	for i := range nb.Cells {
		c := &nb.Cells[i]
		if c.ID == "" {
			c.ID = fmt.Sprintf("cell-%02d", i+1)
		}
		delete(c.Metadata, "execution")
		delete(c.Metadata, "scrolled")
		delete(c.Metadata, "collapsed")
		if c.Type != Code {
			continue
		}
		if c.ExecutionCount != nil {
			count++
			c.ExecutionCount = ptr(count)
		}
		c.Outputs = gather(c.Outputs)
		if c.Tagged("setup") {
			c.Outputs = nil
		}
	}
}

// gather joins the pieces of each stream and puts the streams first.
func gather(outputs []Output) []Output {
	var streams, rest []Output
	for _, o := range outputs {
		if o.Type != Stream {
			o.ExecutionCount = nil
			rest = append(rest, o)
			continue
		}
		if i := slices.IndexFunc(streams, func(s Output) bool { return s.Name == o.Name }); i >= 0 {
			streams[i].Text += o.Text
		} else {
			streams = append(streams, o)
		}
	}
	slices.SortFunc(streams, func(a, b Output) int { return -strings.Compare(a.Name, b.Name) }) // stdout before stderr
	return append(streams, rest...)
}

// Tagged tells whether the cell carries the tag.
func (c *Cell) Tagged(tag string) bool {
	tags, _ := c.Metadata["tags"].([]any)
	return slices.Contains(tags, any(tag))
}

// Has gives the output's representation in a textual MIME type.
func (o *Output) Has(mime string) (string, bool) {
	raw, ok := o.Data[mime]
	if !ok {
		return "", false
	}
	var t Text
	if json.Unmarshal(raw, &t) != nil {
		return "", false
	}
	return string(t), true
}

func ptr[T any](v T) *T { return &v }

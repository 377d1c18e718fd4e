//go:build js

package plotting

import (
	"encoding/base64"
	"fmt"
	"sync/atomic"
	"syscall/js"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// A page offers cells two functions: display(id, mime, data, …) shows an output, and draw(order, back) passes the
// result of an order to the function back. GoNB's own functions would make each cell's program 50 % larger.

// inNotebook reports whether the program is a cell of a page.
func inNotebook() bool { return js.Global().Get("display").Truthy() }

// send displays the output below the cell.
func send(output *protocol.DisplayData) {
	args := []any{output.DisplayID}
	for mime, data := range output.Data {
		if b, ok := data.([]byte); ok {
			data = base64.StdEncoding.EncodeToString(b)
		}
		args = append(args, string(mime), data)
	}
	js.Global().Call("display", args...)
}

// flush has nothing to wait for.
func flush() {}

var outputs atomic.Int64

// uniqueID returns a new name, for an output that will be replaced.
func uniqueID() string { return fmt.Sprint("output-", outputs.Add(1)) }

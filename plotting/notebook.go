//go:build !js

package plotting

import (
	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// inNotebook reports whether the program is a cell of a notebook.
func inNotebook() bool { return gonbui.IsNotebook }

// send displays the output below the cell.
func send(output *protocol.DisplayData) { gonbui.SendData(output) }

// flush waits until all outputs have arrived, because the process may end before it has sent them.
func flush() { gonbui.Sync() }

// uniqueID returns a new name, for an output that will be replaced.
func uniqueID() string { return gonbui.UniqueId() }

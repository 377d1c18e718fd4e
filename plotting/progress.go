package plotting

import (
	"fmt"
	"html"
	"os"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// Progress returns a function for the field Progress of settings, such as the settings of a race. The function shows a
// bar below the cell as work progresses, and removes the bar when all work is done. The function may be called
// concurrently, and for several computations one after another. Outside a notebook, or if the environment
// variable [Headless] is not empty, the function shows nothing.
func Progress() func(name string, done, total int) {
	if !inNotebook() || os.Getenv(Headless) != "" {
		return func(string, int, int) {}
	}
	id := uniqueID()
	return progress(func(bar string) {
		send(&protocol.DisplayData{DisplayID: id, Data: map[protocol.MIMEType]any{protocol.MIMETextHTML: bar}})
	}, time.Now)
}

// progress returns a function that shows a bar, with a change at most ten times a second, and removes it at the end.
func progress(show func(html string), now func() time.Time) func(name string, done, total int) {
	var mu sync.Mutex
	last, most, shown := now(), 0, false
	return func(name string, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		switch at := now(); {
		case done <= most: // a late call: the bar already shows this work
		case done >= total:
			if shown {
				show("")
			}
			last, most, shown = at, 0, false
		case at.Sub(last) >= time.Second/10:
			last, most, shown = at, done, true
			show(fmt.Sprintf(`<progress value="%d" max="%d"></progress> %s, %d of %d`, done, total, html.EscapeString(name), done, total))
		}
	}
}

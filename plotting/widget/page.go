package widget

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"log"
	"os"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/comms"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/mixpolicy/lab/plotting"
)

// GoNB's own widgets (package gonbui/widgets) have integers, no labels, and tell
// each its value on its own, in messages that may overtake each other: the last to
// arrive need not be the latest. Here the page tells where all controls stand, with
// a serial number, over GoNB's channel gonb_comm.

//go:embed widget.js
var script string

// A page shows a widget as two outputs of the cell, controls and picture, each
// updated in its place.
type page struct {
	address           string
	controls, picture string // the outputs' display ids
}

// reachable tells whether a page may be looking. GoNB's channel goes through
// Jupyter's server, which gives the kernel a name; nbclient, and so nbconvert, runs
// kernels without a server and without a name.
func reachable() bool {
	return gonbui.IsNotebook && os.Getenv(plotting.Headless) == "" && os.Getenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV) != ""
}

// GoNB waits so long for a page to open the channel, and takes a channel for alive, so
// long after it was opened, without asking the page.
const (
	opening = 3 * time.Second
	trusted = time.Second
)

// connect opens the channel from the page, which then puts its moves into moves. It
// is not ok if no page answers.
//
// When a page opens the channel, GoNB's acknowledgement may be lost: it is published
// before Jupyter's server passes messages on to the page, which then gives up. So
// connect asks again, up to three times, but only if there was a page to open it.
func connect(ctx context.Context, c *Controls, moves *latest) (p *page, ok bool) {
	id := gonbui.UniqueId()
	p = &page{address: "/mixpolicy/widget/" + id, controls: "mixpolicy-controls-" + id, picture: "mixpolicy-picture-" + id}
	hello, answered := moves.get()
	hello.Serial = 1
	for try := range 3 {
		begin := time.Now()
		if try == 0 {
			comms.Subscribe(p.address, func(_ string, message string) {
				s, err := c.parse(message)
				if err != nil {
					log.Print(err)
					return
				}
				moves.put(s)
			})
		} else {
			comms.Start()
		}
		gonbui.UpdateHTML(p.controls, fmt.Sprintf("<script>globalThis.gonb_comm?.send(%s, %s) // %d</script>",
			literal(p.address), literal(string(literal(hello))), try))
		gonbui.Sync() // after GoNB has opened the channel, or given up
		opened := time.Since(begin) < opening
		select {
		case <-answered:
			return p, true
		case <-ctx.Done():
			opened = false
		case <-time.After(trusted + trusted/2):
		}
		if !opened {
			break
		}
	}
	gonbui.UpdateHTML(p.controls, "")
	gonbui.Sync()
	return p, false
}

// parse reads what the page tells.
func (c *Controls) parse(message string) (s state, err error) {
	if err := json.Unmarshal([]byte(message), &s); err != nil {
		return s, fmt.Errorf("widget: the page told %q: %w", message, err)
	}
	if len(s.Positions) != len(c.controls) {
		return s, fmt.Errorf("widget: the page told %d positions of %d controls", len(s.Positions), len(c.controls))
	}
	for i, k := range c.controls {
		if at := s.Positions[i]; at < 0 || at >= len(k.texts) {
			return s, fmt.Errorf("widget: the page told position %d of %q, which has %d", at, k.label, len(k.texts))
		}
	}
	return s, nil
}

// show displays the picture, in the place of the last one.
func (p *page) show(picture *protocol.DisplayData) {
	picture.DisplayID = p.picture
	gonbui.SendData(picture)
}

// open shows the controls and makes them live.
func (p *page) open(c *Controls) {
	texts := make([][]string, len(c.controls))
	for i, k := range c.controls {
		texts[i] = k.texts
	}
	p.update(c, fmt.Sprintf(`<button type="button" data-lm-suppress-shortcuts="true" disabled>Done</button> `+
		`<small>Live until you press Done, run another cell, or let it rest for %.0f minutes.</small>`, Patience.Minutes()),
		fmt.Sprintf("<script>(%s)(%s, %s, %s)</script>", script, literal(p.controls), literal(p.address), literal(texts)))
}

// close shows where the controls stood for the picture that stays.
func (p *page) close(c *Controls) {
	p.update(c, "<small>To move the controls, run the cell.</small>", "")
	gonbui.Sync()
}

func (p *page) update(c *Controls, foot, script string) {
	gonbui.SendData(&protocol.DisplayData{DisplayID: p.controls, Data: map[protocol.MIMEType]any{
		protocol.MIMETextPlain: c.String(),
		protocol.MIMETextHTML:  c.html(p.controls, foot) + script,
	}})
}

// html is the controls, disabled: the script that makes them live does nothing when a
// notebook that was saved meanwhile is opened again. Keys are theirs, and not shortcuts
// of JupyterLab.
func (c *Controls) html(id, foot string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<div id="%s" class="mixpolicy-widget" style="display:grid;grid-template-columns:max-content minmax(100px,360px) 1fr;gap:4px 12px;align-items:center">`+"\n", id)
	for i, k := range c.controls {
		label := html.EscapeString(k.label)
		fmt.Fprintf(&b, "<span>%s</span>", label)
		if k.values != nil {
			fmt.Fprintf(&b, `<input type="range" data-lm-suppress-shortcuts="true" aria-label="%s" min="0" max="%d" value="%d" disabled><output>%s</output>`+"\n",
				label, len(k.texts)-1, c.at[i], k.texts[c.at[i]])
			continue
		}
		fmt.Fprintf(&b, `<select data-lm-suppress-shortcuts="true" aria-label="%s" style="justify-self:start" disabled>`, label)
		for j, option := range k.texts {
			chosen := ""
			if j == c.at[i] {
				chosen = " selected"
			}
			fmt.Fprintf(&b, `<option value="%d"%s>%s</option>`, j, chosen, html.EscapeString(option))
		}
		b.WriteString("</select><span></span>\n")
	}
	fmt.Fprintf(&b, `<div style="grid-column:1/-1">%s</div>`+"\n</div>\n", foot)
	return b.String()
}

// literal is the value in JavaScript. No text in it can end a script element.
func literal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return b
}

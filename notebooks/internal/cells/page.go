package cells

import (
	"fmt"
	"slices"
)

// Page makes one program of the programs of a page's cells, which the session has kept. Run under the key of one of them,
// which is then os.Args[0], it does what that program does. So a cell whose program has one of these keys need not be
// compiled, and what runs is still exactly the code that the reader sees.
//
// Page leaves out a program that would be another one after the last cell, for example because a later cell declares again
// what it uses, adds a method to a type, or computes the value of a variable. It also leaves out a program with flags.
func (s *Session) Page(programs []*Program) (page *Program, keys []string, err error) {
	page = &Program{then: *s}
	page.then.imports = append(slices.Clone(s.imports), imported{"page_os", "os", "line page:1:1"})
	start := unit{from: "//line page:1:1\n", text: "func main() {\n\tswitch page_os.Args[0] {\n"}
	var mains []unit
	for _, p := range programs {
		last := &Program{then: *s}
		if err := last.write(p.main); err != nil || last.Source != p.Source || slices.Contains(p.Imports, "flag") {
			continue
		}
		key, m := p.Key(), p.main
		name, n := "page_"+key, m.names[0]
		m.text = m.text[:n.at] + name + m.text[n.to:]
		mains, keys = append(mains, m), append(keys, key)
		start.text += fmt.Sprintf("\tcase %q:\n\t\t%s()\n", key, name)
	}
	start.text += "\t}\n}"
	return page, keys, page.write(append(mains, start)...)
}

package cells

import (
	"fmt"
	"slices"
	"strings"
)

// idle lists the magics that set up GoNB's own work, which a page does not need.
var idle = []string{"goflags", "autoget", "noautoget", "widgets", "widgets_hb", "track", "untrack", "goworkfix"}

// magics executes the lines of the cell that begin with %, and returns the other lines, in their places. A line that
// begins with ! is an error. Before % and !, a line may also have the prefix //gonb:.
func (p *Program) magics(cell, text string) (code string, err error) {
	lines := strings.Split(text, "\n")
	main := 0 // the line of %%, counted from 1, or 0 if there is none yet
	for i, line := range lines {
		line = strings.TrimPrefix(line, "//gonb:")
		if len(line) < 2 || line[0] != '%' && line[0] != '!' {
			continue
		}
		lines[i] = ""
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("%s:%d:1: %s", cell, i+1, fmt.Sprintf(format, args...))
		}
		if line[0] == '!' {
			return "", wrong("a page has no shell, want no line that begins with !")
		}
		fields := strings.Fields(line[1:])
		if len(fields) == 0 {
			continue
		}
		switch name, args := fields[0], fields[1:]; name {
		case "%", "main":
			if main > 0 {
				return "", wrong("a second %%%%: the first is in line %d", main)
			}
			main = i + 1
			p.Args = args
			lines[i] = opening
		case "args":
			p.Args = args
		case "env":
			set := strings.Join(args, " ")
			if len(args) == 2 {
				set = args[0] + "=" + args[1]
			}
			if len(args) == 0 || len(args) > 2 || strings.Index(set, "=") < 1 {
				return "", wrong("want %%env NAME VALUE or %%env NAME=VALUE")
			}
			p.then.env = append(slices.Clone(p.then.env), set)
		case "reset":
			p.then = Session{names: p.then.names, env: p.then.env}
		case "list", "ls":
			p.Said += p.then.String()
		case "remove", "rm":
			var gone []unit
			for _, a := range args {
				gone = append(gone, unit{names: []declared{{name: strings.Replace(a, "~", ".", 1)}}})
			}
			p.then.units = without(p.then.units, gone, " ")
		default:
			if !slices.Contains(idle, name) {
				return "", wrong("%%%s does not work in a page; these work: %%%%, %%args, %%env, %%list, %%remove and %%reset", name)
			}
		}
	}
	code = strings.Join(lines, "\n")
	if main > 0 {
		code += "\n}"
	}
	return code, nil
}

// String lists the imports and the declared names of the session.
func (s *Session) String() string {
	var b strings.Builder
	for _, i := range s.imports {
		fmt.Fprintf(&b, "import %s %q\n", i.name, i.path)
	}
	for _, u := range s.units {
		for _, n := range u.names {
			if n.name != "_" {
				fmt.Fprintln(&b, n.name)
			}
		}
	}
	return b.String()
}

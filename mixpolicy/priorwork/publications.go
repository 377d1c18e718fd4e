package priorwork

import (
	_ "embed"
	"strings"
)

// Publication states the source of a method, and how our implementation deviates from this source.
type Publication struct {
	Method     string   // the name of the method's type
	Source     string   // authors, venue and year, or another origin; Source may also say that we did not have the text
	Deviations []string // the known deviations, some of them with a reason; empty if none is known
}

//go:embed publications.md
var publications string

// Publications returns the contents of publications.md. Each section states the source of one method, and lists the
// known deviations from this source.
func Publications() (all []Publication) {
	for _, section := range strings.Split(publications, "\n## ")[1:] {
		lines := strings.Split(strings.TrimSpace(section), "\n")
		p := Publication{Method: lines[0], Source: lines[2]}
		for _, line := range lines[3:] {
			if d, ok := strings.CutPrefix(line, "- "); ok {
				p.Deviations = append(p.Deviations, d)
			}
		}
		all = append(all, p)
	}
	return all
}

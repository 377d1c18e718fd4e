// Package fault gives errors one prefix, that of the package which returns them, however
// many packages they came through.
package fault

import "strings"

// prefixes are those of the packages whose errors are passed on.
var prefixes = []string{
	"mixpolicy: ", "theory: ", "bregman: ", "linprog: ", "alias: ", "files: ", "models: ", "priorwork: ", "race: ", "study: ", "paper: ",
}

type located struct {
	text string
	err  error
}

// At returns "pkg: place: err", or "pkg: err" if place is "", without the prefix that err has
// of its own. The result wraps err.
func At(pkg, place string, err error) error {
	text := err.Error()
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(text, p); ok {
			text = rest
			break
		}
	}
	if place != "" {
		text = place + ": " + text
	}
	return &located{pkg + ": " + text, err}
}

func (e *located) Error() string { return e.text }

func (e *located) Unwrap() error { return e.err }

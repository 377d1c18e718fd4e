// Package fault gives errors one prefix, that of the package which returns them, however
// many packages they came through.
package fault

import (
	"slices"
	"strings"
)

// packages are those whose errors are passed on.
var packages = strings.Fields("mixpolicy theory bregman linprog alias files models priorwork race study paper")

type located struct {
	text string
	err  error
}

// At returns "pkg: place: err", or "pkg: err" if place is "", without the prefix that err has
// of its own. The result wraps err.
func At(pkg, place string, err error) error {
	text := err.Error()
	if own, rest, ok := strings.Cut(text, ": "); ok && slices.Contains(packages, own) {
		text = rest
	}
	if place != "" {
		text = place + ": " + text
	}
	return &located{pkg + ": " + text, err}
}

func (e *located) Error() string { return e.text }

func (e *located) Unwrap() error { return e.err }

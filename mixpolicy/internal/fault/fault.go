// Package fault gives an error one prefix, the name of the package that returns the
// error, however many packages the error has passed through.
package fault

import (
	"slices"
	"strings"
)

// packages lists the packages whose errors other packages pass on.
var packages = strings.Fields("mixpolicy theory bregman linprog alias files models priorwork race study paper")

type located struct {
	text string
	err  error
}

// At returns "pkg: place: err", or "pkg: err" if place is "", where err stands for the text of err, without its
// package prefix if it has one. The result wraps err.
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

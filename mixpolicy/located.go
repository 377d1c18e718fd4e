package mixpolicy

import "strings"

// locatedError is an error with the place where it happened, if any, under one
// prefix of this package.
type locatedError struct {
	place string
	err   error
}

// located says where an error happened.
func located(place string, err error) error { return &locatedError{place, err} }

func (e *locatedError) Error() string {
	const prefix = "mixpolicy: "
	text := strings.TrimPrefix(e.err.Error(), prefix)
	if e.place == "" {
		return prefix + text
	}
	return prefix + e.place + ": " + text
}

func (e *locatedError) Unwrap() error { return e.err }

package study

// failure carries the error of [must] to [catch].
type failure struct{ err error }

// must returns v, or panics with the error for [catch].
func must[T any](v T, err error) T {
	if err != nil {
		panic(failure{err})
	}
	return v
}

// catch, deferred, stores the error of a failure in err. Other panics go on.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		*err = r.err
	default:
		panic(r)
	}
}

package study

// failure carries the error of [must] to [catch].
type failure struct{ error }

// must returns v, or panics with the error for [catch].
func must[T any](v T, err error) T {
	if err != nil {
		panic(failure{err})
	}
	return v
}

// catch, deferred, stores the error of a failure in err. Other panics continue.
func catch(err *error) {
	r := recover()
	if f, ok := r.(failure); ok {
		*err = f.error
	} else if r != nil {
		panic(r)
	}
}

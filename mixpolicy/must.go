package mixpolicy

// Must returns v, or panics with err. It is for notebook cells and examples, where
// an error can only end the cell:
//
//	queue := mixpolicy.Must(models.Queue{}.MDP())
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

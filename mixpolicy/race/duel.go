package race

// Duel is a comparison of two methods on a problem.
type Duel struct {
	Problem, A, B string
	// Better counts the runs on which A's number at the end is less than B's, and Worse counts the runs on which it is
	// greater. On the other runs, the two numbers are equal to within rounding.
	Better, Worse int
	// Differences are A's numbers minus B's, run by run.
	Differences []float64
	// P is the p-value of the sign test of Better against Worse, and Difference is the median of Differences with
	// its interval. [Settle] computes both, corrected for the number of duels, and stores its level in Level.
	P, Level   float64
	Difference Interval
}

// Compare counts the streams on which x is less than y by more than rounding, and the streams
// on which x is greater than y by more than rounding.
func Compare(x, y []float64, rounding float64) (d Duel) {
	d.Differences = Differences(x, y)
	d.Better, d.Worse = Signs(d.Differences, rounding)
	return d
}

// Settle computes the results that depend on all k duels: p-values with Holm's correction, and intervals of
// confidence 1 − level/k, which therefore all hold together with probability 1 − level or more.
func Settle(all []Duel, level float64) {
	p := make([]float64, len(all))
	for k, d := range all {
		p[k] = SignTest(d.Better, d.Worse)
	}
	for k, v := range Holm(p) {
		d := &all[k]
		if d.P, d.Level = v, level; len(d.Differences) > 0 {
			d.Difference = Median(d.Differences, 1-level/float64(len(all)))
		}
	}
}

// Winner returns the method that the test finds better, or "".
func (d Duel) Winner() string {
	if d.P > d.Level {
		return ""
	} else if d.Better > d.Worse {
		return d.A
	}
	return d.B
}

package race

// Duel is a comparison of two methods on a problem.
type Duel struct {
	Problem, A, B string
	// Better counts the streams on which A ends with a smaller number than B, and Worse counts the streams on which A
	// ends with a greater number. Numbers that are equal to within rounding do not count, nor do failed runs.
	Better, Worse int
	// Differences are A's final numbers minus B's, one for each stream on which both finish.
	Differences []float64
	// P is the p-value of the sign test of Better against Worse, and Difference is the median of Differences with an
	// interval. [Settle] adjusts P and the interval to the number of duels, and sets Level to the level of the test.
	P, Level   float64
	Difference Interval
}

// Compare returns a [Duel] in which only Differences, Better and Worse are set. Differences are x − y on each stream on
// which both have a value. Better counts the differences below −rounding, and Worse counts the differences above
// rounding.
func Compare(x, y []float64, rounding float64) (d Duel) {
	d.Differences = Differences(x, y)
	d.Better, d.Worse = Signs(d.Differences, rounding)
	return d
}

// Settle computes the results that depend on the number k of duels: p-values with Holm's correction, and intervals of
// confidence 1 − level/k. If every duel has enough streams for this confidence, all k intervals contain their true
// medians with probability at least 1 − level.
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

// Winner returns the method that the test finds better, or "" if the test finds no difference.
func (d Duel) Winner() string {
	if d.P > d.Level {
		return ""
	} else if d.Better > d.Worse {
		return d.A
	}
	return d.B
}

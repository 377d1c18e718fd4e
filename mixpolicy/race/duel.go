package race

// Duel is a comparison of two methods on a problem.
type Duel struct {
	Problem, A, B string
	// Better counts the streams on which A's final number, such as its last penalised gap, is less than B's. Worse
	// counts the streams on which A's final number is greater. A stream counts for neither if the two numbers are equal
	// up to rounding, or if at least one of the two runs failed.
	Better, Worse int
	// Differences are A's final numbers minus B's, stream by stream, as the function [Differences] returns them.
	Differences []float64
	// P is the p-value, adjusted for the number of duels, of the sign test that compares Better with Worse. The test
	// finds a difference if P ≤ Level. [Settle] sets P and Level.
	P, Level float64
	// Difference is the median of Differences, with a confidence interval. [Settle] sets the median and the interval;
	// the confidence of the interval depends on the number of duels.
	Difference Interval
}

// Compare returns a [Duel] in which only Differences, Better and Worse are set. The arguments x[k] and y[k] are the
// final numbers of A and B on stream k. Better counts the differences x[k] − y[k] below −rounding, and Worse counts the
// differences above rounding.
func Compare(x, y []float64, rounding float64) (d Duel) {
	d.Differences = Differences(x, y)
	d.Better, d.Worse = Signs(d.Differences, rounding)
	return d
}

// Settle sets the results that depend on the number k of duels: the p-values with Holm's correction, and the intervals
// of confidence 1 − level/k. If every duel has enough streams for this confidence, then, with probability at least
// 1 − level, all k intervals contain the true medians of their differences.
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

// Winner returns the method that the test finds to be better, or "" if the test finds no difference.
func (d Duel) Winner() string {
	if d.P > d.Level {
		return ""
	} else if d.Better > d.Worse {
		return d.A
	}
	return d.B
}

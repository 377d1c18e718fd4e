package paper

import "slices"

// Verdict is what became of an equation, a statement or a claim of the paper once it
// was computed.
type Verdict string

const (
	// Holds means true as printed.
	Holds Verdict = "holds"
	// HoldsAsCorrected means false or without content as printed, true in the form given by
	// an [Erratum].
	HoldsAsCorrected Verdict = "holds as corrected"
	// Fails means false, with no correction that would keep what is said.
	Fails Verdict = "fails"
	// Defines means that nothing is asserted: a definition or a notation.
	Defines Verdict = "definition"
	// NotCheckable means that no computation could decide it.
	NotCheckable Verdict = "not checkable"
	// Undecided means that the data do not tell: an interval that contains both answers.
	Undecided Verdict = "undecided"
	// Depends means that measures of the same thing disagree, so that what is said is
	// true of one and false of another.
	Depends Verdict = "depends on the measure"
)

// verdictIf returns Holds or Fails.
func verdictIf(ok bool) Verdict {
	if ok {
		return Holds
	}
	return Fails
}

// together combines the verdicts of several measures of one thing: agreement stands,
// contradiction depends on the measure, and anything undecided leaves it undecided.
func together(verdicts ...Verdict) Verdict {
	switch {
	case slices.Contains(verdicts, Holds) && slices.Contains(verdicts, Fails):
		return Depends
	case slices.Contains(verdicts, Undecided):
		return Undecided
	}
	return verdicts[0]
}

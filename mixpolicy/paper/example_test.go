package paper_test

import (
	"context"
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/paper"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// The law of cosines along runs of the algorithm, with the printed and with the corrected signs.
func ExampleProofTable() {
	fmt.Println(mixpolicy.Must(paper.ProofTable(context.Background(), "The law of cosines", "5.3")))
	// Output:
	// The law of cosines
	// equation         left side     right side  slack   in all          worst in
	// (5.3) printed    -0.001002  =  0.001002    -0.002  fails, 15200 ×  queue, R = 2, step 11
	// (5.3) corrected  -0.001002  =  -0.001002   0       holds, 15200 ×  queue, R = 2, step 11
}

// Sweep cuts an interval that reaches below 0 at a tenth of its mean, for a logarithmic axis.
func ExampleSweep() {
	line := paper.Sweep("mean", []float64{1, 10}, func(x float64) race.Interval {
		return race.Interval{Mean: x, Lo: x - 5, Hi: x + 5}
	})
	fmt.Println(line.Y, line.Lo, line.Hi)
	// Output:
	// [1 10] [0.1 5] [6 15]
}

// A misprint, with the numbers of its witness.
func ExampleErratum_Markdown() {
	e := paper.Errata()[0]
	fmt.Print(e.Markdown(mixpolicy.Must(e.Witness(context.Background())).Numbers))
	// Output:
	// **§2, notation** &nbsp; *argmin* &nbsp; misprint
	//
	// - printed: $P_{\mathcal X}(x) = \min_{y\in\mathcal X}\|x-y\|_2^2$
	// - corrected: $P_{\mathcal X}(x) = \operatorname{argmin}_{y\in\mathcal X}\|x-y\|_2$
	// - The printed minimum is a squared distance; (5.15) and the penalty method use the point that attains the minimum.
	// - numerical check: 𝒳 = [−2, 2] and x = 3: the minimum is the number 1, and the projection is the point 2; over z ∈ 𝒳, (x − y)(z − y) is at most 2 if y is that number, and 0 if y is that point
	// - changes: Nothing but notation.
}

// Every erratum of the kind error, with the part of the paper that it is about.
func ExampleErratum_Part() {
	for _, e := range paper.Errata() {
		if e.Kind == paper.Error {
			fmt.Printf("%-20s %s\n", e.ID, e.Part())
		}
	}
	// Output:
	// mixture-of-measures  Section 2
	// multiplier-norm      Section 3
	// violation-norm       Section 3
	// sample-size          Section 3
	// dimension            Appendix
}

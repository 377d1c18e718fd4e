package study_test

import (
	"context"
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/study"
)

// Steps that don't look at all pairs are faster than the linear program.
func ExampleMeasureSteps() {
	t := mixpolicy.Must(study.MeasureSteps(context.Background(), 1000))
	fmt.Println(t.Pairs, t.Step < t.PlugIn)
	// Output:
	// 4000 true
}

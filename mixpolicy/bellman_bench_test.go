package mixpolicy_test

import (
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

func garnet(b testing.TB, n, m, branches int, c mixpolicy.Criterion) *mixpolicy.MDP {
	b.Helper()
	x, err := models.Garnet{States: n, Actions: m, Branches: branches, Seed: 1, Ring: true, Criterion: c}.MDP()
	if err != nil {
		b.Fatal(err)
	}
	return x
}

func benchmarkValuation(b *testing.B, x *mixpolicy.MDP, method valuationMethod) {
	b.ReportAllocs()
	for b.Loop() {
		v, err := method.run(b.Context(), x, mixpolicy.ValuationSettings{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(v.Iterations), "iterations")
		b.ReportMetric(float64(v.Sweeps), "sweeps")
	}
}

// 10⁵ states × 10 actions × 10 next states.
func BenchmarkValuationLarge(b *testing.B) {
	for _, c := range []mixpolicy.Criterion{mixpolicy.Discounted(0.99), mixpolicy.AverageCost} {
		x := garnet(b, 100_000, 10, 10, c)
		for _, method := range valuationMethods {
			if method.name == "policy iteration" {
				continue
			}
			b.Run(c.String()+"/"+method.name, func(b *testing.B) { benchmarkValuation(b, x, method) })
		}
	}
}

func BenchmarkValuationQueue(b *testing.B) {
	x := mixpolicy.Must(models.Queue{}.MDP())
	for _, method := range valuationMethods {
		b.Run(method.name, func(b *testing.B) { benchmarkValuation(b, x, method) })
	}
}

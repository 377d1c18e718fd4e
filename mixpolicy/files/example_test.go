package files_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/files"
)

// A queue of at most two customers, with slow and fast service, typed by hand.
func ExampleReadCSV() {
	const table = `s,a,next,p,c
0,slow,0,0.5,0
0,slow,1,0.5,0
1,slow,0,0.25,1
1,slow,1,0.5,1
1,slow,2,0.25,1
2,slow,1,0.5,2
2,slow,2,0.5,2
0,fast,0,0.5,1
0,fast,1,0.5,1
1,fast,0,0.75,2
1,fast,2,0.25,2
2,fast,1,1,3
`
	queue, err := files.ReadCSV(strings.NewReader(table), files.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	next, p := queue.Next(1, 1)
	fmt.Println(queue.States(), "states,", queue.Criterion())
	fmt.Println(queue.ActionName(1), "from 1 to", next, "with", p, "for", queue.Cost(1, 1))

	_, err = files.ReadCSV(strings.NewReader(strings.Replace(table, "2,fast,1,1,3", "2,fast,1,0.9,3", 1)), files.Settings{})
	fmt.Println(err)
	// Output:
	// 3 states, average cost
	// fast from 1 to [0 2] with [0.75 0.25] for 2
	// files: rows from line 13 on: state 2, action fast: probabilities add up to 0.9, want 1; the difference is 0.1
}

// A model that Python saved with
//
//	np.savez("csr.npz", data=Q.data, indices=Q.indices, indptr=Q.indptr,
//	         shape=Q.shape, format="csr", c=c, gamma=gamma, alpha=alpha)
func ExampleLoad() {
	x, err := files.Load("testdata/csr.npz", files.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	next, p := x.Next(1, 0)
	fmt.Println(x.States(), "states,", x.Actions(), "actions,", x.Criterion())
	fmt.Println("from 1 to", next, "with", p, "for", x.Cost(1, 0))
	// Output:
	// 3 states, 2 actions, discount 0.875
	// from 1 to [0 1 2] with [0.5 0.25 0.25] for 1
}

// If there are as many states as actions, the shape of P does not tell its axes apart.
func ExampleSettings() {
	_, err := files.Load("testdata/square.npz", files.Settings{})
	fmt.Println(err)
	x := mixpolicy.Must(files.Load("testdata/square.npz", files.Settings{Axes: files.ActionFirst, Criterion: mixpolicy.Discounted(0.9)}))
	fmt.Println(x.States(), "states,", x.Criterion())
	// Output:
	// files: testdata/square.npz: array P: shape [2 2 2] may be (m, n, n) or (n, m, n): want Settings.Axes to say which
	// 2 states, discount 0.9
}

// LoadFeatures reads base features that Python computed, for the model that they belong to.
func ExampleLoadFeatures() {
	x := mixpolicy.Must(files.Load("testdata/csr.npz", files.Settings{}))
	psi := mixpolicy.Must(files.LoadFeatures("testdata/psi.npz", x))
	fmt.Println(psi.Dims())
	fmt.Println(psi.Column(2))
	// Output:
	// 6 3
	// [0.125 0.125 0.25 0.25 0.125 0.125]
}

func ExampleWriteCSV() {
	x := mixpolicy.Must(files.Load("testdata/action-first.npz", files.Settings{}))
	if err := files.WriteCSV(os.Stdout, x); err != nil {
		fmt.Println(err)
	}
	// Output:
	// s,a,next,p,c
	// 0,0,0,0.75,0
	// 0,0,1,0.25,0
	// 0,1,0,1,3
	// 1,0,0,0.5,1
	// 1,0,1,0.25,1
	// 1,0,2,0.25,1
	// 1,1,0,1,4
	// 2,0,1,0.625,2
	// 2,0,2,0.375,2
	// 2,1,0,1,5
}

// From logs to a mixture with a certificate. Two shifts have served the queue of [ExampleReadCSV], each on five days.
// The log of each shift gives a policy, and an estimate of the policy's column of Ψ.
func Example_logs() {
	ctx := context.Background()
	queue := mixpolicy.Must(files.Load("testdata/queue.csv", files.Settings{}))
	log := func(name string) [][]int64 {
		f := mixpolicy.Must(os.Open(name))
		defer f.Close()
		return mixpolicy.Must(files.ReadVisits(f, queue))
	}
	morning, evening := log("testdata/morning.csv"), log("testdata/evening.csv")

	jeffreys := mixpolicy.VisitSettings{Smoothing: 0.5}
	first := mixpolicy.Must(mixpolicy.PolicyFromVisits(queue, jeffreys, morning...))
	second := mixpolicy.Must(mixpolicy.PolicyFromVisits(queue, jeffreys, evening...))
	for s := range queue.States() {
		fmt.Printf("in state %d slow with %.3f in the morning, %.3f in the evening\n", s, first.Prob(s, 0), second.Prob(s, 0))
	}
	psi := mixpolicy.Must(mixpolicy.NewFeatures(ctx, queue, first, second))
	seen := mixpolicy.Must(mixpolicy.FeaturesFromRuns(queue, 0.95, morning, evening))
	i := queue.Pair(2, 1)
	fmt.Printf("2 and fast in the morning: %.4f, seen %.4f, in [%.4f, %.4f]\n", psi.Column(0)[i], seen.Column(0)[i], seen.Lo[0][i], seen.Hi[0][i])

	p := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))
	run := mixpolicy.Must(mixpolicy.Solve(ctx, p, mixpolicy.PlugIn{}, mixpolicy.Settings{Iterations: 10_000, Seed: 1}))
	fmt.Printf("base policies cost %.4f, the mixture θ̂ = %.3f costs %.4f\n", p.BaseCosts(), run.Theta, run.Objective)
	fmt.Printf("optimum %.4f, true cost of its policy %.4f, infeasible by %.4f\n", run.Optimum, run.PolicyCost, run.NegativeMass)
	// Output:
	// in state 0 slow with 0.802 in the morning, 0.516 in the evening
	// in state 1 slow with 0.686 in the morning, 0.506 in the evening
	// in state 2 slow with 0.310 in the morning, 0.716 in the evening
	// 2 and fast in the morning: 0.0968, seen 0.0972, in [0.0904, 0.1040]
	// base policies cost [1.0764 1.2020], the mixture θ̂ = [1.591 -0.591] costs 1.0021
	// optimum 1.0021, true cost of its policy 1.0021, infeasible by 0.0000
}

package files_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/files"
)

// A queue of at most two customers, typed by hand: slow and fast service.
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

// A model from Python, saved there by
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

// The shape of P does not tell its axes where there are as many states as actions.
func ExampleSettings() {
	_, err := files.Load("testdata/square.npz", files.Settings{})
	fmt.Println(err)
	x := mixpolicy.Must(files.Load("testdata/square.npz", files.Settings{Axes: files.ActionFirst, Criterion: mixpolicy.Discounted(0.9)}))
	fmt.Println(x.States(), "states,", x.Criterion())
	// Output:
	// files: testdata/square.npz: array P: shape [2 2 2] is (m, n, n) or (n, m, n): want Settings.Axes to tell
	// 2 states, discount 0.9
}

// Base features computed in Python come with the model that they are for.
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

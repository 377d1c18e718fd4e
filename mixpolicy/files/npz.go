package files

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
)

func readModel(r io.ReaderAt, size int64, set Settings) (*mixpolicy.MDP, error) {
	z, err := openArchive(r, size)
	if err != nil {
		return nil, err
	}
	c, err := z.read("c", anyNumber, "n", "m")
	if err != nil {
		return nil, err
	}
	n, m := c.shape[0], c.shape[1]
	spec := mixpolicy.Spec{States: n, Actions: m}
	if spec.Criterion, spec.Initial, err = z.settings(set); err != nil {
		return nil, err
	}
	var p *array
	var row func(s, a int) ([]int, []float64)
	switch {
	case z.has("P") == z.has("data"):
		return nil, fmt.Errorf("the file has both or neither of the arrays P and data, want exactly one")
	case z.has("P"):
		p, row, err = z.dense(n, m, set.Axes)
	default:
		p, row, err = z.csr(n, m)
	}
	if err != nil {
		return nil, err
	}
	for _, v := range p.data {
		if v != 0 {
			spec.Transitions++
		}
	}
	var next []mixpolicy.Transition
	spec.Dynamics = func(s, a int) (float64, []mixpolicy.Transition) {
		to, prob := row(s, a)
		p.normalise(prob)
		next = next[:0]
		for k := range to {
			next = append(next, mixpolicy.Transition{To: to[k], P: prob[k]})
		}
		return c.at(s, a), next
	}
	return mixpolicy.New(spec)
}

// settings reads gamma and alpha unless set overrides them.
func (z *archive) settings(set Settings) (mixpolicy.Criterion, []float64, error) {
	criterion, alpha := cmp.Or(set.Criterion, mixpolicy.AverageCost), set.Initial
	if z.has("gamma") && set.Criterion == (mixpolicy.Criterion{}) {
		gamma, err := z.read("gamma", anyNumber)
		if err != nil {
			return criterion, nil, err
		}
		criterion = mixpolicy.Discounted(gamma.at())
	}
	if z.has("alpha") && alpha == nil {
		a, err := z.read("alpha", anyNumber, "n")
		if err != nil {
			return criterion, nil, err
		}
		a.normalise(a.data)
		alpha = a.data
	}
	return criterion, alpha, nil
}

// dense reads the array P. It also returns a function that gives the indices and the values of the
// nonzero entries of P_a(s, ·), in slices that the next call overwrites.
func (z *archive) dense(n, m int, axes Axes) (*array, func(s, a int) ([]int, []float64), error) {
	p, err := z.read("P", anyNumber, "m or n", "n or m", "n")
	if err != nil {
		return nil, nil, err
	}
	actionFirst := slices.Equal(p.shape, []int{m, n, n}) && axes != StateFirst
	stateFirst := slices.Equal(p.shape, []int{n, m, n}) && axes != ActionFirst
	if actionFirst && stateFirst && n > 1 {
		return nil, nil, fmt.Errorf("array P: shape %v may be (m, n, n) or (n, m, n): want Settings.Axes to say which", p.shape)
	}
	if !actionFirst && !stateFirst {
		return nil, nil, fmt.Errorf("array P: shape %v, want (m, n, n) or (n, m, n) as Settings.Axes says, with n = %d and m = %d from c",
			p.shape, n, m)
	}
	var to []int
	var prob []float64
	return p, func(s, a int) ([]int, []float64) {
		to, prob = to[:0], prob[:0]
		if actionFirst {
			s, a = a, s
		}
		for s2 := range n {
			if v := p.at(s, a, s2); v != 0 {
				to, prob = append(to, s2), append(prob, v)
			}
		}
		return to, prob
	}, nil
}

// csr is like dense, but reads SciPy's matrix of n·m rows and n columns. The values that the function returns may be 0,
// and are a slice of the matrix, not a copy.
func (z *archive) csr(n, m int) (*array, func(s, a int) ([]int, []float64), error) {
	_, text, err := z.open("format")
	if err != nil {
		return nil, nil, fmt.Errorf("array format: %w", err)
	}
	if format := strings.ReplaceAll(string(text), "\x00", ""); format != "csr" {
		return nil, nil, fmt.Errorf("array format: %.20q, want \"csr\"", format)
	}
	data, err := z.read("data", anyNumber, "entries")
	if err != nil {
		return nil, nil, err
	}
	var index [3]*array
	for i, name := range []string{"indices", "indptr", "shape"} {
		if index[i], err = z.read(name, integers, "k"); err != nil {
			return nil, nil, err
		}
	}
	indices, indptr, shape := index[0].data, index[1].data, index[2].data
	pairs, entries := n*m, len(data.data)
	if !slices.Equal(shape, []float64{float64(pairs), float64(n)}) {
		return nil, nil, fmt.Errorf("array shape: %v, want [%d %d], that is, n·m and n", shape, pairs, n)
	}
	if len(indices) != entries {
		return nil, nil, fmt.Errorf("array indices: %d entries, want as many as data: %d", len(indices), entries)
	}
	if len(indptr) != pairs+1 || indptr[0] != 0 || indptr[pairs] != float64(entries) || !slices.IsSorted(indptr) {
		return nil, nil, fmt.Errorf("array indptr: want n·m + 1 = %d entries that rise from 0 to %d, the length of data", pairs+1, entries)
	}
	var to []int
	return data, func(s, a int) ([]int, []float64) {
		i := s*m + a
		lo, hi := int(indptr[i]), int(indptr[i+1])
		to = to[:0]
		for _, s2 := range indices[lo:hi] {
			to = append(to, int(s2))
		}
		return to, data.data[lo:hi]
	}, nil
}

func writeModel(w io.Writer, x *mixpolicy.MDP) error {
	n, m := x.States(), x.Actions()
	var indices []int32
	var data []float64
	indptr := []int64{0}
	for i := range x.Pairs() {
		next, p := x.Next(x.StateAction(i))
		indices, data = append(indices, next...), append(data, p...)
		indptr = append(indptr, int64(len(data)))
	}
	arrays := []entry{
		{"data", data}, {"indices", indices}, {"indptr", indptr}, {"shape", []int64{int64(x.Pairs()), int64(n)}},
		{"format", []string{"csr"}}, {"c", mat.NewDense(n, m, x.Costs())}, {"alpha", x.Initial()},
	}
	if !x.Criterion().Average() {
		arrays = append(arrays, entry{"gamma", x.Gamma()})
	}
	return writeArrays(w, arrays...)
}

func readFeatures(r io.ReaderAt, size int64, x *mixpolicy.MDP) (*mixpolicy.Features, error) {
	z, err := openArchive(r, size)
	if err != nil {
		return nil, err
	}
	psi, err := z.read("psi", anyNumber, "n·m", "d")
	if err != nil {
		return nil, err
	}
	if psi.shape[0] != x.Pairs() {
		return nil, fmt.Errorf("array psi: shape %v, want (n·m, d) with n·m = %d", psi.shape, x.Pairs())
	}
	columns := make([][]float64, psi.shape[1])
	for j := range columns {
		columns[j] = make([]float64, x.Pairs())
		for i := range columns[j] {
			columns[j][i] = psi.at(i, j)
		}
		psi.normalise(columns[j])
	}
	return mixpolicy.FeaturesFromColumns(x, columns...)
}

func writeFeatures(w io.Writer, f *mixpolicy.Features) error {
	return writeArrays(w, entry{"psi", f.Dense()})
}

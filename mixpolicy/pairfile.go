package mixpolicy

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/mixpolicy/lab/internal/atomicfile"
)

// SavePolicies writes policies for x in the format that the path ends in, .csv or
// .json: a table
//
//	s,a,p1,p2
//	low,wait,1,0.25
//	low,go,0,0.75
//	…
//
// of probabilities p1 = π¹_a(s), p2 = π²_a(s), …, or the same as
//
//	{
//	"columns": ["p1","p2"],
//	"pairs": [
//	{"s":0,"a":0,"values":[1,0.25]},
//	…
//
// with states and actions by index. Pairs that no policy takes are left out. The file
// is written whole or not at all, and [MDP.LoadPolicies] gives the same policies back,
// to the bit.
func (x *MDP) SavePolicies(path string, policies ...*Policy) error {
	for j, p := range policies {
		if err := x.checkPolicy(p); err != nil {
			return located(fmt.Sprintf("policy %d", j), err)
		}
	}
	return x.savePairs(path, "p", len(policies), func(row []float64, i int) {
		for j, p := range policies {
			row[j] = p.Prob(i/x.m, i%x.m)
		}
	})
}

// LoadPolicies reads a file in the format of [MDP.SavePolicies]. States and actions of a
// CSV file go by the names that x has for them; lines may be in any order, and a
// single policy's column may be called p. Errors name the place in the file, state and
// action: what x does not have, pairs given twice, what is no probability, and rows
// that don't add up to 1.
func (x *MDP) LoadPolicies(path string) ([]*Policy, error) {
	t, err := x.loadPairs(path, "p")
	if err != nil {
		return nil, err
	}
	policies, err := t.policies()
	if err != nil {
		return nil, located(path, err)
	}
	return policies, nil
}

// Save writes Ψ in the format that the path ends in: .csv or .json, which are those of
// [MDP.SavePolicies] with columns psi1, psi2, …; or .bin, which is compact, holds base
// policies and measures as well, and is the one for large models. The file is written
// whole or not at all, and [LoadFeatures] gives the same Ψ back, to the bit.
func (f *Features) Save(path string) error {
	if filepath.Ext(path) == ".bin" {
		if err := atomicfile.Write(path, f.writeBinary); err != nil {
			return located(path, err)
		}
		return nil
	}
	if pairFormats[filepath.Ext(path)] == nil {
		return unknownFeatures(path)
	}
	return f.x.savePairs(path, "psi", f.Dim(), f.Row)
}

// LoadFeatures reads a file in a format of [Features.Save]. It saves computing
// measures again, and takes the features of others. Columns are taken as
// [FeaturesFromColumns] takes them, measures after their flow residual has shown that
// they are those of their policies in x. Errors are as those of [MDP.LoadPolicies]; a
// .bin file that is truncated or corrupt is known by its checksum.
func LoadFeatures(x *MDP, path string) (*Features, error) {
	if filepath.Ext(path) == ".bin" {
		return loadBinary(x, path)
	}
	if pairFormats[filepath.Ext(path)] == nil {
		return nil, unknownFeatures(path)
	}
	t, err := x.loadPairs(path, "psi")
	if err != nil {
		return nil, err
	}
	f, err := FeaturesFromColumns(x, t.columns...)
	if err != nil {
		return nil, located(path, err)
	}
	return f, nil
}

func unknownFeatures(path string) error {
	return fmt.Errorf("mixpolicy: %s: want a name that ends in .bin, .csv or .json", path)
}

// pairTable is a table with a row for each pair of an MDP, as files hold it.
type pairTable struct {
	x       *MDP
	name    string // of the columns, less their number
	columns [][]float64
	format  *pairFormat
	place   []int32 // of each pair in the file, from 1; 0 if it is not there
}

// pairFormat is one of the two forms of a file.
type pairFormat struct {
	read  func(t *pairTable, r io.Reader) error
	write func(x *MDP, w io.Writer, names []string, row func(dst []float64, i int)) error
	// places names the rows of a file from one place to another.
	places func(from, to int) string
}

var pairFormats = map[string]*pairFormat{
	".csv": {(*pairTable).readCSV, (*MDP).writePairsCSV, func(from, to int) string {
		if from == to {
			return fmt.Sprintf("line %d", from)
		}
		return fmt.Sprintf("lines %d to %d", from, to)
	}},
	".json": {(*pairTable).readJSON, (*MDP).writePairsJSON, func(from, to int) string {
		if from == to {
			return fmt.Sprintf("pairs[%d]", from-1)
		}
		return fmt.Sprintf("pairs[%d] to pairs[%d]", from-1, to-1)
	}},
}

// header returns the names of k columns.
func header(name string, k int) []string {
	names := make([]string, k)
	for j := range names {
		names[j] = name + strconv.Itoa(j+1)
	}
	return names
}

// setHeader takes the names of the columns.
func (t *pairTable) setHeader(names []string) error {
	want := header(t.name, len(names))
	if !slices.Equal(names, want) && !(len(names) == 1 && names[0] == t.name) || len(names) == 0 {
		return fmt.Errorf("columns %q, want %s1, %s2, …", names, t.name, t.name)
	}
	t.columns, t.place = make([][]float64, len(names)), make([]int32, t.x.Pairs())
	for j := range t.columns {
		t.columns[j] = make([]float64, t.x.Pairs())
	}
	return nil
}

// set takes the row of a pair from a place in the file.
func (t *pairTable) set(i, place int, values []float64) error {
	if first := t.place[i]; first != 0 {
		return fmt.Errorf("is in %s already", t.format.places(int(first), int(first)))
	}
	for j, v := range values {
		if !(v >= 0 && v <= math.MaxFloat64) {
			return fmt.Errorf("%s%d is %v, want a finite number ≥ 0", t.name, j+1, v)
		}
		t.columns[j][i] = v
	}
	t.place[i] = int32(place)
	return nil
}

// policies returns the policies whose probabilities are in the columns.
func (t *pairTable) policies() ([]*Policy, error) {
	x := t.x
	for s := range x.n {
		if !slices.ContainsFunc(t.place[s*x.m:(s+1)*x.m], func(p int32) bool { return p != 0 }) {
			return nil, fmt.Errorf("state %s: not in the file, want the actions that the policies take there", x.StateName(s))
		}
	}
	policies := make([]*Policy, len(t.columns))
	for j, c := range t.columns {
		for s := range x.n {
			if err := checkDistribution(c[s*x.m:(s+1)*x.m], x.m); err != nil {
				return nil, fmt.Errorf("%s: state %s: %s%d: %w", t.where(s), x.StateName(s), t.name, j+1, err)
			}
		}
		policies[j] = Must(NewPolicy(x, c))
	}
	return policies, nil
}

// where tells the places of a state.
func (t *pairTable) where(s int) string {
	lo, hi := math.MaxInt, 0
	for _, p := range t.place[s*t.x.m : (s+1)*t.x.m] {
		if p != 0 {
			lo, hi = min(lo, int(p)), max(hi, int(p))
		}
	}
	return t.format.places(lo, hi)
}

func (x *MDP) savePairs(path, name string, k int, row func(dst []float64, i int)) error {
	format := pairFormats[filepath.Ext(path)]
	if format == nil {
		return unknownFormat(path)
	}
	if k == 0 {
		return fmt.Errorf("mixpolicy: %s: nothing to write, want at least one policy", path)
	}
	err := atomicfile.Write(path, func(w io.Writer) error { return format.write(x, w, header(name, k), row) })
	if err != nil {
		return located(path, err)
	}
	return nil
}

func (x *MDP) loadPairs(path, name string) (*pairTable, error) {
	format := pairFormats[filepath.Ext(path)]
	if format == nil {
		return nil, unknownFormat(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("mixpolicy: %w", err) // names the path
	}
	defer f.Close()
	t := &pairTable{x: x, name: name, format: format}
	if err := format.read(t, f); err != nil {
		return nil, located(path, err)
	}
	return t, nil
}

// lookup returns the inverse of names 0, …, n−1, which may be nil for numbers.
func lookup(what string, name func(int) string, n int) (func(string) (int, error), error) {
	list := labels(name, n)
	if list == nil {
		return func(label string) (int, error) {
			i, err := strconv.Atoi(label)
			if err != nil || i < 0 || i >= n || strconv.Itoa(i) != label {
				return 0, fmt.Errorf("no such %s, want 0 to %d", what, n-1)
			}
			return i, nil
		}, nil
	}
	if err := checkLabels(what, list); err != nil {
		return nil, err
	}
	index := make(map[string]int, n)
	for i, l := range list {
		index[l] = i
	}
	return func(label string) (int, error) {
		i, ok := index[label]
		if !ok {
			return 0, fmt.Errorf("no such %s in the MDP, whose %ss are %s, …", what, what, list[0])
		}
		return i, nil
	}, nil
}

var errTruncated = errors.New("the last line does not end with a newline: the file is truncated")

// Package files reads and writes models and features: tables made by hand as CSV, and
// arrays of NumPy and SciPy as .npz.
//
// # CSV
//
// A row per transition, s, a, s′, p, c: in state s action a costs c and leads to s′ with
// probability p = P_a(s, s′). The first row may be a header, which gives the five columns
// in any order: s or state, a or action, next or s' or s′, p, c or cost. States and
// actions are named, or given by consecutive whole numbers. 0 … n−1 are the states' own numbers;
// numbers that start elsewhere are names, in the order of the numbers. Other names are numbered
// in the order in which they first occur in the columns s and a. Every pair has at least one
// row (unless [Settings].ActionSets), no transition is repeated, and all rows of a pair have
// the same cost.
// Lines may end in CRLF, and a byte-order mark may stand first. A name has no carriage return.
//
// The criterion and α are not in the table: [Settings] give them. [WriteCSV] writes names
// if all of them would be read back as the same states and actions, else numbers; pairs that
// are not allowed have no row.
//
// Logs are tables too, with a header: s and a as a model names them, visits, and run. A row is
// that many visits to a pair in a run; rows of one pair are added up. Without the column
// visits each row is a visit, without run they are all of one run ([ReadVisits]). Where P is
// not known, the frequency of s′ after s, a in a log can stand for p, and pairs that were never
// seen can be left out as action sets; a certificate is then one for that model.
//
// # NumPy's .npz
//
// A model is made of these arrays:
//
//	P          (m, n, n) with P[a, s, s′], or (n, m, n) with P[s, a, s′]
//	c          (n, m) with c[s, a]
//	gamma      a number, the discount factor γ; without it the cost is averaged
//	alpha      (n,), the distribution α of the first state; without it uniform
//
// In place of P there may be a CSR matrix over pairs of shape (n·m, n), whose row s·m + a
// is P_a(s, ·), under SciPy's names: data, indices, indptr, shape and format, which is
// "csr". In Python, with Q = scipy.sparse.csr_array of that matrix:
//
//	np.savez("model.npz", P=P, c=c, gamma=0.9)
//	np.savez("model.npz", data=Q.data, indices=Q.indices, indptr=Q.indptr,
//	         shape=Q.shape, format="csr", c=c)
//
// Features are one array, psi, of shape (n·m, d). [Save] writes CSR, which
// scipy.sparse.load_npz reads, with c, alpha and, if the cost is discounted, gamma.
//
// Numbers are float64, float32 or integers of any size and byte order, in C or Fortran
// order. Distributions in float32 that add up to 1 but for 16 of its roundings are divided
// by their sum. Names of states and actions are not kept, nor action sets: the pairs that
// are not allowed are written as [mixpolicy.MDP.Allowed] has them.
//
// # Sizes
//
// What a file says of its sizes is checked against what it holds before memory is taken.
// A CSV file takes memory in proportion to its size; with action sets or visits, which give
// few pairs of many, up to about 1 GiB. The arrays of an .npz file may take
// 1 GiB unpacked, as float64, or the file's own size if that is more.
package files

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/internal/atomicfile"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// Settings say about a model what its file does not, or what is to hold instead. The zero
// value takes the file as it is.
type Settings struct {
	// Criterion; the zero value is that of the file's gamma, or mixpolicy.AverageCost if
	// it has none.
	Criterion mixpolicy.Criterion

	// Initial is α (n); nil is the file's alpha, or uniform if it has none.
	Initial []float64

	// ActionSets takes pairs that have no row in a CSV file for pairs that are not allowed
	// ([mixpolicy.MDP.Allowed]); without it they are an error.
	ActionSets bool

	// Axes of the array P. They are needed if m = n, where the shape is ambiguous.
	Axes Axes
}

// Axes say in which order the axes of the array P stand.
type Axes int

const (
	ByShape     Axes = iota // from the shape, with n and m those of c
	ActionFirst             // (m, n, n), P[a, s, s′]
	StateFirst              // (n, m, n), P[s, a, s′]
)

// Load reads a model from a file whose name ends in .csv or .npz. The error names the file
// and the line and field, or the array, that is wrong.
func Load(path string, set Settings) (*mixpolicy.MDP, error) {
	return load(path, ".csv .npz", func(f *os.File, size int64) (*mixpolicy.MDP, error) {
		if extension(path) == ".csv" {
			return readCSV(f, set)
		}
		return readModel(f, size, set)
	})
}

// Save writes a model to a file whose name ends in .csv or .npz, whole or not at all.
// Criterion and α are kept in .npz only, names in .csv only.
func Save(path string, x *mixpolicy.MDP) error {
	return save(path, ".csv .npz", func(w io.Writer) error {
		if extension(path) == ".csv" {
			return writeCSV(w, x)
		}
		return writeModel(w, x)
	})
}

// LoadFeatures reads Ψ for x from the array psi of an .npz file. Its columns must be
// distributions over pairs, as for [mixpolicy.FeaturesFromColumns].
func LoadFeatures(path string, x *mixpolicy.MDP) (*mixpolicy.Features, error) {
	return load(path, ".npz", func(f *os.File, size int64) (*mixpolicy.Features, error) { return readFeatures(f, size, x) })
}

// SaveFeatures writes Ψ as the array psi of an .npz file, whole or not at all. Base
// policies are not kept. It takes memory for Ψ, nm·d numbers.
func SaveFeatures(path string, psi *mixpolicy.Features) error {
	return save(path, ".npz", func(w io.Writer) error { return writeFeatures(w, psi) })
}

// ReadCSV reads a model in CSV. The error names the line and field that is wrong.
func ReadCSV(r io.Reader, set Settings) (*mixpolicy.MDP, error) {
	x, err := readCSV(r, set)
	if err != nil {
		return nil, fault.At("files", "", err)
	}
	return x, nil
}

// ReadVisits reads a log: how often each run took each pair of x, in the order in which runs
// first occur. The error names the line and field that is wrong. One log has the visits of one
// policy, for [mixpolicy.PolicyFromVisits] and [mixpolicy.FeaturesFromRuns].
func ReadVisits(r io.Reader, x *mixpolicy.MDP) (runs [][]int64, err error) {
	if runs, err = readVisits(r, x, mostVisits); err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	return runs, nil
}

// WriteCSV writes a model in CSV, with a header. Probabilities and costs have as many
// digits as it takes to read the same numbers back.
func WriteCSV(w io.Writer, x *mixpolicy.MDP) error {
	if err := writeCSV(w, x); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	return nil
}

func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

func checkExtension(path, want string) error {
	if e := extension(path); e == "" || !slices.Contains(strings.Fields(want), e) {
		return fmt.Errorf("files: %s: want a name that ends in %s", path, strings.ReplaceAll(want, " ", " or "))
	}
	return nil
}

// load calls read with the file at path and its size.
func load[T any](path, extensions string, read func(f *os.File, size int64) (*T, error)) (*T, error) {
	if err := checkExtension(path, extensions); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	x, err := read(f, info.Size())
	if err != nil {
		return nil, fault.At("files", path, err)
	}
	return x, nil
}

func save(path, extensions string, write func(io.Writer) error) error {
	if err := checkExtension(path, extensions); err != nil {
		return err
	}
	if err := atomicfile.Write(path, write); err != nil {
		return fmt.Errorf("files: %s: %w", path, err)
	}
	return nil
}

// Package files reads and writes models and features, and reads logs of visits. A model is a CSV
// table, which can be written by hand, or an .npz file, the format of NumPy and SciPy. Features are
// in .npz files, and logs are CSV tables.
//
// # CSV
//
// Each row is a transition, s, a, s′, p, c: in state s, action a costs c and leads to s′ with
// probability p = P_a(s, s′). The first row may be a header, which names the five columns in any
// order: s or state; a or action; next, s' or s′; p; and c or cost. States and actions are given by
// names or by consecutive whole numbers. If the whole numbers start at 0, they are also the numbers
// in the model. Whole numbers that start elsewhere are names, and the model numbers them in numerical
// order. Other names are numbered in the order in which they first occur: states in the column s, and
// actions in the column a. Every pair needs at least one row (unless [Settings].ActionSets is set),
// no transition may be repeated, and all rows of a pair must have the same cost. Lines may end in
// CRLF, and the file may begin with a byte-order mark. A name must not contain a carriage return.
//
// The table contains neither the criterion nor α: [Settings] gives them. [WriteCSV] writes the names of states if
// [ReadCSV] would then read the same names, and give each state the same number as in the model. Otherwise, WriteCSV
// writes the number of each state. The same holds for actions. WriteCSV writes no row for pairs that are not allowed.
//
// A log of visits is a CSV table with a header. The columns are s, a and, optionally, visits and run; states and
// actions are named as in the model. Each row says how often a run visited a pair. If several rows have the same pair
// and the same run, [ReadVisits] adds up their visits. Without the column visits, each row is one visit; without the
// column run, all rows belong to one run. If P is unknown, the column p of a model's table can contain the relative
// frequency of s′ among the observed transitions from (s, a). If ActionSets is set, such a table may omit the pairs
// that were never observed. A certificate for a model with estimated probabilities holds for the estimated model only.
//
// # NumPy's .npz
//
// A model consists of these arrays:
//
//	P          (m, n, n) with P[a, s, s′], or (n, m, n) with P[s, a, s′]
//	c          (n, m) with c[s, a]
//	gamma      a number, the discount factor γ; without gamma, the criterion is average cost
//	alpha      (n,), the distribution α of the first state; without alpha, α is uniform
//
// Instead of P, a file may contain a CSR matrix Q of shape (n·m, n), whose row s·m + a is
// P_a(s, ·). The arrays of Q have SciPy's names: data, indices, indptr, shape and format, and
// format is "csr". Each of these two Python statements writes a model; in the second,
// Q is a scipy.sparse.csr_array:
//
//	np.savez("model.npz", P=P, c=c, gamma=0.9)
//	np.savez("model.npz", data=Q.data, indices=Q.indices, indptr=Q.indptr,
//	         shape=Q.shape, format="csr", c=c)
//
// Features are one array, psi, of shape (n·m, d). [Save] writes the CSR matrix Q and the arrays c,
// alpha and, if the cost is discounted, gamma. scipy.sparse.load_npz can read Q from this file.
//
// The numbers in an array may be float64, float32, or integers of any NumPy size up to 64 bits. The arrays indices,
// indptr and shape may contain only integers. Any byte order is allowed, and an array may be in C or Fortran order. If
// a distribution is in float32, and its sum differs from 1 by at most 16·2⁻²⁴ (16 roundings), the reader divides the
// distribution by its sum. An .npz file keeps neither the names of states and actions nor the action sets: pairs that
// are not allowed are written with the cost and row that [mixpolicy.MDP.Allowed] describes.
//
// # Sizes
//
// Before a reader allocates arrays, it compares the sizes that a file claims with the contents of the file. Reading a
// CSV file takes memory in proportion to the file's size, with two exceptions: a table read with action sets, and a log
// of visits. Such a file may list few of the model's pairs, so reading a small file can take up to about 1 GiB (more
// for a log if the model has more than 2²⁷ pairs). The unpacked arrays of an .npz file, as float64, may take at most
// 1 GiB in total or, if the file is larger than 1 GiB, at most the size of the file.
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

// Settings supplies what a model's file does not contain, or replaces what the file contains.
// With the zero value, nothing in the file is replaced.
type Settings struct {
	// Criterion is the criterion of the model; the zero value means the file's gamma, or
	// mixpolicy.AverageCost if the file has no gamma.
	Criterion mixpolicy.Criterion

	// Initial is α, of length n; nil means the file's alpha, or a uniform α if the file has no alpha.
	Initial []float64

	// If ActionSets is true, a pair without a row in a CSV file is not allowed (see
	// [mixpolicy.MDP.Allowed]). Otherwise, a pair without a row is an error.
	ActionSets bool

	// Axes is the order of the axes of the array P. If a file contains P, and m = n > 1, Axes must be set,
	// because the shape of P is then ambiguous.
	Axes Axes
}

// Axes is an order of the axes of the array P.
type Axes int

const (
	ByShape     Axes = iota // the order that fits the shape of P; the array c gives n and m
	ActionFirst             // (m, n, n), P[a, s, s′]
	StateFirst              // (n, m, n), P[s, a, s′]
)

// Load reads a model from a file whose name ends in .csv or .npz. The error names the file and,
// where possible, the line and the field at fault (.csv) or the array at fault (.npz).
func Load(path string, set Settings) (*mixpolicy.MDP, error) {
	return load(path, ".csv .npz", func(f *os.File, size int64) (*mixpolicy.MDP, error) {
		if extension(path) == ".csv" {
			return readCSV(f, set)
		}
		return readModel(f, size, set)
	})
}

// Save writes a model, completely or not at all, to a file whose name ends in .csv or .npz. Only .npz keeps the
// criterion and α. Only .csv keeps action sets and, if [ReadCSV] would read the same names, the names.
func Save(path string, x *mixpolicy.MDP) error {
	return save(path, ".csv .npz", func(w io.Writer) error {
		if extension(path) == ".csv" {
			return writeCSV(w, x)
		}
		return writeModel(w, x)
	})
}

// LoadFeatures reads Ψ for the model x from the array psi of an .npz file. The columns of psi must
// be distributions over pairs, as for [mixpolicy.FeaturesFromColumns].
func LoadFeatures(path string, x *mixpolicy.MDP) (*mixpolicy.Features, error) {
	return load(path, ".npz", func(f *os.File, size int64) (*mixpolicy.Features, error) { return readFeatures(f, size, x) })
}

// SaveFeatures writes Ψ, completely or not at all, as the array psi of an .npz file. The file does not contain the base
// policies. SaveFeatures allocates a dense Ψ, with nm·d numbers.
func SaveFeatures(path string, psi *mixpolicy.Features) error {
	return save(path, ".npz", func(w io.Writer) error { return writeFeatures(w, psi) })
}

// ReadCSV reads a model in CSV. Where possible, the error names the line and the field at fault.
func ReadCSV(r io.Reader, set Settings) (*mixpolicy.MDP, error) {
	x, err := readCSV(r, set)
	if err != nil {
		return nil, fault.At("files", "", err)
	}
	return x, nil
}

// ReadVisits reads a log of visits. In the result, runs[k][i] is the number of visits of run k to pair i of the model
// x. The runs are in the order of their first rows. Where possible, the error names the line and the field at fault.
// For [mixpolicy.PolicyFromVisits] and [mixpolicy.FeaturesFromRuns], a log must contain the visits of one policy only.
func ReadVisits(r io.Reader, x *mixpolicy.MDP) (runs [][]int64, err error) {
	if runs, err = readVisits(r, x, mostVisits); err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	return runs, nil
}

// WriteCSV writes a model in CSV, with a header. Probabilities and costs have enough digits
// to be read back exactly.
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

// load calls read with the opened file and its size.
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

package mixpolicy

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mixpolicy/lab/internal/atomicfile"
)

// LoadMDP reads a file in the format of [ReadCSV] or [ReadJSON], whichever its
// name ends in.
func LoadMDP(path string) (*MDP, error) {
	read := map[string]func(io.Reader) (*MDP, error){".csv": ReadCSV, ".json": ReadJSON}[filepath.Ext(path)]
	if read == nil {
		return nil, unknownFormat(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("mixpolicy: %w", err) // names the path
	}
	defer f.Close()
	x, err := read(f)
	if err != nil {
		return nil, located(path, err)
	}
	return x, nil
}

// Save writes the MDP in the format that the path ends in, .csv or .json. The file
// is written whole or not at all. [LoadMDP] gives the same MDP back, to the bit.
func (x *MDP) Save(path string) error {
	write := map[string]func(io.Writer) error{".csv": x.WriteCSV, ".json": x.WriteJSON}[filepath.Ext(path)]
	if write == nil {
		return unknownFormat(path)
	}
	if err := atomicfile.Write(path, write); err != nil {
		return located(path, err)
	}
	return nil
}

func unknownFormat(path string) error {
	return fmt.Errorf("mixpolicy: %s: want a name that ends in .csv or .json", path)
}

// MarshalText returns "average cost" or "discount γ", the form that files have.
func (c Criterion) MarshalText() ([]byte, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	return []byte(c.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (c *Criterion) UnmarshalText(text []byte) error {
	read := AverageCost
	if string(text) != read.String() {
		number, ok := strings.CutPrefix(string(text), "discount ")
		gamma, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil {
			return fmt.Errorf("mixpolicy: criterion %q, want \"average cost\" or \"discount γ\" with a number γ", text)
		}
		read = Discounted(gamma)
	}
	if err := read.validate(); err != nil {
		return err
	}
	*c = read
	return nil
}

// labels returns what states or actions are called, or nil if by their numbers.
func labels(name func(int) string, n int) []string {
	if name == nil {
		return nil
	}
	list := make([]string, n)
	numbers := true
	for i := range list {
		list[i] = name(i)
		numbers = numbers && list[i] == strconv.Itoa(i)
	}
	if numbers {
		return nil
	}
	return list
}

// naming is the inverse of labels.
func naming(labels []string) func(int) string {
	if labels == nil {
		return nil
	}
	return func(i int) string { return labels[i] }
}

// checkLabels makes sure that a file can tell things apart by their labels. What
// is the kind of thing, "state" or "action".
func checkLabels(what string, labels []string) error {
	seen := make(map[string]int, len(labels))
	for i, l := range labels {
		switch {
		case l == "":
			return fmt.Errorf("label of %s %d is empty", what, i)
		case !utf8.ValidString(l) || strings.ContainsFunc(l, unicode.IsControl):
			return fmt.Errorf("label %q of %s %d has a control character or is not UTF-8", l, what, i)
		case strings.TrimSpace(l) != l:
			return fmt.Errorf("label %q of %s %d begins or ends with a space", l, what, i)
		}
		if j, twice := seen[l]; twice {
			return fmt.Errorf("label %q is of %s %d and of %s %d, want different ones", l, what, j, what, i)
		}
		seen[l] = i
	}
	return nil
}

// numbered tells whether the labels are the numbers 0, …, n−1 in some order.
func numbered(labels []string) bool {
	seen := make([]bool, len(labels))
	for _, l := range labels {
		i, err := strconv.Atoi(l)
		if err != nil || i < 0 || i >= len(labels) || seen[i] || l != strconv.Itoa(i) {
			return false
		}
		seen[i] = true
	}
	return true
}

// uniform tells whether α is what a nil Spec.Initial gives.
func uniform(alpha []float64) bool {
	for _, v := range alpha {
		if v != 1/float64(len(alpha)) {
			return false
		}
	}
	return true
}

package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/data"
)

// Premises says of each entry of the index on which others it rests: those that its proof or
// derivation in the paper cites, by data/premises.csv. The map from numbers to numbers has no
// cycle; an entry without premises is not in it.
func Premises() (map[string][]string, error) {
	rows, err := data.Rows[struct {
		Number   string `csv:"number"`
		Premises string `csv:"premises"`
	}]("premises.csv")
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, e := range Index() {
		known[e.Number] = true
	}
	of := map[string][]string{}
	for _, row := range rows {
		number, premises := row.Number, strings.Split(row.Premises, "; ")
		if of[number] != nil {
			return nil, fmt.Errorf("paper: data/premises.csv has (%s) twice", number)
		}
		for _, n := range append([]string{number}, premises...) {
			if !known[n] {
				return nil, fmt.Errorf("paper: data/premises.csv, row (%s): the index has no %q", number, n)
			}
		}
		of[number] = premises
	}
	for n := range of {
		if slices.Contains(restsOn(of, n), n) {
			return nil, fmt.Errorf("paper: data/premises.csv: (%s) rests on itself", n)
		}
	}
	return of, nil
}

// restsOn returns all that an entry rests on, directly or through others.
func restsOn(of map[string][]string, number string) []string {
	var all []string
	for next := of[number]; len(next) > 0; next = next[1:] {
		if n := next[0]; !slices.Contains(all, n) {
			all = append(all, n)
			next = slices.Concat(next, of[n])
		}
	}
	return all
}

package paper

import (
	"fmt"
	"slices"
	"strings"
)

// Premises says of each entry of the index on which others it rests: those that its proof or
// derivation in the paper cites, by data/premises.csv. The map from numbers to numbers has no
// cycle; an entry without premises is not in it.
func Premises() (map[string][]string, error) {
	table, err := recorded("premises.csv")
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, e := range Index() {
		known[e.Number] = true
	}
	of := map[string][]string{}
	for _, row := range table {
		number, premises := row[0], strings.Split(row[1], "; ")
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

// Reached says of each erratum's ID how many entries of the index rest on one that it
// changes, directly or through others, beside those entries themselves.
func Reached() (map[string]int, error) {
	of, err := Premises()
	if err != nil {
		return nil, err
	}
	reached := map[string]int{}
	for _, e := range errata {
		for _, entry := range Index() {
			if !slices.Contains(e.Where, entry.Number) && slices.ContainsFunc(restsOn(of, entry.Number), func(n string) bool { return slices.Contains(e.Where, n) }) {
				reached[e.ID]++
			}
		}
	}
	return reached, nil
}

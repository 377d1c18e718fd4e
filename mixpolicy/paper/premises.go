package paper

import (
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
	of := map[string][]string{}
	for _, row := range rows {
		of[row.Number] = strings.Split(row.Premises, "; ")
	}
	return of, nil
}

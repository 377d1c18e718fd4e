package study

import (
	"slices"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Runs returns the rows of a record. For the name "beam", these are the rows of data/beam.csv. A record of package beam
// (in the folder mixpolicy/beam) contains, for each setting of a method, statistics of each quantity over many runs:
// the median, the mean, and the 5 % and 95 % quantiles. The record "beam" comes from mixpolicy/beam/race.json. It
// compares two forms of plug-in, with means and with medians of means, on two random problems.
func Runs(name string) (race.Record, error) { return data.Rows[race.Row](name + ".csv") }

// Ends returns the rows about a quantity at the end of a method's runs on a problem, one row for each setting.
func Ends(r race.Record, problem, method, quantity string) race.Record {
	rows := r.Select(race.Row{Problem: problem, Method: method, Quantity: quantity})
	last := 0.0
	for _, row := range rows {
		last = max(last, row.At)
	}
	return slices.DeleteFunc(rows, func(row race.Row) bool { return row.At < last })
}

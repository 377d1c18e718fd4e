package study

import (
	"slices"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Runs are the rows of a record, as they are in the folder data. One that package beam, in the folder mixpolicy/beam, made of many runs
// has of each setting of a method the median, the mean, and the numbers that one run of twenty is below
// and above: "beam" is of mixpolicy/beam/race.json, plug-in and its form with medians of means on two
// random problems.
func Runs(name string) (race.Record, error) { return data.Rows[race.Row](name + ".csv") }

// Ends are the rows of a method on a problem at the end of its runs, one for each setting.
func Ends(r race.Record, problem, method, quantity string) race.Record {
	rows := r.Select(race.Row{Problem: problem, Method: method, Quantity: quantity})
	last := 0.0
	for _, row := range rows {
		last = max(last, row.At)
	}
	return slices.DeleteFunc(rows, func(row race.Row) bool { return row.At < last })
}

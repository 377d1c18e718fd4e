package models

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Aggregation divides some of the states of an MDP into cells. Each combination of a cell and an action a defines a
// feature: the uniform distribution over the pairs (s, a) with s in the cell. So the cells of the states determine all
// features, and no feature needs to be stored as a vector with an entry for each of millions of pairs.
type Aggregation struct {
	Cell []int32 // Cell[s] is the cell of state s, or −1 if s is in no cell
	Size []int   // Size[k] is the number of states in cell k, at least 1
}

// Cells returns the number of cells.
func (g *Aggregation) Cells() int { return len(g.Size) }

// aggregate puts the states with the same place(s), from 0 to names − 1, into one cell, and numbers
// the nonempty cells in increasing order of place(s). A state with place(s) < 0 is in no cell.
func aggregate(states, names int, place func(s int) int) *Aggregation {
	g := &Aggregation{Cell: make([]int32, states)}
	count := make([]int, names)
	for s := range states {
		k := place(s)
		g.Cell[s] = int32(k)
		if k >= 0 {
			count[k]++
		}
	}
	number := make([]int32, names)
	for k, c := range count {
		if c > 0 {
			number[k] = int32(g.Cells())
			g.Size = append(g.Size, c)
		}
	}
	for s, k := range g.Cell {
		if k >= 0 {
			g.Cell[s] = number[k]
		}
	}
	return g
}

// LossIntervals divides states into cells by the interval that contains the cost of a step: (0, 5], (5, 10], …, (45,
// 50]. The intervals define the first set of features of Abbasi-Yadkori et al. (2014). A state is in no cell if a step
// from this state costs more than 50 or, as in the empty network, at most 0.
func (w Network) LossIntervals() (*Aggregation, error) {
	w, err := w.complete()
	if err != nil {
		return nil, err
	}
	g := w.grid()
	edges := floats.Span(make([]float64, 11), 0, 50)
	return aggregate(g.states(), 10, func(s int) int {
		var loss float64
		for i, x := range g.lengths(s) {
			loss += w.Holding[i] * float64(x)
		}
		k, _ := slices.BinarySearch(edges, loss) // edges[k−1] < loss ≤ edges[k]; k = 0 if loss ≤ 0, k = 11 beyond the last edge
		return k%len(edges) - 1
	}), nil
}

// LengthBoxes divides states into boxes, by the interval that contains each length: [0, 10], [11, 20] or [21, 25]. The
// boxes define the second set of features of Abbasi-Yadkori et al. (2014). As in their paper, states with a length
// above 25 are in no box.
func (w Network) LengthBoxes() (*Aggregation, error) {
	w, err := w.complete()
	if err != nil {
		return nil, err
	}
	g := w.grid()
	edges := []int{10, 20, 25}
	return aggregate(g.states(), 81, func(s int) int {
		box := 0
		for _, x := range g.lengths(s) {
			k, _ := slices.BinarySearch(edges, x)
			if k == len(edges) {
				return -1
			}
			box = 3*box + k
		}
		return box
	}), nil
}

package models

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy"
)

// GridWorld is a maze drawn with characters:
//
//	.  free
//	#  wall
//	S  start, exactly one
//	G  goal, at least one: every action leads back to the start, at no cost
//	~  swamp: a step from here costs 10
//
// A step from a free cell or from the start costs 1. The four actions are moves to the north, east, south and west.
// With probability Slip, the move goes to the left or to the right of the chosen direction instead, with equal
// probabilities. A step into a wall or off the map leaves the state unchanged. Because the goal leads back to the
// start, the process never ends, so the average cost and the discounted cost are both defined.
type GridWorld struct {
	Map  string  // one line per row, all of equal length; "" means a small example
	Slip float64 // probability, from 0 to 1, that the move is not in the chosen direction

	// Criterion is the cost to minimise; the zero value means mixpolicy.AverageCost.
	Criterion mixpolicy.Criterion
}

const exampleMap = `
S.~.
.#..
...G`

// compass holds the move of each action, as a change of row and column. Actions a − 1 and a + 1 (mod 4) move to the
// left and to the right of the direction of action a.
var compass = [4]struct {
	name     string
	row, col int
}{{"north", -1, 0}, {"east", 0, 1}, {"south", 1, 0}, {"west", 0, -1}}

// maze is a parsed map. The cells that are not walls are the states, numbered row by row.
type maze struct {
	rows, cols int
	cells      string
	state      []int // state[c] is the state of cell c, or −1 if c is a wall
	cell       []int // cell[s] is the cell of state s
	start      int   // the state of the start
}

func parseMaze(drawing string) (*maze, error) {
	lines := strings.Split(strings.Trim(drawing, "\n"), "\n")
	m := &maze{rows: len(lines), cols: len(lines[0]), start: -1}
	goals := 0
	for r, line := range lines {
		if len(line) != m.cols {
			return nil, fmt.Errorf("models: grid world: row %d has %d cells, row 0 has %d, want rows of equal length", r, len(line), m.cols)
		}
		for c := range len(line) {
			s := len(m.cell)
			switch line[c] {
			case '#':
				s = -1
			case 'S':
				if m.start >= 0 {
					return nil, fmt.Errorf("models: grid world: a second start at row %d, column %d, want only one", r, c)
				}
				m.start = s
			case 'G':
				goals++
			case '.', '~':
			default:
				return nil, fmt.Errorf("models: grid world: %q at row %d, column %d, want one of . # S G ~", line[c], r, c)
			}
			m.state = append(m.state, s)
			if s >= 0 {
				m.cell = append(m.cell, r*m.cols+c)
			}
		}
	}
	if m.start < 0 || goals == 0 {
		return nil, fmt.Errorf("models: grid world without a start S or without a goal G, want one S and at least one G")
	}
	m.cells = strings.Join(lines, "")
	return m, nil
}

// step returns the state that a move from state s in the given direction leads to.
func (m *maze) step(s, direction int) int {
	d := compass[direction]
	r, c := m.cell[s]/m.cols+d.row, m.cell[s]%m.cols+d.col
	if r < 0 || r >= m.rows || c < 0 || c >= m.cols || m.state[r*m.cols+c] < 0 {
		return s
	}
	return m.state[r*m.cols+c]
}

// MDP builds the MDP of the grid world. Each state has the label (row, column), counted from 0.
func (g GridWorld) MDP() (*mixpolicy.MDP, error) {
	g.Map = cmp.Or(g.Map, exampleMap)
	g.Criterion = cmp.Or(g.Criterion, mixpolicy.AverageCost)
	if !(g.Slip >= 0 && g.Slip <= 1) {
		return nil, fmt.Errorf("models: grid world with slip probability %v, want a number from 0 to 1", g.Slip)
	}
	m, err := parseMaze(g.Map)
	if err != nil {
		return nil, err
	}
	initial := make([]float64, len(m.cell))
	initial[m.start] = 1
	next := make([]mixpolicy.Transition, 0, 3)
	return mixpolicy.New(mixpolicy.Spec{
		States: len(m.cell), Actions: len(compass), Criterion: g.Criterion, Initial: initial,
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			cost := 1.0
			switch m.cells[m.cell[s]] {
			case 'G':
				return 0, append(next[:0], mixpolicy.Transition{To: m.start, P: 1})
			case '~':
				cost = 10
			}
			next = append(next[:0],
				mixpolicy.Transition{To: m.step(s, a), P: 1 - g.Slip},
				mixpolicy.Transition{To: m.step(s, (a+1)%4), P: g.Slip / 2},
				mixpolicy.Transition{To: m.step(s, (a+3)%4), P: g.Slip / 2})
			return cost, mixpolicy.Merge(next)
		},
		StateLabel:  func(s int) string { return fmt.Sprintf("(%d, %d)", m.cell[s]/m.cols, m.cell[s]%m.cols) },
		ActionLabel: func(a int) string { return compass[a].name },
	})
}

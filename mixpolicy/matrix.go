package mixpolicy

import (
	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// matrix is Ψ, stored or in factors. Both forms give the same numbers, to the bit.
type matrix interface {
	linprog.Rows
	// add adds (Ψθ)ᵢ to dst, ψ¹ first, for the len(dst) rows from the given one on.
	add(dst []float64, from int, theta []float64)
	// column returns ψʲ, borrowed if it is stored.
	column(j int) []float64
	// dot returns ψʲᵀx.
	dot(j int, x []float64) float64
}

// storedLimit is how many numbers of Ψ are stored: the 8 MiB that a processor keeps
// at hand. An iteration with dense multipliers goes over all of Ψ, which takes half as
// long if its entries need not be multiplied out. Beyond, memory is what is short.
const storedLimit = 1 << 20

// newMatrix returns Ψ of base policies and their state measures.
func newMatrix(x *MDP, policies []*Policy, mu [][]float64) matrix {
	psi := newFactored(x, policies, mu)
	if n, d := psi.Dims(); n*d > storedLimit {
		return psi
	}
	columns := make([][]float64, len(policies))
	for j := range columns {
		columns[j] = psi.column(j)
	}
	return stored{columns}
}

// stored is Ψ by its columns.
type stored struct{ linprog.Columns }

func (c stored) add(dst []float64, from int, theta []float64) {
	for j, v := range c.Columns {
		floats.AddScaled(dst, theta[j], v[from:from+len(dst)])
	}
}

func (c stored) column(j int) []float64 { return c.Columns[j] }

func (c stored) dot(j int, x []float64) float64 { return sum.Dot(c.Columns[j], x) }

// factored is Ψ by its factors, ψʲ_a(s) = πʲ_a(s) μʲ(s).
type factored struct {
	n, m, d  int
	policies []*Policy
	mu       []float64 // μʲ(s) at s·d + j: what a row takes is in one place
}

func newFactored(x *MDP, policies []*Policy, mu [][]float64) *factored {
	c := &factored{n: x.n, m: x.m, d: len(policies), policies: policies, mu: make([]float64, x.n*len(policies))}
	for j, v := range mu {
		for s, p := range v {
			c.mu[s*c.d+j] = p
		}
	}
	return c
}

// Dims implements [linprog.Rows].
func (c *factored) Dims() (n, d int) { return c.n * c.m, c.d }

// Row implements [linprog.Rows].
func (c *factored) Row(dst []float64, i int) {
	s := i / c.m
	a := i - s*c.m
	for j, mu := range c.mu[s*c.d:][:c.d] {
		dst[j] = c.policies[j].Row(s)[a] * mu
	}
}

// Apply implements [linprog.Rows].
func (c *factored) Apply(dst []float64, from int, theta []float64) {
	clear(dst)
	c.add(dst, from, theta)
}

func (c *factored) add(dst []float64, from int, theta []float64) {
	for len(dst) > 0 {
		// As many pairs as stay in the first-level cache until the last feature is added.
		block := dst[:min(len(dst), 1024)]
		for j, t := range theta {
			c.addColumn(block, from, j, t)
		}
		dst, from = dst[len(block):], from+len(block)
	}
}

// addColumn adds t ψʲᵢ to dst, from row from on.
func (c *factored) addColumn(dst []float64, from, j int, t float64) {
	p, mu := c.policies[j], c.mu[j:]
	s := from / c.m
	skip := from - s*c.m
	if p.deterministic() {
		for first := -skip; first < len(dst); s, first = s+1, first+c.m {
			if i := first + p.unit(s); uint(i) < uint(len(dst)) {
				dst[i] += t * mu[s*c.d]
			}
		}
		return
	}
	for ; len(dst) > 0; s, skip = s+1, 0 {
		row := p.Row(s)[skip:]
		row = row[:min(len(row), len(dst))]
		for a, w := range row {
			dst[a] += t * (w * mu[s*c.d])
		}
		dst = dst[len(row):]
	}
}

func (c *factored) column(j int) []float64 {
	psi := make([]float64, c.n*c.m)
	c.addColumn(psi, 0, j, 1)
	return psi
}

// state returns μʲ.
func (c *factored) state(j int) []float64 {
	mu := make([]float64, c.n)
	for s := range mu {
		mu[s] = c.mu[s*c.d+j]
	}
	return mu
}

func (c *factored) dot(j int, x []float64) float64 {
	var total sum.Accumulator
	p := c.policies[j]
	for s := range c.n {
		mu := c.mu[s*c.d+j]
		if p.deterministic() {
			total.Add(mu * x[s*c.m+p.unit(s)])
			continue
		}
		row := p.Row(s)
		for a, v := range x[s*c.m:][:c.m] {
			total.Add(row[a] * mu * v)
		}
	}
	return total.Value()
}

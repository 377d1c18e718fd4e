package mixpolicy

import (
	"bytes"
	"io"
)

// What tests see of the state inside.

// Force makes pair the next one that Sample gives.
func (o *Oracle) Force(pair int) {
	o.used = len(o.drawn) - 1
	o.drawn[o.used] = int32(pair)
}

// CurrentMultipliers returns λ_t, in units of the scaled cost.
func (a *PrimalDual) CurrentMultipliers() []float64 {
	dst := make([]float64, a.p.MDP().Pairs())
	a.lambda.current(dst)
	return dst
}

// Lazy tells whether λ is lazy at this moment.
func (a *PrimalDual) Lazy() bool {
	l, ok := a.lambda.(*lazyMultipliers)
	return ok && !l.dense
}

// SumOfSquares is that of the counts of a simulation, as its two halves.
func SumOfSquares(counts ...int64) (hi, lo uint64, value float64) {
	var q square
	for _, v := range counts {
		q.add(v)
	}
	return q.hi, q.lo, q.float()
}

// LimitPath bounds the path of lazy multipliers.
func (a *PrimalDual) LimitPath(numbers int) { a.lambda.(*lazyMultipliers).longest = numbers }

// MinLinear returns min gᵀθ over 1ᵀθ = 1, ‖θ‖ ≤ R.
func (c Class) MinLinear(g []float64) float64 { return c.minLinear(g) }

// Walk is the path behind lazy multipliers.
type Walk struct{ walk }

// NewHull and NewSegments are its two implementations.
func NewHull() Walk          { return Walk{newHull()} }
func NewSegments(d int) Walk { return Walk{newSegments(d)} }

func (w Walk) Add(point []float64)            { w.add(point) }
func (w Walk) Drawdown(psi []float64) float64 { return w.drawdown(psi) }
func (w Walk) Size() int                      { return w.size() }

// Factored returns the same features with Ψ in factors, as large ones have it.
func (f *Features) Factored() *Features {
	g := *f
	var mu [][]float64
	for j := range f.Dim() {
		mu = append(mu, f.Measure(j).State)
	}
	g.psi = newFactored(f.x, f.base, mu)
	return &g
}

// IsFactored tells whether Ψ is in factors.
func (f *Features) IsFactored() bool {
	_, ok := f.psi.(*factored)
	return ok
}

// Improve is a plain greedy step.
func (x *MDP) Improve(dst, v []float64, actions []int32, tie float64) (lo, hi float64, changed bool) {
	c := x.improve(dst, v, actions, tie, 1)
	return c.lo, c.hi, c.actions
}

// Greedy does greedy steps that leave out what is too far behind.
type Greedy struct{ *greedy }

func NewGreedy(x *MDP) Greedy { return Greedy{newGreedy(x)} }

func (g Greedy) Step(dst, v []float64, tie float64, workers int) (lo, hi float64, changed bool) {
	c := g.step(dst, v, tie, g.x.valueRounding()*(largest(g.x.cost)+largest(v)), workers)
	return c.lo, c.hi, c.actions
}

// Alone tells how many states have no action that could be better than the present one,
// whose q is given.
func (g Greedy) Alone(present []float64) int {
	n := 0
	for s, least := range g.rivals {
		if float64(least) > present[s]-g.rise {
			n++
		}
	}
	return n
}

func (g Greedy) Sweep(dst, v []float64) { g.sweep(dst, v, 1) }

func (g Greedy) Actions() []int32 { return g.actions }

func Unseal(text []byte) ([]byte, error) { return unseal(text, checkpointMagic) }

func Seal(magic string, body []byte) []byte {
	var b bytes.Buffer
	seal(&b, magic, body)
	return b.Bytes()
}

// ParseCheckpoint reads a checkpoint into a method that begins, and returns what would
// be saved then.
func ParseCheckpoint(p *Problem, m Method, set Settings, text []byte) ([]byte, error) {
	o := Must(NewOracle(p, set.Seed, set.Stream))
	if err := m.Init(p, o); err != nil {
		return nil, err
	}
	c, err := newCheckpoint(p, m, set)
	if err != nil {
		return nil, err
	}
	c.o = Must(NewOracle(p, set.Seed, set.Stream))
	if err := m.Init(p, c.o); err != nil {
		return nil, err
	}
	done, due, err := c.parse(text, set.Iterations)
	if err != nil {
		return nil, err
	}
	body, err := c.body(done, due)
	return Seal(checkpointMagic, body), err
}

// ReadPolicies and ReadFeatures read a file from memory, in the format of a path's end.
func ReadPolicies(x *MDP, ext string, text []byte) ([]*Policy, error) {
	t := &pairTable{x: x, name: "p", format: pairFormats[ext]}
	if err := t.format.read(t, bytes.NewReader(text)); err != nil {
		return nil, err
	}
	return t.policies()
}

func ReadFeatures(x *MDP, ext string, text []byte) (*Features, error) {
	t := &pairTable{x: x, name: "psi", format: pairFormats[ext]}
	if err := t.format.read(t, bytes.NewReader(text)); err != nil {
		return nil, err
	}
	return FeaturesFromColumns(x, t.columns...)
}

const CheckpointMagic, FeaturesMagic = checkpointMagic, featuresMagic

func UnsealFeatures(text []byte) ([]byte, error) { return unseal(text, featuresMagic) }

func ParseFeatures(x *MDP, text []byte) (*Features, error) { return parseFeatures(x, text) }

func (f *Features) WriteBinary(w io.Writer) error { return f.writeBinary(w) }

package mixpolicy

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

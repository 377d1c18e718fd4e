package mixpolicy

// Force makes pair the next one that Sample gives.
func (o *Oracle) Force(pair int) {
	o.used = len(o.drawn) - 1
	o.drawn[o.used] = int32(pair)
}

// Insides is what tests see of a run of [PrimalDual].
type Insides interface {
	Run
	CurrentMultipliers() []float64
	Lazy() bool
	LimitPath(numbers int)
}

// CurrentMultipliers returns λ_t, in units of the scaled cost.
func (a *primalDual) CurrentMultipliers() []float64 {
	dst := make([]float64, a.p.MDP().Pairs())
	a.lambda.current(dst)
	return dst
}

// Lazy tells whether λ is lazy at this moment.
func (a *primalDual) Lazy() bool {
	l, ok := a.lambda.(*lazyMultipliers)
	return ok && !l.dense
}

// LimitPath bounds the path of lazy multipliers.
func (a *primalDual) LimitPath(numbers int) { a.lambda.(*lazyMultipliers).longest = numbers }

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

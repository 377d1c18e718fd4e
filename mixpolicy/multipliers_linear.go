package mixpolicy

import "gonum.org/v1/gonum/floats"

// linearMultipliers computes λ_t of the printed (3.26) at single pairs while it has no
// ball. Then nothing is projected, λ_{t+1} = λ_t + ηΨθ_t, so that with W_t = Σ_{k<t} η_kθ_k
//
//	λ_t = ΨW_t,    Σ_{k<t} η_kλ_k = Ψ Σ_{k<t} η_kW_k,
//
// and an iteration costs O(d) whatever nm is.
type linearMultipliers struct {
	f     *Features
	w     []float64 // W_t
	sumW  []float64 // Σ ηW
	total []float64 // Σ ηλ, when it is asked for
}

func newLinearMultipliers(f *Features) *linearMultipliers {
	d := f.Dim()
	return &linearMultipliers{f: f, w: make([]float64, d), sumW: make([]float64, d)}
}

func (l *linearMultipliers) at(_ int, row []float64) float64 { return floats.Dot(row, l.w) }

func (l *linearMultipliers) accumulate(eta float64, _ int, _ float64) {
	floats.AddScaled(l.sumW, eta, l.w)
}

func (l *linearMultipliers) ascend(eta float64, theta []float64) { floats.AddScaled(l.w, eta, theta) }

func (l *linearMultipliers) sum() []float64 {
	if l.total == nil {
		l.total = make([]float64, l.f.x.Pairs())
	}
	l.f.MulVec(l.total, l.sumW)
	return l.total
}

func (l *linearMultipliers) current(dst []float64) { l.f.MulVec(dst, l.w) }

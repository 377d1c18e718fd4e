package priorwork

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// trial tests an answer θ̂ with the n samples that were drawn after it, as the doc comment of [ScaleFree] says.
type trial struct {
	p             *mixpolicy.Problem
	ratios        *mat.Dense      // Ψ/q, less the mean of each row
	region        linprog.Columns // S(H): Ψ, and below it the row of b̄ᵀθ ≤ b̄ᵀθ̂ + H
	answer        []float64       // θ̂
	n             float64
	sums, squares []float64   // for each pair, Σ X_L/q and Σ X_L²
	top, limit    float64     // c_max, L
	near          [64]float64 // near[j] counts the samples with L − 2c_max < |X| < L + 2c_max for L = 3·2ʲc_max
	band          int         // the j of L
}

func newTrial(p *mixpolicy.Problem, top float64, answer []float64) *trial {
	l := zeroVectors(2, p.MDP().Pairs())
	t := &trial{p: p, ratios: p.Features().Dense(), answer: slices.Clone(answer), sums: l[0], squares: l[1], top: top, limit: 3 * top}
	for j := range answer {
		t.region = append(t.region, append(mat.Col(nil, j, t.ratios), 0))
	}
	for i, q := range p.Features().Sampling() {
		if row := t.ratios.RawRowView(i); q > 0 {
			floats.AddConst(-floats.Sum(row)/float64(len(row)), row)
			floats.Scale(1/q, row)
		}
	}
	return t
}

// begin makes theta the answer θ̂ to be tested. It chooses L from the samples that tested the previous answer; the
// argument allowed is ε|b̄ᵀθ̂| for the previous answer.
func (t *trial) begin(theta []float64, allowed float64) {
	copy(t.answer, theta)
	clear(t.sums)
	clear(t.squares)
	for t.band = 0; t.band < len(t.near)-1 && t.clipped() > allowed/4; t.band++ {
	}
	t.n, t.near, t.limit = 0, [64]float64{}, math.Ldexp(3*t.top, t.band)
}

// clipped returns an estimate of 2πc_max.
func (t *trial) clipped() float64 { return 2 * t.top * t.near[t.band] / t.n }

// add counts a sample, and returns its X_L.
func (t *trial) add(pair int, cost, q float64) float64 {
	x := min(max(cost, -t.limit), t.limit)
	t.n, t.sums[pair], t.squares[pair] = t.n+1, t.sums[pair]+x/q, t.squares[pair]+x*x
	for j, limit := 0, 3*t.top; j < len(t.near) && math.Abs(cost)-t.top > limit-3*t.top; j, limit = j+1, 2*limit {
		if math.Abs(cost)-2*t.top < limit {
			t.near[j]++
		}
	}
	return x
}

// excess returns bound, own and allowed; a run ends by itself once bound ≤ allowed. In the terms of [ScaleFree], own is
// b̄ᵀθ̂ − min b̄ᵀθ, bound is own + H + ε(h(θ̂) + π̄c_max), and allowed is ε|b̄ᵀθ̂|. If own alone exceeds allowed, or if
// V cannot be factorised, bound is +∞.
func (t *trial) excess(tolerance float64) (bound, own, allowed float64) {
	b, reach, m := make([]float64, len(t.answer)), make([]float64, len(t.answer)), make([]float64, len(t.sums)) // b̄, r, m/q
	t.p.Features().MulVecT(b, t.sums)
	floats.Scale(1/t.n, b)
	value, centred := floats.Dot(b, t.answer), slices.Clone(b)
	floats.AddConst(-floats.Sum(b)/float64(len(b)), centred)
	own, allowed = value-t.least(t.p.Features(), b), tolerance*math.Abs(value)
	share := t.near[t.band] / t.n
	clipping := t.top * (share + t.bernstein(share*(1-share)*t.n/(t.n-1), 1))
	t.p.Features().MulVec(m, t.answer)
	square, most := 0., 0. // Σ (xᵀθ̂)², max (Ψθ̂)_i/q_i
	for i, q := range t.p.Features().Sampling() {
		if q > 0 {
			square, most = square+t.squares[i]*(m[i]/q)*(m[i]/q), max(most, m[i]/q)
		}
	}
	price := tolerance * (t.bernstein(square/(t.n-1), 2*t.limit*most) + clipping)
	var v mat.SymDense
	var weighted, u, along mat.Dense // column j of along is |ΨPu_j|/q
	var eigen mat.EigenSym
	weighted.Apply(func(i, _ int, v float64) float64 { return v * math.Sqrt(t.squares[i]) }, t.ratios)
	v.SymOuterK(1/(t.n-1), weighted.T())
	v.SymRankOne(&v, -t.n/(t.n-1), mat.NewVecDense(len(b), centred))
	if own > allowed || !eigen.Factorize(&v, true) {
		return math.Inf(1), own, allowed
	}
	eigen.VectorsTo(&u)
	along.Mul(t.ratios, &u)
	along.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, &along)
	for h := math.MaxFloat64 / 4; ; {
		for j, v := range b {
			t.region[j][len(m)] = value + h - v
		}
		variance := 0.
		for j, v := range eigen.Values(nil) {
			way, back := mat.Col(nil, j, &u), mat.Col(nil, j, &u)
			floats.Scale(-1, back)
			at := floats.Dot(way, t.answer)
			reach[j] = max(at-t.least(t.region, way), -at-t.least(t.region, back))
			variance += max(0, v) * reach[j] * reach[j]
		}
		mat.NewVecDense(len(m), m).MulVec(&along, mat.NewVecDense(len(b), reach))
		last := h
		h = min(h, t.bernstein(variance, 2*t.limit*floats.Max(m))+min(2, floats.Dot(m, t.p.Features().Sampling()))*clipping)
		if bound = own + h + price; h > .9*last || bound <= allowed {
			return bound, own, allowed
		}
	}
}

// bernstein returns √(2V ln(2/δ)/n) + 7K ln(2/δ)/3(n−1), where V = variance, K = reach and ln(2/δ) = 17.
func (t *trial) bernstein(variance, reach float64) float64 {
	return math.Sqrt(2*variance*17/t.n) + 7*reach*17/(3*(t.n-1))
}

// least returns a lower bound on bᵀθ for 1ᵀθ = 1, θ in the class and psi θ ⪰ 0. If linprog finds no bound, least
// returns −10¹⁵⁰, with which excess proves nothing.
func (t *trial) least(psi linprog.Rows, b []float64) float64 {
	class := t.p.Class()
	s, _ := linprog.Mixture{B: b, Psi: psi, Norm: class.Norm, R: class.R}.Solve(context.Background(), linprog.Settings{})
	if s == nil || !(s.Bound > -1e150) {
		return -1e150
	}
	return s.Bound
}

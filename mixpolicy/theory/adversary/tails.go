package adversary

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// ends returns, for every path of a process with the given number of steps, the probability of the path and the sum of
// its differences. Each step takes one of two differences. There are 2ᵗ nodes at time t, numbered from 2ᵗ − 1. At a
// node, the function outcomes returns the two differences and the probability of the first.
func ends(steps int, outcomes func(t, node int) (a, b, p float64)) (all []outcome) {
	all = []outcome{{0, 1}}
	for t := range steps {
		var next []outcome
		for k, o := range all {
			a, b, p := outcomes(t, 1<<t-1+k)
			next = append(next, outcome{o.value + a, o.probability * p}, outcome{o.value + b, o.probability * (1 - p)})
		}
		all = next
	}
	return all
}

// tail returns ln(1/P[sum ≥ δ]) and δ, where δ is the greatest sum that is at most f times the maximal sum, because a
// bound on the tail is tightest at a value that the sum takes. If no sum is that small, δ is the least sum. For a
// negative δ, tail returns 0 instead of δ. If sizes is true, tail first replaces each sum by its absolute value.
func tail(f float64, all []outcome, sizes bool) (exponent, delta float64) {
	for i, o := range all {
		if sizes {
			all[i].value = math.Abs(o.value)
		}
	}
	delta, most := slices.MinFunc(all, outcome.compare).value, slices.MaxFunc(all, outcome.compare).value
	for _, o := range all {
		if o.value <= f*most*(1+1e-12) {
			delta = max(delta, o.value)
		}
	}
	var probability float64
	for _, o := range all {
		if o.value >= delta-1e-12*math.Abs(delta) {
			probability += o.probability
		}
	}
	return -math.Log(min(1, probability)), max(0, delta)
}

// martingales returns laws for sums of three bounded martingale differences that depend on the
// past: (5.19a), for the errors, and (5.20a), for the squared errors.
func martingales(x []float64) []Law {
	const steps, nodes = 3, 1<<3 - 1
	c := x[2*nodes : 2*nodes+steps]
	squares := floats.Dot(c, c)
	sums := func(narrow float64) []outcome { // two values in [−c_t, c_t] with mean 0, at most c_t apart if narrow is 1
		return ends(steps, func(t, i int) (a, b, p float64) {
			a, b = max(x[i], 1e-9), -max(x[nodes+i], 1e-9)
			width := max(1, narrow*(a-b))
			return a / width * c[t], b / width * c[t], -b / (a - b)
		})
	}
	both, delta := tail(x[len(x)-1], sums(0), true)
	one, epsilon := tail(x[len(x)-1], sums(1), false) // Y_t is in [0, c_t]
	return []Law{
		{"5.19a", "δ²/(2Σc_t²) ≤ ln(2/P[|ΣX_t| ≥ δ]), |X_t| ≤ c_t = 2RC_eη_t, c₀ = 1", "",
			Side{delta * delta / (2 * squares), math.Ln2 + both, 0}},
		{"5.20a", "2δ²/Σc_t² ≤ ln(1/P[Σ(Y_t − E[Y_t|F_t]) ≥ δ]), 0 ≤ Y_t ≤ c_t = η_t²C_e²", "",
			Side{2 * epsilon * epsilon / squares, one, 1e-3}},
	}
}

// norms returns laws for two dependent variables of three values each.
func norms(v []float64) []Law {
	const loose = "the constant 4 serves both directions; in this direction, 1 is enough"
	x, y, p := v[0:3], v[3:6], distribution(v[6:9]...)
	orlicz := func(nu float64, x []float64) float64 { return mixpolicy.Must(theory.OrliczNorm(nu, x, p)) }
	moments := func(nu float64) float64 { return mixpolicy.Must(theory.MomentNorm(nu, x, p)) }
	both, squares := floats.AddTo(make([]float64, 3), x, y), floats.MulTo(make([]float64, 3), x, x)
	top := floats.Norm(x, math.Inf(1))
	two, one, moment2, moment1 := orlicz(2, x), orlicz(1, x), moments(2), moments(1)
	e := 0.0
	for i, s := range squares {
		e += p[i] * math.Exp(s/(2*top*top))
	}
	return []Law{
		{"Lemma 5.2", "‖X‖_ψ₂ ≤ √2·b, |X| ≤ b = 2RC_e", "", Side{two, math.Sqrt2 * top, 0}},
		{"Lemma 5.2", "‖X²‖_ψ₁ ≤ b²/ln 2, |X| ≤ b = C_e", "", Side{orlicz(1, squares), top * top / math.Ln2, 0}},
		{"A.4", "E exp(X²/2b²) ≤ √e, |X| ≤ b", "", Side{e, math.Exp(0.5), 0}},
		{"Lemma A.1", "‖X+Y‖_ψ₂ ≤ ‖X‖_ψ₂ + ‖Y‖_ψ₂", "", Side{orlicz(2, both), two + orlicz(2, y), 0}},
		{"Lemma A.1", "‖X+Y‖_ψ₁ ≤ ‖X‖_ψ₁ + ‖Y‖_ψ₁", "", Side{orlicz(1, both), one + orlicz(1, y), 0}},
		{"Definition 2.2", "sup q^−½(E|X|^q)^{1/q} ≤ 4‖X‖_ψ₂", loose, Side{moment2, 4 * two, 0}},
		{"Definition 2.2", "‖X‖_ψ₂ ≤ 4 sup q^−½(E|X|^q)^{1/q}", "", Side{two, 4 * moment2, 0}},
		{"Definition 2.3", "sup q^−1(E|X|^q)^{1/q} ≤ 4‖X‖_ψ₁", loose, Side{moment1, 4 * one, 0}},
		{"Definition 2.3", "‖X‖_ψ₁ ≤ 4 sup q^−1(E|X|^q)^{1/q}", "", Side{one, 4 * moment1, 0}},
	}
}

// vectors returns laws for a random vector Z in two dimensions that takes three values.
func vectors(v []float64) []Law {
	// The norm of ⟨x, Z⟩ is convex in x, and at most K‖x‖₂. If the directions x are an angle h apart,
	// the best of them gives K to within K·h/2.
	const directions, near = 48, (1 - math.Pi/48/2) * (1 - math.Pi/48/2)
	p, squares, inner := distribution(v[6:9]...), make([]float64, 3), make([]float64, 3)
	var k, top float64
	for i := range squares {
		squares[i] = v[2*i]*v[2*i] + v[2*i+1]*v[2*i+1]
		top = max(top, math.Sqrt(squares[i]))
	}
	for j := range directions {
		sin, cos := math.Sincos(math.Pi * float64(j) / directions)
		for i := range inner {
			inner[i] = cos*v[2*i] + sin*v[2*i+1]
		}
		k = max(k, mixpolicy.Must(theory.OrliczNorm(2, inner, p)))
	}

	return []Law{
		{"Lemma A.3", "‖‖Z‖₂²‖_ψ₁ ≤ dK², K = ‖Z‖_ψ₂", "", Side{mixpolicy.Must(theory.OrliczNorm(1, squares, p)), 2 * k * k / near, 0}},
		{"A.8", "‖Z‖_ψ₂ ≤ √2·b, ‖Z‖₂ ≤ b = C(d)C_e", "", Side{k, math.Sqrt2 * top, 0}},
	}
}

// exponentials returns laws for sums of two differences that depend on the past: (A.6) for sub-Gaussian differences,
// and (A.9) for sub-exponential differences.
func exponentials(x []float64) []Law {
	const steps, nodes = 2, 1<<2 - 1
	at := func(_, i int) (a, b, p float64) {
		a, b = x[i], -x[nodes+i]
		return a, b, -b / (a - b)
	}
	var sigma, width [steps]float64
	for t := range steps {
		for i := 1<<t - 1; i < 2<<t-1; i++ {
			a, b, p := at(t, i)
			from := x[2*nodes+i] * max(a, -b) // X − EX is a or b; EX is from
			chances := []float64{p, 1 - p}
			sigma[t] = max(sigma[t], mixpolicy.Must(theory.OrliczNorm(2, []float64{a, b}, chances)))
			width[t] = max(width[t], mixpolicy.Must(theory.OrliczNorm(1, []float64{a + from, b + from}, chances)))
		}
	}
	sums := ends(steps, at)
	one, epsilon := tail(x[len(x)-1], sums, false)
	both, delta := tail(x[len(x)-1], sums, true)
	return []Law{
		{"A.6", "δ²/(4Σσ_t²) ≤ ln(2/P[|ΣX_t| ≥ δ]), ‖X_t‖_ψ₂ ≤ σ_t given the past",
			"a short proof gives c = ¼; for T random signs, the exponent tends to δ²/2T, and the bound has ln 2/2 = 0.35 of this limit",
			Side{delta * delta / (4 * floats.Dot(sigma[:], sigma[:])), math.Ln2 + both, 0}},
		{"A.9", "¼min{δ²/‖b‖₂², δ/‖b‖_∞} ≤ ln(1/P[Σ(X_t − E[X_t|F_t]) ≥ δ]), ‖X_t‖_ψ₁ ≤ b_t given the past",
			"c = ¼ also covers small deviations; for rare values of norm b, the exponent is near δ/b, four times that of the bound",
			Side{min(epsilon*epsilon/floats.Dot(width[:], width[:]), epsilon/floats.Max(width[:])) / 4, one, 1e-3}},
	}
}

// gaussians returns laws for sums of squares. In the first law, X_i = √(1−r)·(random sign) + √r·N(0, 1), with variance
// proxy 1; the other two laws are for N(0, I_d). The first and the last law compare logarithms.
func gaussians(x []float64) []Law {
	r, lambda, d := x[0], x[1], math.Floor(x[2])
	one := -math.Log1p(-2*lambda*r)/2 + lambda*(1-r)/(1-2*lambda*r) // ln E exp(λX_i²)
	centred := func(l float64) float64 { return -d * (math.Log1p(-2*l)/2 + l) }
	l := math.Copysign(min(lambda, 0.25), r-0.5)
	return []Law{
		{"A.11", "E exp(λ‖X‖²) ≤ (1−2λ)^−d/2", "", Side{one, -math.Log1p(-2*lambda) / 2, 0}},
		{"A.12", "E exp(λ(‖X‖² − E‖X‖²)) ≤ 2 for N(0, I_d) at λ = min{¼, √(ln 2/2d)}", "",
			Side{math.Exp(centred(min(0.25, math.Sqrt(math.Ln2/(2*d))))), 2, 0}},
		{"A.12", "ln E exp(λ(‖X‖² − E‖X‖²)) ≤ 2dλ² for N(0, I_d), |λ| ≤ ¼", "", Side{centred(l), 2 * d * l * l, 0}},
	}
}

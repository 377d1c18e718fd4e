package adversary

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// distribution returns weights divided by their sum, or the uniform distribution for weights 0.
func distribution(weights ...float64) []float64 {
	p := append([]float64(nil), weights...)
	if total := floats.Sum(p); total > 0 {
		floats.Scale(1/total, p)
	} else {
		floats.AddConst(1/float64(len(p)), p)
	}
	return p
}

// steady returns the measure μ = (1−γ)α + γμP of three states.
func steady(gamma float64, alpha []float64, p [3][]float64) []float64 {
	// (I − γPᵀ + c11ᵀ)μ = (1−γ)α + c1, where c = 1 makes the average-cost system regular.
	a, b := mat.NewDense(3, 3, nil), mat.NewVecDense(3, nil)
	for i := range 3 {
		for j := range 3 {
			a.Set(j, i, 1-gamma*p[i][j])
		}
	}
	for i := range 3 {
		a.Set(i, i, a.At(i, i)+1)
		b.SetVec(i, (1-gamma)*alpha[i]+1)
	}
	var mu mat.VecDense
	if err := mu.SolveVec(a, b); err != nil {
		panic(err) // a column of P has entries of 10⁻³ at least, or 1 − γ is that
	}
	return mu.RawVector().Data
}

type criterion string

const (
	mean       criterion = "average cost"
	discounted criterion = "discounted"
)

// chains is the space of Lemma 3.3: three states, two actions, a combination Ψθ of the measures of
// two policies. Rows of P have an entry 10⁻³ at least for state 0, which all policies then reach.
func chains(c criterion) Space {
	s := Space{
		Name: "processes of three states, " + string(c),
		Parameters: append(append(several(18, Parameter{Name: "P", Hi: 1}), several(6, Parameter{Name: "π", Hi: 1})...),
			Parameter{Name: "θ", Lo: 1e-3, Hi: 1e3, Log: true}, Parameter{Name: "leak", Lo: 1e-3, Hi: 1, Log: true}),
	}
	add := func(statement, what string) { // 1 bounds every distance
		s.Bounds = append(s.Bounds, Bound{Statement: statement, What: what + ", " + string(c)}, Bound{Statement: statement, What: what + ", " + string(c) + ", where the right side is less than 1"})
	}
	add("3.36", "total variation − ε ≤ Distance − ε")
	if c == mean {
		add("Lemma 3.3", "total variation − ε ≤ min{1, 2τ_mix(¼)ε/(1+ε)}")
	} else {
		s.Parameters = append(append(s.Parameters, several(3, Parameter{Name: "α", Hi: 1})...), Parameter{Name: "1−γ", Lo: 1e-3, Hi: 1, Log: true})
	}
	s.Sides = func(x []float64) []Side {
		gamma, alpha, by := 1.0, []float64{1, 0, 0}, mixpolicy.AverageCost
		if c == discounted {
			gamma, alpha = 1-x[29], distribution(x[26:29]...)
			by = mixpolicy.Discounted(gamma)
		}
		leak := x[25]
		next := func(state, action int) []float64 {
			p := distribution(x[9*action+3*state : 9*action+3*state+3]...)
			floats.Scale(1-leak, p)
			p[0] += leak
			return p
		}
		under := func(policy []float64) (p [3][]float64) {
			for i := range p {
				p[i] = floats.AddScaledTo(make([]float64, 3), scaled(policy[i], next(i, 0)), 1-policy[i], next(i, 1))
			}
			return p
		}
		// u by state and action, of weights θ and 1 − θ.
		var u [3][2]float64
		for k, weight := range []float64{1 + x[24], -x[24]} {
			policy := x[18+3*k : 21+3*k]
			mu := steady(gamma, alpha, under(policy))
			for i, m := range mu {
				u[i][0] += weight * m * policy[i]
				u[i][1] += weight * m * (1 - policy[i])
			}
		}
		policy, mass := make([]float64, 3), 0.0
		for i, v := range u {
			mass += max(0, -v[0]) + max(0, -v[1])
			policy[i] = distribution(max(0, v[0]), max(0, v[1]))[0]
		}
		chain := under(policy)
		mu := steady(gamma, alpha, chain)
		var tv float64
		for i, v := range u {
			tv += (math.Abs(v[0]-mu[i]*policy[i]) + math.Abs(v[1]-mu[i]*(1-policy[i]))) / 2
		}
		contraction := max(theory.TotalVariation(chain[0], chain[1]), theory.TotalVariation(chain[0], chain[2]), theory.TotalVariation(chain[1], chain[2]))
		size := 1 + x[24] // of u; the measures have 13 digits at least, as 1 − γ or the leak is 10⁻³
		var sides []Side
		add := func(right float64) {
			side := Side{tv - mass, right, size}
			sides = append(sides, side)
			if right >= 1-rounding {
				side.Right = math.Inf(1)
			}
			sides = append(sides, side)
		}
		add(theory.Distance(mixpolicy.Corrected, by, -1/math.Log(contraction), 0, mass) - mass)
		if c == mean {
			add(min(1, 2*float64(mixingTime(chain, mu))*mass/(1+mass)))
		}
		return sides
	}
	return s
}

// mixingTime is τ_mix(¼) by its definition (2.23): 1400 at most, as d(t) ≤ (1 − 10⁻³)ᵗ.
func mixingTime(p [3][]float64, mu []float64) int {
	power := p
	for t := 1; ; t++ {
		d := 0.0
		for i := range power {
			d = max(d, theory.TotalVariation(power[i], mu))
		}
		if d <= 0.25 {
			return t
		}
		var next [3][]float64
		for i := range next {
			next[i] = make([]float64, 3)
			for j, v := range power[i] {
				floats.AddScaled(next[i], v, p[j])
			}
		}
		power = next
	}
}

func scaled(c float64, x []float64) []float64 { return floats.ScaleTo(make([]float64, len(x)), c, x) }

// process is that of [mixing]: rows of P as in [chains], and a policy.
func process(x []float64) (*mixpolicy.MDP, *mixpolicy.Policy) {
	leak := x[23]
	y := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{States: 3, Actions: 2, Criterion: mixpolicy.AverageCost,
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			next := make([]mixpolicy.Transition, 3)
			for i, v := range distribution(x[9*a+3*s : 9*a+3*s+3]...) {
				next[i] = mixpolicy.Transition{To: i, P: (1 - leak) * v}
			}
			next[0].P += leak
			return 0, next
		}}))
	return y, mixpolicy.Must(mixpolicy.PolicyFunc(y, func(s int, row []float64) { row[0], row[1] = x[18+s], 1-x[18+s] }))
}

// mixing is the space of what package theory says of mixing: an average-cost process of three
// states and two actions, with a policy.
func mixing() Space {
	return Space{
		Name: "mixing",
		Parameters: append(append(several(18, Parameter{Name: "P", Hi: 1}), several(3, Parameter{Name: "π", Hi: 1})...),
			Parameter{Name: "steps", Lo: 1, Hi: 6}, Parameter{Name: "ε", Lo: 1e-3, Hi: 0.999, Log: true}, Parameter{Name: "leak", Lo: 1e-3, Hi: 1, Log: true}),
		Bounds: []Bound{
			{Statement: "2.24", What: "δ(Pᵗ) ≤ 2d(t)"},
			{Statement: "2.24", What: "d(t) ≤ δ(P)ᵗ"},
			{Statement: "2.23", What: "τ_mix(ε) of a policy ≤ UniformMixingTime"},
		},
		Sides: func(x []float64) []Side {
			ctx := context.Background()
			y, p := process(x)
			t, eps := int(x[21]), x[22]
			curve := mixpolicy.Must(theory.MixingCurve(ctx, y, p, nil, t))
			one := mixpolicy.Must(theory.ContractionCoefficient(ctx, y, p, 1)).Coefficient
			after := mixpolicy.Must(theory.ContractionCoefficient(ctx, y, p, t)).Coefficient
			return []Side{
				{after, 2 * curve[t], 1},
				{curve[t], math.Pow(one, float64(t)), 1},
				{float64(mixpolicy.Must(theory.MixingTime(ctx, y, p, eps)).Time), float64(mixpolicy.Must(theory.UniformMixingTime(ctx, y, eps))), 0},
			}
		},
	}
}

// ergodicity is the space of (2.25): the masses of a policy's stationary distribution.
func ergodicity() Space {
	s := mixing()
	s.Name = "masses"
	s.Bounds = []Bound{{Statement: "2.25", What: "max{nμ(s), 1/(nμ(s))} ≤ √κ, κ of UniformErgodicity"}}
	s.Sides = func(x []float64) []Side {
		y, p := process(x)
		worst := 0.0
		for _, m := range mixpolicy.Must(y.Occupation(context.Background(), p)).State {
			worst = max(worst, 3*m, 1/(3*m))
		}
		return []Side{{worst, math.Sqrt(mixpolicy.Must(theory.UniformErgodicity(context.Background(), y)).Upper), 0}}
	}
	return s
}

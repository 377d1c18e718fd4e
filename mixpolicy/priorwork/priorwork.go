// Package priorwork implements two groups of methods: those with which section 4 of the paper compares Algorithm 1, and
// further related methods. For each method, [Publications] states the source and the known differences from the source.
// If we did not have the text of the source, Publications says so.
//
//	full LP (2.9), (2.13)                SolveLP
//	ALP (4.1)                            ALP              de Farias and Van Roy 2003
//	constraint sampling (4.4)–(4.9)      ConstraintSampling, Lyapunov, CostSampleSize
//	                                                      de Farias and Van Roy 2004
//	smoothed ALP (4.10)–(4.13)           SALP             Desai, Farias and Moallemi 2012
//	… by a primal–dual method            SmoothedPrimalDual   announced in the abstract, derived here
//	dual ALP (4.14)–(4.15)               DualALP, SparseDualALP
//	                                                      Abbasi-Yadkori, Bartlett and Malek 2014
//	penalty, mixtures (4.16)             mixpolicy.Penalty    Banijamali et al. 2018
//	π-learning                           PiLearning       Wang 2017
//	randomised LP, discounted            RandomizedLP     Wang 2020
//	mirror descent, box and simplex      BoxMirror        Jin and Sidford 2020
//	… from logged transitions            OfflinePrimalDual Gabbianelli, Neu, Papini and Okolo 2024
//	plug-in for (2.18)                   mixpolicy.PlugIn
//	… with medians of means              MedianPlugIn     Nemirovski and Yudin 1983
//	plug-in for the whole MDP            CertaintyEquivalence Azar, Munos and Kappen 2013
//	mirror-prox, PDHG, known costs       MirrorProx, PDHG     Nemirovski 2004; Applegate et al. 2023
//	… reflected, with an anchor          HalpernPDHG          Lu and Yang 2024
//	exact LPs, known costs               MixtureLP, FullLP, ApproximateLP, SmoothedLP
//	forms of Algorithm 1                 ScaleFree, VarianceReduced, LastIterate, mixpolicy.PrimalDual.RowScaling
//
// We did not implement some related methods: the method of Tiapkin and Gasnikov (2021), which uses a generative model;
// the methods of Cheng and others (2020), Bas-Serrano and Neu (2020) and Neu and Okolo (2023), which use features; and
// the methods of Carmon and others (2019) and Alacaoglu and Malitsky (2022), which reduce the variance in matrix games.
//
// Every method that learns costs is a mixpolicy.Method, and receives the costs from a mixpolicy.Oracle. mixpolicy.Solve
// runs such methods, and package race compares them. If the answer of a method is a policy instead of weights θ, the
// method's run is a mixpolicy.PolicyRun. The answers of ConstraintSampling and SmoothedPrimalDual are greedy policies,
// which are computed with the true costs of all pairs.
//
// Primal methods ([ALP], [SALP]) approximate the value function, v ≈ Φν, with a basis Φ ∈ ℝ^{n×d} of functions on
// states. Dual methods approximate the occupation measure, ξ ≈ Ψθ, with features of pairs. Both kinds of methods lead
// to linear programs with few variables and with a constraint for each pair. Package linprog solves such programs.
package priorwork

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy"
)

// positive returns v, or the given default if v is 0. It returns an error unless the result is finite and positive.
func positive(v, byDefault float64, what string) (float64, error) {
	if v = cmp.Or(v, byDefault); !(v > 0) || math.IsInf(v, 1) {
		return 0, fmt.Errorf("priorwork: %s = %v, want a finite number > 0", what, v)
	}
	return v, nil
}

// policyOnly is embedded in runs without θ.
type policyOnly struct{}

// View implements [mixpolicy.Run].
func (policyOnly) View(s *mixpolicy.Snapshot) error {
	*s = mixpolicy.Snapshot{}
	return nil
}

// zeroVectors returns count zero vectors of length n.
func zeroVectors(count, n int) [][]float64 {
	return slices.Collect(slices.Chunk(make([]float64, count*n), n))
}

// barycentre returns (1/d, …, 1/d), which is feasible for (2.18) if Ψ ⪰ 0 and Θ_R meets the hyperplane.
func barycentre(d int) []float64 { return slices.Repeat([]float64{1 / float64(d)}, d) }

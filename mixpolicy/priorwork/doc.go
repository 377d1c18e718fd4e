// Package priorwork holds the systems that section 4 compares with, each with its source
// and its parameters as published.
//
//	full LP (2.9), (2.13)                SolveLP, CheckLP
//	ALP (4.1)                            ALP              de Farias and Van Roy 2003
//	constraint sampling (4.4)–(4.9)      ConstraintSampling, Lyapunov, SampleSize
//	                                                      de Farias and Van Roy 2004
//	smoothed ALP (4.10)–(4.13)           SALP             Desai, Farias and Moallemi 2012
//	… by a primal–dual method            SmoothedPrimalDual   promised by the abstract, derived here
//	dual ALP (4.14)–(4.15)               DualALP          Abbasi-Yadkori, Bartlett and Malek 2014
//	penalty, mixtures (4.16)             mixpolicy.Penalty    Banijamali et al. 2018
//	π-learning                           PiLearning       Chen and Wang 2016, Wang 2017
//	randomised LP, discounted            RandomizedLP     Wang 2020
//	plug-in for (2.18)                   mixpolicy.PlugIn
//	plug-in for the whole MDP            CertaintyEquivalence Azar, Munos and Kappen 2013
//	mirror-prox, PDHG, known costs       MirrorProx, PDHG     Nemirovski 2004; Applegate et al. 2023
//	exact LPs, known costs               MixtureLP, FullLP, ApproximateLP, SmoothedLP
//	forms of Algorithm 1                 LastIterate, VarianceReduced, mixpolicy.PrimalDual.RowScaling
//
// All are mixpolicy.Methods, to be run by mixpolicy.Solve and compared by package race. Those
// that find a policy by way of a value function or of the whole measure have runs without a
// θ, mixpolicy.PolicyRun. All that learn costs learn them from the same oracle.
//
// Two ways to look at a policy process meet here. The primal ones ([ALP], [SALP]) approximate
// the value function v ≈ Φν by a basis Φ ∈ ℝ^{n×d} of functions on states; the dual ones
// approximate the occupation measure, ξ ≈ Ψθ, by features of pairs. Both have few variables
// and as many constraints as there are pairs, so that linprog solves them exactly.
package priorwork

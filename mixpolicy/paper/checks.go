package paper

// checks are the computations that decide the entries of data/index.csv, by their numbers, but of those that are [Laws].
var checks = map[string]check{
	"2.1": checkSubdifferential, "2.2": checkConjugate, "2.3": checkOrlicz, "2.4": momentNorm(2), "2.5": vectorNorm(2),
	"2.6": momentNorm(1), "2.7": vectorNorm(1), "2.8": checkBellman, "2.9a": checkPrimalOrthant, "2.9b": checkPrimalInequality,
	"2.10": checkSeries, "2.11": checkResolvent, "2.12": checkOccupationCost, "2.13a": checkDualValue, "2.13b": checkFlow,
	"2.13c": checkDistributionConstraint, "2.14": also(checkPolicyFromDual, checkUnvisited), "2.15a": checkReducedObjective,
	"2.15b": checkReducedFlow, "2.15c": checkReducedMass, "2.16": checkMixture, "2.17": checkXi, "2.18a": checkReduction,
	"2.18b": checkReduction, "2.19": checkFeasibleSet, "2.20": checkPolicyFallback, "2.21": checkEfficiency,
	"2.22": checkExpandedEfficiency, "2.23": checkMixing, "2.24": checkContraction, "2.25": checkErgodicity,
	"Definition 2.1": checkOrlicz, "Definition 2.2": momentIsOrlicz(2), "Definition 2.3": momentIsOrlicz(1),
	"Definition 2.4": checkLegendre, "Definition 2.5": checkDivergence, "Definition 2.6": checkPairOrder, "Definition 2.7": checkPolicy,
	"Definition 2.8": checkEfficiency, "Definition 2.9": checkExpandedEfficiency, "Assumption A.1": checkMixing,
	"Assumption A.2": checkErgodicity, "Assumption A.3": checkOracle,

	"3.1": checkStrongDuality, "3.2": checkSaddle, "3.3": checkLambdaBall, "3.4": checkGradLambda, "3.5a": checkUnbiased,
	"3.6": checkUnbiased, "3.7": checkBallValue, "3.8": checkBallConjugate, "3.9": checkBallDivergence, "3.10": checkCubeValue,
	"3.11": checkCubeConjugate, "3.12": checkCubeDivergence, "3.13": also(checkMirrorStep, witnessHats), "3.14a": checkDualStep,
	"3.14b": checkProjection, "3.15": checkKKT, "3.16": checkKKT, "3.17": checkShiftPrimal, "3.18": checkShiftRoot, "3.19": checkJ,
	"3.20": checkShiftMinimum, "3.21": checkBallJ, "3.22": checkClosedForm, "3.23": checkJ, "3.24": checkJSecond,
	"3.25a": checkDualStep, "3.25b": checkShiftMinimum, "3.25c": checkShiftPrimal, "3.26": checkLambdaStep, "3.27a": checkAverages,
	"3.28": checkPolicyFallback, "3.29": checkDiameter, "3.30": checkA, "3.31": checkObjectiveBound, "3.32": checkExpectedBound,
	"3.33": checkViolationBound, "3.34a": checkB, "3.34b": checkCe, "3.35": checkRate, "3.36": checkDistance, "3.37": checkSampleSize,
	"3.38": checkNearBest, "Definition 3.1": checkSaddle, "Lemma 3.2": checkMultiplierNorm, "Algorithm 1": checkAlgorithm,
	"Proposition 3.1": checkProposition, "Lemma 3.3": checkDistance, "Theorem 3.4": checkSampleSize,

	"4.1a": checkALPDirection, "4.1b": checkALPConstraint, "4.2": checkPolicyLoss, "4.3": checkLyapunovBound,
	"4.4": checkSamplingDistribution, "4.5": checkSamplingConstant, "4.6": checkConstraintCount, "4.7": checkReducedDirection,
	"4.8": checkReducedConstraints, "4.9": checkSampledError, "4.10": checkSmoothedDirection, "4.11": checkSmoothed,
	"4.12": checkSmoothed, "4.13": checkSmoothedBound, "4.14": checkDualALP, "4.15": checkPenaltyBound, "4.16": checkMixtureBound,

	"5.4": checkPythagoras, "5.19a": also(checkErrorTail, checkSureDeviation), "5.20a": checkSquareTail, "5.21": checkHighProbability,
	"5.22": checkLikely("5.22"), "5.23": checkLikely("5.23"), "5.24": checkLikely("5.24"), "5.26": checkLikely("5.26"),
	"5.28": checkLikely("5.28"), "5.29": checkReach, "5.31a": checkStepSum, "5.31b": checkSquareSums, "5.32": checkInExpectation,
	"5.34": checkLikely("5.34"), "5.35": checkGapBelow, "5.36": also(checkAlongRuns("5.36"), checkViolationBelow),
	"Lemma 5.1": checkCosines, "Proposition 5.1": checkPythagoras, "Lemma 5.2": checkErrorNorms,

	"6.1": checkTransitionLaw, "6.2": checkQueueCost, "6.3a": checkBasePolicies, "6.3b": checkBasePolicies, "Figure 1": checkVisits,
	"Figure 2": checkProtocol,

	"A.1": checkMeanZero, "A.3": checkErrorBound, "A.4": checkExponentialMoment, "A.5": checkConditional, "A.6": checkAzuma,
	"A.7": checkUnitExponents, "A.8": checkUnitDirections, "A.9": checkBernstein, "A.10": checkGaussianAverage,
	"A.11": checkGaussianBound, "A.12": checkSquaredMoment, "Lemma A.1": checkSumNorm, "Lemma A.2": checkAzuma,
	"Lemma A.3": checkSquaredNorm, "Lemma A.4": checkBernstein,
}

// witnesses are the computations that decide the errata of data/errata.md, by their names.
var witnesses = map[string]check{
	"argmin": witnessArgmin, "subordinate-norm": witnessSubordinate, "strong-convexity-sign": witnessStrongConvexity,
	"orlicz-centring": checkOrlicz, "moment-norms": momentIsOrlicz(2), "pair-order": checkPairOrder, "bellman-argument": witnessBellman,
	"sign-of-costs":  everyPlace(checkPrimalOrthant, checkGapBelow, checkViolationBelow),
	"cost-or-reward": everyPlace(checkPrimalInequality, checkALPDirection, checkReducedDirection),
	"stationary":     also(everyPlace(checkStationary, checkFlow, checkReducedFlow, checkMixing), checkRestarting),
	"value-factor":   witnessValueFactor, "mixture-of-measures": witnessMixtures, "hyperplane": witnessHyperplane,
	"two-measures": witnessTwoMeasures, "policy-fallback": checkPolicyFallback,
	"one-step-contraction": also(checkContraction, checkRestartingContracts), "unichain": witnessUnichain,
	"model-free": witnessModelFree, "multiplier-norm": witnessMultipliers, "lambda-step": everyPlace(checkGradLambda, checkLambdaStep),
	"index-set": checkIndexSet, "modulus-domain": witnessModulusDomain, "hats": witnessHats, "closed-form-z": checkClosedForm,
	"unit-ball": checkUnitBall, "loop-index": witnessLoop, "infinite-diameter": checkDiameter, "divisor": checkDivisor,
	"no-probability": witnessNoProbability, "step-size": witnessStepSize, "unsquared-norms": checkB, "missing-cmax": checkCe,
	"rate-of-beta": checkRate, "violation-norm": witnessViolationNorm, "sample-size": witnessSampleSize, "best-of-class": checkNearBest,
	"alp-feasible": checkALPFeasible, "lyapunov-indices": everyPlace(checkLyapunovBound, checkSamplingConstant, checkSmoothedBound),
	"constraint-count": checkConstraintCount, "same-vector": checkSampledError,
	"cited-conditions": everyPlace(checkWeights, checkBox, checkBudget), "penalty-mass": witnessPenaltyMass,
	"penalty-price":    checkPenaltyBound,
	"law-of-cosines":   everyPlace(checkAlongRuns("5.3"), checkAlongRuns("5.16"), checkAlongRuns("5.17a"), checkAlongRuns("5.17b"), witnessDualFactor),
	"strong-convexity": checkAlongRuns("5.10"), "filtration": witnessFiltration, "conditioning": witnessConditioning,
	"orlicz-of-errors": checkErrorNorms, "square-scale": checkSquareTail, "dual-norm": witnessDualNorm,
	"maximiser": checkAlongRuns("5.25"), "reach": checkReach, "gradient-sign": checkAlongRuns("5.30"), "alpha-rate": witnessAlphaRate,
	"transition-law": witnessTransitionLaw, "average-cost-ball": witnessAverageBall, "protocol": checkProtocol,
	"azuma-scale": checkAzuma, "gaussian-displays": checkGaussianBound, "outside-hyperplane": checkPythagoras,
	"absolute-deviation": witnessAbsolute, "dimension": witnessDimension, "reciprocal-norm": witnessReciprocalNorm,
}

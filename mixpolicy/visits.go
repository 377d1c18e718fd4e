package mixpolicy

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// VisitSettings says how [PolicyFromVisits] treats states that were visited rarely or never.
type VisitSettings struct {
	// Smoothing is κ ≥ 0. In the states that were visited, κ is added to the count of every allowed action.
	Smoothing float64
	// If UniformUnseen is set, the policy is uniform in states that were never visited.
	// Otherwise, such a state is an error.
	UniformUnseen bool
}

// PolicyFromVisits estimates the policy that produced a log. Each table in visits has nm entries, which say how often
// each pair was taken. The tables are added up. With v_a(s) visits to (s, a) in total, a visited state s has the row
//
//	π̂_a(s) = (v_a(s) + κ) / Σ_{b ∈ A(s)} (v_b(s) + κ)   for a ∈ A(s).
//
// If κ = 0, this row consists of frequencies. If κ > 0, this row is the posterior mean of π(s) under a
// Dirichlet(κ, …, κ) prior: κ = 1 is Laplace's rule, and κ = ½ is Jeffreys' rule. It is an error if a state was never visited
// (unless UniformUnseen is set), if a count is negative, or if a visited pair is not allowed. The error names the
// state or the pair.
func PolicyFromVisits(x *MDP, set VisitSettings, visits ...[]int64) (*Policy, error) {
	if !(set.Smoothing >= 0) || math.IsInf(set.Smoothing, 1) {
		return nil, fmt.Errorf("mixpolicy: smoothing κ = %v, want a finite number ≥ 0", set.Smoothing)
	}
	if len(visits) == 0 {
		return nil, errors.New("mixpolicy: no visits, want at least one table")
	}
	total := make([]float64, x.Pairs())
	for _, table := range visits {
		if _, err := x.checkVisits(table); err != nil {
			return nil, err
		}
		for i, v := range table {
			total[i] += float64(v)
		}
	}
	var unseen error
	p, err := PolicyFunc(x, func(s int, row []float64) {
		var all float64
		for a := range row {
			if x.Allowed(s, a) {
				row[a] = total[x.Pair(s, a)]
				all += row[a]
			}
		}
		if all == 0 {
			x.uniform(row, s)
			if !set.UniformUnseen && unseen == nil {
				unseen = fmt.Errorf("mixpolicy: state %s was never visited: want a visit, or VisitSettings.UniformUnseen", x.StateName(s))
			}
			return
		}
		all = 0
		for a := range row {
			if x.Allowed(s, a) {
				row[a] += set.Smoothing
				all += row[a]
			}
		}
		for a := range row {
			row[a] /= all
		}
	})
	if unseen != nil {
		return nil, unseen
	}
	return p, err
}

// checkVisits returns the total number of visits, or an error for a wrong number of counts, a
// negative count, or a visit to a pair that is not allowed.
func (x *MDP) checkVisits(visits []int64) (total float64, err error) {
	if len(visits) != x.Pairs() {
		return 0, fmt.Errorf("mixpolicy: %d counts of visits, want one per pair: %d", len(visits), x.Pairs())
	}
	for i, v := range visits {
		s, a := x.StateAction(i)
		if v < 0 {
			return 0, fmt.Errorf("mixpolicy: %s: %d visits, want 0 or more", x.pairName(s, a), v)
		}
		if v > 0 && !x.Allowed(s, a) {
			return 0, fmt.Errorf("mixpolicy: %s is not allowed: %d visits, want 0", x.pairName(s, a), v)
		}
		total += float64(v)
	}
	return total, nil
}

// MeasuredFeatures is Ψ̂, whose columns are frequencies of pairs instead of exact measures. Each entry of Ψ has a
// confidence interval, for the confidence level passed to [FeaturesFromRuns]. If each interval, taken alone, contains
// its entry of Ψ with probability at least 1 − δ/(nmd), then with probability at least 1−δ, all nmd intervals contain
// their entries.
type MeasuredFeatures struct {
	*Features
	Lo, Hi [][]float64 // the confidence interval for ψʲᵢ is [Lo[j][i], Hi[j][i]]
}

// FeaturesFromRuns computes Ψ̂ from the visits in at least two runs of each policy. Run k of policy j took
// pair i runs[j][k][i] times. It is an error if two policies have the same mean frequencies. Entry i of column
// j is the mean of the frequencies f₁, …, f_K of pair i in the K runs of policy j. If every run took pair i
// and also other pairs, the confidence interval is the interval of batch means, cut off at 0 and 1. With the
// (1+level)/2 quantile t of Student's distribution with K−1 degrees of freedom, the interval of batch means is
//
//	ψ̂ᵢ ± t √(Σ_k (f_k − ψ̂ᵢ)² / (K(K−1))).
//
// The coverage is the probability that this interval contains ψʲᵢ. Suppose that the runs are independent and equally
// long, and that the chain of the policy has one recurrent class. Then, for fixed K, the coverage tends to the level
// as the runs grow longer: by the central limit theorem, the f_k are normal in the limit (unless their limit variance
// is 0). If the runs differ in length, the limit of the coverage is at least the level, for levels of at least 0.92
// (Bakirov and Székely 2005). Consecutive parts of one run can serve as runs, because they are independent in the
// limit. For runs of a given length, no theorem guarantees the coverage, which depends on the first states of the
// runs.
//
// The limit says nothing about a pair that some run never took, or took in every step. The interval of such a pair is
//
//	{m : ψ̂ᵢ ln(ψ̂ᵢ/m) + (1−ψ̂ᵢ) ln((1−ψ̂ᵢ)/(1−m)) ≤ ln(2/(1−level)) / K}.
//
// For independent runs of any lengths, this interval contains the mean of E f₁, …, E f_K with a
// probability of at least the level, because 0 ≤ f_k ≤ 1 (Hoeffding 1963).
//
// Under discounting, a run must restart from α with probability 1−γ after each step, as in
// [Simulate].
func FeaturesFromRuns(x *MDP, level float64, runs ...[][]int64) (*MeasuredFeatures, error) {
	if !(level > 0 && level < 1) {
		return nil, fmt.Errorf("mixpolicy: confidence level %v, want a number between 0 and 1", level)
	}
	e, columns := &MeasuredFeatures{}, make([][]float64, len(runs))
	for j := range runs {
		psi, lo, hi, err := x.frequencies(level, runs[j])
		if err != nil {
			return nil, fault.At("mixpolicy", fmt.Sprintf("base policy %d", j), err)
		}
		for i := range j {
			if slices.Equal(columns[i], psi) {
				return nil, fmt.Errorf("mixpolicy: base policies %d and %d have the same measured frequencies, want each once", i, j)
			}
		}
		columns[j], e.Lo, e.Hi = psi, append(e.Lo, lo), append(e.Hi, hi)
	}
	var err error
	if e.Features, err = FeaturesFromColumns(x, columns...); err != nil {
		return nil, err
	}
	return e, nil
}

// frequencies returns the mean frequencies of the pairs in the runs of a policy, with their intervals.
func (x *MDP) frequencies(level float64, runs [][]int64) (psi, lo, hi []float64, err error) {
	k := len(runs)
	if k < 2 {
		return nil, nil, nil, fmt.Errorf("mixpolicy: %d runs, want at least 2", k)
	}
	steps := make([]float64, k)
	for r, visits := range runs {
		if steps[r], err = x.checkVisits(visits); err == nil && steps[r] == 0 {
			err = errors.New("mixpolicy: no visit, want at least one")
		}
		if err != nil {
			return nil, nil, nil, fault.At("mixpolicy", fmt.Sprintf("run %d", r), err)
		}
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(k - 1)}.Quantile((1 + level) / 2)
	f := make([]float64, k)
	psi, lo, hi = make([]float64, x.Pairs()), make([]float64, x.Pairs()), make([]float64, x.Pairs())
	for i := range psi {
		mixed := true
		for r, visits := range runs {
			v := float64(visits[i])
			f[r] = v / steps[r]
			mixed = mixed && v > 0 && v < steps[r]
		}
		mean, deviation := stat.MeanStdDev(f, nil)
		psi[i] = mean
		if mixed {
			half := t * deviation / math.Sqrt(float64(k))
			lo[i], hi[i] = max(0, mean-half), min(1, mean+half)
		} else {
			lo[i], hi[i] = hoeffding(mean, math.Log(2/(1-level))/float64(k))
		}
	}
	return psi, lo, hi, nil
}

// hoeffding returns the ends of the interval {m : kl(p, m) ≤ limit}, where
// kl(p, m) = p ln(p/m) + (1−p) ln((1−p)/(1−m)) grows from m = p in both directions.
func hoeffding(p, limit float64) (lo, hi float64) {
	kl := func(m float64) (d float64) {
		if p > 0 {
			d += p * math.Log(p/m)
		}
		if p < 1 {
			d += (1 - p) * math.Log((1-p)/(1-m))
		}
		return d
	}
	end := func(out float64) float64 { // bisects between p and out (0 or 1), and returns the outer end of the last interval
		in := p
		for {
			m := (in + out) / 2
			if m == in || m == out {
				return out
			}
			if kl(m) > limit {
				out = m
			} else {
				in = m
			}
		}
	}
	return end(0), end(1)
}

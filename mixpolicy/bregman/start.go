package bregman

import (
	"fmt"
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// prepare returns where to start, and no bounds.
func (l *line) prepare() (start, a, b float64, err error) {
	a, b = realLine()
	if box, ok := l.m.(boxed); ok && l.allBounded(box) {
		l.box, l.bounded = box, true
		if err := l.prepareBox(); err != nil {
			return 0, 0, 0, err
		}
		if l.isSketched() {
			return l.sketchedRoot(a, b), a, b, nil
		}
		return 0, a, b, nil
	}
	d := float64(len(l.y))
	l.target, l.diagonal = l.psi(1 / d)
	if !l.diagonal {
		return 0, a, b, nil
	}
	l.symmetric = true
	for _, v := range l.u {
		l.symmetric = l.symmetric && math.Abs(v-l.target) <= 8*ulp*math.Abs(l.target)
	}
	// If all yᵢ were equal, ȳ + z = ψ(1/d) would be the root; if they are far apart and φ is
	// symmetric, it is larger, of the order of their deviations if θ is not too near the boundary.
	l.pivot = l.y[0]
	for i, v := range l.y {
		l.u[i] = v - l.pivot
	}
	l.centre = -sum.Of(l.u) / d
	if own, ok := l.m.(straightener); ok {
		l.own = own
		least, largest := slices.Min(l.u), slices.Max(l.u)
		a, b = own.bracket(least, largest)
		return l.target + own.start(l.centre, -(least/2+largest/2)), a, b, nil
	}
	if l.symmetric {
		return l.centre + math.Hypot(l.target, Norm(2).Of(l.u)), a, b, nil
	}
	return l.centre + l.target, a, b, nil
}

func (l *line) allBounded(box boxed) bool {
	for i := range l.y {
		if lo, hi := box.side(i); math.IsInf(lo, -1) || math.IsInf(hi, 1) {
			return false
		}
	}
	return true
}

// prepareBox chooses T: the coordinates in the order of their keys, until f is nearest to 0.
func (l *line) prepareBox() error {
	var lowest, highest sum.Accumulator
	for i := range l.y {
		l.u[i] = l.key(i)
		lo, hi := l.side(i)
		lowest.Add(lo)
		highest.Add(hi)
	}
	if !(lowest.Value() < 1 && 1 < highest.Value()) {
		return fmt.Errorf("bregman: the domain of %v does not meet the hyperplane 1ᵀθ = 1: its points have 1ᵀθ from %g to %g", l.m, lowest.Value(), highest.Value())
	}
	slices.Sort(l.u)
	// The sum with all keys ≥ u[n] at hi rises as n falls; the first n to pass 1 is found by
	// halving, and one of its two neighbours is T.
	low, high := 0, len(l.u) // the sum is ≥ 1 from low down, < 1 at high
	for high-low > 1 {
		mid := low + (high-low)/2
		if l.excess(l.u[mid]) >= 0 {
			low = mid
		} else {
			high = mid
		}
	}
	l.least = l.u[low]
	l.f = l.excess(l.least)
	l.pivot = l.least
	if high < len(l.u) {
		if f := l.excess(l.u[high]); -f < l.f {
			l.least, l.f = l.u[high], f
		}
	} else if f := l.excess(math.Inf(1)); -f < l.f {
		l.least, l.f = math.Inf(1), f
	}
	l.ties = len(l.y)
	return nil
}

// excess returns 1ᵀθ − 1 with every coordinate of key ≥ least at hi and the others at lo.
func (l *line) excess(least float64) float64 {
	var acc sum.Accumulator
	acc.Add(-1)
	for i := range l.y {
		lo, hi := l.side(i)
		if l.key(i) >= least {
			acc.Add(hi)
		} else {
			acc.Add(lo)
		}
	}
	return acc.Value()
}

// prepareSeparable returns where to start and bounds a ≤ z ≤ b from order statistics of y.
//
// Let y₍₁₎ ≥ y₍₂₎ ≥ …. At z = φ′(x) − y₍ₖ₎ the k largest entries have θ ≥ x and the others
// θ > lo, so 1ᵀθ ≥ 1 if kx + (d−k)lo = 1: that z is an upper bound. The k−1 largest have
// θ < hi and the others θ ≤ x, so it is a lower bound if (k−1)hi + (d−k+1)x = 1. With
// q = (1 − d·lo)/(hi − lo), the number of coordinates that would have to sit at hi were
// all others at lo, x is inside (lo, hi) for the upper bound if k > q and for the lower
// one if k − 1 < q.
func (l *line) prepareSeparable() (start, a, b float64, err error) {
	n := len(l.y)
	d := float64(n)
	lo, hi := l.kernel.Domain()
	if !(lo < 1/d && 1/d < hi) {
		return 0, 0, 0, fmt.Errorf("bregman: the domain (%g, %g)^%d of %v does not meet the hyperplane 1ᵀθ = 1: need %g < 1/d = %g < %g",
			lo, hi, n, l.m, lo, 1/d, hi)
	}
	l.target = l.kernel.Deriv(1 / d)
	l.bounded = !math.IsInf(lo, -1) && !math.IsInf(hi, 1)
	up, down := n, 1
	switch {
	case l.bounded:
		q := (1 - d*lo) / (hi - lo)
		up = min(max(int(math.Floor(q))+1, 1), n)
		down = min(max(int(math.Ceil(q)), 1), n)
		k := min(max(int(math.Round(q)), 0), n)
		l.f = math.FMA(float64(k), hi, math.FMA(float64(n-k), lo, -1))
		l.least = l.order(max(k, 1))
		l.ties = k
		for _, v := range l.y {
			if v > l.least {
				l.ties--
			}
		}
	case math.IsInf(lo, -1) && !math.IsInf(hi, 1):
		down = n
	case math.IsInf(hi, 1) && !math.IsInf(lo, -1):
		up = 1
	}
	yUp := l.order(up)
	yDown := yUp
	if down != up {
		yDown = l.order(down)
	}
	l.pivot = yUp/2 + yDown/2
	atEnd := func(n int, end float64) float64 {
		if n == 0 {
			return 0
		}
		return float64(n) * end
	}
	// The bounds are as good as φ′ and a few roundings, of x too.
	bound := func(x, y float64) (z, slack float64) {
		dual := l.kernel.Deriv(x)
		return dual - (y - l.pivot), 8 * ulp * (math.Abs(dual) + math.Abs(y-l.pivot) + math.Abs(x)/l.curver.ConjCurvature(dual))
	}
	a, slack := bound((1-atEnd(down-1, hi))/float64(n-down+1), yDown)
	a -= slack
	b, slack = bound((1-atEnd(n-up, lo))/float64(up), yUp)
	b += slack
	if math.IsNaN(a) {
		a = math.Inf(-1)
	}
	if math.IsNaN(b) {
		b = math.Inf(1)
	}
	if l.isSketched() {
		return l.sketchedRoot(a, b), a, b, nil
	}
	if a < l.pivot && l.pivot < b {
		return l.pivot, a, b, nil // z = 0: after a small step the shift is small
	}
	if mid := a + (b-a)/2; mid-mid == 0 && (a < 0) != (b < 0) {
		return mid, a, b, nil
	}
	return between(a, b), a, b, nil
}

// order returns the k-th largest yᵢ.
func (l *line) order(k int) float64 {
	copy(l.u, l.y)
	return orderStatistic(l.u, k-1)
}

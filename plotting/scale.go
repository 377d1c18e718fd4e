package plotting

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// scale maps the range of an axis onto [0, 1].
type scale struct {
	lo, hi float64
	log    bool
}

func (s scale) unit(v float64) float64 {
	if s.log {
		return math.Log(v/s.lo) / math.Log(s.hi/s.lo)
	}
	return (v - s.lo) / (s.hi - s.lo)
}

// value is the inverse of unit.
func (s scale) value(u float64) float64 {
	if s.log {
		return s.lo * math.Pow(s.hi/s.lo, u)
	}
	return s.lo + u*(s.hi-s.lo)
}

// shortest is the least length of an axis. On a shorter axis, labels would have more than 13 digits, or only the
// rounding of numbers would separate ticks and marks.
const shortest = 0x1p-40 // as a fraction of the end farther from 0; near 0, the least length is 1/limit

// drawable widens an axis at both ends if the axis is too short to be drawn.
func (s scale) drawable() scale {
	if s.log {
		if s.hi/s.lo < 1+shortest {
			s.lo, s.hi = s.lo/2, 2*s.hi
		}
		return s
	}
	least := max(shortest*max(math.Abs(s.lo), math.Abs(s.hi)), 1/limit)
	if s.hi-s.lo < least {
		middle := s.lo + (s.hi-s.lo)/2
		s.lo, s.hi = middle-least, middle+least
	}
	return s
}

// scales returns the ranges of both axes, which both renderings use.
func (f Figure) scales(layers []layer) (x, y scale) {
	const pad = 0.05 // a margin between marks and frame, as a fraction of the range of the data
	var all []mark
	padX, onZero := f.Y.Names != nil, false
	for _, l := range layers {
		all = append(all, l.marks...)
	}
	for _, m := range all {
		switch m := m.(type) {
		case glyphs:
			padX = true
		case boxes:
			onZero = true
		case curve:
			padX = padX || m.arrows
		}
	}
	b := boundsOf(all)
	x, y = f.X.scale(b.x, 0), f.Y.scale(b.y, pad)
	if padX {
		x = f.X.scale(b.x, pad)
	}
	if onZero && f.Y.Min == f.Y.Max && !f.Y.Log { // bars stand on the frame of the figure
		if b.y.lo == 0 {
			y.lo = 0
		}
		if b.y.hi == 0 {
			y.hi = 0
		}
	}
	return x, y
}

// scale returns the range that the author fixed or, for an axis with names, the range of the names. Otherwise, it widens
// the range of the data at both ends by at least the fraction pad of its length. A range without data or without length
// becomes a range that can be drawn.
func (a Axis) scale(data interval, pad float64) scale { return a.span(data, pad).drawable() }

func (a Axis) span(data interval, pad float64) scale {
	if a.Min < a.Max {
		return scale{a.Min, a.Max, a.Log}
	}
	if a.Names != nil {
		return scale{0.5, float64(len(a.Names)) + 0.5, false}
	}
	if data.lo > data.hi { // nothing but a reference line on the other axis
		data = interval{1, 10}
	}
	s := scale{data.lo, data.hi, a.Log}
	switch {
	case data.lo == data.hi && !a.Log:
		half := cmp.Or(math.Abs(data.lo), 2) / 2
		return scale{data.lo - half, data.hi + half, false}
	case data.lo == data.hi, pad == 0:
		return s
	case a.Log:
		lo, hi := min(data.lo, s.value(-pad)), max(data.hi, s.value(1+pad))
		if short := floorTo(lo, data.lo); short > lo/2 {
			return scale{short, ceilTo(hi, data.hi), true}
		}
		return scale{floorTo(lo, lo), ceilTo(hi, hi), true}
	}
	length := data.hi - data.lo
	return scale{floorTo(data.lo-pad*length, length), ceilTo(data.hi+pad*length, length), false}
}

// floorTo rounds v down, and ceilTo rounds v up, to the place of the second digit of size, so that ends of axes are
// short numbers. If a rounding error leaves the result on the wrong side of v, the function returns v.
func floorTo(v, size float64) float64 { return -ceilTo(-v, size) }

func ceilTo(v, size float64) float64 {
	e := math.Floor(math.Log10(size)) - 1
	rounded := decimal(math.Ceil(v/math.Pow(10, e)), int(e))
	return max(v, rounded)
}

// decimal returns k·10ᵉ for an integer k, correctly rounded.
func decimal(k float64, e int) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(k, 'f', 0, 64)+"e"+strconv.Itoa(e), 64)
	return v
}

// tick is a mark on an axis. A minor tick has no label.
type tick struct {
	at    float64
	label string
}

// ticks returns the ticks of the axis: about n of them labelled.
func (s scale) ticks(n int) []tick {
	if s = s.drawable(); s.log && s.hi/s.lo >= 4 {
		return s.logTicks(n)
	}
	return s.linearTicks(n)
}

func (a Axis) named() []tick {
	var out []tick
	for k, name := range a.Names {
		out = append(out, tick{float64(k + 1), name})
	}
	return out
}

// linearTicks returns the multiples of a step. The step is the least of 1, 2 or 5 times a power of ten that makes the
// axis shorter than n+2 steps, so there are at most n+2 ticks.
func (s scale) linearTicks(n int) []tick {
	most := float64(n + 2)
	power := math.Floor(math.Log10((s.hi - s.lo) / most))
	step := 1.0
	for _, m := range []float64{1, 2, 5, 10} {
		step = m
		if unit := m * math.Pow(10, power); s.hi/unit-s.lo/unit < most {
			break
		}
	}
	if step == 10 {
		step, power = 1, power+1
	}
	// Work with integer multiples, so that ticks are exact decimals. The slack admits a tick that rounding has moved
	// beyond the end of the axis. Ticks farther out, which occur if the multiples are also rounded, are skipped.
	const slack = 1e-9
	unit := step * math.Pow(10, power)
	first, last := math.Ceil(s.lo/unit-slack), math.Floor(s.hi/unit+slack)
	var out []tick
	largest := max(math.Abs(first), math.Abs(last)) * unit
	size := math.Floor(math.Log10(largest) + slack) // largest is mantissa·10^size
	for k := first; k <= last; k++ {
		v := decimal(k*step, int(power))
		label := ""
		switch {
		case math.Abs(s.unit(v)-0.5) > 0.5+slack:
			continue
		case v == 0:
			label = "0"
		case largest >= 1e12 || power < -12 || (largest >= 1e6 || largest < 1e-3) && math.Log10(largest)-power < 4:
			label = minus(shifted(v, int(size), int(max(0, size-power)))) + "·10" + superscript(int(size))
		default:
			label = minus(strconv.FormatFloat(v, 'f', int(max(0, -power)), 64))
		}
		out = append(out, tick{v, label})
	}
	return out
}

// shifted formats v/10ᵉ with the given number of decimals.
func shifted(v float64, e, decimals int) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	own, _ := strconv.Atoi(exponent)
	m, _ := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(own-e), 64)
	return strconv.FormatFloat(m, 'f', decimals, 64)
}

// logTicks returns the powers of ten and, over at most 8 decades, their multiples by 2 to 9. It labels every power or,
// on a long axis, one in every few powers. Over less than 2 decades, it also labels the multiples by 2 and 5. Beyond 40
// decades, it omits ticks without labels.
func (s scale) logTicks(n int) []tick {
	const slack = 1e-9
	lo, hi := math.Log10(s.lo), math.Log10(s.hi)
	first, last := int(math.Floor(lo)), int(math.Ceil(hi))
	every := 1 + int(hi-lo)/n
	multiples := []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	if hi-lo > 8 {
		multiples = multiples[:1]
	}
	var out []tick
	for e := first; e <= last; e++ {
		for _, m := range multiples {
			v := float64(m) * math.Pow10(e)
			if u := math.Log10(v); !(lo-slack <= u && u <= hi+slack) {
				continue
			}
			label := ""
			switch {
			case m == 1 && e%every == 0:
				label = power(1, e)
			case hi-lo < 2 && (m == 2 || m == 5):
				label = power(m, e)
			case hi-lo > 40:
				continue // no room for marks without a label
			}
			out = append(out, tick{v, label})
		}
	}
	return out
}

// power formats m·10ᵉ, as a plain number if the plain number is short.
func power(m, e int) string {
	if -2 <= e && e <= 3 {
		return strconv.FormatFloat(float64(m)*math.Pow10(e), 'f', max(0, -e), 64)
	}
	if m == 1 {
		return "10" + superscript(e)
	}
	return strconv.Itoa(m) + "·10" + superscript(e)
}

// brief formats a value to three significant digits.
func brief(v float64) string {
	v += 0 // turns −0 into 0
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', 2, 64), "e")
	e, _ := strconv.Atoi(exponent)
	if v == 0 || -4 < e && e < 6 {
		rounded, _ := strconv.ParseFloat(mantissa+"e"+exponent, 64)
		return minus(strconv.FormatFloat(rounded, 'f', -1, 64))
	}
	return minus(strings.TrimSuffix(strings.TrimRight(mantissa, "0"), ".")) + "·10" + superscript(e)
}

func superscript(n int) string {
	return strings.Map(func(r rune) rune { return counterpart(superLetters, superscripts, r) }, minus(strconv.Itoa(n)))
}

// minus replaces a hyphen at the beginning by a minus sign.
func minus(s string) string {
	if digits, negative := strings.CutPrefix(s, "-"); negative {
		return "−" + digits
	}
	return s
}

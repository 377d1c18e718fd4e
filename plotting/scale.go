package plotting

import (
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

// scales returns the ranges of both axes, which both renderings use.
func (f Figure) scales(layers []layer) (x, y scale) {
	b := bounds{empty, empty}
	padX, onZero := false, false
	for _, l := range layers {
		lb := boundsOf(l.marks)
		b.x = b.x.include(lb.x.lo, lb.x.hi)
		b.y = b.y.include(lb.y.lo, lb.y.hi)
		for _, m := range l.marks {
			switch m := m.(type) {
			case glyphs:
				padX = true
			case boxes:
				onZero = true
			case curve:
				padX = padX || m.arrows
			}
		}
	}
	const pad = 0.05 // of the length of the axis: no curve touches the frame
	x = f.X.scale(b.x, 0)
	if padX {
		x = f.X.scale(b.x, pad)
	}
	y = f.Y.scale(b.y, pad)
	if onZero && f.Y.Min == f.Y.Max && !f.Y.Log { // bars stand on the axis
		if b.y.lo == 0 {
			y.lo = 0
		}
		if b.y.hi == 0 {
			y.hi = 0
		}
	}
	return x, y
}

// scale widens the range of the data by the fraction pad of its length at both
// ends, unless the author fixed it. A range without length or without data
// becomes one that can be drawn.
func (a Axis) scale(data interval, pad float64) scale {
	if a.Min < a.Max {
		return scale{a.Min, a.Max, a.Log}
	}
	if data.lo > data.hi { // nothing but a reference line on the other axis
		data = interval{1, 10}
	}
	if a.Log {
		if data.lo == data.hi {
			return scale{data.lo / 2, data.hi * 2, true}
		}
		if pad == 0 {
			return scale{data.lo, data.hi, true}
		}
		widen := math.Pow(data.hi/data.lo, pad)
		return scale{
			floorTo(data.lo/widen, data.lo),
			ceilTo(data.hi*widen, data.hi),
			true,
		}
	}
	if data.lo == data.hi {
		half := math.Abs(data.lo) / 2
		if half == 0 {
			half = 1
		}
		return scale{data.lo - half, data.hi + half, false}
	}
	if pad == 0 {
		return scale{data.lo, data.hi, false}
	}
	widen := pad * (data.hi - data.lo)
	return scale{
		floorTo(data.lo-widen, data.hi-data.lo),
		ceilTo(data.hi+widen, data.hi-data.lo),
		false,
	}
}

// floorTo and ceilTo round to two digits of the given size: ends of axes are
// short numbers.
func floorTo(v, size float64) float64 { return -ceilTo(-v, size) }

func ceilTo(v, size float64) float64 {
	e := math.Floor(math.Log10(size)) - 1
	k := math.Ceil(v / math.Pow(10, e))
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(k, 'f', 0, 64)+"e"+strconv.Itoa(int(e)), 64)
	return rounded
}

// tick is a mark on an axis; a minor one has no label.
type tick struct {
	at    float64
	label string
}

// ticks returns the ticks of the axis: about n of them labelled.
func (s scale) ticks(n int) []tick {
	if s.log && s.hi/s.lo >= 4 {
		return s.logTicks(n)
	}
	return s.linearTicks(n)
}

// linearTicks are the multiples of 1, 2 or 5 times a power of ten: the least
// such step that gives at most n+2 ticks.
func (s scale) linearTicks(n int) []tick {
	length := s.hi - s.lo
	power := math.Floor(math.Log10(length / float64(n+2)))
	step := 1.0
	for _, m := range []float64{1, 2, 5, 10} {
		step = m
		if length/(m*math.Pow(10, power)) < float64(n+2) {
			break
		}
	}
	if step == 10 {
		step, power = 1, power+1
	}
	// Work with integer multiples, so that ticks are exact decimals. The slack
	// admits a tick that rounding has pushed over the end of the axis.
	const slack = 1e-9
	unit := step * math.Pow(10, power)
	first, last := math.Ceil(s.lo/unit-slack), math.Floor(s.hi/unit+slack)
	var out []tick
	largest := max(math.Abs(first), math.Abs(last)) * unit
	for k := first; k <= last; k++ {
		v, _ := strconv.ParseFloat(strconv.FormatFloat(k*step, 'f', 0, 64)+"e"+strconv.Itoa(int(power)), 64)
		label := ""
		switch {
		case v == 0:
			label = "0"
		case (largest >= 1e6 || largest < 1e-3) && math.Log10(largest)-power < 4:
			e := math.Floor(math.Log10(largest) + slack)
			mantissa := v / math.Pow(10, e)
			label = minus(strconv.FormatFloat(mantissa, 'f', int(max(0, e-power)), 64)) + "·10" + superscript(int(e))
		default:
			label = minus(strconv.FormatFloat(v, 'f', int(max(0, -power)), 64))
		}
		out = append(out, tick{v, label})
	}
	return out
}

// logTicks are the powers of ten, or every few of them, with 2 and 5 labelled
// where there is room and the other multiples unlabelled.
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
			if u := math.Log10(v); u < lo-slack || u > hi+slack {
				continue
			}
			label := ""
			switch {
			case m == 1 && e%every == 0:
				label = power(1, e)
			case hi-lo < 1.7 && (m == 2 || m == 5):
				label = power(m, e)
			}
			out = append(out, tick{v, label})
		}
	}
	return out
}

// power formats m·10ᵉ, plainly where that is short.
func power(m, e int) string {
	if -2 <= e && e <= 3 {
		return strconv.FormatFloat(float64(m)*math.Pow10(e), 'f', max(0, -e), 64)
	}
	if m == 1 {
		return "10" + superscript(e)
	}
	return strconv.Itoa(m) + "·10" + superscript(e)
}

// brief formats a value to three digits.
func brief(v float64) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', 2, 64), "e")
	e, _ := strconv.Atoi(exponent)
	if v == 0 || -4 < e && e < 6 {
		rounded, _ := strconv.ParseFloat(mantissa+"e"+exponent, 64)
		return minus(strconv.FormatFloat(rounded, 'f', -1, 64))
	}
	return minus(strings.TrimSuffix(strings.TrimRight(mantissa, "0"), ".")) + "·10" + superscript(e)
}

func superscript(n int) string {
	return strings.Map(func(r rune) rune {
		if r == '-' {
			return '⁻'
		}
		return []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[r-'0']
	}, strconv.Itoa(n))
}

// minus sets a true minus sign.
func minus(s string) string {
	if digits, negative := strings.CutPrefix(s, "-"); negative {
		return "−" + digits
	}
	return s
}

package linprog

import "math"

// double is a number hi + lo of twice the precision (Dekker 1971).
type double struct{ hi, lo float64 }

func (a double) add(x float64) double {
	s := a.hi + x
	t := s - a.hi
	return double{s, a.lo + ((a.hi - (s - t)) + (x - t))}
}

func (a double) addProduct(x, y float64) double {
	p := x * y
	s := a.add(p)
	s.lo += math.FMA(x, y, -p)
	return s
}

func (a double) value() float64 { return a.hi + a.lo }

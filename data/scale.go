package data

// Scale is a row of scale.csv. It states what one machine needs for a network of four queues: to make the network, to
// compute the occupation measures Ψ of two rules on it, and to find the exact optimum of (2.18) over ‖θ‖₂ ≤ 2.
type Scale struct {
	States   int     `csv:"states"`        // n
	Moves    int     `csv:"moves"`         // number of transitions, over all pairs
	Model    float64 `csv:"model,%.3g"`    // seconds to make the network
	Measures float64 `csv:"measures,%.3g"` // seconds to compute Ψ
	Optimum  float64 `csv:"optimum,%.3g"`  // seconds to find the optimum
	Residual float64 `csv:"residual,%.3g"` // the greater ‖μ − μP‖₁ of the two measures
	Gap      float64 `csv:"gap,%.3g"`      // gap of the optimum's certificate, relative to the optimum
	Memory   float64 `csv:"memory,%.3g"`   // greatest memory in use, in bytes
	Machine  string  `csv:"machine"`
	Date     string  `csv:"date"`
}

// Scales returns the rows of scale.csv, the smallest network first.
func Scales() ([]Scale, error) { return Rows[Scale]("scale.csv") }

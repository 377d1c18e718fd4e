package data

// Scale is a row of scale.csv. It states what one machine needs to make a network of four queues and to compute the
// occupation measures Ψ of two rules on this network and the exact optimum of (2.18) over ‖θ‖₂ ≤ 2.
type Scale struct {
	States   int     `csv:"states"` // n
	Moves    int     `csv:"moves"`  // number of transitions, over all pairs
	Model    float64 `csv:"model,%.3g"`
	Measures float64 `csv:"measures,%.3g"`
	Optimum  float64 `csv:"optimum,%.3g"`  // seconds, like Model and Measures
	Residual float64 `csv:"residual,%.3g"` // the greater ‖μ − μP‖₁ of the two measures
	Gap      float64 `csv:"gap,%.3g"`      // gap of the optimum's certificate, relative to the optimum
	Memory   float64 `csv:"memory,%.3g"`   // bytes, at the peak
	Machine  string  `csv:"machine"`
	Date     string  `csv:"date"`
}

// Scales returns the rows of scale.csv, the smallest network first.
func Scales() ([]Scale, error) { return Rows[Scale]("scale.csv") }

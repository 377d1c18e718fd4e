package data

// Scale is a row of scale.csv. It states the times and the memory that one machine needs for three tasks: to make a
// four-queue network and the policies of two rules, to compute the occupation measures Ψ of these policies, and to find
// the exact optimum of (2.18) over ‖θ‖₂ ≤ 2.
type Scale struct {
	States   int     `csv:"states"`        // n
	Moves    int     `csv:"moves"`         // number of transitions, added up over all state–action pairs
	Model    float64 `csv:"model,%.3g"`    // seconds to make the network and the policies
	Measures float64 `csv:"measures,%.3g"` // seconds to compute Ψ
	Optimum  float64 `csv:"optimum,%.3g"`  // seconds to find the optimum
	Residual float64 `csv:"residual,%.3g"` // the greater of the residuals ‖μ − μP‖₁ of the two measures
	Gap      float64 `csv:"gap,%.3g"`      // the optimum minus its certified lower bound, divided by the optimum
	Memory   float64 `csv:"memory,%.3g"`   // the most memory in use at any time, in bytes
	Machine  string  `csv:"machine"`
	Date     string  `csv:"date"`
}

// Scales returns the rows of scale.csv, the smallest network first.
func Scales() ([]Scale, error) { return Rows[Scale]("scale.csv") }

package paper

import (
	"fmt"
	"strings"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// The quantities of the network.
const (
	PolicyCost    = "cost"           // exact, of the policy; Lo and Hi from the error estimate of its measure
	SimulatedCost = "simulated cost" // with 95 % interval; At is steps a stream
	TotalLength   = "total length"   // P(‖x‖₁ = At)
	ServesFirst   = "serves queue 1" // probability that server 1 works on queue 1 in state At
	Optimum       = "optimum"        // of (2.18); Lo is the certified bound, Residual the violation
	Weight        = "weight"         // θ*ⱼ
	LeastWeight   = "least weight"   // min θⱼ over Ψθ ⪰ 0, 1ᵀθ = 1, ‖θ‖ ≤ R
	MixedPolicies = "mixed policies" // cost of (1−w)π¹ + wπ² (2.16) at At = w
	MixedMeasures = "mixed measures" // that of the policy of (1−w)ψ¹ + wψ² (2.17)

	// Of the answers after At queries: mean over trials with 95 % interval.
	LearntObjective = "cᵀΨθ"
	LearntMass      = "negative mass" // ‖[Ψθ]₋‖₁
	LearntSum       = "1ᵀθ"
	LearntGap       = "penalised gap" // see penalisedGap
	// Tuning is the penalised gap of a configuration in the trials that choose; At is η₀.
	Tuning = "tuning"
	// Overflow is the number of iterations after which such a trial left the range of
	// floating point; Settings are those of the configuration.
	Overflow = "overflow"
	// LearntCost is the true cost of the learnt policies, mean over trials with 95 %
	// interval. The cost of each is a PolicyCost of the name that [TrialName] gives.
	LearntCost = "mean cost"

	// Of the dual ALP, by iteration: the parts of f_ω (4.14).
	DualObjective = "dual ALP: cᵀΨθ"
	DualNegative  = "dual ALP: negative mass"
	DualFlow      = "dual ALP: flow"
	DualCost      = "dual ALP: cost" // true, of the policy of the average so far
)

// TrialName names the policy that a method's k-th trial left, from 0.
func TrialName(method string, k int) string { return fmt.Sprintf("%s, trial %d", method, k+1) }

// NetworkRecord is the rows of data/network.csv. Problem is the dynamics and the buffers,
// Base the set of base policies, and Method a rule, policy or method.
type NetworkRecord struct{ race.Record }

// RecordedNetwork returns data/network.csv, which [NetworkParts] compute: the better part
// of an hour of work at full size.
func RecordedNetwork() (NetworkRecord, error) {
	f, err := data.Files.Open("network.csv")
	if err != nil {
		return NetworkRecord{}, fmt.Errorf("paper: %w", err)
	}
	defer f.Close()
	r, err := race.Read(f)
	return NetworkRecord{r}, err
}

// Dynamics is that of a row's problem, such as "phantom jobs".
func Dynamics(row race.Row) string {
	name, _, _ := strings.Cut(row.Problem, ",")
	return name
}

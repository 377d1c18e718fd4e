package paper

import "fmt"

// networkClaim is the sentence of section 7 about the network, with what the recorded
// computation shows in its place.
func networkClaim() (Claim, error) {
	record, err := RecordedNetwork()
	if err != nil {
		return Claim{}, err
	}
	const part = "two rules"
	best, err := record.One(NetworkRow{Part: part, What: PolicyCost, Of: optimumPolicy})
	if err != nil {
		return Claim{}, err
	}
	var cost [3]NetworkRow
	for k, method := range []string{"Algorithm 1", "penalty", "plug-in"} {
		if cost[k], err = record.One(NetworkRow{Part: part, What: LearntCost, Of: method}); err != nil {
			return Claim{}, err
		}
	}
	overflows := len(record.Select(NetworkRow{Part: part, What: Overflow}))
	return Claim{ID: "7-network", Where: "7", Claim: "performance is shown on a four-dimensional network of queues",
		Experiment: "the index of all equations and both figures; in their place LONGER and LBFS at full size, 1,028,196 states, 10⁵ queries",
		Numbers: fmt.Sprintf("only the single queue is there. On the network the optimum of (2.18) is LBFS itself, %.4f; as printed Algorithm 1 overflows with each of %d step sizes; "+
			"true costs after tuning: corrected %.4f [%.4f, %.4f], penalty %.4f [%.4f, %.4f], plug-in %.4f",
			best.Value, overflows, cost[0].Value, cost[0].Lo, cost[0].Hi, cost[1].Value, cost[1].Lo, cost[1].Hi, cost[2].Value),
		Verdict: Fails}, nil
}

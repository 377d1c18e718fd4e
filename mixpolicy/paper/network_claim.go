package paper

import (
	"fmt"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/race"
)

// networkClaim is the sentence of section 7 about the network, with what the recorded
// computation shows in its place. Performance is shown if there is something about a
// network in the paper, and a step size with which Algorithm 1 runs there as printed.
func networkClaim() (Claim, error) {
	record, err := RecordedNetwork()
	if err != nil {
		return Claim{}, err
	}
	const part = "two rules"
	best, err := record.One(race.Row{Part: part, Quantity: PolicyCost, Method: optimumPolicy})
	if err != nil {
		return Claim{}, err
	}
	weight, err := record.One(race.Row{Part: part, Quantity: Weight, Method: "LBFS"})
	if err != nil {
		return Claim{}, err
	}
	var cost [3]race.Row
	for k, method := range []string{"Algorithm 1", "penalty", "plug-in"} {
		if cost[k], err = record.One(race.Row{Part: part, Quantity: LearntCost, Method: method}); err != nil {
			return Claim{}, err
		}
	}
	ends := len(record.Select(race.Row{Part: part, Quantity: Tuning, Method: asPrinted}))
	overflows := len(record.Select(race.Row{Part: part, Quantity: Overflow, Method: asPrinted}))
	queue, network := entriesAbout("mixpolicy/models.Queue"), entriesAbout("mixpolicy/models.Network")
	return Claim{ID: "7-network", Where: "7", Claim: "performance is shown on a four-dimensional network of queues",
		Experiment: fmt.Sprintf("the index of all equations and both figures; in their place LONGER and LBFS at full size, 1,028,196 states, %.0f queries", cost[0].At),
		Numbers: fmt.Sprintf("%d entries are about the single queue, %d about a network. There the optimum of (2.18) has the weight %.6g on LBFS and costs %.4f; as printed Algorithm 1 overflows with %d of %d step sizes; "+
			"true costs after tuning: corrected %.4f [%.4f, %.4f], penalty %.4f [%.4f, %.4f], plug-in %.4f",
			queue, network, weight.Value, best.Value, overflows, ends+overflows,
			cost[0].Value, cost[0].Lo, cost[0].Hi, cost[1].Value, cost[1].Lo, cost[1].Hi, cost[2].Value),
		Verdict: verdictIf(network > 0 && ends > 0)}, nil
}

// entriesAbout counts the entries of the index whose symbol is a model's.
func entriesAbout(model string) (n int) {
	for _, e := range Index() {
		if e.Symbol == model || strings.HasPrefix(e.Symbol, model+".") {
			n++
		}
	}
	return n
}

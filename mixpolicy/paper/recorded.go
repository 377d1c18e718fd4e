package paper

import (
	"encoding/csv"
	"fmt"

	"github.com/mixpolicy/lab/data"
)

// RecordedClaims returns the claims as data/claims.csv has them, which [Claims]
// computed: the identity, the claim, its numbers and the verdict.
func RecordedClaims() ([]Claim, error) {
	f, err := data.Files.Open("claims.csv")
	if err != nil {
		return nil, fmt.Errorf("paper: recorded claims: %w", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("paper: data/claims.csv: %w", err)
	}
	var claims []Claim
	for _, r := range rows[1:] {
		claims = append(claims, Claim{ID: r[0], Claim: r[1], Numbers: r[2], Verdict: Verdict(r[3])})
	}
	return claims, nil
}

package paper

// RecordedClaims returns the claims as data/claims.csv has them, which [Claims]
// computed: the identity, the claim, its numbers and the verdict.
func RecordedClaims() ([]Claim, error) {
	rows, err := recorded("claims.csv")
	if err != nil {
		return nil, err
	}
	var claims []Claim
	for _, r := range rows {
		claims = append(claims, Claim{ID: r[0], Claim: r[1], Numbers: r[2], Verdict: Verdict(r[3])})
	}
	return claims, nil
}

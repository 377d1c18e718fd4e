package paper

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the tables in data/ anew")

func TestClaims(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every experiment: about 30 s")
	}
	claims, err := Claims(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteClaims(&b, claims); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("../../data/claims.csv", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Log(b.String())
}

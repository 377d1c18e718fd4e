package mixpolicy_test

import (
	"os"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// TestReadmeExample: the code in the README is the code of Example_readme, which go test compiles
// and runs.
func TestReadmeExample(t *testing.T) {
	readme, source := mixpolicy.Must(os.ReadFile("../README.md")), mixpolicy.Must(os.ReadFile("example_readme_test.go"))
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	code, _, _ := strings.Cut(rest, "```")
	imports, body, found := strings.Cut(code, "\n)\n")
	for _, part := range []string{imports, body} {
		if !found || !strings.Contains(squeeze(string(source)), squeeze(part)) {
			t.Errorf("the README's code is not in example_readme_test.go:\n%s", part)
		}
	}
}

package mixpolicy_test

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeExample: the code in the README is that of Example_readme, which is compiled and
// run.
func TestReadmeExample(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	code, _, _ := strings.Cut(rest, "```")
	imports, body, found := strings.Cut(code, "\n)\n")
	for _, part := range []string{imports, body} {
		if !found || !strings.Contains(squeeze(string(source)), squeeze(part)) {
			t.Errorf("the README's code is not that of example_readme_test.go:\n%s", part)
		}
	}
}

package pile_test

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeProgram proves that the program of README.md, which TestPolicyPrograms compiles, is the
// Example, whose output is compared.
func TestReadmeProgram(t *testing.T) {
	body := func(file, from, to string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, after, found := strings.Cut(string(text), from)
		body, _, ended := strings.Cut(after, to)
		if !found || !ended {
			t.Fatalf("%s: nothing between %q and %q", file, from, to)
		}
		return strings.Join(strings.Fields(body), " ")
	}
	program := body("../README.md", "func main() {", "\n}\n")
	example := body("example_test.go", "func Example() {", "// Output:")
	if program != example {
		t.Errorf("README.md and Example differ:\n%s\n%s", program, example)
	}
}

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy/paper"
)

// longest is the most lines of code that a cell may have: a reader can take in this many at once.
const longest = 25

func TestNotebooksBeginWithATitleAndCellsAreShort(t *testing.T) {
	for name, nb := range byName(t) {
		if first := nb.Cells[0]; first.Type != "markdown" || !strings.HasPrefix(first.Source.String(), "# ") {
			t.Errorf("%s begins with %q; want its title", name, first.Source)
		}
		for k, c := range nb.Cells {
			if n := len(c.Source); c.Type == "code" && n > longest {
				t.Errorf("%s, cell %d (%s): %d lines, want at most %d", name, k, c.ID, n, longest)
			}
		}
	}
}

// quotation matches the mark after a number in the prose. The mark contains the id of the cell, claim or erratum that
// shows the number.
var quotation = regexp.MustCompile(`<!-- = ([\w-]+) -->`)

// TestProseQuotesOutputs: each marked number is among the numbers that the cell, claim or erratum of its mark shows,
// when these are rounded to the digits in the prose. Signs are not compared, because the words of a sentence may
// express them.
func TestProseQuotesOutputs(t *testing.T) {
	notebooks := byName(t)
	readme, err := os.ReadFile("../README.md")
	noError(t, err)
	prose := map[string]*notebook{"the README": {Cells: []cell{{ID: "README.md", Type: "markdown", Source: lines{string(readme)}}}}}
	maps.Copy(prose, notebooks)
	claims, claimsError := paper.RecordedClaims()
	errata, errataError := paper.RecordedErrata()
	noError(t, errors.Join(claimsError, errataError))
	recorded := map[string]string{}
	for _, c := range claims {
		recorded[c.ID] = c.Numbers()
	}
	for _, e := range errata {
		recorded[e.ID] = e.Numbers
	}
	quoted := 0
	for name, nb := range prose {
		for _, c := range nb.Cells {
			if c.Type != "markdown" {
				continue
			}
			prose := c.Source.String()
			for _, at := range quotation.FindAllStringSubmatchIndex(prose, -1) {
				id := prose[at[2]:at[3]]
				number, found := lastNumber(prose[strings.LastIndex(prose[:at[0]], "\n")+1 : at[0]])
				if !found {
					t.Errorf("%s, cell %s: there is no number before %s", name, c.ID, prose[at[0]:at[1]])
					continue
				}
				quoted++
				shown := nb.shows(id)
				for _, other := range notebooks {
					shown = cmp.Or(shown, other.shows(id))
				}
				shown = cmp.Or(shown, recorded[id])
				if !number.in(shown) {
					t.Errorf("%s, cell %s: the prose says %s, which is not among the numbers of %s:\n%s", name, c.ID, number.text, id, shown)
				}
			}
		}
	}
	if quoted < 100 {
		t.Errorf("only %d numbers of the prose are marked", quoted)
	}
}

// A notebook holds the parts of an .ipynb file that the tests read.
type notebook struct{ Cells []cell }

type cell struct {
	ID      string
	Type    string `json:"cell_type"`
	Source  lines
	Outputs []struct {
		Text lines
		Data map[string]any
	}
}

// lines is a text that nbformat stores as a list of lines.
type lines []string

func (l lines) String() string { return strings.Join(l, "") }

// byName returns the notebooks by name.
func byName(t *testing.T) map[string]*notebook {
	all := map[string]*notebook{}
	files, err := filepath.Glob("*.ipynb")
	for _, file := range files {
		nb := new(notebook)
		data, readError := os.ReadFile(file)
		err = errors.Join(err, readError, json.Unmarshal(data, nb))
		all[strings.TrimSuffix(file, ".ipynb")] = nb
	}
	if err != nil || len(all) == 0 {
		t.Fatalf("%d notebooks: %v", len(all), err)
	}
	return all
}

// shows returns the text of the outputs of the cell with this id.
func (nb *notebook) shows(id string) (text string) {
	for _, c := range nb.Cells {
		if c.ID == id {
			for _, o := range c.Outputs {
				text += o.Text.String() + fmt.Sprint(o.Data["text/plain"]) + "\n"
			}
		}
	}
	return text
}

// A quotedNumber is a number in the prose: its text, its value, and the unit of its last digit.
type quotedNumber struct {
	text        string
	value, unit float64
}

// numerals matches numbers like 1,234.5, 2.5e-3, 2.5·10⁻³ and 2.5\cdot10^{-3}.
var numerals = regexp.MustCompile(`(?:(\d+(?:,\d{3})*)(\.\d+)?(?:e([-+]?\d+))?(?:\s?(?:·|\\cdot\s?)10(?:\^\{?([-−]?\d+)\}?|([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)))?)`)

// numberWords are the words for 0 to 12.
var numberWords = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve")

var inWords = regexp.MustCompile(`\b(?i:` + strings.Join(numberWords, "|") + `)\b`)

// lastNumber returns the last number in a text, in digits or in words.
func lastNumber(text string) (last quotedNumber, found bool) {
	text = strings.TrimSpace(strings.NewReplacer("$10^", "$1·10^", " 10^", " 1·10^").Replace(text))
	all := numerals.FindAllStringIndex(text, -1)
	end := -1
	if len(all) > 0 {
		end = all[len(all)-1][1]
		last, found = numeral(text[all[len(all)-1][0]:end]), true
	}
	if in := inWords.FindAllStringIndex(text, -1); len(in) > 0 && in[len(in)-1][1] > end {
		word := text[in[len(in)-1][0]:in[len(in)-1][1]]
		for n, w := range numberWords {
			if strings.EqualFold(w, word) {
				last, found = quotedNumber{word, float64(n), 1}, true
			}
		}
	}
	return last, found
}

// numeral parses a match of numerals.
func numeral(text string) quotedNumber {
	part := numerals.FindStringSubmatch(text)
	digits := strings.ReplaceAll(part[1], ",", "") + part[2]
	power := 0.0
	superscript := strings.NewReplacer("⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9", "−", "-")
	for _, exponent := range part[3:] {
		if p, err := strconv.ParseFloat(superscript.Replace(exponent), 64); err == nil {
			power += p
		}
	}
	value, _ := strconv.ParseFloat(digits, 64)
	return quotedNumber{text, value * math.Pow(10, power), math.Pow(10, power-float64(len(part[2])-min(1, len(part[2]))))}
}

// in reports whether the text contains a number that, rounded to the digits of w, equals w.
func (w quotedNumber) in(text string) bool {
	for _, s := range numerals.FindAllString(text, -1) {
		if math.Abs(numeral(s).value-w.value) <= w.unit/2*(1+1e-9) {
			return true
		}
	}
	return false
}

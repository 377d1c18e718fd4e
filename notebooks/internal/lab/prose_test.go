package lab

import (
	"cmp"
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

// longest is how many lines of code a reader takes in at once.
const longest = 25

func TestCellsAreShort(t *testing.T) {
	for name, nb := range byName(t) {
		for k, c := range nb.Cells {
			if n := strings.Count(strings.TrimRight(string(c.Source), "\n"), "\n") + 1; c.Type == "code" && n > longest {
				t.Errorf("%s, cell %d (%s): %d lines, want at most %d", name, k, c.ID, n, longest)
			}
		}
	}
}

// quotation is the mark behind a number of the prose, with the id of the cell that shows it, or of a
// claim or an erratum.
var quotation = regexp.MustCompile(`<!-- = ([\w-]+) -->`)

// TestProseQuotesOutputs: a number with such a mark is in the outputs of that cell, rounded to the
// digits that the prose has. Signs are in the words of a sentence, and are not compared.
func TestProseQuotesOutputs(t *testing.T) {
	notebooks := byName(t)
	readme := cell{ID: "README.md", Type: "markdown", Source: multiline(try(os.ReadFile("../../../README.md")).or(t))}
	prose := map[string]*notebook{"the README": {Cells: []cell{readme}}}
	maps.Copy(prose, notebooks)
	recorded := map[string]string{}
	for _, c := range try(paper.RecordedClaims()).or(t) {
		recorded[c.ID] = c.Numbers
	}
	for _, e := range try(paper.RecordedErrata()).or(t) {
		recorded[e.ID] = e.Numbers
	}
	quoted := 0
	for name, nb := range prose {
		for _, c := range nb.Cells {
			if c.Type != "markdown" {
				continue
			}
			prose := string(c.Source)
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
					t.Errorf("%s, cell %s: the prose says %s where cell %s shows\n%s", name, c.ID, number.text, id, shown)
				}
			}
		}
	}
	if quoted < 100 {
		t.Errorf("only %d numbers of the prose are marked", quoted)
	}
}

// byName are the notebooks, by name.
func byName(t *testing.T) map[string]*notebook {
	all := map[string]*notebook{}
	for _, file := range try(filepath.Glob("../../*.ipynb")).or(t) {
		all[strings.TrimSuffix(filepath.Base(file), ".ipynb")] = try(readNotebook(file)).or(t)
	}
	if len(all) != 12 {
		t.Errorf("%d notebooks, want 12", len(all))
	}
	return all
}

// shows is the text of the outputs of a cell.
func (nb *notebook) shows(id string) (text string) {
	for _, c := range nb.Cells {
		if c.ID == id {
			for _, o := range c.Outputs {
				text += string(o.Text) + o.in("text/plain") + "\n"
			}
		}
	}
	return text
}

// A quotedNumber is a number as it is written, and the unit of its last digit.
type quotedNumber struct {
	text        string
	value, unit float64
}

// numerals are 1,234.5, 2.5e-3, 2.5·10⁻³, 2.5\cdot10^{-3} and 10^{-3}.
var numerals = regexp.MustCompile(`(?:(\d+(?:,\d{3})*)(\.\d+)?(?:e([-+]?\d+))?(?:\s?(?:·|\\cdot\s?)10(?:\^\{?([-−]?\d+)\}?|([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)))?)`)

// numberWords are the words of the prose that are numbers.
var numberWords = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve")

var inWords = regexp.MustCompile(`\b(?i:` + strings.Join(numberWords, "|") + `)\b`)

// lastNumber is the number that a text ends with, but for a unit.
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

// numeral reads what matches numerals.
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

// in reports whether a text has the number, to its digits.
func (w quotedNumber) in(text string) bool {
	for _, s := range numerals.FindAllString(text, -1) {
		if math.Abs(numeral(s).value-w.value) <= w.unit/2*(1+1e-9) {
			return true
		}
	}
	return false
}

func TestNumeralsAreRead(t *testing.T) {
	for text, want := range map[string]float64{
		"gains 16 %": 16, "of 1,028,196 states": 1028196, "is $3.5\\cdot10^5$": 3.5e5, "about $10^{-7}$": 1e-7, "2.08·10⁻⁵": 2.08e-5,
		"on twelve": 12, "[1.11625 -0.11625]": .11625, "− 9.7 of ten": 10, "two of 1.5e+02 jobs": 150,
	} {
		if got, ok := lastNumber(text); !ok || math.Abs(got.value-want) > 1e-12*want {
			t.Errorf("%q ends with %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]bool{"15.7 %": true, "16.49": true, "16.51": false, "-16.2e+00": true, "1.6": false, "160": false, "": false} {
		if n, _ := lastNumber("16 %"); n.in(text) != want {
			t.Errorf("16 is in %q: %v", text, !want)
		}
	}
}

package plotting

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Labels may contain TeX formulas between dollar signs: letters, scripts, accents and symbols. A formula becomes
// Unicode, with these private-use characters around its scripts.
const (
	superScript = '\uE000'
	subScript   = '\uE001'
	endScript   = '\uE002'
	scripts     = "\uE000\uE001\uE002"
)

// Unicode's scripts and accents, and the characters for which they stand.
const (
	superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀⁿⁱᵈᵗ"
	superLetters = "0123456789+−Tnidt"
	subscripts   = "₀₁₂₃₄₅₆₇₈₉₊₋ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"
	subLetters   = "0123456789+−aehijklmnoprstuvx"

	combining = "\u0302\u0303\u0304\u0305\u0307" // hat, tilde, bar, overline, dot
	accents   = "ˆ˜¯¯˙"
)

// counterpart finds r in the string from, and returns the character at the same place in the string to.
func counterpart(from, to string, r rune) rune {
	return []rune(to)[utf8.RuneCountInString(from[:strings.IndexRune(from, r)])]
}

// symbols maps commands to the characters for which they stand.
var symbols = pairs(`alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι
	kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω
	Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω
	nabla ∇ partial ∂ infty ∞ ell ℓ sum ∑ prod ∏ int ∫ in ∈ notin ∉ subset ⊂ cup ∪ cap ∩ emptyset ∅ forall ∀ exists ∃
	le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ succeq ⪰ preceq ⪯ propto ∝ to → rightarrow → leftarrow ← mapsto ↦
	cdot · times × pm ± mp ∓ circ ∘ star ⋆ ast ∗ top ⊤ bot ⊥ prime ′ dagger † | ‖ Vert ‖ max max min min ln ln log log langle ⟨ rangle ⟩
	lfloor ⌊ rfloor ⌋ ldots … dots … cdots ⋯ { { } } % % _ _ & & # #`)

// accentsOf maps commands to the accents that they put over a letter.
var accentsOf = pairs("hat \u0302 widehat \u0302 tilde \u0303 widetilde \u0303 bar \u0304 overline \u0305 dot \u0307")

func pairs(s string) map[string]string {
	out := map[string]string{}
	for f := strings.Fields(s); len(f) > 1; f = f[2:] {
		out[f[0]] = f[1]
	}
	return out
}

// relations are set with space around them, except in scripts.
const relations = "=<>≤≥≠≈≡∼⪰⪯∝∈∉⊂→←↦"

// typeset turns the formulas of a label into Unicode. If it cannot read a formula, it returns the label unchanged;
// [Figure.Validate] reports such labels before a figure is drawn.
func typeset(label string) string {
	s, err := formulas(label)
	if err != nil {
		return label
	}
	return s
}

// formulas does what typeset does, but returns an error for a formula that it cannot read. A label with an odd number
// of dollar signs, or with one of our private-use characters, has no formulas.
func formulas(label string) (string, error) {
	parts := strings.Split(label, "$")
	if len(parts) < 3 || len(parts)%2 == 0 || strings.ContainsAny(label, scripts) {
		return label, nil
	}
	var b strings.Builder
	for i, part := range parts {
		if i%2 == 0 {
			b.WriteString(part)
			continue
		}
		t := tex{rest: part}
		b.WriteString(t.list(0))
		if t.rest != "" {
			t.fail("} without {")
		}
		if t.err != nil {
			return "", fmt.Errorf("label %q: %w", label, t.err)
		}
	}
	return b.String(), nil
}

// tex reads a formula.
type tex struct {
	rest   string
	script bool // whether rest is within a script
	err    error
}

// fail keeps the first reason why the formula cannot be read.
func (t *tex) fail(format string, args ...any) {
	t.err = cmp.Or(t.err, fmt.Errorf(format, args...))
}

// list reads up to a closing brace, or the end.
func (t *tex) list(depth int) string {
	var b strings.Builder
	for t.err == nil && t.rest != "" && t.rest[0] != '}' {
		b.WriteString(t.atom(depth))
	}
	return b.String()
}

// atom reads a letter, a command with its arguments, a group or a script.
func (t *tex) atom(depth int) string {
	if depth > 20 {
		t.fail("more than 20 groups within groups")
		return ""
	}
	r, n := utf8.DecodeRuneInString(t.rest)
	t.rest = t.rest[n:]
	switch {
	case unicode.IsSpace(r):
		return ""
	case r == '~':
		return " "
	case r == '\'':
		return "′"
	case r == '-':
		return "−"
	case r == '{':
		s := t.list(depth + 1)
		rest, closed := strings.CutPrefix(t.rest, "}")
		if t.rest = rest; !closed {
			t.fail("{ without }")
		}
		return s
	case r == '^', r == '_':
		if t.script {
			t.fail("a script within a script")
		}
		t.script = true
		s := t.argument(string(r), depth)
		t.script = false
		begin := superScript
		if r == '_' {
			begin = subScript
		}
		return string(begin) + s + string(endScript)
	case r == '\\':
		return t.command(depth)
	}
	return t.spaced(string(r))
}

// spaced puts space around a relation.
func (t *tex) spaced(s string) string {
	if !t.script && strings.Contains(relations, s) {
		return " " + s + " "
	}
	return s
}

func (t *tex) command(depth int) string {
	n := strings.IndexFunc(t.rest, func(r rune) bool { return !unicode.IsLetter(r) || r > unicode.MaxASCII })
	switch {
	case n < 0:
		n = len(t.rest)
	case n == 0:
		_, n = utf8.DecodeRuneInString(t.rest)
	}
	name := t.rest[:n]
	t.rest = t.rest[n:]
	if s, ok := symbols[name]; ok {
		return t.spaced(s)
	}
	if accent, ok := accentsOf[name]; ok {
		s := t.argument(`\`+name, depth)
		if utf8.RuneCountInString(s) != 1 || strings.ContainsAny(s, scripts) {
			t.fail(`\%s over %q, want one letter`, name, s)
		}
		return s + accent
	}
	switch name {
	case "sqrt":
		s := t.argument(`\sqrt`, depth)
		if utf8.RuneCountInString(s) > 1 {
			s = "(" + s + ")"
		}
		return "√" + s
	case ",", ":", ";", " ", "quad":
		return " "
	case "!", "left", "right":
		return ""
	case "text", "mathrm", "mathbf", "mathcal", "mathbb", "mathsf", "operatorname":
		return t.argument(`\`+name, depth)
	}
	t.fail(`\%s is not known`, name)
	return ""
}

func (t *tex) argument(of string, depth int) string {
	t.rest = strings.TrimLeftFunc(t.rest, unicode.IsSpace)
	if t.rest == "" || t.rest[0] == '}' {
		t.fail("nothing after %s", of)
		return ""
	}
	return t.atom(depth + 1)
}

// Unicode returns the label in plain Unicode. It rewrites the TeX formulas between dollar signs. A superscript or
// subscript that Unicode lacks is written after the mark ^ or _.
func Unicode(label string) string {
	return plain(label, func(begin rune, s string) string {
		mark := map[rune]string{superScript: "^", subScript: "_"}[begin]
		if utf8.RuneCountInString(s) == 1 {
			return mark + s
		}
		return mark + "(" + s + ")"
	})
}

// charted returns the label for a chart. It writes a script that Unicode lacks as ECharts' rich text, {sup|…} or {sub|…}.
func charted(label string) string {
	return plain(strings.ReplaceAll(typeset(label), "{", "{\u2060"), func(begin rune, s string) string {
		return map[rune]string{superScript: "{sup|", subScript: "{sub|"}[begin] + strings.ReplaceAll(s, " ", "\u00a0") + "}"
	})
}

// plain returns the label in Unicode; the function other writes the scripts that Unicode lacks.
func plain(label string, other func(begin rune, s string) string) string {
	var b, script strings.Builder
	begin := rune(0)
	for _, r := range typeset(label) {
		switch {
		case r == superScript, r == subScript:
			begin = r
		case r == endScript:
			s, ok := inUnicode(begin, script.String())
			if !ok {
				s = other(begin, s)
			}
			b.WriteString(s)
			script.Reset()
			begin = 0
		case begin != 0:
			script.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + script.String()
}

// inUnicode writes a script in Unicode's characters, if Unicode has them all. A star, prime or dagger is already raised.
func inUnicode(begin rune, s string) (script string, ok bool) {
	from, to := superLetters, superscripts
	if begin == subScript {
		from, to = subLetters, subscripts
	}
	out := strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(combining, r), strings.ContainsRune(to, r):
			return r
		case strings.ContainsRune(from, r):
			return counterpart(from, to, r)
		}
		return -1
	}, s)
	if utf8.RuneCountInString(out) == utf8.RuneCountInString(s) {
		return out, true
	}
	return s, begin == superScript && strings.Contains("*∗⋆′†", s)
}

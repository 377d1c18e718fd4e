package lab

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	// The characters that stand for scripts, each with what it is a script of.
	raised  = characters("⁰0 ¹1 ²2 ³3 ⁴4 ⁵5 ⁶6 ⁷7 ⁸8 ⁹9 ⁻- ⁺+ ⁿn ᵐm ᵗt ᵈd ⁱi ʲj ᵏk ˣx")
	lowered = characters("₀0 ₁1 ₂2 ₃3 ₄4 ₅5 ₆6 ₇7 ₈8 ₉9 ₋- ₊+ ₐa ₑe ₜt ᵢi ⱼj ₖk ₙn ₘm ₛs ₓx ⁎*")
	inTeX   = strings.NewReplacer("\u2003", `\;\mathord-`, "\u2002", `\;`, "ᵀ", `^{\mathsf T}`, "∇", `\nabla `, "‖", `\|`, "⟨", `\langle `, "⟩", `\rangle `, "⪰", `\succeq `, "⪯", `\preceq `, "·", `\cdot `, "−", "-", "′", "'",
		"∞", `\infty `, "≤", `\le `, "≥", `\ge `, "∈", `\in `, "→", `\to `, "←", `\gets `, "∨", `\vee `, "Σ", `\sum `, "Π", `\Pi `, "Ψ", `\Psi `, "Φ", `\Phi `, "Θ", `\Theta `, "Λ", `\Lambda `, "Ξ", `\Xi `, "Ω", `\Omega `, "ℝ", `\mathbb R`, "𝒳", `\mathcal X`, "𝒮", `\mathscr S`,
		"𝓛", `\mathcal L`, "¼", `\tfrac14 `, "½", `\tfrac12 `, "⅛", `\tfrac18 `, "Ĝ", `\hat G`, "ĝ", `\hat g`, "…", `\dots `, "%", `\%`, "#", `\#`, "&", `\&`, "$", `\$`, "~", `\sim `, "⊙", `\odot `, "∩", `\cap `, "∪", `\cup `)
	power   = regexp.MustCompile(`(\d)e(?:\+|(-))?0*([1-9]\d*)`) // 1e-05
	entry   = regexp.MustCompile(`(\d) (-?\d)`)                  // of a vector
	word    = regexp.MustCompile(`^[“(]?[A-Za-z]{2,}[A-Za-z’'-]*[”).,;:]*$`)
	takes   = regexp.MustCompile(`^(min|max|sup|inf|ln|log)$`) // what stands after it
	digit   = regexp.MustCompile(`^-?\d`)
	ends    = regexp.MustCompile(`\b(ln|log)$`)
	indices = regexp.MustCompile(`^([-−]?[0-9][0-9.]*|[-−]?[¼½⅛⅙]|[a-z]+[₀-₉]*|[A-Z]+[₀-₉]*|[∞ℓ]|(?:\p{Greek}[\x{302}\x{303}]?)+[₀-₉]*)`)
	eighths = strings.NewReplacer("¼", "1/4", "½", "1/2", "⅛", "1/8", "⅙", "1/6")
)

func characters(pairs string) map[rune]string {
	of := map[rune]string{}
	for _, p := range strings.Fields(pairs) {
		r := []rune(p)
		of[r[0]] = string(r[1:])
	}
	return of
}

const operators = "=<>≤≥+−-/∈→←≈∨:|~⪰⪯·×±"

// typeset puts the formulas of a sentence with mathematics in Unicode into TeX: what stands between spaces is a
// formula if it has a character that no prose has, and so is what operators or open parentheses tie to one.
func typeset(sentence string) string {
	tokens := strings.Fields(sentence)
	formula := make([]bool, len(tokens))
	for i := len(tokens) - 1; i >= 0; i-- {
		formula[i] = mathematical(tokens[i]) || takes.MatchString(tokens[i]) && i+1 < len(tokens) && formula[i+1]
	}
	neutral := func(i int) bool { return !word.MatchString(tokens[i]) || formula[i] }
	for range tokens { // an operator takes in its neighbours, and they may be operators
		for i, t := range tokens {
			if operator := strings.Trim(t, operators) == ""; operator && i > 0 && i+1 < len(tokens) && neutral(i-1) && neutral(i+1) && (formula[i-1] || formula[i+1] || t != "-" && t != ":") {
				formula[i-1], formula[i], formula[i+1] = true, true, true
			}
		}
	}
	var out []string
	var open []string
	flush := func() {
		if len(open) > 0 {
			text := strings.Join(open, " ")
			end := strings.TrimRight(text, ",;:.")
			if unclosed(end) < 0 {
				end = strings.TrimSuffix(end, ")")
			}
			out = append(out, "$"+toTeX(end)+"$"+text[len(end):])
			open = nil
		}
	}
	for i, t := range tokens {
		switch {
		case formula[i] || neutral(i) && (unclosed(strings.Join(open, " ")) > 0 || ends.MatchString(strings.Join(open, " "))):
			if len(open) > 0 && digit.MatchString(t) && unclosed(strings.Join(open, " ")) <= 0 && !ends.MatchString(open[len(open)-1]) && strings.Trim(open[len(open)-1], operators) != "" {
				flush() // a number beside a formula
			}
			open = append(open, t)
			if strings.TrimRight(t, ",;.:") != t && unclosed(strings.Join(open, " ")) <= 0 {
				flush()
			}
		default:
			flush()
			out = append(out, t)
		}
	}
	flush()
	return strings.Join(out, " ")
}

// unclosed counts the parentheses that are open at the end of a formula. An interval may be open at one end.
func unclosed(formula string) (n int) {
	for _, r := range formula {
		if strings.ContainsRune("([{⟨", r) {
			n++
		} else if strings.ContainsRune(")]}⟩", r) {
			n--
		}
	}
	return n
}

// mathematical says whether the token has what no prose has.
func mathematical(token string) bool {
	if strings.HasPrefix(token, "O(") {
		return true
	}
	token = strings.Trim(token, "().,;:")
	if len(token) == 1 {
		return unicode.IsLetter(rune(token[0])) && token != "a" && token != "A" && token != "I"
	}
	for _, r := range token {
		if r > 0x7f && !strings.ContainsRune("–—’“”é§", r) || strings.ContainsRune("_^=|*", r) {
			return true
		}
	}
	return false
}

// toTeX is the TeX of a formula in Unicode.
func toTeX(formula string) string {
	var b strings.Builder
	formula = power.ReplaceAllString(formula, "$1·10^{$2$3}")
	formula = strings.ReplaceAll(entry.ReplaceAllString(formula, "$1\u2002$2"), "\u2002-", "\u2003")
	runes := []rune(formula)
	var sets []bool // of the braces that are open: whether they are those of a set
	for i := 0; i < len(runes); i++ {
		r, after := runes[i], ' '
		if i > 0 {
			after = runes[i-1]
		}
		if of, mark := raised, "^{"; after != '{' && after != '_' && (raised[r] != "" || lowered[r] != "") {
			if raised[r] == "" {
				of, mark = lowered, "_{"
			}
			b.WriteString(mark)
			for ; i < len(runes) && of[runes[i]] != ""; i++ {
				b.WriteString(of[runes[i]])
			}
			i--
			b.WriteString("}")
			continue
		}
		if i+1 < len(runes) && (runes[i+1] == '\u0302' || runes[i+1] == '\u0303') {
			accent := map[rune]string{'\u0302': `{\hat{`, '\u0303': `{\tilde{`}[runes[i+1]]
			b.WriteString(accent + inTeX.Replace(string(r)) + "}}")
			i++
			continue
		}
		switch {
		case (r == '_' || r == '^') && indices.MatchString(string(runes[i+1:])):
			argument := indices.FindString(string(runes[i+1:]))
			b.WriteString(string(r) + "{" + toTeX(eighths.Replace(argument)) + "}")
			i += len([]rune(argument))
		case r == '*' && after != ' ' && after != '_':
			b.WriteString("^*")
		case r == '⁎' && (after == '{' || after == '_'):
			b.WriteString("*")
		case r == '{':
			set := after != '_' && after != '^'
			sets = append(sets, set)
			b.WriteString(map[bool]string{true: `\{`, false: `{`}[set])
		case r == '}' && len(sets) > 0:
			b.WriteString(map[bool]string{true: `\}`, false: `}`}[sets[len(sets)-1]])
			sets = sets[:len(sets)-1]
		case r == '√':
			end := i + 2
			if i+1 < len(runes) && runes[i+1] == '(' {
				for depth := 1; end < len(runes) && depth > 0; end++ {
					depth += map[rune]int{'(': 1, ')': -1}[runes[end]]
				}
				b.WriteString(`\sqrt{` + toTeX(string(runes[i+2:end-1])) + "}")
			} else {
				for end < len(runes) && runes[i+1] == 'l' && runes[end] != ',' && runes[end] != ')' { // √ln 2
					end++
				}
				end = min(end, len(runes))
				b.WriteString(`\sqrt{` + toTeX(string(runes[i+1:end])) + "}")
			}
			i = end - 1
		case r < 0x80 && unicode.IsLetter(r):
			end := i
			for end < len(runes) && runes[end] < 0x80 && unicode.IsLetter(runes[end]) {
				end++
			}
			b.WriteString(letters(string(runes[i:end])))
			i = end - 1
		default:
			b.WriteString(inTeX.Replace(string(r)))
		}
	}
	return b.String()
}

// letters is a function's name, a word, or a product of variables.
func letters(name string) string {
	switch name {
	case "min", "max", "sup", "inf", "log", "ln", "exp":
		return `\` + name + ` `
	case "argmin", "dom":
		return `\operatorname{` + name + `}`
	}
	if len(name) > 2 || name == "TV" {
		return `\mathrm{` + name + `}`
	}
	return name
}

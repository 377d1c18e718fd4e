package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every row of the claims is a setting of one claim, and says where it was tried apart from what came out.
func TestClaims(t *testing.T) {
	claims := try(newClaims()).or(t)
	p := &page{Claims: claims}
	settings := 0
	for _, c := range p.Verdicts() {
		settings += c.Count
	}
	if rows := try(records("claims.csv")).or(t); settings != len(rows) || len(claims) > len(rows)*3/4 {
		t.Errorf("%d claims with %d settings, want fewer with %d", len(claims), settings, len(rows))
	}
	for _, c := range claims {
		if c.Text == "" || c.Section == "" {
			t.Errorf("%+v", c)
		}
		for _, s := range c.Settings {
			if s.Where == "" || s.Deciding == "" || strings.Contains(s.Where, " ± ") || s.Mark.Color == "" {
				t.Errorf("%s: %+v", s.Row["id"], s)
			}
		}
	}
	if c := claims[0].Settings[0]; c.Deciding != "2893.3 ± 7.4 against 2861.6" || !strings.HasSuffix(c.Where, "optimum of (2.18)") || !strings.HasPrefix(c.More, "the best policy") {
		t.Errorf("%+v", c)
	}
}

// Every erratum is on its page once, the errors apart, and has a section; those behind an entry of the
// index have it.
func TestErrata(t *testing.T) {
	equations := try((&Lab{root: "../../.."}).equations()).or(t)
	p := &page{Name: "errata", Index: equations, Errata: try(newErrata(equations)).or(t), Scripts: map[string]source{"mathjax": {}, "echarts": {}, "minisearch": {}}}
	if len(p.Grave())+len(p.Other()) != len(p.Errata) || len(p.Grave()) == 0 {
		t.Errorf("%d errors and %d others of %d", len(p.Grave()), len(p.Other()), len(p.Errata))
	}
	entries := 0
	for _, e := range p.Errata {
		entries += len(e.Entries)
		if e.Section == "" || e.Mark.Color == "" || e.Row["witness"] == "" {
			t.Errorf("%s: %+v", e.Row["id"], e)
		}
	}
	for _, q := range equations {
		if q["erratum"] != "" {
			entries--
		}
	}
	if entries != 0 {
		t.Errorf("%d entries too many", entries)
	}
	for _, counts := range [][]choice{p.Kinds(), p.Sections()} {
		left := len(p.Other())
		for _, c := range counts {
			left -= c.Count
		}
		if left != 0 {
			t.Errorf("%+v: %d errata have no such choice", counts, left)
		}
	}
	file := filepath.Join(t.TempDir(), "errata.html")
	noError(t, p.write(file))
	text := string(try(os.ReadFile(file)).or(t))
	for _, e := range p.Errata {
		if strings.Count(text, `id="erratum-`+e.Row["id"]+`"`) != 1 {
			t.Errorf("%s is not once on the page", e.Row["id"])
		}
	}
}

func TestTypeset(t *testing.T) {
	for text, want := range map[string]string{
		"The minimum is a distance; (5.15) uses it.":       "The minimum is a distance; (5.15) uses it.",
		"P_𝒳(x) = min_{y∈𝒳} ‖x−y‖₂²":                       `$P_\mathcal X(x) = \min _{y\in \mathcal X} \|x-y\|_{2}^{2}$`,
		"x = [λ−ηΨθ]₊, λ ← Gx/(G ∨ ‖x‖₂)":                  `$x = [λ-η\Psi θ]_{+}$, $λ \gets  Gx/(G \vee  \|x\|_{2})$`,
		"so with β = O(T^¼), as E ψ(|X|/β) ≤ 1 for a T":    `so with $β = O(T^{1/4})$, as $E ψ(|X|/β) \le  1$ for a $T$`,
		"{1ᵀθ = 1}, and θ̂* at 2.5e-05 ± 1 of √(nm) or √d": `$\{1^{\mathsf T}θ = 1\}$, and ${\hat{θ}}^*$ at $2.5\cdot 10^{-5} ± 1$ of $\sqrt{nm}$ or $\sqrt{d}$`,
		"cᵀΨθ̂ 12 ± 2 against 7":                           `$c^{\mathsf T}\Psi {\hat{θ}}$ $12 ± 2$ against 7`,
		"at θ = [1.1 -0.1]":                                `at $θ = [1.1\;\mathord-0.1]$`,
		"‖λ*‖_∞ in [−1, 0) (queue, R = 2)":                 `$\|λ^*\|_{\infty }$ in $[-1, 0)$ (queue, $R = 2$)`,
		"O(ln T/√T) of ‖‖e‖²‖_ψ₁ and ε^−2.14, √ln 2":       `$O(\ln  T/\sqrt{T})$ of $\|\|e\|^{2}\|_{ψ_{1}}$ and $ε^{-2.14}$, $\sqrt{\ln  2}$`,
	} {
		if got := typeset(text); got != want {
			t.Errorf("%s:\n%s, want\n%s", text, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	got := sentences("a sum; D(θ₁;θ₂) (no more; here.); the end.")
	if len(got) != 3 || got[0] != "A sum." || got[1] != "$D(θ_{1};θ_{2})$ (no more; here.)" || got[2] != "The end." {
		t.Errorf("%q", got)
	}
}

package lab

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/plotting"
)

// The output of a figure keeps its pictures in LaTeX, in HTML without scripts, and in HTML that GitHub
// has sanitised.
func TestFiguresSurviveConversion(t *testing.T) {
	t.Parallel()
	lab := readyLab(t)
	fig := plotting.Figure{Title: "∇φ(θ̂)", Layers: []plotting.Layer{plotting.Line{Name: "a", X: []float64{0, 1}, Y: []float64{0, 1}}}}
	output := try(plotting.DisplayData(plotting.Row(fig, fig))).or(t)
	file := filepath.Join(t.TempDir(), "figure.ipynb")
	noError(t, writeFile(file, try(json.Marshal(map[string]any{
		"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{},
		"cells": []any{map[string]any{
			"cell_type": "code", "id": "a", "execution_count": 1, "metadata": map[string]any{}, "source": "plotting.Show(fig)",
			"outputs": []any{map[string]any{"output_type": "display_data", "metadata": map[string]any{}, "data": output.Data}},
		}},
	})).or(t)))
	convert := func(format string) string {
		_, err := printed(lab.command(t.Context(), lab.python, "-m", "nbconvert", "--to="+format, "--log-level=ERROR", file))
		noError(t, err)
		return string(try(os.ReadFile(strings.TrimSuffix(file, "ipynb") + map[string]string{"latex": "tex", "html": "html"}[format])).or(t))
	}
	preamble, body, _ := strings.Cut(convert("latex"), `\begin{document}`)
	if !strings.Contains(preamble, `\setmonofont[Scale=MatchLowercase]{DejaVu Sans Mono}`) {
		t.Error("code has no font with Greek in LaTeX")
	}
	picture := regexp.MustCompile(`\\(?:includegraphics|adjustimage).*\{([^{}]+)\}`).FindStringSubmatch(body)
	if picture == nil {
		t.Fatal("no picture in LaTeX")
	}
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(file), picture[1])); err != nil || !strings.HasPrefix(string(b), "\x89PNG") {
		t.Errorf("LaTeX's picture %s: %.8q, %v", picture[1], b, err)
	}

	page := regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(convert("html"), "")
	if n := strings.Count(page, `src="data:image/svg+xml;base64,`); n != 2 {
		t.Errorf("%d pictures on a page without scripts, want 2", n)
	}
	if strings.Contains(regexp.MustCompile(`<img[^>]*>`).FindString(page[strings.Index(page, "mixpolicy-chart"):]), "hidden") {
		t.Error("the picture is hidden until a script runs")
	}

	// githubsRules are the public rules of GitHub's html-pipeline. In addition, they allow pictures in data URLs, because
	// GitHub shows the PNGs of notebooks in this way.
	cmd := lab.command(t.Context(), lab.python, "-c", githubsRules)
	cmd.Stdin = strings.NewReader(output.Data["text/html"].(string))
	left, err := printed(cmd)
	noError(t, err)
	if n := strings.Count(left, `src="data:image/svg+xml;base64,`); n != 2 || !strings.Contains(left, `alt="∇φ(θ̂)`) {
		t.Errorf("%d pictures on GitHub, want 2 with their alternative texts:\n%.2000s", n, left)
	}
	if words := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(left, ""); strings.TrimSpace(words) != "" {
		t.Errorf("text besides the pictures: %q", words)
	}
}

// githubsRules sanitises HTML with bleach, which comes with Jupyter.
const githubsRules = `
import bleach, re, sys
tags = """h1 h2 h3 h4 h5 h6 br b i strong em a pre code img tt div ins del sup sub p ol ul table thead tbody tfoot blockquote
  dl dt dd kbd q samp var hr ruby rt rp li tr td th s strike summary details""".split()
attributes = {"a": ["href"], "img": ["src", "longdesc"], "*": "align alt border colspan dir height lang name open rowspan scope title type valign value width".split()}
html = re.sub(r"(?s)<script.*?</script>", "", sys.stdin.read())
print(bleach.clean(html, tags=tags, attributes=attributes, protocols=["http", "https", "mailto", "data"], strip=True, strip_comments=True))
`

// A notebook that is exported as a script is a Go program that compiles and does what the cells do.
func TestAnExportedScriptIsAProgram(t *testing.T) {
	t.Parallel()
	lab := readyLab(t)
	own := writeNotebook(t, "own", prose("# Mine"), code("import (\n\t\"fmt\"\n\t\"math\"\n)\n\nvar x = 2.0"), code("%%\nx := math.Sqrt(x)\nfmt.Printf(\"%.3f\\n\", x)"),
		code("import \"fmt\"\n\nfunc main() {\n\tfmt.Println(x)\n}"), code("!ls"))
	out := t.TempDir()
	_, err := printed(lab.command(t.Context(), lab.python, append([]string{"-m", "nbconvert", "--to=script", "--log-level=ERROR", "--output-dir=" + out, own}, lab.paper()...)...))
	noError(t, err)
	noError(t, copyFile(filepath.Join(out, "own.go"), filepath.Join(out, "own.txt"))) // the notebook has not run, so it does not name its language
	if got := try(printed(lab.command(t.Context(), "go", "run", filepath.Join(out, "own.go")))).or(t); got != "1.414\n2\n" {
		t.Errorf("the program prints %q", got)
	}
	for _, file := range named(out, `^\d.*\.go$`) {
		if _, err := printed(lab.command(t.Context(), "go", "list", "-export", "-f= ", file)); err != nil { // compiles the file, without linking
			t.Error(err)
		}
	}
}

package plotting

import (
	"bytes"
	"encoding/xml"
	"image"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
	"pgregory.net/rapid"
)

func TestFormulas(t *testing.T) {
	for label, want := range map[string]string{
		`cost in $`:                           "cost in $",
		`$c^T\Psi\hat\theta_t$`:               "cᵀΨθ̂ₜ",
		`$\nabla\varphi(\theta)$ at $\eta_0$`: "∇φ(θ) at η₀",
		`$\|\theta_t^*\|_\infty\le R_{12}$`:   "‖θₜ*‖_∞ ≤ R₁₂",
		`$\hat{x}^{-1}, e^{bq}$`:              "x̂⁻¹,e^(bq)",
		`$\lambda \in [0, 1]$`:                "λ ∈ [0,1]",
		`$\sqrt{t+1}$`:                        "√(t+1)",
		`$\text{cost}_{y}$`:                   "cost_y",
		`θ̂ₜ and 10⁻³`:                        "θ̂ₜ and 10⁻³",
	} {
		if _, err := formulas(label); err != nil || Unicode(label) != want {
			t.Errorf("%s is %q, %v; want %q", label, Unicode(label), err, want)
		}
	}
	for label, want := range map[string]string{
		`$\foo$`: `\foo is not known`, `$a_$`: "nothing after _", `${a$`: "{ without }", `$a}$`: "} without {",
		`$\hat{ab}$`: "want one letter", `$a_{b_c}$`: "a script within a script", `$` + strings.Repeat("{", 99) + `$`: "more than 20",
	} {
		err := Figure{Title: label, Layers: []Layer{Rule{}}}.Validate()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error that contains %q", label, err, want)
		}
	}
}

// A superscript stands above its subscript, and an accent takes no width.
func TestLayout(t *testing.T) {
	h := textStyle(labelFont, 0, 0).Handler.(raised)
	width := func(s string) float64 { _, w := h.layout(s, labelFont); return w.Points() }
	if a, b := width(`$x_{12}^3$`), width(`$x_{12}$`); a != b {
		t.Errorf("a superscript over a wider subscript: width %g, want %g", a, b)
	}
	if a, b := width("θ̂x"), width("θx"); a != b {
		t.Errorf("with an accent %g wide, want %g", a, b)
	}
	if a, b := width(`$x_{12}$`), width("x₁₂"); a != b {
		t.Errorf("a formula is %g wide, its Unicode %g", a, b)
	}
	if missing("∇φ(θ̂) ∈ ℝᵈ, ‖x‖ ⪰ 0") != 0 || missing("平") != '平' {
		t.Error("missing finds the wrong characters")
	}
}

// A PDF contains the outlines of letters. Drawn as pixels, the outlines look like the letters.
func TestOutlinesAreTheLetters(t *testing.T) {
	const w, h = 200, 40
	draws := func(outlines bool) (ink, x, y float64) {
		canvas := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(144))
		var c vg.CanvasSizer = canvas
		if outlines {
			c = outlined{canvas}
		}
		dc := draw.NewCanvas(c, w, h)
		dc.FillText(textStyle(font.From(sans, 20), draw.XLeft, draw.YBottom), vg.Point{X: 5, Y: 10}, `$\nabla\hat\Psi^2$ = cost, g`)
		img := canvas.Image().(*image.RGBA)
		for py := range img.Rect.Dy() {
			for px := range img.Rect.Dx() {
				a := 255 - float64(img.RGBAAt(px, py).G)
				ink, x, y = ink+a, x+a*float64(px), y+a*float64(py)
			}
		}
		return ink, x / ink, y / ink
	}
	ink, x, y := draws(true)
	wantInk, wantX, wantY := draws(false)
	// Letters stand at whole pixels, and outlines stand anywhere. So the centre may be off by a pixel, and the ink by 5 %.
	if math.Abs(ink/wantInk-1) > 0.05 || math.Abs(x-wantX) > 1 || math.Abs(y-wantY) > 1 {
		t.Errorf("outlines: ink %.0f centred at (%.1f, %.1f); letters: %.0f at (%.1f, %.1f)", ink, x, y, wantInk, wantX, wantY)
	}
	pdf := must(encode("pdf", Figure{Title: "θ", Layers: []Layer{Rule{}}}))
	if bytes.Contains(pdf, []byte("/FontFile")) {
		t.Error("the PDF sets text in a font of 256 letters")
	}
}

// For every label, the drawn runs contain all letters of the label, its Unicode form contains none of
// our private-use characters, and the picture is valid XML.
func FuzzLabel(f *testing.F) {
	for _, s := range []string{`$c^T\Psi\hat\theta_t$`, "‖θ̂‖", `$\nabla$ $`, `$\frac12$`, "</text>", "a\u0302\u0302", "₁⁻¹", "\ue000x", `$^{a}_{b}'$`, "\x00\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, label string) {
		if len(label) > 200 {
			return
		}
		set, err := formulas(label)
		if err != nil {
			if (Figure{Title: label, Layers: []Layer{Rule{}}}).Validate() == nil {
				t.Fatalf("a figure with the label %q is valid, but the label is not: %v", label, err)
			}
			return
		}
		letters := func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) || unicode.IsControl(r) || r&0xfffe == 0xfffe || r == unicode.ReplacementChar || strings.ContainsRune(scripts, r) {
					return -1
				}
				return r
			}, s)
		}
		var inRuns strings.Builder
		for _, r := range runs(label, labelFont) {
			inRuns.WriteString(r.text)
		}
		base := func(r rune) rune { // the character that is drawn for r
			for _, c := range [][2]string{{superscripts, superLetters}, {subscripts, subLetters}, {combining, accents}} {
				if strings.ContainsRune(c[0], r) {
					return counterpart(c[0], c[1], r)
				}
			}
			return r
		}
		if got, want := letters(inRuns.String()), letters(strings.Map(base, set)); got != want {
			t.Fatalf("%q is drawn as %q, want %q", label, got, want)
		}
		if s := Unicode(label); strings.Contains(label, "$") && !strings.ContainsAny(label, scripts) && strings.ContainsAny(s, scripts) {
			t.Fatalf("the Unicode form of %q is %q, with our private-use characters", label, s)
		}
		canvas := &svgCanvas{Canvas: vgsvg.New(100, 20)}
		dc := draw.NewCanvas(canvas, 100, 20)
		dc.FillText(textStyle(labelFont, draw.XLeft, draw.YTop), vg.Point{}, label)
		var out bytes.Buffer
		must(canvas.WriteTo(&out))
		svg := canvas.tidy(out.Bytes())
		for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%q: the picture is not XML: %v", label, err)
			}
		}
	})
}

// In a PNG, letters are as far apart as their measured widths: the ink of a text ends at the width of the text.
func TestLettersOfAPictureStandApart(t *testing.T) {
	for _, txt := range []string{"AVAVAVAVAVAV", "Taylor, ALP, penalty, LP"} {
		canvas := vgimg.NewWith(vgimg.UseWH(300, 40), vgimg.UseDPI(screenDPI))
		face := fonts().Lookup(sans, 9)
		kerned{canvas}.FillString(face, vg.Point{X: 10, Y: 10}, txt)
		img, right := canvas.Image(), 0
		for x := range img.Bounds().Dx() {
			for y := range img.Bounds().Dy() {
				if r, _, _, _ := img.At(x, y).RGBA(); r < 0x8000 {
					right = x
				}
			}
		}
		if want := (10 + face.Width(txt).Points()) * screenDPI / 72; math.Abs(float64(right)-want) > 2.5 {
			t.Errorf("%q ends at pixel %d, want %.1f", txt, right, want)
		}
	}
}

// A line in a PDF turns by at most 93° at a point, and still passes through the given points.
func TestLinesInPDFHaveNoSpikes(t *testing.T) {
	length := func(v vg.Point) float64 { return math.Hypot(float64(v.X), float64(v.Y)) }
	rapid.Check(t, func(t *rapid.T) {
		var path vg.Path
		points := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) vg.Point {
			return vg.Point{X: vg.Length(rapid.IntRange(0, 9).Draw(t, "x")), Y: vg.Length(rapid.IntRange(0, 9).Draw(t, "y"))}
		}), 1, 20).Draw(t, "points")
		path.Move(points[0])
		for _, p := range points[1:] {
			path.Line(p)
		}
		points = slices.Compact(points)
		canvas := new(recorder.Canvas)
		outlined{sized{canvas}}.Stroke(path)
		drawn := canvas.Actions[0].(*recorder.Stroke).Path
		k := 0
		for i, c := range drawn {
			far := func() bool { return length(c.Pos.Sub(points[k])) > 0.026 }
			for k+1 < len(points) && far() {
				k++ // the path passes through the points in their order
			}
			if far() {
				t.Fatalf("the path goes to %v, which is not near the points %v", c.Pos, points)
			}
			if i > 0 && i+1 < len(drawn) {
				in, out := c.Pos.Sub(drawn[i-1].Pos), drawn[i+1].Pos.Sub(c.Pos)
				// A line has at least length 1, and each of its ends may have moved by 0.025.
				if cos := float64(in.Dot(out)) / length(in) / length(out); !(cos >= -0.05/0.95) {
					t.Fatalf("at %v the path turns by more than 93°, its cosine is %v: %v", c.Pos, cos, drawn)
				}
			}
		}
		if k != len(points)-1 {
			t.Fatalf("the path ends at %v of %v", points[k], points)
		}
	})
}

type sized struct{ *recorder.Canvas }

func (sized) Size() (w, h vg.Length) { return 10, 10 }

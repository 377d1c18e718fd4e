package plotting

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"pgregory.net/rapid"
)

// pair is a layer of two lines.
type pair struct{}

func (pair) Draw(p *Pen) error {
	x := []float64{1, 2}
	return p.Draw(Line{Name: "a", X: x, Y: []float64{1, 2}}, Line{Name: "b", X: x, Y: []float64{2, 3}})
}

func TestColours(t *testing.T) {
	for c := Blue; c <= Grey; c++ {
		for _, c := range []Color{c, c.Opacity(0.5)} {
			in, err := new(Pen).ink("", c, AutoDash, 0)
			if err != nil || in.dash != Solid || in.color != c {
				t.Errorf("a line in colour %v is drawn with %+v, %v", c, in, err)
			}
		}
	}
	if in, _ := new(Pen).ink("", Purple, ByColor, 0); in.dash != Dotted {
		t.Errorf("by colour, purple is %v", in.dash)
	}
	if c := Blue.Opacity(0.5).rgb(); c.A != 0x80 && c.A != 0x7f || c.B != 0xb2 {
		t.Errorf("half of blue is %v", c)
	}
	if in, err := new(Pen).ink("", Auto.Opacity(0.2), 0, 0); err != nil || in.color != Blue.Opacity(0.2) {
		t.Errorf("the first colour at a fifth is %v, %v", in.color, err)
	}
}

// Outputs include a small PNG of the figure, for LaTeX and for viewers that strip HTML.
func TestOutputsHoldAPNG(t *testing.T) {
	for name, d := range gallery() {
		data := must(DisplayData(d)).Data
		b, _ := data[protocol.MIMEImagePNG].([]byte)
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(b) > 16<<10 {
			t.Errorf("%s: a PNG of %d bytes", name, len(b))
		}
		// The PNG looks like the saved picture.
		p := must(d.panels())
		p.Columns = min(2, len(p.Figures))
		full := must(p.raster())
		if w, _ := p.size(); math.Abs(float64(full.Rect.Dx())-w*screenDPI) > 1 {
			t.Errorf("%s: %d pixels for %g inches", name, full.Rect.Dx(), w)
		}
		for y := range full.Rect.Dy() {
			for x := range full.Rect.Dx() {
				got, want := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA), full.RGBAAt(x, y)
				// In each channel, two colours of a class differ by less than 16. Colours beyond the 256 commonest
				// classes may differ more from their substitutes.
				off := func(a, b uint8) bool { return max(a, b)-min(a, b) > 48 }
				if off(got.R, want.R) || off(got.G, want.G) || off(got.B, want.B) {
					t.Fatalf("%s: pixel (%d, %d) is %v, want %v", name, x, y, got, want)
				}
			}
		}
	}
	if data := must(DisplayData(Table{Columns: []Column{{Text: []string{"a"}}}})).Data; data[protocol.MIMEImagePNG] != nil {
		t.Error("a table has a picture")
	}
}

// Save writes a complete file or none, and in a notebook it says where the file is.
func TestSave(t *testing.T) {
	dir := must(filepath.EvalSymlinks(t.TempDir()))
	t.Chdir(dir)
	cleaned, fig := filepath.Join(dir, "build", "figures"), gallery()["dual"]
	err := errors.Join(os.MkdirAll(cleaned, 0o755), os.WriteFile("build/CACHEDIR.TAG", []byte("# removed by go run ./notebooks clean"), 0o644),
		os.WriteFile("CACHEDIR.TAG", []byte("Signature: 8a477f597d28d172789f06886806bc55"), 0o644)) // the tag of another program
	r, w, failed := os.Pipe()
	noError(errors.Join(err, failed))
	stdout := os.Stdout
	gonbui.IsNotebook, os.Stdout = true, w
	err = errors.Join(Save("a.svg", fig), Save(filepath.Join(dir, "b.svg"), fig))
	for _, c := range []struct {
		path string
		d    Drawing
		want string
	}{
		{"c.gif", fig, `unknown format "gif"`},
		{"c.svg", Figure{}, "no layers"},
		{"c.svg", Row(), "without figures"},
		{"c.png", Figure{Title: "平均", Layers: []Layer{Rule{}}}, "neither Liberation Sans nor DejaVu Sans has '平'"},
		{"a.svg/c.svg", fig, "not a directory"},
		{"build/figures/c.svg", fig, "removes what is in " + filepath.Dir(cleaned)},
	} {
		if err := Save(c.path, c.d); err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "plotting: ") != 1 {
			t.Errorf("Save(%q) = %v, want an error that contains %q, and one prefix", c.path, err, c.want)
		}
	}
	gonbui.IsNotebook, os.Stdout = false, stdout
	w.Close()
	if said := string(must(io.ReadAll(r))); err != nil || said != "saved a.svg\nsaved "+dir+"/b.svg\n" {
		t.Errorf("said %q, %v", said, err)
	}
	if files := append(must(filepath.Glob("*.*")), must(filepath.Glob("build/*/*"))...); !slices.Equal(files, []string{"CACHEDIR.TAG", "a.svg", "b.svg"}) {
		t.Errorf("files %q", files)
	}
}

// Tick labels don't touch, whatever the length of the axis.
func TestTicksKeepApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scale{log: rapid.Bool().Draw(t, "log"), lo: math.Pow(10, rapid.Float64Range(-9, 9).Draw(t, "lo"))}
		s.hi = s.lo * math.Pow(10, rapid.Float64Range(0.01, 12).Draw(t, "decades"))
		length := rapid.Float64Range(50, 600).Draw(t, "length")
		width := smallStyle().Width
		end := math.Inf(-1)
		for _, k := range s.apart(7, length, width) {
			if k.label == "" {
				continue
			}
			at, half := s.unit(k.at)*length, float64(width(k.label))/2
			if at-half < end+3 {
				t.Fatalf("%q touches the label before it, on [%g, %g] over %g points", k.label, s.lo, s.hi, length)
			}
			end = at + half
		}
		if math.IsInf(end, -1) {
			t.Fatalf("no label on [%g, %g]", s.lo, s.hi)
		}
	})
}

// No title, label or name ends the script of a chart early, and the chart shows the same names as the picture.
// The test draws one picture in 256, because drawing takes ten times as long as the rest; FuzzLabel draws every label.
func FuzzNames(f *testing.F) {
	f.Add("Cost", "iteration t", "primal–dual")
	f.Add(`</script><script>alert("&")</script>`, `$\hat\theta_t^*$`, "<!--")
	f.Add("$1 and $2", "‖θ̂‖", "\xff\x00\u2028")
	f.Fuzz(func(t *testing.T, title, label, name string) {
		if len(title)+len(label)+len(name) > 1000 {
			return
		}
		fig := Figure{Title: title, X: Axis{Label: label}, Layers: []Layer{
			Line{Name: name, X: []float64{1, 2}, Y: []float64{1, 2}}, Rule{Label: name, At: 1}, Arrow{Label: label, X: 1, Y: 1, FromX: 2, FromY: 1}}}
		if err := fig.Validate(); err != nil {
			for _, text := range []string{title, label, name} {
				if _, wrong := formulas(text); wrong != nil {
					return
				}
			}
			t.Fatalf("all formulas are valid, but the figure is not: %v", err)
		}
		picture := []byte("<svg></svg>")
		if crc32.ChecksumIEEE([]byte(title+label+name))%256 == 0 {
			picture = must(Row(fig).svg())
		}
		s, div, err := chart([]Figure{fig}, fig, picture)
		if err != nil {
			t.Fatal(err)
		}
		if html := page(div, []spec{s}); strings.Count(strings.ToLower(html), "</script") != 1 || strings.Contains(html, "<!--") {
			t.Fatal("a name ends the script")
		}
		var option struct{ Series []struct{ Name string } }
		noError(json.Unmarshal(must(json.Marshal(s.Frames[0])), &option))
		bare := strings.NewReplacer("{\u2060", "{") // the joiner keeps ECharts from reading a brace as rich text
		got, want := bare.Replace(option.Series[0].Name), bare.Replace(Unicode(name))
		raised := strings.Contains(got, "{sup|") || strings.Contains(got, "{sub|")
		if name != "" && got != want && !raised && strings.ToValidUTF8(name, "") == name {
			t.Fatalf("the series is called %q, want %q", got, want)
		}
	})
}

// Where the author chooses no colours, a layer named after a method has the method's look, and no other layer has this
// look. The parts of a custom layer share the colour that the figure gives the layer, and the next layer gets the next
// colour.
func TestAMethodHasOneLook(t *testing.T) {
	x := []float64{1, 2}
	drawn := func(layers ...Layer) (out []Look) {
		for _, l := range must(Figure{}.With(layers...).lower()) {
			out = append(out, Look{l.ink.color.name(), l.ink.dash})
		}
		return out
	}
	line := func(name string) Layer { return Line{Name: name, X: x, Y: x} }
	got := drawn(line("penalty, ω = 8"), line("mine"), line("Algorithm 1, rows scaled, η₀ = 1"),
		Points{Name: "plug-in", X: x, Y: x}, Line{Name: "Algorithm 1", X: x, Y: x, Color: Auto.Opacity(0.5)})
	want := []Look{LookOf("penalty"), {Purple, Dotted}, LookOf("Algorithm 1, rows scaled"), LookOf("plug-in"), LookOf("Algorithm 1")}
	if !slices.Equal(got, want) {
		t.Errorf("looks %v, want %v", got, want)
	}
	if got := drawn(Line{Name: "penalty", X: x, Y: x, Color: Grey})[0]; got != (Look{Grey, Solid}) {
		t.Errorf("a colour that the author chose became %v", got)
	}
	want = []Look{{Grey, Solid}, {Blue, Solid}, {Blue, Solid}, {Vermilion, Dashed}}
	if got := drawn(Line{X: x, Y: x, Color: Grey}, pair{}, line("c")); !slices.Equal(got, want) {
		t.Errorf("looks %v around a custom layer, want %v", got, want)
	}

	// No two listed methods share a look, and no unlisted method has the look of a listed method.
	of := map[Look]string{}
	for name, look := range looks {
		if other, ok := of[look]; ok {
			t.Errorf("%s and %s have the same look", name, other)
		}
		of[look] = name
	}
	for k := range 100 {
		name := fmt.Sprint("method ", k)
		if other, ok := of[LookOf(name)]; ok {
			t.Errorf("%s looks like %s", name, other)
		}
	}
}

// A y axis can have names. Intervals are then along the x axis.
func TestNamesOfAnAxis(t *testing.T) {
	f := Figure{Y: Axis{Names: []string{"plain", `$\hat\theta$`}}}.With(
		Points{X: []float64{5, 7}, Y: []float64{1, 2}, Lo: []float64{4, 6}, Hi: []float64{8, 9}})
	_, x, y := prepared(f)
	if y != (scale{0.5, 2.5, false}) || x.lo > 4 || x.hi < 9 || x.lo < 3 {
		t.Errorf("axes %v and %v", x, y)
	}
	page, picture := must(f.display()).html, must(Row(f).svg())
	if !strings.Contains(page, `"data":["plain","θ̂"]`) || !strings.Contains(page, `"renderItem":"level"`) || !bytes.Contains(picture, []byte(">plain<")) {
		t.Error("no name or no level interval in the chart, or no name in the picture")
	}
	f.Y.Log = true
	if err := f.Validate(); err == nil {
		t.Error("names on a logarithmic axis are drawn")
	}
}

// In all figures of the committed notebooks, a method has one colour, and one dash or the marker that
// belongs to this dash.
func TestAMethodLooksAlikeInAllNotebooks(t *testing.T) {
	seen := map[string]int{}
	series := regexp.MustCompile(`"name":"([^"]*)","type":"(line|scatter)","symbol":"([^"]*)"[^{}]*` +
		`"encode":\{[^{}]*\},"itemStyle":\{"color":"([^"]*)"[^{}]*\}(?:,"lineStyle":\{[^{}]*"type":"([^"]*)")?`)
	for _, path := range must(filepath.Glob("../notebooks/*.ipynb")) {
		for _, m := range series.FindAllStringSubmatch(strings.ReplaceAll(string(must(os.ReadFile(path))), `\"`, `"`), -1) {
			method, look := methodOf(m[1])
			form, want := m[5], css[look.Dash]
			if m[2] == "scatter" {
				form, want = m[3], symbol[look.Dash]
			}
			if seen[method]++; method != "" && (m[4] != look.Color.hex() || form != want) {
				t.Errorf("%s: %s is %s and %s, want %s and %s", path, m[1], m[4], form, look.Color.hex(), want)
			}
		}
	}
	for method := range looks {
		if seen[method] == 0 && method != "Algorithm 1, β = 0" { // appears only in tables
			t.Errorf("%s is in no figure", method)
		}
	}
}

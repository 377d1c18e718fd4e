package files

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// fixture is the model of testdata/make.py.
func fixture(criterion mixpolicy.Criterion, initial []float64) *mixpolicy.MDP {
	return mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: 3, Actions: 2, Criterion: criterion, Initial: initial,
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			if a == 1 {
				return float64(3 + s), []mixpolicy.Transition{{To: 0, P: 1}}
			}
			var next []mixpolicy.Transition
			for s2, p := range eighths[s] {
				next = append(next, mixpolicy.Transition{To: s2, P: p})
			}
			return float64(s), next
		},
	}))
}

var eighths = [3][]float64{{0.75, 0.25, 0}, {0.5, 0.25, 0.25}, {0, 0.625, 0.375}}

// Load reads files that NumPy 2.4.6 and SciPy 1.17.1 wrote, or says in an error what in a file it cannot read.
func TestFixtures(t *testing.T) {
	average := fixture(mixpolicy.AverageCost, nil)
	alpha := []float64{0.5, 0.25, 0.25}
	discounted := fixture(mixpolicy.Discounted(0.875), alpha)
	for name, want := range map[string]*mixpolicy.MDP{
		"action-first": average,
		"state-first":  discounted,
		"fortran":      average,
		"big-endian":   fixture(mixpolicy.Discounted(0.875), nil),
		"csr":          discounted,
		"scipy":        average,
	} {
		x, err := Load("testdata/"+name+".npz", Settings{})
		if err != nil {
			t.Error(err)
		} else if d := difference(x, want); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}

	x, err := Load("testdata/state-first.npz", Settings{Criterion: mixpolicy.AverageCost, Initial: []float64{0, 0, 1}})
	if err != nil || !x.Criterion().Average() || x.Initial()[2] != 1 {
		t.Errorf("Settings do not replace the file's gamma and alpha: %v, %v", x, err)
	}
	for axes, pair := range map[Axes][2]int{ActionFirst: {1, 0}, StateFirst: {0, 1}} {
		x := mixpolicy.Must(Load("testdata/square.npz", Settings{Axes: axes}))
		if next, p := x.Next(pair[0], pair[1]); !slices.Equal(next, []int32{1}) || !slices.Equal(p, []float64{1}) {
			t.Errorf("axes %v: from %v to %v with %v, want 1 with 1", axes, pair, next, p)
		}
	}
	x = mixpolicy.Must(Load("testdata/float32.npz", Settings{}))
	if _, p := x.Next(2, 1); !slices.Equal(p, []float64{1. / 3, 1. / 3, 1. / 3}) {
		t.Errorf("float32: %v, want a third", p)
	}

	for name, says := range map[string]string{
		"complex": "array P: dtype <c16, want float64, float32 or integers",
		"object":  "array c: dtype |O, want float64",
		"record":  `array c: header "{'descr': [('x', '<f8'), ('y', '<f8')]`,
		"csc":     `array format: "csc"`,
		"nan":     "state 2, action 0: probability NaN of next state 1, want a number in [0, 1]",
		"psi":     "array c: missing; the file has [psi]",
	} {
		_, err := Load("testdata/"+name+".npz", Settings{})
		wantError(t, err, "files: testdata/"+name+".npz: ")
		wantError(t, err, says)
	}
	_, err = Load("testdata/action-first.npz", Settings{Axes: StateFirst})
	wantError(t, err, "array P: shape [2 3 3], want (m, n, n) or (n, m, n) as Settings.Axes says, with n = 3 and m = 2 from c")
	_, err = LoadFeatures("testdata/csr.npz", average)
	wantError(t, err, "array psi: missing; the file has [alpha c data format gamma indices indptr shape]")
}

// bytesOf returns an array in NumPy's format with the given header and values.
func bytesOf(header string, values ...any) []byte {
	var b bytes.Buffer
	header = strings.ReplaceAll(header, `"`, "'") + "\n"
	fmt.Fprintf(&b, "\x93NUMPY\x01\x00%c%c%s", len(header)%256, len(header)/256, header)
	for _, v := range values {
		binary.Write(&b, binary.LittleEndian, v)
	}
	return b.Bytes()
}

// shaped returns an array in NumPy's format with the given dtype, shape and values, in C order.
func shaped(dtype, shape string, values ...any) []byte {
	return bytesOf(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, shape), values...)
}

type entries map[string][]byte

// with returns an archive of e's entries. The entries of other replace those of the same name; nil removes an entry.
func (e entries) with(other entries) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	all := maps.Clone(e)
	maps.Copy(all, other)
	for name, body := range all {
		if body != nil {
			mixpolicy.Must(mixpolicy.Must(z.Create(name + ".npy")).Write(body))
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

var (
	dense = entries{ // a transient state, an absorbing state, and one action
		"P": shaped("<f8", "(1, 2, 2)", []float64{0.25, 0.75, 0, 1}),
		"c": shaped("<i8", "(2, 1)", []int64{3, -4}),
	}
	csr = entries{
		"data": shaped("<f8", "(3,)", []float64{0.25, 0.75, 1}), "indices": shaped("<i4", "(3,)", []int32{1, 0, 1}),
		"indptr": shaped("<i4", "(3,)", []int32{0, 2, 3}), "shape": shaped("<i8", "(2,)", []int64{2, 2}),
		"format": shaped("|S3", "()", []byte("csr")), "c": dense["c"],
	}
)

func read(file []byte, set Settings) (*mixpolicy.MDP, error) {
	x, err := readModel(bytes.NewReader(file), int64(len(file)), set)
	if err != nil {
		err = fault.At("files", "", err)
	}
	return x, err
}

func TestNPZErrors(t *testing.T) {
	for _, e := range []entries{dense, csr} {
		mixpolicy.Must(read(e.with(nil), Settings{}))
	}
	for _, c := range []struct {
		in, change entries
		says       string
	}{
		{dense, entries{"P": nil}, "both or neither of the arrays P and data"},
		{dense, entries{"data": csr["data"]}, "both or neither of the arrays P and data"},
		{dense, entries{"c": {}}, "array c: not a NumPy array"},
		{dense, entries{"c": dense["c"][:len(dense["c"])-1]}, "array c: shape [2 1] of <i8 takes 16 bytes, but 15 follow"},
		{dense, entries{"c": bytesOf("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (2, 1), }", 1., 2.)}, "array c: header"},
		{dense, entries{"c": shaped("<f8", "(-2, -1)", 1., 2.)}, "array c: header"},
		{dense, entries{"c": shaped("<f8", "(2,)", 1., 2.)}, "array c: shape [2], want (n, m)"},
		{dense, entries{"c": shaped("<f8", "(99999999999999999999, 1)", 1.)}, "array c: strconv.Atoi"},
		{dense, entries{"c": shaped("<f8", "(4611686018427387904, 2)", 1., 2.)}, "array c: shape [4611686018427387904 2] has too many entries for the 16 bytes that follow"},
		{dense, entries{"P": shaped("<f8", "(1, 0, 0)"), "c": shaped("<f8", "(0, 1)")}, "0 states and 1 actions, want at least one"},
		{dense, entries{"c": shaped("<f8", "(4611686018427387904, 0)")}, "array c: shape [4611686018427387904 0] has too many entries"},
		{dense, entries{"c": shaped("<f8", "(2, 1)", math.Inf(1), 0.)}, "state 0, action 0: cost +Inf, want a finite number"},
		{dense, entries{"P": shaped("<f8", "(1, 1, 4)", 0., 0., 0., 1.)}, "array P: shape [1 1 4], want (m, n, n) or (n, m, n)"},
		{dense, entries{"P": shaped("<f8", "(2, 2)", 0., 1., 0., 1.)}, "array P: shape [2 2], want (m or n, n or m, n)"},
		{dense, entries{"P": shaped("<f4", "(1, 2, 2)", []float32{0, 1, 0.25, 0.75001})}, "state 1, action 0: probabilities add up to 1.0000"},
		{dense, entries{"gamma": shaped("<f8", "()", 1.)}, "discount γ = 1, want 0 < γ < 1"},
		{dense, entries{"alpha": shaped("<f8", "(2,)", 0.5, 0.25)}, "initial distribution: entries add up to 0.75"},
		{csr, entries{"format": nil}, "array format: missing"},
		{csr, entries{"indptr": nil}, "array indptr: missing"},
		{csr, entries{"shape": shaped("<i8", "(2,)", []int64{2, 1})}, "array shape: [2 1], want [2 2], that is, n·m and n"},
		{csr, entries{"shape": shaped("<f8", "(2,)", 2., 2.)}, "array shape: dtype <f8, want integers"},
		{csr, entries{"indices": shaped("<i4", "(2,)", []int32{0, 1})}, "array indices: 2 entries, want as many as data: 3"},
		{csr, entries{"indices": shaped("<i4", "(3,)", []int32{0, 1, -1})}, "state 1, action 0: next state -1, want 0 to 1"},
		{csr, entries{"indices": shaped("<u8", "(3,)", []uint64{0, 1, math.MaxUint64})}, "state 1, action 0: next state "},
		{csr, entries{"indices": shaped("<i4", "(3,)", []int32{1, 1, 1})}, "state 0, action 0: next state 1 is listed twice"},
		{csr, entries{"indptr": shaped("<i4", "(3,)", []int32{0, 4, 3})}, "array indptr: want n·m + 1 = 3 entries that rise from 0 to 3, the length of data"},
		{csr, entries{"indptr": shaped("<i4", "(3,)", []int32{-1, 2, 3})}, "array indptr: want"},
		{csr, entries{"indptr": shaped("<i4", "(3,)", []int32{0, 2, 4})}, "array indptr: want"},
		{csr, entries{"indptr": shaped("<i4", "(2,)", []int32{0, 3})}, "array indptr: want"},
	} {
		_, err := read(c.in.with(c.change), Settings{})
		wantError(t, err, c.says)
	}

	whole := dense.with(nil)
	for size := range len(whole) {
		_, err := read(whole[:size], Settings{})
		wantError(t, err, "not an .npz file, or truncated")
	}
	for i := range whole { // a flipped bit is found by a checksum, or does not change the model
		spoiled := slices.Clone(whole)
		spoiled[i] ^= 0x10
		if x, err := read(spoiled, Settings{}); err == nil && (x.Cost(1, 0) != -4 || x.Transitions() != 3) {
			t.Errorf("byte %d of %d spoiled: another model", i, len(whole))
		}
	}
	var twice bytes.Buffer
	if err := writeArrays(&twice, entry{"c", 1.}, entry{"c", 2.}); err != nil {
		t.Fatal(err)
	}
	_, err := read(twice.Bytes(), Settings{})
	wantError(t, err, "array c occurs twice")

	x := mixpolicy.Must(read(whole, Settings{}))
	for says, psi := range map[string][]byte{
		"array psi: shape [3 1], want (n·m, d) with n·m = 2": shaped("<f8", "(3, 1)", 1., 0., 0.),
		"no feature column":                       shaped("<f8", "(2, 0)"),
		"feature column 1 adds up to 0.5, want 1": shaped("<f8", "(2, 2)", 0.5, 0.25, 0.5, 0.25),
	} {
		file := entries{"psi": psi}.with(nil)
		_, err := readFeatures(bytes.NewReader(file), int64(len(file)), x)
		wantError(t, fault.At("files", "", err), says)
	}
}

// A float32 distribution that does not add up to exactly 1 is divided by its sum.
func TestFloat32(t *testing.T) {
	third := []float32{1. / 3, 2. / 3}
	x := mixpolicy.Must(read(dense.with(entries{"alpha": shaped("<f4", "(2,)", third)}), Settings{}))
	file := entries{"psi": shaped("<f4", "(2, 1)", third)}.with(nil)
	psi := mixpolicy.Must(readFeatures(bytes.NewReader(file), int64(len(file)), x))
	total := float64(third[0]) + float64(third[1])
	if want := []float64{float64(third[0]) / total, float64(third[1]) / total}; total == 1 || !slices.Equal(x.Initial(), want) || !slices.Equal(psi.Column(0), want) {
		t.Errorf("α = %v, ψ = %v, want %v", x.Initial(), psi.Column(0), want)
	}
}

// Reading allocates no memory for a size that a file claims but does not have.
func TestBombs(t *testing.T) {
	// raw returns a file with one array, which claims to unpack to the given number of bytes.
	raw := func(claim uint64, body []byte) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w := mixpolicy.Must(z.CreateRaw(&zip.FileHeader{
			Name: "c.npy", Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(body), CompressedSize64: uint64(len(body)), UncompressedSize64: claim,
		}))
		mixpolicy.Must(w.Write(body))
		z.Close()
		return b.Bytes()
	}
	var zeros bytes.Buffer // 16 MiB, deflated
	deflate := mixpolicy.Must(flate.NewWriter(&zeros, flate.DefaultCompression))
	deflate.Write(make([]byte, 16<<20))
	deflate.Close()
	for says, file := range map[string][]byte{
		"array c: 1099511627776 bytes unpacked, want at most 1 GiB": raw(1<<40, zeros.Bytes()),
		"array c: unexpected EOF":                                   raw(1<<30, []byte{3, 0}),
		"array c: zip: not a valid zip file":                        raw(1000, zeros.Bytes()),
		"array c: header":                                           entries{"c": []byte("\x93NUMPY\x02\x00\xff\xff\xff\x7f{'descr'")}.with(nil),
		"takes 8589934592 bytes, but 2 follow":                      entries{"c": shaped("<f8", "(1073741824, 1)", int16(0))}.with(nil),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := read(file, Settings{})
		runtime.ReadMemStats(&after)
		wantError(t, err, says)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
			t.Errorf("%s: %d bytes taken for a file of %d", says, taken, len(file))
		}
	}

	small := entries{"c": shaped("|u1", "(100, 1)", make([]byte, 100))}.with(nil) // each number of one byte takes eight bytes when read
	z := mixpolicy.Must(openArchive(bytes.NewReader(small), int64(len(small))))
	z.left = 2*800 - 1
	mixpolicy.Must(z.read("c", anyNumber, "n", "m"))
	_, err := z.read("c", anyNumber, "n", "m")
	wantError(t, err, "array c: 100 numbers, want at most 1 GiB for all arrays as float64")
}

func FuzzNPZ(f *testing.F) {
	for _, name := range []string{"action-first", "state-first", "fortran", "big-endian", "csr", "scipy", "square", "psi", "record"} {
		file := mixpolicy.Must(os.ReadFile("testdata/" + name + ".npz"))
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		x, err := read(file, Settings{})
		if err != nil {
			return
		}
		if d := difference(x, throughNPZ(t, x)); d != "" {
			t.Error(d)
		}
	})
}

// FuzzArray puts its inputs into an archive as the arrays P and c, with correct checksums.
func FuzzArray(f *testing.F) {
	f.Add(dense["P"], dense["c"])
	f.Add(csr["c"], shaped(">f4", "(2, 1)", 0., 0.))
	f.Fuzz(func(t *testing.T, p, c []byte) {
		x, err := read(dense.with(entries{"P": p, "c": c}), Settings{})
		if err == nil && x.Pairs() > len(c) {
			t.Errorf("%d pairs from %d bytes of c", x.Pairs(), len(c))
		}
	})
}

// FuzzFeatures puts its input into an archive as the array psi, with a correct checksum.
func FuzzFeatures(f *testing.F) {
	x := mixpolicy.Must(models.Machine{}.MDP())
	f.Add(shaped("<f8", "(4, 2)", 1., 0., 0., .5, 0., .25, 0., .25))
	f.Add(shaped("<f4", "(4, 1)", float32(.1), float32(.2), float32(.3), float32(.4)))
	f.Fuzz(func(t *testing.T, psi []byte) {
		file := entries{"psi": psi}.with(nil)
		g, err := readFeatures(bytes.NewReader(file), int64(len(file)), x)
		if err == nil && x.Pairs()*g.Dim() > len(psi) {
			t.Errorf("%d columns of Ψ from %d bytes", g.Dim(), len(psi))
		}
	})
}

// numpy returns a Python with NumPy and SciPy: the one that MIXPOLICY_NUMPY names, or else python3 on the PATH.
func numpy(t *testing.T) string {
	python := os.Getenv("MIXPOLICY_NUMPY")
	if python == "" {
		python = "python3"
	}
	out, err := exec.Command(python, "-c", "import numpy, scipy; print(numpy.__version__, scipy.__version__)").CombinedOutput()
	if err != nil {
		message := fmt.Sprintf("no NumPy and SciPy in %s (MIXPOLICY_NUMPY can name another Python): %v\n%s", python, err, out)
		if os.Getenv("CI") == "true" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	return python
}

// NumPy and SciPy read the files that this package writes, and this package reads the files that they write.
func TestPython(t *testing.T) {
	python := numpy(t)
	for _, criterion := range []mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(0.9)} {
		x := mixpolicy.Must(mixpolicy.Must(models.Garnet{States: 5, Actions: 3, Branches: 3, Seed: 1, Ring: true}.MDP()).WithCriterion(criterion))
		psi := mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, mixpolicy.UniformPolicy(x), mixpolicy.Must(mixpolicy.StateIndependent(x, 0.1, 0.8, 0.1))))
		folder := t.TempDir()
		for _, err := range []error{
			Save(filepath.Join(folder, "m.npz"), x), Save(filepath.Join(folder, "m.csv"), x),
			SaveFeatures(filepath.Join(folder, "psi.npz"), psi),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if out, err := exec.Command(python, "testdata/check.py", folder).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, name := range []string{"state-first.npz", "action-first.npz", "csr.npz"} {
			y := mixpolicy.Must(Load(filepath.Join(folder, name), Settings{}))
			if d := difference(x, y); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
		again := mixpolicy.Must(LoadFeatures(filepath.Join(folder, "psi-again.npz"), x))
		if !slices.Equal(again.Column(0), psi.Column(0)) || !slices.Equal(again.Column(1), psi.Column(1)) {
			t.Error("Ψ differs")
		}
	}
}

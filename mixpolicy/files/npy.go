package files

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/sbinet/npyio/npy"
	"github.com/sbinet/npyio/npz"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// room is the number of bytes that the arrays of a file may take, if the file itself is not larger.
const room = 1 << 30

// archive is an .npz file.
type archive struct {
	entries map[string]*zip.File // by name of the array
	left    int64                // bytes that arrays may still take
}

func openArchive(r io.ReaderAt, size int64) (*archive, error) {
	in, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("not an .npz file, or truncated: %w", err)
	}
	z := &archive{make(map[string]*zip.File), max(size, room)}
	for _, f := range in.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if z.entries[name] != nil {
			return nil, fmt.Errorf("array %s occurs twice, want it once", name)
		}
		z.entries[name] = f
	}
	return z, nil
}

func (z *archive) has(name string) bool { return z.entries[name] != nil }

// array is a NumPy array, with its entries in the order of the file.
type array struct {
	shape, stride []int
	data          []float64
	single        bool // whether the entries are float32 in the file
}

func (a *array) at(index ...int) float64 {
	k := 0
	for axis, i := range index {
		k += i * a.stride[axis]
	}
	return a.data[k]
}

// normalise divides p, a distribution in the array a, by the sum of p if a is float32, because few
// distributions in float32 add up to exactly 1. As in [mixpolicy.New], every entry may carry 16
// roundings, so the sum may be off by 16·2⁻²⁴. If the sum is further off, p stays unchanged, and
// is refused later.
func (a *array) normalise(p []float64) {
	total := sum.Of(p)
	if !a.single || !(math.Abs(total-1) <= 16*0x1p-24) {
		return
	}
	for i := range p {
		p[i] /= total
	}
}

// header matches the header that NumPy writes before an array of numbers or strings. Package
// npy does not check the header's form, and trusts the shape in it.
var header = regexp.MustCompile(`^\{'descr': '[^'{}]+', 'fortran_order': (True|False), 'shape': \(([0-9]+, ?)*[0-9]*\), \} *\n$`)

// open reads the header of an array. It returns a reader of the entries that follow, and these entries as bytes.
func (z *archive) open(name string) (r *npy.Reader, body []byte, err error) {
	f := z.entries[name]
	if f == nil {
		return nil, nil, fmt.Errorf("missing; the file has %v", slices.Sorted(maps.Keys(z.entries)))
	}
	if f.UncompressedSize64 > uint64(z.left) {
		return nil, nil, fmt.Errorf("%d bytes unpacked, want at most 1 GiB for all arrays, or the file's size if larger",
			f.UncompressedSize64)
	}
	in, err := f.Open()
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	raw, err := io.ReadAll(in) // package zip returns at most the size checked above
	if err != nil {
		return nil, nil, err
	}
	if len(raw) < 12 || !bytes.HasPrefix(raw, npy.Magic[:]) {
		return nil, nil, errors.New("not a NumPy array")
	}
	start, size := 10, int64(binary.LittleEndian.Uint16(raw[8:]))
	if raw[6] > 1 { // the version of the format
		start, size = 12, int64(binary.LittleEndian.Uint32(raw[8:]))
	}
	body = raw[start:]
	if size > int64(len(body)) || !header.Match(body[:size]) {
		return nil, nil, fmt.Errorf("header %.80q, want the header of an array of numbers", body)
	}
	r, err = npy.NewReader(bytes.NewReader(raw))
	return r, body[size:], err
}

// dtypes maps the supported kinds of numbers, given by a letter and a size in bytes, to their readers.
var dtypes = map[string]func(r *npy.Reader, count int) ([]float64, error){
	"f8": convert[float64], "f4": convert[float32],
	"i1": convert[int8], "i2": convert[int16], "i4": convert[int32], "i8": convert[int64],
	"u1": convert[uint8], "u2": convert[uint16], "u4": convert[uint32], "u8": convert[uint64],
}

type number interface {
	float64 | float32 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

func convert[T number](r *npy.Reader, count int) ([]float64, error) {
	values := make([]T, count)
	err := r.Read(&values)
	if same, ok := any(values).([]float64); ok {
		return same, err
	}
	x := make([]float64, count)
	for i, v := range values {
		x[i] = float64(v)
	}
	return x, err
}

// The values of want in read: the dtypes that an array may have.
const (
	anyNumber = "float64, float32 or integers"
	integers  = "integers"
)

// read returns an array with the given axes, such as (n, m). The error names the array.
func (z *archive) read(name, want string, axes ...string) (*array, error) {
	a, err := z.array(want, name, axes)
	if err != nil {
		return nil, fmt.Errorf("array %s: %w", name, err)
	}
	return a, nil
}

func (z *archive) array(want, name string, axes []string) (*array, error) {
	r, body, err := z.open(name)
	if err != nil {
		return nil, err
	}
	h := r.Header.Descr
	kind := strings.TrimLeft(h.Type, "<>|")
	numbers, known := dtypes[kind]
	if !known || want == integers && kind[0] == 'f' {
		return nil, fmt.Errorf("dtype %s, want %s", h.Type, want)
	}
	if len(h.Shape) != len(axes) {
		return nil, fmt.Errorf("shape %v, want (%s)", h.Shape, strings.Join(axes, ", "))
	}
	a := &array{shape: h.Shape, stride: make([]int, len(axes)), single: kind == "f4"}
	count := 1
	for i := range a.shape {
		axis := i // the axis that varies fastest comes first
		if !h.Fortran {
			axis = len(axes) - 1 - i
		}
		a.stride[axis] = count
		if a.shape[axis] > math.MaxInt/8/max(count, 1) {
			return nil, fmt.Errorf("shape %v has too many entries for the %d bytes that follow", a.shape, len(body))
		}
		count *= a.shape[axis]
	}
	if size := count * int(kind[1]-'0'); size != len(body) {
		return nil, fmt.Errorf("shape %v of %s takes %d bytes, but %d follow", a.shape, h.Type, size, len(body))
	}
	if z.left -= 8 * int64(count); z.left < 0 {
		return nil, fmt.Errorf("%d numbers, want at most 1 GiB for all arrays as float64, or the file's size if larger", count)
	}
	a.data, err = numbers(r, count)
	return a, err
}

// entry is an array to write.
type entry struct {
	name  string
	value any // a value that package npy accepts
}

func writeArrays(w io.Writer, arrays ...entry) error {
	z := npz.NewWriter(w)
	for _, a := range arrays {
		if err := z.Write(a.name+".npy", a.value); err != nil {
			return err
		}
	}
	return z.Close()
}

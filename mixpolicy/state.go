package mixpolicy

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Files of states hold numbers in little-endian order, floating-point ones by their
// bits, and lists after their lengths.

func appendInts(b []byte, v ...int) []byte {
	for _, k := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(k))
	}
	return b
}

func appendFloats(b []byte, x []float64) []byte {
	b = appendInts(b, len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func appendBytes(b, x []byte) []byte { return append(appendInts(b, len(x)), x...) }

// reader reads what append… wrote. After an error everything is zero.
type reader struct {
	b   []byte
	err error
}

var errShort = errors.New("ends too early")

func (r *reader) fail(format string, v ...any) {
	if r.err == nil {
		r.b, r.err = nil, fmt.Errorf(format, v...)
	}
}

func (r *reader) take(n int) []byte {
	if r.err == nil && (n < 0 || n > len(r.b)) {
		r.b, r.err = nil, errShort
	}
	if r.err != nil {
		return nil
	}
	x := r.b[:n]
	r.b = r.b[n:]
	return x
}

func (r *reader) int() int {
	if b := r.take(8); b != nil {
		return int(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// within reads a number from lo to hi.
func (r *reader) within(what string, lo, hi int) int {
	v := r.int()
	if r.err == nil && (v < lo || v > hi) {
		r.fail("%s is %d, want %d to %d", what, v, lo, hi)
		return lo
	}
	return v
}

func (r *reader) float() float64 {
	v := math.Float64frombits(uint64(r.int()))
	if math.IsNaN(v) {
		r.fail("holds a NaN")
		return 0
	}
	return v
}

// floats reads a list.
func (r *reader) floats() []float64 {
	n := r.int()
	if r.err == nil && (n < 0 || n > len(r.b)/8) {
		r.fail("%w", errShort)
	}
	if r.err != nil {
		return nil
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = r.float()
	}
	return x
}

// into reads a list of the length of dst.
func (r *reader) into(dst []float64, what string) {
	if n := r.int(); r.err == nil && n != len(dst) {
		r.fail("%s has %d entries, want %d", what, n, len(dst))
	}
	for i := range dst {
		if r.err != nil {
			return
		}
		dst[i] = r.float()
	}
}

func (r *reader) bytes() []byte { return r.take(r.int()) }

// close returns the error, if only that something is left over.
func (r *reader) close() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail("has %d bytes too many", len(r.b))
	}
	return r.err
}

// seal writes a body with what unseal needs to know it again:
//
//	a line that names kind and version · length of the body, 8 bytes · body · its SHA-256.
func seal(w io.Writer, magic string, body []byte) error {
	sum := sha256.Sum256(body)
	for _, v := range [][]byte{[]byte(magic), appendInts(nil, len(body)), body, sum[:]} {
		if _, err := w.Write(v); err != nil {
			return err
		}
	}
	return nil
}

// unseal returns the body of a file of this kind, whole and as it was written.
func unseal(text []byte, magic string) ([]byte, error) {
	rest, ok := bytes.CutPrefix(text, []byte(magic))
	if !ok {
		name := magic[:len(magic)-2] // less the version
		line, _, whole := bytes.Cut(text, []byte("\n"))
		if version, same := bytes.CutPrefix(line, []byte(name)); same && whole && len(version) < 10 {
			return nil, fmt.Errorf("has version %q, want %q", version, magic[len(name):len(magic)-1])
		}
		if bytes.HasPrefix([]byte(magic), text) {
			return nil, fmt.Errorf("is truncated to %d bytes", len(text))
		}
		return nil, fmt.Errorf("does not begin with %q: it is another kind of file", magic)
	}
	if len(rest) < 8 {
		return nil, fmt.Errorf("is truncated to %d bytes", len(text))
	}
	length := binary.LittleEndian.Uint64(rest)
	if have := uint64(len(rest)) - 8; length > have || have-length < sha256.Size {
		return nil, fmt.Errorf("is truncated to %d bytes, or its length is corrupt", len(text))
	} else if have-length > sha256.Size {
		return nil, fmt.Errorf("has %d bytes too many", have-length-sha256.Size)
	}
	body := rest[8 : len(rest)-sha256.Size]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], rest[len(rest)-sha256.Size:]) {
		return nil, errors.New("is corrupt: its checksum is wrong")
	}
	return body, nil
}

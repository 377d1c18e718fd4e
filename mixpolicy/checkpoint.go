package mixpolicy

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/mixpolicy/lab/internal/atomicfile"
)

// Resumable is what a [Method], and a [Recorder] if there is one, must be for
// Settings.Checkpoint: its state comes as bytes, the same ones for the same state.
// UnmarshalBinary is called after Init, on a method with the same parameters for the
// same problem; then the method goes on as the one did whose state it was.
type Resumable interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

var _, _, _, _ Resumable = (*PrimalDual)(nil), (*Penalty)(nil), (*PlugIn)(nil), (*History)(nil)

// checkpointEvery is how much work may be lost.
const checkpointEvery = time.Minute

// checkpoint keeps the state of a run in a file.
type checkpoint struct {
	path     string
	run      runIdentity
	o        *Oracle
	method   Resumable
	recorder Resumable // nil if nothing is recorded
	written  time.Time
}

const checkpointMagic = "mixpolicy checkpoint 1\n"

// runIdentity tells runs apart that can't continue each other.
type runIdentity struct {
	method, problem string
	seed, stream    uint64
	// data is a digest of costs, q and cᵀΨ; beginning of the state after some
	// iterations, which depends on every parameter that has mattered by then.
	data, beginning []byte
}

// probed is how many iterations make the beginning of a run. They differ if one does.
const probed = 16

// newCheckpoint identifies the run by its beginning. The method is to be initialised
// again.
func newCheckpoint(p *Problem, m Method, set Settings) (*checkpoint, error) {
	c := &checkpoint{path: set.Checkpoint, written: time.Now()}
	var ok bool
	if c.method, ok = m.(Resumable); !ok {
		return nil, fmt.Errorf("mixpolicy: the state of %s can't be saved, want no Settings.Checkpoint", m.Name())
	}
	if c.recorder, ok = set.Recorder.(Resumable); set.Recorder != nil && !ok {
		return nil, fmt.Errorf("mixpolicy: the state of a recorder %T can't be saved, want no Settings.Checkpoint, or a History", set.Recorder)
	}
	for range probed {
		if err := m.Step(); err != nil {
			return nil, err
		}
	}
	state, err := c.method.MarshalBinary()
	if err != nil {
		return nil, err
	}
	x, digest := p.MDP(), sha256.New()
	for _, v := range [][]float64{x.cost, p.f.sampling, p.b} {
		for len(v) > 0 {
			k := min(len(v), 1<<12)
			digest.Write(appendFloats(nil, v[:k]))
			v = v[k:]
		}
	}
	beginning := sha256.Sum256(state)
	c.run = runIdentity{
		method:  describe(m),
		problem: fmt.Sprintf("%d states, %d actions, %v, d = %d, %v", x.n, x.m, x.criterion, p.Dim(), p.class),
		seed:    set.Seed, stream: set.Stream, data: digest.Sum(nil), beginning: beginning[:],
	}
	return c, nil
}

func (r runIdentity) append(b []byte) []byte {
	for _, v := range [][]byte{[]byte(r.method), []byte(r.problem), r.data, r.beginning} {
		b = appendBytes(b, v)
	}
	return appendInts(b, int(r.seed), int(r.stream))
}

func (r *reader) runIdentity() (x runIdentity) {
	x.method, x.problem, x.data, x.beginning = string(r.bytes()), string(r.bytes()), r.bytes(), r.bytes()
	x.seed, x.stream = uint64(r.int()), uint64(r.int())
	return x
}

// check says how the run of a file differs from the one that is to be continued.
func (r runIdentity) check(file runIdentity) error {
	switch {
	case file.problem != r.problem:
		return fmt.Errorf("is of a problem with %s, this one has %s", file.problem, r.problem)
	case file.method != r.method:
		return fmt.Errorf("is of the method %q, this one is %q", file.method, r.method)
	case file.seed != r.seed || file.stream != r.stream:
		return fmt.Errorf("is of seed %d, stream %d, want %d, %d", file.seed, file.stream, r.seed, r.stream)
	case !bytes.Equal(file.data, r.data):
		return errors.New("is of a problem of this size with other costs or features")
	case !bytes.Equal(file.beginning, r.beginning):
		return fmt.Errorf("is of a run whose first %d iterations were others: a parameter of the method or its code has changed", probed)
	}
	return nil
}

// load continues from the file, if there is one, and returns the iterations done and
// the next one to record.
func (c *checkpoint) load(total int) (done, due int, err error) {
	text, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("mixpolicy: checkpoint: %w", err) // names the path
	}
	done, due, err = c.parse(text, total)
	if err != nil {
		return 0, 0, fmt.Errorf("mixpolicy: checkpoint %s: %w; remove it to begin anew", c.path, err)
	}
	return done, due, nil
}

func (c *checkpoint) parse(text []byte, total int) (done, due int, err error) {
	body, err := unseal(text, checkpointMagic)
	if err != nil {
		return 0, 0, err
	}
	r := &reader{b: body}
	if file := r.runIdentity(); r.err == nil {
		if err := c.run.check(file); err != nil {
			return 0, 0, err
		}
	}
	done, due = r.within("iteration", 0, math.MaxInt), r.within("next record", 0, math.MaxInt)
	recorded := r.within("recorder", 0, 1) == 1
	oracle, method, recorder := r.bytes(), r.bytes(), r.bytes()
	if err := r.close(); err != nil {
		return 0, 0, err
	}
	switch {
	case done > total:
		return 0, 0, fmt.Errorf("is of iteration %d, want at most the %d of this run", done, total)
	case recorded && c.recorder == nil:
		return 0, 0, errors.New("has a recorder's state, want Settings.Recorder")
	case !recorded && c.recorder != nil:
		return 0, 0, errors.New("has no recorder's state, want no Settings.Recorder")
	}
	if err := c.o.restore(oracle); err != nil {
		return 0, 0, fmt.Errorf("state of the oracle: %w", err)
	}
	if err := c.method.UnmarshalBinary(method); err != nil {
		return 0, 0, fmt.Errorf("state of the method: %w", err)
	}
	if recorded {
		if err := c.recorder.UnmarshalBinary(recorder); err != nil {
			return 0, 0, fmt.Errorf("state of the recorder: %w", err)
		}
	}
	return done, due, nil
}

// save writes the file anew.
func (c *checkpoint) save(done, due int) error {
	body, err := c.body(done, due)
	if err == nil {
		err = atomicfile.Write(c.path, func(w io.Writer) error { return seal(w, checkpointMagic, body) })
	}
	if err != nil {
		return fmt.Errorf("mixpolicy: checkpoint %s: %w", c.path, err)
	}
	c.written = time.Now()
	return nil
}

func (c *checkpoint) body(done, due int) ([]byte, error) {
	method, err := c.method.MarshalBinary()
	if err != nil {
		return nil, err
	}
	var recorder []byte
	recorded := 0
	if c.recorder != nil {
		recorded = 1
		if recorder, err = c.recorder.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	b := appendInts(c.run.append(nil), done, due, recorded)
	for _, v := range [][]byte{c.o.state(), method, recorder} {
		b = appendBytes(b, v)
	}
	return b, nil
}

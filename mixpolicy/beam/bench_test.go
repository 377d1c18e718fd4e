package beam

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/clock"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/mixpolicy/study"
)

// BenchmarkThroughput reports the runs per second of the pipeline, as a percentage of the runs per
// second of package race, by wall time and by processor time, for runs of some 10 ms. It does not
// time the checks before the first run, because their cost does not depend on the number of runs.
func BenchmarkThroughput(b *testing.B) {
	r := mixpolicy.Must(ParseRace([]byte(`{
		"Problems": [{"Name": "queue"}],
		"Methods": [{"Name": "penalty", "Settings": {"Weight": 16}}],
		"Trials": 200, "Seed": 1, "Queries": [100, 1000, 10000, 100000]
	}`)))
	p := mixpolicy.Must(newPlan(r))
	problem := mixpolicy.Must(p.problems[0].build()).Problem
	var wall, cpu [2]time.Duration
	for b.Loop() {
		j := mixpolicy.Must(Submit(b.Context(), r, filepath.Join(b.TempDir(), "race.csv"), nil))
		for k, work := range []func() error{
			func() error {
				_, err := race.Trials(b.Context(), problem, p.cells[0].method, p.cells[0].set)
				return err
			},
			func() error { return j.Run(b.Context()) },
		} {
			began, spent := time.Now(), clock.ProcessorTime()
			if err := work(); err != nil {
				b.Fatal(err)
			}
			wall[k] += time.Since(began)
			cpu[k] += clock.ProcessorTime() - spent
		}
	}
	b.ReportMetric(cpu[0].Seconds()/float64(b.N*r.Trials)*1000, "ms/run")
	b.ReportMetric(100*wall[0].Seconds()/wall[1].Seconds(), "%ofrace")
	b.ReportMetric(100*cpu[0].Seconds()/cpu[1].Seconds(), "%ofrace-cpu")
}

// BenchmarkBuild compares two ways in which a worker can get a problem, once: building the MDP and Ψ from
// their description, or reading the state measures behind Ψ from a local connection, as a side input of
// 8 bytes for each state and rule. The problems are networks of queues with six rules.
func BenchmarkBuild(b *testing.B) {
	for _, buffers := range study.Scales()[:3] {
		w := models.Network{Buffers: buffers}
		x := mixpolicy.Must(w.MDP())
		base := mixpolicy.Must(w.Policies(x, models.Rules()...))
		bench := func(name string, do func()) {
			b.Run(fmt.Sprintf("%d states/%s", x.States(), name), func(b *testing.B) {
				for b.Loop() {
					do()
				}
			})
		}
		bench("MDP", func() { mixpolicy.Must(w.MDP()) })
		var psi *mixpolicy.Features
		bench("features", func() { psi = mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), x, base...)) })
		if psi == nil {
			continue // the flag -bench excludes features
		}
		var text bytes.Buffer
		for k := range base {
			binary.Write(&text, binary.LittleEndian, psi.Measure(k).State)
		}
		l := mixpolicy.Must(net.Listen("tcp", "localhost:0"))
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Write(text.Bytes())
				c.Close()
			}
		}()
		bench(fmt.Sprintf("side input of %d bytes", text.Len()), func() {
			c := mixpolicy.Must(net.Dial("tcp", l.Addr().String()))
			got := mixpolicy.Must(io.ReadAll(c))
			c.Close()
			binary.Read(bytes.NewReader(got), binary.LittleEndian, make([]float64, len(got)/8))
		})
		l.Close()
	}
}

package beam

import (
	"bytes"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/mixpolicy/study"
)

// small is a race of two methods on two problems. The method "breaks" fails on some streams.
const small = `{
	"Problems": [{"Name": "queue", "Settings": {"Buffer": 20}}, {"Name": "random", "Label": "noisy", "Settings": {"Dim": 3, "Noise": "Gaussian noise"}}],
	"Methods": [
		{"Name": "penalty", "Settings": {"Weight": 16}, "Grid": {"StepSize": [{"InverseSqrt": 1}, {"Constant": 0.01}]}},
		{"Name": "breaks", "Settings": {"At": 700}}
	],
	"Trials": 24, "Seed": 3, "Queries": [10, 1000], "Quantities": ["penalised gap", "cost"]
}`

// byRace computes the record of small with package race, and the 5 % and 95 % quantiles with the function ordered.
func byRace(t *testing.T) string {
	t.Helper()
	x := mixpolicy.Must(models.Queue{Buffer: 20}.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, mixpolicy.Must(models.Queue{}.Policies(x))...))
	var rows race.Record
	for _, p := range []struct {
		name string
		*mixpolicy.Problem
	}{
		{"queue", mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))},
		{"noisy", mixpolicy.Must(study.Family{Dim: 3, Noise: study.Gaussian}.Instance(0, false))},
	} {
		for _, m := range []struct {
			name, settings string
			which, of      int
			mixpolicy.Method
		}{
			{"penalty", `{"StepSize":{"InverseSqrt": 1},"Weight":16}`, 0, 2, mixpolicy.Penalty{Weight: 16, StepSize: mixpolicy.InverseSqrt(1)}},
			{"penalty", `{"StepSize":{"Constant": 0.01},"Weight":16}`, 1, 2, mixpolicy.Penalty{Weight: 16, StepSize: mixpolicy.Constant(.01)}},
			{"breaks", `{"At":700}`, 0, 1, breaks{At: 700}},
		} {
			runs := mixpolicy.Must(race.Trials(t.Context(), p.Problem, m, race.Settings{Trials: 24, Seed: 3, Queries: []int{10, 1000}}))
			failed := runs.Failed()
			if (len(failed) > 0) != (m.name == "breaks") || len(failed) == 24 {
				t.Fatalf("%s on %s: %d runs failed", m.name, p.name, len(failed))
			}
			like := race.Row{Problem: p.name, Race: "queries", Method: m.name, Configuration: m.which, Configurations: m.of, Seed: 3, Settings: strings.ReplaceAll(m.settings, ": ", ":")}
			if len(failed) > 0 {
				row, v := like, float64(failed[0].Steps)
				row.Quantity, row.Value, row.Lo, row.Hi, row.Trials, row.Settings = race.Failure, v, v, v, len(failed), failed[0].Err.Error()
				rows = append(rows, row)
			}
			for _, q := range []struct {
				name string
				race.Curve
			}{{"penalised gap", mixpolicy.Must(race.PenalisedGap(p.Problem))}, {"cost", race.Cost}} {
				// In the record, the rows of an observation are consecutive.
				var bands []race.Record
				for _, s := range []struct {
					name string
					of   func(x []float64) race.Interval
				}{
					{q.name, func(x []float64) race.Interval { return race.Median(x, .95) }},
					{"mean of " + q.name, func(x []float64) race.Interval { return race.TInterval(x, .95) }},
					{"5 % of " + q.name, func(x []float64) race.Interval { return ordered(x, 1, 20) }},
					{"95 % of " + q.name, func(x []float64) race.Interval { return ordered(x, 19, 20) }},
				} {
					like.Quantity = s.name
					bands = append(bands, runs.BandOf(race.Queries, q.Curve, s.of).Rows(like))
				}
				for look := range bands[0] {
					for _, b := range bands {
						rows = append(rows, b[look])
					}
				}
			}
		}
	}
	var text bytes.Buffer
	if err := rows.Write(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// ordered returns, by counting, the least value in x that at least num/den of all values do not exceed.
func ordered(x []float64, num, den int) race.Interval {
	best := x[0]
	found := false
	for _, v := range x {
		below := 0
		for _, w := range x {
			if w <= v {
				below++
			}
		}
		if den*below >= num*len(x) && (!found || v < best) {
			best, found = v, true
		}
	}
	return race.Interval{Mean: best, Lo: best, Hi: best, N: len(x)}
}

// The record of a run in this process equals the record of byRace, for any number of tasks per cell.
func TestRecordIsThatOfRace(t *testing.T) {
	want := byRace(t)
	for _, tasks := range []int{1, 2, 8} {
		same(t, fmt.Sprintf("%d tasks of a cell", tasks), embedded(t, small, tasks), want)
	}
}

func same(t *testing.T, where, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for k := range min(len(g), len(w)) {
		if g[k] != w[k] {
			t.Fatalf("%s: line %d of %d is\n%s\nwant line %d of %d\n%s", where, k+1, len(g), g[k], k+1, len(w), w[k])
		}
	}
	t.Fatalf("%s: %d lines, want %d", where, len(g), len(w))
}

// The record is the same if the workers, Prism or both run in processes of their own.
func TestProcesses(t *testing.T) {
	want := byRace(t)
	got, _ := record(t, small, "--environment_type", "PROCESS")
	same(t, "workers in a process", got, want)
	endpoint := servePrism(t)
	for _, kind := range []string{"PROCESS", "LOOPBACK"} {
		got, _ := record(t, small, "--runner", "universal", "--endpoint", endpoint, "--environment_type", kind)
		same(t, "a server, "+kind, got, want)
	}
}

// If a worker is killed or stopped in the middle of a trial, the record is still the same. Prism 2.77 does not
// always notice a killed worker, and never notices a stopped worker. The command then notices that the worker is silent.
func TestKilledWorker(t *testing.T) {
	slow := strings.ReplaceAll(small, `"At": 700`, `"At": 700, "Wait": 100000`) // some seconds of work
	for signal, says := range map[syscall.Signal]string{
		syscall.SIGKILL: "attempt 2 of 3 (", // in brackets: a worker has died, or none has reported
		syscall.SIGSTOP: "attempt 2 of 3 (no worker has reported for 8s)",
	} {
		mark := filepath.Join(t.TempDir(), "pid")
		t.Setenv(isWatched, mark) // the server passes the variable on to its workers
		path := file(t, slow)
		c := ours(t, isCommand+"=1", "--patience", "8s", "--runner", "universal", "--endpoint", servePrism(t), "--environment_type", "PROCESS", path)
		var told bytes.Buffer
		c.Stderr = &told
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		var pid []byte
		for begun := time.Now(); len(pid) == 0 && time.Since(begun) < 30*time.Second; time.Sleep(20 * time.Millisecond) {
			pid, _ = os.ReadFile(mark)
		}
		worker, err := strconv.Atoi(string(pid))
		if err != nil {
			t.Fatalf("no worker is at work: %v", err)
		}
		if err := syscall.Kill(worker, signal); err != nil {
			t.Fatal(err)
		}
		err = c.Wait()
		for begun := time.Now(); syscall.Kill(worker, 0) == nil; time.Sleep(100 * time.Millisecond) {
			if time.Since(begun) > 20*time.Second {
				syscall.Kill(worker, syscall.SIGKILL)
				t.Fatalf("%v: the worker is still there after its job was cancelled", signal)
			}
		}
		got, _ := os.ReadFile(strings.TrimSuffix(path, ".json") + ".csv")
		if err != nil || !strings.Contains(told.String(), says) {
			t.Fatalf("%v: %v, want the record after %q: %s", signal, err, says, &told)
		}
		same(t, signal.String(), strings.ReplaceAll(string(got), `,""Wait"":100000`, ""), byRace(t))
	}
}

// A worker built from other code is refused before its first trial.
func TestOtherVersion(t *testing.T) {
	self, _ := os.Executable()
	config := fmt.Sprintf(`{"command": %q, "env": {%q: "1", %q: "1"}}`, self, isWorker, isOther)
	refused(t, small, []string{"built from other code (another version)", "want workers of the same build"},
		"--environment_type", "PROCESS", "--environment_config", config, "--worker_binary", self)
}

// refused runs the command, which must report exactly one error, in one line with all the given texts, and leave no record.
// Workers that are being stopped may log more lines after this error.
func refused(t *testing.T, text string, says []string, flags ...string) {
	t.Helper()
	path := file(t, text)
	out, err := ours(t, isCommand+"=1", append(flags, path)...).CombinedOutput()
	var told []string
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "error: ") {
			told = append(told, line)
		}
	}
	// The Beam worker itself logs "error: worker …".
	told = slices.DeleteFunc(told, func(line string) bool { return strings.HasPrefix(line, "error: worker ") })
	if err == nil || len(told) != 1 {
		t.Fatalf("%v: %v, %.2000s, want one error", flags, err, out)
	}
	for _, s := range says {
		if !strings.Contains(told[0], s) {
			t.Errorf("%.1000s, want %q", told[0], s)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*csv*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// The record is the same on the job service of Beam's Python SDK, another implementation of a runner.
func TestPythonRunner(t *testing.T) {
	python := os.Getenv("MIXPOLICY_BEAM")
	if python == "" {
		python = "python3"
	}
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import apache_beam").CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no apache-beam in %s (MIXPOLICY_BEAM can name another Python): %v\n%s", python, err, out)
		}
		t.Skipf("no apache-beam in %s (MIXPOLICY_BEAM can name another Python)", python)
	}
	endpoint := serve(t, func(port int) *exec.Cmd {
		return exec.CommandContext(t.Context(), python, "-m", "apache_beam.runners.portability.local_job_service_main", "-p", strconv.Itoa(port))
	})
	got, _ := record(t, small, "--runner", "universal", "--endpoint", endpoint, "--environment_type", "LOOPBACK")
	same(t, "the Python SDK's runner", got, byRace(t))
}

// Bad input is refused before any work starts, with an error that names the invalid entry.
func TestBadInput(t *testing.T) {
	race := func(problem, method, rest string) string {
		return fmt.Sprintf(`{"Problems": [{"Name": "queue"}, {%s}], "Methods": [{"Name": "plug-in"}, {%s}], %s}`, problem, method, rest)
	}
	const random, penalty, rest = `"Name": "random", "Settings": {"Dim": 2}`, `"Name": "penalty"`, `"Trials": 3, "Queries": [5]`
	for _, c := range []struct {
		text string
		says []string
	}{
		{race(`"Name": "ramdom"`, penalty, rest), []string{"Problems[1] (ramdom)", `"random" is nearest`}},
		{race(random, `"Name": "penalti"`, rest), []string{"Methods[1] (penalti)", `"penalty" is nearest`}},
		{race(random, `"Name": "penalty", "Settings": {"Wait": 1}`, rest), []string{"Methods[1] (penalty)", `"Wait"`, `"Weight" is nearest`}},
		{race(random, `"Name": "penalty", "Settings": {"Weight": "heavy"}`, rest), []string{"Methods[1] (penalty)", "Weight", "heavy"}},
		{race(random, `"Name": "Algorithm 1", "Settings": {"Modulus": {"Bal": 2}}`, rest), []string{"Methods[1] (Algorithm 1)", "Modulus", `"Ball" is nearest`}},
		{race(random, `"Name": "penalty", "Grid": {"StepSize": [{"InverseSqr": 2}]}`, rest), []string{"Methods[1] (penalty)", "StepSize", `"InverseSqrt" is nearest`}},
		{race(random, `"Name": "penalty", "Grid": {"StepSize": []}`, rest), []string{"Methods[1] (penalty)", "with StepSize it has 0 settings"}},
		{race(random, fmt.Sprintf(`"Name": "penalty", "Grid": {"Weight": [1%s]}`, strings.Repeat(", 2", 10_000)), rest), []string{"it has 10001 settings, want 1 to 10000"}},
		{race(random, `"Name": "penalty", "Settings": {"Weight": -1}`, rest), []string{"Methods[1] (penalty), setting 0 on queue", "ω = -1"}},
		{race(random, `"Name": "plug-in"`, rest), []string{"Methods[1] (plug-in)", "used twice"}},
		{race(`"Name": "queue"`, penalty, rest), []string{"Problems[1] (queue)", "used twice"}},
		{race(`"Name": "random"`, penalty, rest), []string{"Problems[1] (random)", "dimension 0"}},
		{race(`"Name": "random", "Settings": {"Dim": 2, "Noise": "heavy tail"}`, penalty, rest), []string{"Problems[1] (random)", `"heavy tails" is nearest`}},
		{race(`"Name": "network", "Settings": {"Criterion": 1.5}`, penalty, rest), []string{"Problems[1] (network)", "1.5"}},
		{race(random, penalty, `"Trials": 0, "Queries": [5]`), []string{"0 trials"}},
		{race(random, penalty, `"Trials": 3`), []string{"Iterations, Queries", "want one"}},
		{race(random, penalty, `"Trials": 3, "Queries": [5, 5]`), []string{"queries [5 5]"}},
		{race(random, penalty, `"Trials": 3, "Iteration": 7`), []string{`"Iteration"`, `"Iterations" is nearest`}},
		{race(random, penalty, rest+`, "Quantities": ["penalized gap"]`), []string{"Quantities[0]", `"penalised gap" is nearest`}},
		{race(random, penalty, rest+`, "Simulate": 7`), []string{"Simulate", "7 steps"}},
		{`{"Problems": [], "Methods": [{"Name": "penalty"}], "Trials": 1, "Queries": [1]}`, []string{"no problems"}},
		{`{"Problems": `, []string{"race file"}},
	} {
		r, err := ParseRace([]byte(c.text))
		if err == nil {
			_, err = Submit(t.Context(), r, filepath.Join(t.TempDir(), "race.csv"), nil)
		}
		if err == nil {
			t.Errorf("%s is accepted", c.text)
			continue
		}
		for _, s := range append(c.says, "beam: ") {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s\n%v, want %q", c.text, err, s)
			}
		}
	}
	refused(t, small, []string{"localhost:9", "no job service answers"}, "--runner", "universal", "--endpoint", "localhost:9")
	refused(t, small, []string{"no endpoint for the runner flink"}, "--runner", "flink")
	refused(t, small, []string{"2 race files"}, "another.json")
	refused(t, small, []string{"no runner", `"prism" is nearest`}, "--runner", "prisma")
	there := filepath.Join(t.TempDir(), "there.txt")
	if err := os.WriteFile(there, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, small, []string{there + " exists"}, "--output", there)
	if b, _ := os.ReadFile(there); string(b) != "kept" {
		t.Errorf("the output that exists holds %q", b)
	}
}

// An interrupt ends the command within three seconds, and leaves no record.
func TestInterrupt(t *testing.T) {
	long := strings.ReplaceAll(small, `"At": 700`, `"At": 700, "Wait": 100000000`)
	for _, kind := range []string{"LOOPBACK", "PROCESS"} {
		path := file(t, long)
		c := ours(t, isCommand+"=1", "--environment_type", kind, path)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Second)
		c.Process.Signal(os.Interrupt)
		began := time.Now()
		c.Wait()
		if late := time.Since(began); late > 3*time.Second || c.ProcessState.ExitCode() != 1 {
			t.Errorf("%s: ended %v after the interrupt, with %v", kind, late, c.ProcessState)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*csv*")); len(left) > 0 {
			t.Errorf("%s: left %v", kind, left)
		}
	}
}

// The walks equal the walks of mixpolicy.Simulate, and the intervals come from the spread between walks.
func TestSimulate(t *testing.T) {
	const steps = 1_000_001
	got := mixpolicy.Must(race.Read(strings.NewReader(embedded(t, fmt.Sprintf(
		`{"Problems": [{"Name": "queue", "Settings": {"Buffer": 20}}], "Seed": 5, "Simulate": %d}`, steps), 0))))
	x := mixpolicy.Must(models.Queue{Buffer: 20}.MDP())
	var rows race.Record
	for j, p := range mixpolicy.Must(models.Queue{}.Policies(x)) {
		like := race.Row{Problem: "queue", Race: "simulation", Method: fmt.Sprintf("base policy %d", j), Seed: 5, Settings: "2 walks, 1000001 steps in all"}
		a := mixpolicy.Must(mixpolicy.Simulate(t.Context(), x, p, mixpolicy.SimulateSettings{Steps: 500_001, Seed: 5}))
		b := mixpolicy.Must(mixpolicy.Simulate(t.Context(), x, p, mixpolicy.SimulateSettings{Steps: 500_000, Seed: 6}))
		like.Quantity, like.At = SimulatedCost, steps
		rows = append(rows, race.TInterval([]float64{a.MeanCost, b.MeanCost}, .95).Row(like))
		for s := range x.States() {
			var n [2]int64
			for k, e := range []*mixpolicy.Empirical{a, b} {
				for act := range x.Actions() {
					n[k] += e.Visits[x.Pair(s, act)]
				}
			}
			mean, _ := big.NewRat(n[0]+n[1], steps).Float64()
			half := race.TInterval([]float64{float64(n[0]), float64(n[1])}, .95)
			like.Quantity, like.At = SimulatedMeasure, float64(s)
			wide := (half.Hi - half.Mean) * 2 / steps
			rows = append(rows, race.Interval{Mean: mean, Lo: max(0, mean-wide), Hi: min(1, mean+wide), N: 2}.Row(like))
		}
	}
	if len(got) != len(rows) {
		t.Fatalf("%d rows, want %d", len(got), len(rows))
	}
	rows, got = rows.Round(12).Round(9), got.Round(9)
	for k := range rows {
		if !reflect.DeepEqual(got[k], rows[k]) {
			t.Errorf("row %d: %+v, want %+v", k, got[k], rows[k])
		}
	}
}

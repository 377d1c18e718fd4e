package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// memory of the network with four base policies, from the model to the optimum: that of a
// process which does nothing else, at its highest.
func memory(ctx context.Context, b *bench) ([]data.Comparison, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b.say("memory of the network")
	cmd := exec.CommandContext(ctx, program, "network", fmt.Sprintf("--quick=%v", b.quick))
	if _, err := output(cmd); err != nil {
		return nil, err
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return nil, fmt.Errorf("this system does not tell the memory of a process")
	}
	const unit = 1 << 10 // Linux counts KiB
	peak := float64(usage.Maxrss) * unit / (1 << 30)
	return []data.Comparison{{
		Unit: "GiB", Repetitions: 1, Most: 4,
		Instance: "memory, network at full size, d = 4: model, Ψ, Algorithm 1, plug-in, penalty, optimum",
		We:       data.Measured{Median: peak, Least: peak, Greatest: peak},
	}}, nil
}

// solveNetwork is what the memory is taken for.
func solveNetwork(ctx context.Context, quick bool) error {
	var w models.Network
	if quick {
		w.Buffers = [4]int{9, 7, 7, 9}
	}
	x, err := w.MDP()
	if err != nil {
		return err
	}
	base, err := w.Policies(x, models.Longer, models.LastBuffer, models.MaxWeight, models.AnyQueue)
	if err != nil {
		return err
	}
	psi, err := mixpolicy.NewFeaturesContext(ctx, x, mixpolicy.MeasureSettings{Tolerance: residual}, base...)
	if err != nil {
		return err
	}
	p, err := mixpolicy.NewProblem(psi, mixpolicy.Ball(2))
	if err != nil {
		return err
	}
	_, scale := x.CostRange()
	for _, m := range []mixpolicy.Method{
		mixpolicy.PrimalDual{CostScale: scale}, mixpolicy.PlugIn{}, mixpolicy.Penalty{CostScale: scale},
	} {
		if _, err := mixpolicy.Solve(ctx, p, m, mixpolicy.Settings{Iterations: 100_000, Seed: 1, Uncertified: true}); err != nil {
			return err
		}
	}
	_, err = p.OptimumContext(ctx)
	return err
}

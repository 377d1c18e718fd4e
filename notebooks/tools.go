package main

import (
	"context"
	"os"
	"runtime"
	"strings"
)

// tools are the Go programs a notebook needs: the kernel, what gives its cells
// their imports, and what completes code in them. go.mod pins their versions.
var tools = []string{
	"github.com/janpfeifer/gonb",
	"golang.org/x/tools/cmd/goimports",
	"golang.org/x/tools/gopls",
}

// buildTools builds them into .lab/bin.
func (l *Lab) buildTools(ctx context.Context) error {
	list := append([]string{"list", "-f", "{{.ImportPath}} {{.Module.Version}}"}, tools...)
	versions, err := output(l.command(ctx, "go", list...))
	if err != nil {
		return err
	}
	return l.once(step{
		name: "kernel",
		why:  "building the Go kernel and its helpers, at the versions that go.mod pins: " + strings.ReplaceAll(strings.TrimSpace(versions), "\n", ", "),
		made: l.path("bin", "gonb"),
		from: versions + runtime.Version(),
	}, func() error {
		if err := os.MkdirAll(l.path("bin"), 0o755); err != nil {
			return err
		}
		build := append([]string{"build", "-ldflags=-s -w", "-o", l.path("bin") + "/"}, tools...)
		_, err := output(l.command(ctx, "go", build...))
		return err
	})
}

// warmCells compiles the module into Go's build cache, so that the first cell
// doesn't wait for it. A module that doesn't compile is told, no more: the
// cell that needs the broken package will say so too.
func (l *Lab) warmCells(ctx context.Context) error {
	_, err := output(l.command(ctx, "go", "build", "./..."))
	if err != nil && ctx.Err() == nil {
		l.say("warning: %v", err)
	}
	return ctx.Err()
}

package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestHelpTellsOfEveryCommandAndFolder(t *testing.T) {
	var cli commandLine
	var help bytes.Buffer
	parser := newParser(&cli)
	parser.Stdout = &help
	parser.Exit = func(int) {}
	parser.Parse([]string{"-h"})
	for _, want := range []string{"go run ./notebooks", "run <name>", "lab ", "clean", ".lab", "build", "MIXPOLICY_JUPYTER", "pypi", "path", "debian"} {
		if !strings.Contains(help.String(), want) {
			t.Errorf("the help lacks %q:\n%s", want, &help)
		}
	}
}

func TestCommandLines(t *testing.T) {
	for line, want := range map[string]string{
		"":                             "all",
		"--update":                     "all",
		"--jupyter=path":               "all",
		"run 06 --jobs=1":              "run <name>",
		"lab":                          "lab",
		"lab --no-browser --port=9999": "lab <args>",
		"clean":                        "clean",
		"--jupyter=conda":              "",
		"run":                          "",
		"print":                        "",
	} {
		var cli commandLine
		got := ""
		command, err := newParser(&cli).Parse(strings.Fields(line))
		if err == nil {
			got = command.Command()
		}
		if got != want {
			t.Errorf("%q is read as %q (%v); want %q", line, got, err, want)
		}
		if want == "lab <args>" && strings.Join(cli.Lab.Args, " ") != "--no-browser --port=9999" {
			t.Errorf("JupyterLab gets %q", cli.Lab.Args)
		}
	}
}

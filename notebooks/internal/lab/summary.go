package lab

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// summarize says what was run, with the paper's notebooks what its claims and equations came to, and where to look.
func (l *Lab) summarize(w io.Writer, runs []*run, elapsed time.Duration) error {
	t := ruled(w)
	t.AppendHeader(table.Row{"notebook", "cells", "seconds", "figures"})
	var cells, figures int
	var sum time.Duration
	row := func(name string, cells int, took time.Duration, figures int) table.Row {
		return table.Row{name, cells, fmt.Sprintf("%.1f", took.Seconds()), figures}
	}
	for _, r := range runs {
		t.AppendRow(row(r.name, len(r.notebook.code()), r.elapsed, r.figures))
		cells += len(r.notebook.code())
		sum += r.elapsed
		figures += r.figures
	}
	t.AppendFooter(row(fmt.Sprintf("%d in all", len(runs)), cells, sum, figures))
	fmt.Fprintln(w)
	t.Render()
	if !l.own {
		if err := verdicts(w); err != nil {
			return err
		}
	}
	work := ""
	if l.own {
		work = " " + l.folder
	}
	_, err := fmt.Fprintf(w, "\nAll this took %.0f s. To read it, open %s\nTo work with it: go run ./notebooks lab%s\n", elapsed.Seconds(), l.build("index.html"), work)
	return err
}

// verdicts says what became of the paper's claims and equations.
func verdicts(w io.Writer) error {
	claims, err := records("claims.csv")
	if err != nil {
		return err
	}
	t := ruled(w)
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 2, WidthMax: 52, WidthMaxEnforcer: text.WrapSoft}, {Number: 3, WidthMax: 24, WidthMaxEnforcer: text.WrapSoft},
	})
	t.AppendHeader(table.Row{"claim", "the paper says", "verdict"})
	for _, c := range claims {
		t.AppendRow(table.Row{c["id"], c["claim"], strings.TrimSuffix(c["verdict"]+": "+c["on"], ": ")})
	}
	fmt.Fprintf(w, "\nWhat became of the paper's claims (the experiments and their numbers are in data/claims.csv)\n")
	t.Render()

	equations, err := records("equations.csv")
	if err != nil {
		return err
	}
	t = ruled(w)
	t.AppendHeader(table.Row{"equations and statements", len(equations)})
	for _, c := range (&page{Equations: equations}).Choices() {
		t.AppendRow(table.Row{c.Text, c.Count})
	}
	fmt.Fprintf(w, "\nWhat became of its equations (in data/equations.csv and data/errata.csv)\n")
	t.Render()
	return nil
}

// ruled returns a table without frames, as wide as a terminal.
func ruled(w io.Writer) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.Options{SeparateHeader: true, SeparateFooter: true}
	t.Style().Format.Header, t.Style().Format.Footer = text.FormatDefault, text.FormatDefault
	return t
}

package lab

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/mixpolicy/lab/mixpolicy/paper"
)

// summarize lists the notebooks that were run, and says where their pages are. For the paper's notebooks, it also
// counts the verdicts of claims and equations.
func (l *Lab) summarize(w io.Writer, runs []*run, elapsed time.Duration) error {
	t := ruled(w)
	t.AppendHeader(table.Row{"notebook", "cells", "seconds", "figures"})
	cells, figures, sum := 0, 0, time.Duration(0)
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
	work := " " + l.folder
	if !l.own {
		work = ""
		if err := verdicts(w); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\nThe run took %.0f s. To read the pages, open %s\nTo work with the notebooks: go run ./notebooks lab%s\n",
		elapsed.Seconds(), l.build("index.html"), work)
	return err
}

// verdicts writes how often each verdict occurs among the paper's claims and equations, and how often each kind of
// erratum occurs among the equations.
func verdicts(w io.Writer) error {
	claims, unread := newClaims()
	rows, err := paper.RecordedIndex()
	if err := errors.Join(unread, err); err != nil {
		return err
	}
	var equations []*equation
	for _, r := range rows {
		equations = append(equations, &equation{Row: r})
	}
	counted := func(what string, choices []choice) {
		t := ruled(w)
		t.AppendHeader(table.Row{what, "number"})
		for _, c := range choices {
			t.AppendRow(table.Row{cmp.Or(c.Text, c.Value), c.Count})
		}
		fmt.Fprintln(w)
		t.Render()
	}
	p := &page{Claims: claims, Equations: equations}
	counted(fmt.Sprintf("%d claims, one verdict for each setting", len(claims)), p.Verdicts())
	counted(fmt.Sprintf("%d equations and statements", len(equations)), p.Choices())
	return nil
}

// ruled returns a table whose only rules are below its header and above its footer.
func ruled(w io.Writer) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.Options{SeparateHeader: true, SeparateFooter: true}
	t.Style().Format.Header, t.Style().Format.Footer = text.FormatDefault, text.FormatDefault
	return t
}

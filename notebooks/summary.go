package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A claim is a sentence of the paper that says something measurable, and what
// became of it.
type claim struct {
	ID, Claim, Numbers, Verdict string
}

// claims gives the paper's claims with their verdicts.
func (l *Lab) claims(ctx context.Context) ([]claim, error) {
	rows, err := l.records("claims.csv", 4)
	if err != nil {
		return nil, err
	}
	var all []claim
	for _, row := range rows {
		all = append(all, claim{row[0], row[1], row[2], row[3]})
	}
	return all, nil
}

// records reads a table of data/ without its heading. Without the file there are none.
func (l *Lab) records(name string, fields int) ([][]string, error) {
	f, err := os.Open(filepath.Join(l.Root, "data", name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = fields
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return rows[min(1, len(rows)):], nil
}

// Summarize says what was run, what the paper's claims came to, and where to look.
func (l *Lab) Summarize(ctx context.Context, w io.Writer, runs []*Run, elapsed time.Duration) error {
	t := ruled(w)
	t.AppendHeader(table.Row{"notebook", "cells", "seconds", "figures"})
	var sum Run
	cells := 0
	for _, r := range runs {
		t.AppendRow(table.Row{r.Name, r.Cells(), fmt.Sprintf("%.1f", r.Elapsed.Seconds()), r.Figures})
		cells += r.Cells()
		sum.Elapsed += r.Elapsed
		sum.Figures += r.Figures
	}
	t.AppendFooter(table.Row{fmt.Sprintf("%d in all", len(runs)), cells, fmt.Sprintf("%.1f", sum.Elapsed.Seconds()), sum.Figures})
	fmt.Fprintln(w)
	t.Render()

	all, err := l.claims(ctx)
	if err != nil {
		return err
	}
	if len(all) > 0 {
		t := ruled(w)
		t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, WidthMax: 58, WidthMaxEnforcer: text.WrapSoft}})
		t.AppendHeader(table.Row{"claim", "the paper says", "verdict"})
		for _, c := range all {
			t.AppendRow(table.Row{c.ID, c.Claim, c.Verdict})
		}
		fmt.Fprintf(w, "\nWhat became of the paper's claims (the experiments and their numbers are in data/claims.csv)\n")
		t.Render()
	}
	_, err = fmt.Fprintf(w, "\nAll this took %.0f s. To read it, open %s\nTo work with it: go run ./notebooks lab\n", elapsed.Seconds(), l.build("index.html"))
	return err
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

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
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"
)

// A claim is a sentence of the paper that says something measurable, and what
// became of it.
type claim struct {
	ID, Claim, Numbers, Verdict string
}

// claims gives the paper's claims with their verdicts.
func (l *Lab) claims(ctx context.Context) ([]claim, error) {
	f, err := os.Open(filepath.Join(l.Root, "data", "claims.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = 4
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	var all []claim
	for _, row := range rows[min(1, len(rows)):] { // the first row names the columns
		all = append(all, claim{row[0], row[1], row[2], row[3]})
	}
	return all, nil
}

// Summarize says what was run, what the paper's claims came to, and where to look.
func (l *Lab) Summarize(ctx context.Context, w io.Writer, runs []*Run, elapsed time.Duration) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nnotebook\tcells\tseconds\tfigures\n")
	var sum Run
	cells := 0
	for _, r := range runs {
		fmt.Fprintf(t, "%s\t%5d\t%7.1f\t%7d\n", r.Name, r.Cells(), r.Elapsed.Seconds(), r.Figures)
		cells += r.Cells()
		sum.Elapsed += r.Elapsed
		sum.Figures += r.Figures
	}
	fmt.Fprintf(t, "%d in all\t%5d\t%7.1f\t%7d\n", len(runs), cells, sum.Elapsed.Seconds(), sum.Figures)
	if err := t.Flush(); err != nil {
		return err
	}

	all, err := l.claims(ctx)
	if err != nil {
		return err
	}
	for i, c := range all {
		if i == 0 {
			fmt.Fprintf(w, "\nThe paper's claims\n")
		}
		fmt.Fprintf(w, "\n%s: %s\n%s%s", c.ID, c.Verdict, wrap(c.Claim), wrap(c.Numbers))
	}
	_, err = fmt.Fprintf(w, "\nAll this took %.0f s. To read it, open %s\nTo work with it: go run ./notebooks lab\n", elapsed.Seconds(), l.build("index.html"))
	return err
}

// wrap breaks the text into indented lines that fit a terminal.
func wrap(text string) string {
	const indent, width = "    ", 96
	var b strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		if line != indent && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return b.String() + line + "\n"
}

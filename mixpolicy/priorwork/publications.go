package priorwork

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// Publication says where a method comes from, and in what the one here differs.
type Publication struct {
	Method     string   // the name of its type
	Source     string   // author, place and year
	Deviations []string // each with its reason; none is none known
}

//go:embed *.go
var code embed.FS

// Publications returns what the doc comments of the methods say after "Source:" and
// "Deviations:", in the order of their files, and of [mixpolicy.Penalty] at the end.
func Publications() []Publication {
	files, err := code.ReadDir(".")
	if err != nil {
		panic(fmt.Sprintf("priorwork: %v", err))
	}
	var all []Publication
	for _, file := range files {
		text, err := code.ReadFile(file.Name())
		if err != nil {
			panic(fmt.Sprintf("priorwork: %v", err))
		}
		if !strings.HasSuffix(file.Name(), "_test.go") {
			all = append(all, publications(text)...)
		}
	}
	return append(all, Publication{"mixpolicy.Penalty", "Banijamali, Abbasi-Yadkori, Ghavamzadeh and Vlassis, AISTATS 2019 (arXiv 1802.09646).", []string{
		"The source was not at hand: this is section 4's account of it.",
		"The projection is a closed form ([linprog.Norm.Project]); the paper calls a convex solver for the same point.",
		"Without a setting η is 1/√t and the mean is weighted by it, so that one run answers for every T; section 6 has η = 1/T.",
	}})
}

// publications returns those of the types in a file.
func publications(text []byte) (all []Publication) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		panic(fmt.Sprintf("priorwork: %v", err)) // it has been compiled
	}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		_, source, ok := strings.Cut(g.Doc.Text(), "\nSource: ")
		if !ok {
			continue
		}
		source, _, _ = strings.Cut(source, "\n\n")
		p := Publication{Method: g.Specs[0].(*ast.TypeSpec).Name.Name, Source: line(source)}
		_, list, _ := strings.Cut(g.Doc.Text(), "\nDeviations:")
		for _, item := range strings.Split(list, "\n  - ")[1:] {
			p.Deviations = append(p.Deviations, line(item))
		}
		all = append(all, p)
	}
	return all
}

// line returns the text in one line.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }

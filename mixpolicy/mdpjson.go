package mixpolicy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// jsonMDP is the form of a file.
type jsonMDP struct {
	Criterion *Criterion        `json:"criterion"`
	Initial   []float64         `json:"initial,omitempty"`
	States    jsonNames         `json:"states"`
	Actions   jsonNames         `json:"actions"`
	Pairs     []json.RawMessage `json:"pairs"`
}

// jsonPair is c_a(s) and P_a(s, ·).
type jsonPair struct {
	S    *int      `json:"s"`
	A    *int      `json:"a"`
	C    *float64  `json:"c"`
	Next []int     `json:"next"`
	P    []float64 `json:"p"`
}

// jsonNames is a number of things, or the list of their labels.
type jsonNames struct {
	n      int
	labels []string
}

func (x jsonNames) MarshalJSON() ([]byte, error) {
	if x.labels == nil {
		return json.Marshal(x.n)
	}
	return json.Marshal(x.labels)
}

func (x *jsonNames) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &x.n) == nil {
		return nil
	}
	if json.Unmarshal(text, &x.labels) != nil {
		return fmt.Errorf("want a number, or a list of labels")
	}
	x.n = len(x.labels)
	return nil
}

// WriteJSON writes
//
//	{
//	"criterion": "discount 0.9",
//	"initial": [0.5,0.5],
//	"states": ["low","high"],
//	"actions": 2,
//	"pairs": [
//	{"s":0,"a":0,"c":1,"next":[0,1],"p":[0.5,0.5]},
//	…
//	]
//	}
//
// States and actions are a number of them, or a list of labels; pairs refer to them
// by index, and there is one entry for each, in any order. No initial distribution
// is the uniform one. Numbers have the digits that make them come back to the bit.
func (x *MDP) WriteJSON(w io.Writer) error {
	head := jsonMDP{
		Criterion: &x.criterion,
		States:    jsonNames{x.n, labels(x.stateLabel, x.n)},
		Actions:   jsonNames{x.m, labels(x.actionLabel, x.m)},
	}
	if err := errors.Join(checkLabels("state", head.States.labels), checkLabels("action", head.Actions.labels)); err != nil {
		return fmt.Errorf("mixpolicy: %w", err)
	}
	if !uniform(x.initial) {
		head.Initial = x.initial
	}
	out := bufio.NewWriter(w)
	field := func(name string, v any, end string) {
		text, err := json.Marshal(v)
		if err != nil { // everything in an MDP is finite and was checked
			panic("mixpolicy: " + err.Error())
		}
		fmt.Fprintf(out, "%s%s%s", name, text, end)
	}
	out.WriteString("{\n")
	field(`"criterion": `, head.Criterion, ",\n")
	if head.Initial != nil {
		field(`"initial": `, head.Initial, ",\n")
	}
	field(`"states": `, head.States, ",\n")
	field(`"actions": `, head.Actions, ",\n")
	out.WriteString("\"pairs\": [\n")
	for i := range x.Pairs() {
		s, a := i/x.m, i%x.m
		to, p := x.Next(s, a)
		next := make([]int, len(to))
		for k, s2 := range to {
			next[k] = int(s2)
		}
		end := ",\n"
		if i == x.Pairs()-1 {
			end = "\n"
		}
		field("", jsonPair{&s, &a, &x.cost[i], next, p}, end)
	}
	out.WriteString("]\n}\n")
	return out.Flush()
}

// ReadJSON reads the format of [MDP.WriteJSON]. Errors name the place in the file,
// such as pairs[3].p, and state and action: what is not JSON, unknown, repeated and
// missing fields, null, pairs that are missing or given twice, lists of different
// lengths, and all that [New] refuses.
func ReadJSON(r io.Reader) (*MDP, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("mixpolicy: %w", err)
	}
	x, err := parseJSON(text)
	if err != nil {
		return nil, located("", err)
	}
	return x, nil
}

func parseJSON(text []byte) (*MDP, error) {
	if err := checkJSON(text); err != nil {
		return nil, err
	}
	var file jsonMDP
	if err := strict(text, &file); err != nil {
		return nil, err
	}
	switch {
	case file.Criterion == nil:
		return nil, errors.New(`criterion is missing, want "average cost" or "discount γ"`)
	case file.States.n < 1:
		return nil, errors.New("states: want a number ≥ 1 of states, or the list of their labels")
	case file.Actions.n < 1:
		return nil, errors.New("actions: want a number ≥ 1 of actions, or the list of their labels")
	}
	n, m := file.States.n, file.Actions.n
	spec := Spec{
		States: n, Actions: m, Criterion: *file.Criterion, Initial: file.Initial,
		StateLabel: naming(file.States.labels), ActionLabel: naming(file.Actions.labels),
	}
	if err := errors.Join(checkLabels("state", file.States.labels), checkLabels("action", file.Actions.labels)); err != nil {
		return nil, err
	}
	type pair struct{ s, a int }
	name := func(i pair) string {
		return fmt.Sprintf("state %s, action %s", label(spec.StateLabel, i.s), label(spec.ActionLabel, i.a))
	}

	type entry struct {
		jsonPair
		at int
	}
	entries := make(map[pair]entry, len(file.Pairs)) // nm, as the file claims it, may be huge
	for at, raw := range file.Pairs {
		e := entry{at: at}
		if err := strict(raw, &e.jsonPair); err != nil {
			return nil, fmt.Errorf("pairs[%d]: %w", at, err)
		}
		switch {
		case e.S == nil || *e.S < 0 || *e.S >= n:
			return nil, fmt.Errorf("pairs[%d].s: want a state, 0 to %d", at, n-1)
		case e.A == nil || *e.A < 0 || *e.A >= m:
			return nil, fmt.Errorf("pairs[%d].a: want an action, 0 to %d", at, m-1)
		}
		i := pair{*e.S, *e.A}
		if e.C == nil {
			return nil, fmt.Errorf("pairs[%d].c: %s: cost is missing", at, name(i))
		}
		if len(e.Next) != len(e.P) {
			return nil, fmt.Errorf("pairs[%d]: %s: %d next states and %d probabilities, want as many", at, name(i), len(e.Next), len(e.P))
		}
		if first, twice := entries[i]; twice {
			return nil, fmt.Errorf("pairs[%d]: %s: is in pairs[%d] already", at, name(i), first.at)
		}
		entries[i] = e
	}
	for k := 0; len(entries)/m < n; k++ {
		i := pair{k / m, k % m}
		if _, ok := entries[i]; !ok {
			return nil, fmt.Errorf("%s: not among the %d pairs, want one for each of the %d actions in each of the %d states", name(i), len(entries), m, n)
		}
	}
	var e entry // seen by New
	var next []Transition
	spec.Dynamics = func(s, a int) (float64, []Transition) {
		e = entries[pair{s, a}]
		next = next[:0]
		for k, p := range e.P {
			next = append(next, Transition{e.Next[k], p})
		}
		return *e.C, next
	}
	x, err := New(spec)
	if err != nil && e.S != nil {
		return nil, located(fmt.Sprintf("pairs[%d]", e.at), err)
	}
	return x, err
}

// strict decodes one JSON value without unknown fields.
func strict(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s: %s, want %s", wrong.Field, wrong.Value, wrong.Type)
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// checkJSON finds what encoding/json lets pass: a field that repeats or whose name
// is spelled otherwise, null, something after the end, and what is not UTF-8. It
// gives syntax errors their line.
func checkJSON(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("the file is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	path, err := checkValue(d, maxDepth)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("something follows the closing brace")
		}
	}
	line := 1 + bytes.Count(text[:d.InputOffset()], []byte("\n"))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the file ends in the middle of a value: it is truncated")
	case path != "":
		return fmt.Errorf("line %d: %s: %w", line, strings.TrimPrefix(path, "."), err)
	}
	return fmt.Errorf("line %d: %w", line, err)
}

// jsonFields are the names that occur.
var jsonFields = map[string]bool{
	"criterion": true, "initial": true, "states": true, "actions": true, "pairs": true,
	"s": true, "a": true, "c": true, "next": true, "p": true,
	"columns": true, "values": true,
}

// maxDepth is that of { "pairs": [ { "p": [ 1.
const maxDepth = 4

// checkValue reads one value, and returns the path to what is wrong in it.
func checkValue(d *json.Decoder, depth int) (path string, err error) {
	t, err := d.Token()
	if err != nil {
		return "", err
	}
	open, ok := t.(json.Delim)
	switch {
	case t == nil:
		return "", errors.New("null, want a value")
	case !ok:
		return "", nil
	case depth == 0:
		return "", errors.New("lists and objects are nested too deep")
	}
	seen := map[string]bool{}
	for i := 0; d.More(); i++ {
		if open == '[' {
			if path, err := checkValue(d, depth-1); err != nil {
				return fmt.Sprintf("[%d]%s", i, path), err
			}
			continue
		}
		key, err := d.Token()
		if err != nil {
			return "", err
		}
		name, _ := key.(string)
		if !jsonFields[name] {
			return "", fmt.Errorf("unknown field %q", name)
		}
		if seen[name] {
			return "." + name, errors.New("is given twice")
		}
		seen[name] = true
		if path, err := checkValue(d, depth-1); err != nil {
			return "." + name + path, err
		}
	}
	_, err = d.Token()
	return "", err
}

package beam

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/agext/levenshtein"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
	"github.com/mixpolicy/lab/mixpolicy/study"
)

// The names that a race file may use.
var (
	problems = map[string]func(settings jsontext.Value) (*mixpolicy.Problem, error){}
	methods  = map[string]mixpolicy.Method{}
	moduli   = map[string]func(r float64) bregman.Modulus{}
)

// RegisterProblem registers a problem under the name that race files use. The settings in the file are read into a
// value of type S. The program that submits a race calls the function build, and so does each worker that needs
// the problem. All calls with the same settings must return the same problem.
func RegisterProblem[S any](name string, build func(settings S) (*mixpolicy.Problem, error)) {
	problems[name] = func(text jsontext.Value) (*mixpolicy.Problem, error) {
		var settings S
		if err := decode(text, &settings); err != nil {
			return nil, err
		}
		return build(settings)
	}
}

// RegisterMethod registers a method under the name that race files use. The settings in a file replace the fields of
// the same names in a copy of m.
func RegisterMethod(name string, m mixpolicy.Method) { methods[name] = m }

// RegisterModulus registers a modulus under the name that race files use. A race file writes the modulus as "name" or,
// with a radius or another parameter r, as {"name": r}. Without a parameter, r is 0.
func RegisterModulus(name string, of func(r float64) bregman.Modulus) { moduli[name] = of }

func init() {
	RegisterModulus("Ball", func(r float64) bregman.Modulus { return bregman.Ball{R: r} })
	RegisterModulus("LogBall", func(r float64) bregman.Modulus { return bregman.LogBall{R: r} })
	RegisterModulus("Cube", func(r float64) bregman.Modulus { return bregman.Cube(r) })
	RegisterModulus("Hellinger", func(r float64) bregman.Modulus { return bregman.Hellinger(r) })
	RegisterModulus("LogCosine", func(r float64) bregman.Modulus { return bregman.LogCosine(r) })
	RegisterModulus("NegativeEntropy", func(float64) bregman.Modulus { return bregman.NegativeEntropy() })
	RegisterModulus("Tsallis", func(q float64) bregman.Modulus { return bregman.Tsallis(q) })
	RegisterModulus("Burg", func(float64) bregman.Modulus { return bregman.Burg() })
	RegisterModulus("Euclidean", func(float64) bregman.Modulus { return bregman.Euclidean() })
	RegisterModulus("PNorm", func(p float64) bregman.Modulus { return bregman.PNorm{P: p} })

	RegisterMethod("Algorithm 1", mixpolicy.PrimalDual{})
	RegisterMethod("Algorithm 1, variance reduced", priorwork.VarianceReduced{})
	RegisterMethod("penalty", mixpolicy.Penalty{})
	RegisterMethod("dual ALP", priorwork.DualALP{})
	RegisterMethod("plug-in", mixpolicy.PlugIn{})
	RegisterMethod("plug-in, median of means", priorwork.MedianPlugIn{})
	RegisterMethod("π-learning", priorwork.PiLearning{})
	RegisterMethod("randomised LP", priorwork.RandomizedLP{})
	RegisterMethod("certainty equivalence", priorwork.CertaintyEquivalence{})
	RegisterMethod("mirror-prox", priorwork.MirrorProx{})
	RegisterMethod("restarted PDHG", priorwork.PDHG{})

	// The queue of section 6, with its base policies.
	RegisterProblem("queue", func(s struct {
		models.Queue
		R float64
	}) (*mixpolicy.Problem, error) {
		return problem(s.R, s.MDP, s.Policies)
	})
	// The network of four queues, with all rules as base policies.
	RegisterProblem("network", func(s struct {
		models.Network
		R float64
	}) (*mixpolicy.Problem, error) {
		return problem(s.R, s.MDP, func(x *mixpolicy.MDP) ([]*mixpolicy.Policy, error) { return s.Policies(x, models.Rules()...) })
	})
	RegisterProblem("grid world", func(struct{}) (*mixpolicy.Problem, error) {
		c, err := study.Build("grid world")
		return c.Problem, err
	})
	// An instance of a family of random problems.
	RegisterProblem("random", func(s struct {
		Dim, Instance int
		Noise         string
	}) (*mixpolicy.Problem, error) {
		kinds := map[string]study.Noise{"": study.Exact}
		for _, f := range study.Families() {
			kinds[f.Noise.String()] = f.Noise
		}
		noise, err := find("Noise: no noise", kinds, s.Noise)
		if err == nil && (s.Dim < 1 || s.Instance < 0) {
			err = fmt.Errorf("dimension %d, instance %d: want a dimension ≥ 1 and an instance ≥ 0", s.Dim, s.Instance)
		}
		if err != nil {
			return nil, err
		}
		return study.Family{Dim: s.Dim, Noise: noise}.Instance(s.Instance, false)
	})
}

// problem returns (2.18) for the base policies over the ball of radius r; r = 0 means a radius of 2, as in the
// comparison of all methods.
func problem(r float64, mdp func() (*mixpolicy.MDP, error), policies func(*mixpolicy.MDP) ([]*mixpolicy.Policy, error)) (
	*mixpolicy.Problem, error) {
	x, err := mdp()
	if err != nil {
		return nil, err
	}
	base, err := policies(x)
	if err != nil {
		return nil, err
	}
	psi, err := mixpolicy.NewFeatures(context.Background(), x, base...)
	if err != nil {
		return nil, err
	}
	return mixpolicy.NewProblem(psi, mixpolicy.Ball(cmp.Or(r, 2)))
}

// find looks up a name. Its error begins with the text in what, and suggests the nearest known name.
func find[V any](what string, known map[string]V, name string) (V, error) {
	v, ok := known[name]
	if ok {
		return v, nil
	}
	names := slices.Sorted(maps.Keys(known))
	near := slices.MaxFunc(names, func(a, b string) int {
		return levenshtein.Distance(b, name, nil) - levenshtein.Distance(a, name, nil)
	})
	return v, fmt.Errorf("%s %q, want one of %q; %q is nearest", what, name, names, near)
}

// decode reads a JSON value of a race file. Unknown fields are errors. A step size is {"InverseSqrt": η₀} or
// {"Constant": η}, a criterion is its discount factor, and a number may be "+Inf".
func decode(text jsontext.Value, into any) error {
	if len(text) == 0 {
		text = jsontext.Value("{}")
	}
	sizes := map[string]func(float64) mixpolicy.StepSize{
		"InverseSqrt": func(v float64) mixpolicy.StepSize { return mixpolicy.InverseSqrt(v) },
		"Constant":    func(v float64) mixpolicy.StepSize { return mixpolicy.Constant(v) },
	}
	unmarshalers := json.WithUnmarshalers(json.JoinUnmarshalers(
		choice("no step size", sizes), choice("no modulus", moduli),
		json.UnmarshalFunc(func(text []byte, c *mixpolicy.Criterion) error {
			var gamma float64
			err := json.Unmarshal(text, &gamma)
			*c = mixpolicy.Discounted(gamma)
			return err
		}),
		json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *float64) error {
			if d.PeekKind() != '"' {
				return json.SkipFunc
			}
			text, err := d.ReadToken()
			if err == nil {
				*v, err = strconv.ParseFloat(text.String(), 64)
			}
			return err
		}),
	))
	err := json.Unmarshal(text, into, json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(true), unmarshalers)
	var wrong *json.SemanticError
	if !errors.As(err, &wrong) {
		return err
	}
	place := wrong.JSONPointer
	if errors.Is(err, json.ErrUnknownName) {
		fields := map[string]bool{}
		for _, f := range reflect.VisibleFields(wrong.GoType) {
			if f.IsExported() && !f.Anonymous {
				fields[f.Name] = true
			}
		}
		_, err := find("no setting", fields, place.LastToken())
		return err
	}
	if wrong.Err != nil {
		return fmt.Errorf("%s: %w", place.LastToken(), wrong.Err)
	}
	return fmt.Errorf("%s: want a value of type %v", place.LastToken(), wrong.GoType)
}

// choice reads "name" or {"name": v}.
func choice[T any](what string, known map[string]func(v float64) T) *json.Unmarshalers {
	return json.UnmarshalFunc(func(text []byte, into *T) error {
		pair := map[string]float64{}
		var name string
		if json.Unmarshal(text, &name) == nil {
			pair[name] = 0
		} else if err := json.Unmarshal(text, &pair); err != nil || len(pair) != 1 {
			return fmt.Errorf(`%s, want a name or {"name": number}`, text)
		}
		for name, v := range pair {
			of, err := find(what, known, name)
			if err != nil {
				return err
			}
			*into = of(v)
		}
		return nil
	})
}

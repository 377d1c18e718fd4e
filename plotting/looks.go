package plotting

import (
	"hash/fnv"
	"strings"
)

// Look is the colour and the dash of a line. For points, the dash selects the marker.
type Look struct {
	Color Color
	Dash  Dash
}

// looks lists the looks of methods that the notebooks compare. Every method has one look in all figures, and no two
// methods have the same look. Most methods that share a figure differ in colour, and also in dash or in lightness.
var looks = map[string]Look{
	"Algorithm 1":                   {Blue, Solid},
	"Algorithm 1, last iterate":     {Sky, Dashed},
	"Algorithm 1, printed signs":    {Green, Dotted},
	"Algorithm 1, rows scaled":      {Orange, Solid},
	"Algorithm 1, variance reduced": {Purple, Dotted},
	"Algorithm 1, β = 0":            {Orange, Dotted},
	"penalty":                       {Vermilion, Dashed},
	"dual ALP":                      {Vermilion, DashDot},
	"plug-in":                       {Green, DashDot},
	"plug-in, median of means":      {Purple, Dashed},
	"even mixture":                  {Grey, DashDot},
	"π-learning":                    {Blue, Dotted},
	"randomised LP":                 {Blue, DashDot},
	"ALP, sampled constraints":      {Purple, Solid},
	"smoothed ALP, primal–dual":     {Sky, Dotted},
	"certainty equivalence":         {Grey, Solid},
	"mirror-prox":                   {Grey, Dotted},
	"restarted PDHG":                {Sky, DashDot},
	"exact LP (2.18)":               {Purple, DashDot},
	"policy iteration":              {Grey, Dashed},
	"approximate LP":                {Blue, Dashed},
	"smoothed LP":                   {Green, Solid},
	"scale-free":                    {Sky, Solid},
}

// others are looks that the map looks does not contain.
var others = []Look{
	{Vermilion, Solid}, {Orange, Dashed}, {Green, Dashed}, {Orange, DashDot}, {Vermilion, Dotted},
}

// LookOf returns the look that a method has in all figures. The package lists most methods of the notebooks, each with
// its own look. A [Line], [Bars] or [Points] whose colour is Auto gets the look of a listed method automatically if its
// name is the name of this method, alone or followed by a comma and a space. For any other name, LookOf returns a look
// that no listed method has. Equal names get equal looks, but different names may share a look.
func LookOf(method string) Look {
	if _, look := methodOf(method); look != (Look{}) {
		return look
	}
	h := fnv.New32a()
	h.Write([]byte(method)) // never fails
	return others[h.Sum32()%uint32(len(others))]
}

// methodOf returns the listed method at the start of a layer's name, and its look; or "" and the zero Look.
func methodOf(name string) (method string, look Look) {
	for k := len(name); k >= 0; k = strings.LastIndex(name[:k], ", ") {
		if look, ok := looks[name[:k]]; ok {
			return name[:k], look
		}
	}
	return "", Look{}
}

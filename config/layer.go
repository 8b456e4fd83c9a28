package config

import "strings"

// A Layer is one source of settings. A higher one wins over a lower one.
type Layer uint8

// The layers, lowest first.
const (
	Builtin     Layer = iota
	Managed           // the administrator's
	User              // the user's, for every project
	Project           // committed with the project
	Local             // of this checkout
	UserProject       // the user's, for this project
	Env               // variables ZOT_*
	Flags
	numLayers
)

var layerNames = [numLayers]string{
	"builtin", "managed", "user", "project", "local", "user-project", "env", "flags",
}

// String is the name of the layer as the command line spells it.
func (l Layer) String() string {
	if l < numLayers {
		return layerNames[l]
	}
	return "unknown"
}

// MarshalText writes the name of the layer.
func (l Layer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// ParseLayer is the inverse of [Layer.String].
func ParseLayer(name string) (Layer, bool) {
	for i, n := range layerNames {
		if n == name {
			return Layer(i), true
		}
	}
	return 0, false
}

// FromProject tells whether the layer comes with the project, and so counts for
// preferences only once the project is trusted.
func (l Layer) FromProject() bool { return l == Project || l == Local }

// Layers is a set of layers.
type Layers uint16

func layers(of ...Layer) Layers {
	var s Layers
	for _, l := range of {
		s |= 1 << l
	}
	return s
}

// Has tells whether the set holds l.
func (s Layers) Has(l Layer) bool { return s&(1<<l) != 0 }

// Names lists the set, lowest first, without the layer that is built in.
func (s Layers) Names() []string {
	var names []string
	for l := Managed; l < numLayers; l++ {
		if s.Has(l) {
			names = append(names, l.String())
		}
	}
	return names
}

func (s Layers) String() string { return strings.Join(s.Names(), ", ") }

var (
	// anyone may set what only changes how zot looks and works.
	anyone = layers(Managed, User, Project, Local, UserProject, Env, Flags)
	// owners may set what moves data or credentials, or lowers a guard: a
	// project that someone else wrote is not among them.
	owners = layers(Managed, User, UserProject, Env, Flags)
)

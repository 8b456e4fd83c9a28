package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/schemas"
)

// reserved are variables that are not settings: some choose what settings are
// read, some zot gives to extensions.
var reserved = []string{
	"ZOT_HOME", "ZOT_API_KEY", "ZOT_TRUST_DIGEST", "ZOT_EXTENSION", "ZOT_CWD",
}

// reservedPrefixes begin names of variables that others than this package read.
var reservedPrefixes = []string{"ZOT_POLICY_", "ZOT_TEST_"}

// environment reads variables ZOT_*. An empty one is an empty string or an
// empty list; for a setting of any other type, or one with a fixed set of
// values, it counts as not set.
func (l *loader) environment() {
	d := newLayerData(Env, "")
	for _, pair := range l.o.Environ {
		name, text, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "ZOT_") || isReserved(name) {
			continue
		}
		k := byEnv[name]
		if k == nil {
			l.unknownVariable(name)
			continue
		}
		if text == "" && !k.emptyMeans() {
			continue
		}
		l.override(d, k, strings.Split(k.Name, "."), text, name)
	}
	l.add(d)
}

func isReserved(name string) bool {
	return slices.Contains(reserved, name) ||
		slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// emptyMeans tells whether an empty variable is a value.
func (k *Key) emptyMeans() bool {
	return k.Type.isList() || k.Type == Text && len(k.Enum) == 0
}

func (l *loader) unknownVariable(name string) {
	var known []string // without what all begin with, which would make all alike
	for _, other := range append(slices.Sorted(maps.Keys(byEnv)), reserved...) {
		known = append(known, strings.TrimPrefix(other, "ZOT_"))
	}
	remedy := "zot config schema lists the settings"
	if near := schemas.Nearest(strings.TrimPrefix(name, "ZOT_"), known); near != "" {
		remedy = fmt.Sprintf("did you mean ZOT_%s?", near)
	}
	l.problem(Problem{Layer: Env, Source: name, Message: "no setting has this variable", Remedy: remedy})
}

func (l *loader) override(d *layerData, k *Key, path []string, text, from string) {
	value, bad := k.fromString(text, l.o.base(d.layer, ""))
	if bad != nil {
		l.problem(Problem{Layer: d.layer, Source: from, Key: FormatPath(path), Message: bad.msg, Remedy: bad.remedy})
		return
	}
	d.set(path, value, place{source: from})
}

// flags applies the overrides of the command line.
func (l *loader) flags() {
	d := newLayerData(Flags, "")
	for _, o := range l.o.Flags {
		path, err := ParsePath(o.Key)
		if err != nil {
			l.problem(Problem{Layer: Flags, Source: o.From, Message: err.Error()})
			continue
		}
		k, _ := lookup(path)
		switch {
		case k == nil:
			l.problem(Problem{Layer: Flags, Source: o.From, Key: o.Key, Message: fmt.Sprintf("unknown setting %q", o.Key)})
		case !k.Layers.Has(Flags):
			l.problem(Problem{Layer: Flags, Source: o.From, Key: o.Key, Code: "ZP063",
				Message: fmt.Sprintf("%q may not be set by a flag", o.Key), Remedy: "set it in: " + k.Layers.String()})
		default:
			l.override(d, k, path, o.Value, o.From)
		}
	}
	l.add(d)
}

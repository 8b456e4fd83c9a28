package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"

	"github.com/patriceckhart/zot/config/document"
)

// Settings is what [Load] made of all layers.
type Settings struct {
	Config   Config
	Problems []Problem
	// Policy holds the policy sections found, lowest layer first. It does not
	// depend on whether the project is trusted.
	Policy []PolicySection
	Files  []LayerFile // every file looked for, lowest layer first

	layers []loadedLayer
	merged *koanf.Koanf
	held   []Entry
}

// A loadedLayer keeps a layer's values apart, so that origin is never lost.
type loadedLayer struct {
	*layerData
	k *koanf.Koanf
}

// An Origin says who set a value.
type Origin struct {
	Layer Layer `json:"layer"`
	// Source is the file, variable or flag; empty for a built-in value.
	Source string       `json:"source,omitempty"`
	Pos    document.Pos `json:"pos,omitzero"`
	// Appended says that the layer added to the list below it.
	Appended bool `json:"appended,omitempty"`
}

// String is the origin for people: "user /home/u/.../config.json:3:5".
func (o Origin) String() string {
	if o.Source == "" {
		return o.Layer.String()
	}
	return o.Layer.String() + " " + document.Place(o.Source, o.Pos)
}

// An Entry is a setting and who set it.
type Entry struct {
	Path  []string
	Key   *Key
	Value any // bool, int64, float64, string, time.Duration or []string
	Origin
	// Below lists the lower layers that a list also took items from.
	Below []Origin
}

// Literal is the value as a settings file would hold it, on one line.
func (e Entry) Literal() string { return e.Key.literal(e.Value) }

// finish merges the layers, lowest first.
func (s *Settings) finish(all []*layerData) error {
	s.merged = koanf.New(separator)
	for _, d := range all {
		k := koanf.New(separator)
		if err := k.Load(confmap.Provider(d.values, ""), nil); err != nil {
			return fmt.Errorf("merging settings of %s: %w", d.layer, err)
		}
		values := d.values
		if d.layer.FromProject() && !s.trusted(d.layer) {
			values = s.holdBack(d, k)
			k = koanf.New(separator)
			if err := k.Load(confmap.Provider(values, ""), nil); err != nil {
				return fmt.Errorf("merging settings of %s: %w", d.layer, err)
			}
		}
		s.layers = append(s.layers, loadedLayer{d, k})
		if err := s.merged.Load(confmap.Provider(values, ""), nil, koanf.WithMergeFunc(mergeInto)); err != nil {
			return fmt.Errorf("merging settings of %s: %w", d.layer, err)
		}
	}
	s.decode()
	return nil
}

func (s *Settings) trusted(layer Layer) bool {
	return !slices.ContainsFunc(s.Files, func(f LayerFile) bool { return f.Layer == layer && f.Held })
}

// holdBack keeps the discovery settings of a layer and puts the others aside.
func (s *Settings) holdBack(d *layerData, k *koanf.Koanf) map[string]any {
	keep := newLayerData(d.layer, d.source)
	for _, flat := range k.Keys() {
		path := strings.Split(flat, separator)
		plain, plus := withoutPlus(path)
		key, _ := lookup(plain)
		if key == nil {
			continue
		}
		value, at := k.Get(flat), d.places[flat]
		if key.Discovery && value != true { // what an untrusted project may do is switch off
			keep.set(path, value, at)
			continue
		}
		s.held = append(s.held, Entry{Path: plain, Key: key, Value: value,
			Origin: Origin{Layer: d.layer, Source: at.source, Pos: at.pos, Appended: plus}})
	}
	return keep.values
}

// mergeInto merges objects name by name; all else replaces what was there,
// except that a name with a plus appends.
func mergeInto(src, dest map[string]any) error {
	for name, value := range src {
		if strings.HasPrefix(name, "+") && isList(value) {
			continue // after its plain twin, below
		}
		if inner, ok := value.(map[string]any); ok {
			into, ok := dest[name].(map[string]any)
			if !ok {
				into = map[string]any{}
				dest[name] = into
			}
			if err := mergeInto(inner, into); err != nil {
				return err
			}
			continue
		}
		dest[name] = value
	}
	for name, value := range src {
		if bare, plus := strings.CutPrefix(name, "+"); plus && isList(value) {
			below, _ := dest[bare].([]string)
			dest[bare] = appendNew(below, value.([]string))
		}
	}
	return nil
}

func isList(v any) bool { _, ok := v.([]string); return ok }

// appendNew appends the items that are not there yet.
func appendNew(list, more []string) []string {
	out := slices.Clone(list)
	for _, item := range more {
		if !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

func (s *Settings) decode() {
	for _, flat := range s.merged.Keys() {
		key, names := lookup(strings.Split(flat, separator))
		if key == nil || key.bind == nil {
			continue
		}
		assign(key.bind(&s.Config, names), s.merged.Get(flat))
	}
}

// Err joins the problems in variables and flags. These were given for this run,
// so a program that goes on regardless would not do as it was told.
func (s *Settings) Err() error {
	var errs []error
	for _, p := range s.Problems {
		if p.Layer == Env || p.Layer == Flags {
			errs = append(errs, p)
		}
	}
	return errors.Join(errs...)
}

// Effective returns a setting's value and who set it, and whether it has one.
func (s *Settings) Effective(path []string) (Entry, bool) {
	key, _ := lookup(path)
	flat := strings.Join(path, separator)
	if key == nil || !s.merged.Exists(flat) {
		return Entry{}, false
	}
	e := Entry{Path: path, Key: key, Value: s.merged.Get(flat)}
	plus := strings.Join(child(path[:len(path)-1], "+"+path[len(path)-1]), separator)
	var from []Origin
	for _, l := range slices.Backward(s.layers) {
		if key.Type.isList() && l.k.Exists(plus) {
			from = append(from, l.origin(plus, true))
		}
		if l.k.Exists(flat) {
			from = append(from, l.origin(flat, false))
			break
		}
	}
	e.Origin, e.Below = from[0], from[1:]
	return e, true
}

func (l loadedLayer) origin(flat string, appended bool) Origin {
	at := l.places[flat]
	return Origin{Layer: l.layer, Source: at.source, Pos: at.pos, Appended: appended}
}

// WhoLists tells which layer put an item into a list that holds: of several the
// highest.
func (s *Settings) WhoLists(path []string, item string) (Origin, bool) {
	e, ok := s.Effective(path)
	if !ok {
		return Origin{}, false
	}
	for _, o := range append([]Origin{e.Origin}, e.Below...) {
		for _, set := range s.SetBy(o.Layer) {
			if items, _ := set.Value.([]string); slices.Equal(set.Path, path) && set.Origin == o && slices.Contains(items, item) {
				return o, true
			}
		}
	}
	return Origin{}, false
}

// Entries returns all settings that have a value, by name. A prefix limits it
// to what lies below.
func (s *Settings) Entries(prefix ...string) []Entry {
	var out []Entry
	for _, flat := range s.merged.Keys() {
		path := strings.Split(flat, separator)
		if len(path) < len(prefix) || !slices.Equal(path[:len(prefix)], prefix) {
			continue
		}
		if e, ok := s.Effective(path); ok {
			out = append(out, e)
		}
	}
	return out
}

// Held returns the preferences of a project that wait for it to be trusted.
func (s *Settings) Held() []Entry { return slices.Clone(s.held) }

// SetBy returns what one layer sets, whether or not it holds, by name. Values
// of the same list that it sets and appends come apart.
func (s *Settings) SetBy(layer Layer) []Entry {
	var out []Entry
	for _, l := range s.layers {
		if l.layer != layer {
			continue
		}
		for _, flat := range l.k.Keys() {
			path := strings.Split(flat, separator)
			plain, plus := withoutPlus(path)
			if key, _ := lookup(plain); key != nil {
				out = append(out, Entry{Path: plain, Key: key, Value: l.k.Get(flat), Origin: l.origin(flat, plus)})
			}
		}
	}
	for _, e := range s.held {
		if e.Layer == layer {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return slices.Compare(a.Path, b.Path) })
	return out
}

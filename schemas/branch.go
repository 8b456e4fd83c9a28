package schemas

import (
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// leaves flattens a tree of failures into the faults worth telling. Of a
// choice (oneOf, anyOf) only the branch that was most likely meant is told.
func (x *explainer) leaves(e *jsonschema.ValidationError) []fault {
	switch {
	case len(e.Causes) == 0 || lastToken(e.KeywordLocation) == "minContains":
		return []fault{x.leaf(e)}
	case e.Message == "oneOf failed" || e.Message == "anyOf failed":
		return x.bestBranch(e)
	}
	var all []fault
	for _, cause := range e.Causes {
		all = append(all, x.leaves(cause)...)
	}
	return all
}

func (x *explainer) leaf(e *jsonschema.ValidationError) fault {
	f := fault{pointer: plainPointer(e.InstanceLocation), keyword: lastToken(e.KeywordLocation), text: e.Message}
	location := e.AbsoluteKeywordLocation
	switch {
	case e.Message == "not allowed": // a schema that is just false
		f.keyword = "false"
		f.schema = x.schemaAt(parentOf(location))
	case strings.Contains(location, "/dependentRequired/"):
		f.keyword = "dependentRequired"
		f.schema = x.schemaAt(location[:strings.LastIndex(location, "/dependentRequired/")])
	case lastToken(parentOf(e.KeywordLocation)) == "propertyNames":
		f.keyword, f.named = "propertyNames", f.keyword
		f.schema = x.schemaAt(parentOf(location))
	default:
		f.schema = x.schemaAt(parentOf(location))
	}
	if f.keyword == "type" {
		f.types = typesOf(f.schema)
	}
	return f
}

// bestBranch picks from the branches of a choice. A branch whose type fits is
// nearer than one whose type does not; then one whose constants (the usual
// "type": "x" that tells branches apart) fit; then the one with fewest faults.
func (x *explainer) bestBranch(e *jsonschema.ValidationError) []fault {
	at := plainPointer(e.InstanceLocation)
	var best []fault
	bestScore, types := -1, []string(nil)
	for _, cause := range e.Causes {
		branch := x.leaves(cause)
		score := branchScore(branch, at)
		if bestScore < 0 || score < bestScore {
			best, bestScore = branch, score
		}
		for _, f := range branch {
			if f.keyword == "type" && f.pointer == at {
				types = append(types, f.types...)
			}
		}
	}
	if bestScore >= typePenalty { // no branch takes a value of this type
		one := best[0]
		one.keyword, one.pointer, one.types = "type", at, compact(types)
		one.schema = x.schemaAt(parentOf(e.AbsoluteKeywordLocation))
		return []fault{one}
	}
	return best
}

const (
	typePenalty  = 1000000
	constPenalty = 1000
)

func branchScore(branch []fault, at string) int {
	score := len(branch)
	for _, f := range branch {
		below, inside := strings.CutPrefix(f.pointer, at+"/")
		switch {
		case f.keyword == "type" && f.pointer == at:
			score += typePenalty
		case (f.keyword == "const" || f.keyword == "enum") && inside && !strings.Contains(below, "/"):
			score += constPenalty
		}
	}
	return score
}

func typesOf(schema map[string]any) []string {
	switch t := schema["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var types []string
		for _, one := range t {
			if s, ok := one.(string); ok {
				types = append(types, s)
			}
		}
		return types
	}
	return nil
}

func compact(types []string) []string {
	var kept []string
	for _, t := range types {
		if !slices.Contains(kept, t) {
			kept = append(kept, t)
		}
	}
	return kept
}

func lastToken(location string) string {
	return location[strings.LastIndexByte(location, '/')+1:]
}

func parentOf(location string) string {
	if i := strings.LastIndexByte(location, '/'); i >= 0 && i > strings.IndexByte(location, '#') {
		return location[:i]
	}
	return location
}

func matchesAny(patterns map[string]any, key string) bool {
	for pattern := range patterns {
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(key) {
			return true
		}
	}
	return false
}

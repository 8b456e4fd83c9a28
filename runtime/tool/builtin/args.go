package builtin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// args are the arguments of a call by name. Models name fields as other
// programs do and send numbers as strings, so each reader takes several names
// and converts what has one meaning only; its error says what was expected.
type args map[string]json.RawMessage

func parseArgs(raw []byte) (args, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return args{}, nil
	}
	var a args
	if err := json.Unmarshal(raw, &a); err != nil || a == nil {
		return nil, errors.New("the arguments have to be a JSON object")
	}
	return a, nil
}

// Names under which models know the same argument.
var (
	pathNames    = []string{"path", "file_path", "filePath", "filename", "file"}
	contentNames = []string{"content", "contents", "text"}
	oldNames     = []string{"oldText", "old_text", "old_string", "oldString"}
	newNames     = []string{"newText", "new_text", "new_string", "newString"}
	allNames     = []string{"replaceAll", "replace_all"}
	commandNames = []string{"command", "cmd"}
)

// get returns the first argument among names that is there and not null.
func (a args) get(names ...string) (name string, raw json.RawMessage, ok bool) {
	for _, n := range names {
		if raw, ok := a[n]; ok && string(bytes.TrimSpace(raw)) != "null" {
			return n, bytes.TrimSpace(raw), true
		}
	}
	return names[0], nil, false
}

// text reads a string that has to be there.
func (a args) text(example string, names ...string) (string, error) {
	name, raw, ok := a.get(names...)
	if !ok {
		return "", fmt.Errorf("the argument %q is missing: %s", name, example)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err == nil {
		return s, nil
	}
	if raw[0] == '{' || raw[0] == '[' {
		return "", fmt.Errorf("the argument %q has to be a string: %s", name, example)
	}
	return string(raw), nil // a number or a boolean, as it was written
}

// path reads the path of a file tool.
func (a args) path() (string, error) {
	return a.text(`give the path of the file, for example "src/main.go"`, pathNames...)
}

// whole reads an optional whole number of at least least; 0 if it is absent.
func (a args) whole(name string, least int) (int, error) {
	_, raw, ok := a.get(name)
	if !ok {
		return 0, nil
	}
	s := strings.TrimSpace(strings.Trim(string(raw), `"`))
	if s == "" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 || int(v) < least {
		return 0, fmt.Errorf("the argument %q is %s: it has to be a whole number, %d or more", name, raw, least)
	}
	return int(v), nil
}

// flag reads an optional boolean.
func (a args) flag(names ...string) (bool, error) {
	name, raw, ok := a.get(names...)
	if !ok {
		return false, nil
	}
	v, err := strconv.ParseBool(strings.Trim(string(raw), `"`))
	if err != nil {
		return false, fmt.Errorf("the argument %q is %s: it has to be true or false", name, raw)
	}
	return v, nil
}

// seconds reads an optional duration: a number of seconds, or a string such as
// "90", "90s" or "2m"; 0 if it is absent.
func (a args) seconds(name string) (time.Duration, error) {
	_, raw, ok := a.get(name)
	if !ok {
		return 0, nil
	}
	s := strings.TrimSpace(strings.Trim(string(raw), `"`))
	if s == "" {
		return 0, nil
	}
	wrong := fmt.Errorf("the argument %q is %s: it has to be a number of seconds above 0", name, raw)
	if d, err := time.ParseDuration(s); err == nil && s != "0" {
		if d <= 0 {
			return 0, wrong
		}
		return d, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || v <= 0 {
		return 0, wrong
	}
	if v > math.MaxInt64/float64(time.Second) {
		return math.MaxInt64, nil
	}
	return time.Duration(v * float64(time.Second)), nil
}

// content reads the text of a write. Some models give the content of a JSON
// file as JSON rather than as a string of it; that is taken as written.
func (a args) content() (string, error) {
	const example = `give the whole text of the file as a string ("" for an empty file)`
	_, raw, ok := a.get(contentNames...)
	if ok && (raw[0] == '{' || raw[0] == '[') {
		return string(raw), nil
	}
	return a.text(example, contentNames...)
}

// command reads the command line. A list of words, as some models send it, is
// either a shell with -c and a script, or words to quote.
func (a args) command() (string, error) {
	const example = `give a command line, for example "go test ./..."`
	_, raw, ok := a.get(commandNames...)
	var words []string
	if ok && json.Unmarshal(raw, &words) == nil && len(words) > 0 {
		if len(words) == 3 && strings.HasSuffix(words[0], "sh") && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
			return words[2], nil
		}
		for i, w := range words {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		return strings.Join(words, " "), nil
	}
	s, err := a.text(example, commandNames...)
	if err == nil && strings.TrimSpace(s) == "" {
		err = errors.New("the argument \"command\" is empty: " + example)
	}
	return s, err
}

// CommandLine is the command line that the bash tool would run for a call with
// these arguments; an error says that it would run none. Whoever judges a
// command judges this one.
func CommandLine(raw []byte) (string, error) {
	a, err := parseArgs(raw)
	if err != nil {
		return "", err
	}
	return a.command()
}

// A replacement is one entry of edits.
type replacement struct {
	Old, New string
	All      bool
}

// edits reads the replacements: a list, one alone, either of them inside a
// string, or the two texts beside the path.
func (a args) edits() ([]replacement, error) {
	const example = `give "edits": [{"oldText": "text in the file", "newText": "text instead"}]`
	all, err := a.flag(allNames...)
	if err != nil {
		return nil, err
	}
	list := []args{a}
	if _, raw, ok := a.get("edits"); ok {
		if list, err = editList(raw); err != nil {
			return nil, fmt.Errorf("the argument \"edits\" cannot be read: %s", example)
		}
	} else if _, _, ok := a.get(oldNames...); !ok {
		return nil, errors.New("the argument \"edits\" is missing: " + example)
	}
	if len(list) == 0 {
		return nil, errors.New("the argument \"edits\" is empty: " + example)
	}
	var out []replacement
	for i, e := range list {
		r, err := e.replacement(example)
		if err != nil {
			return nil, fmt.Errorf("edit %d of %d: %w", i+1, len(list), err)
		}
		r.All = r.All || all
		out = append(out, r)
	}
	return out, nil
}

func editList(raw json.RawMessage) ([]args, error) {
	var inner string
	if json.Unmarshal(raw, &inner) == nil {
		raw = json.RawMessage(inner)
	}
	var one args
	if json.Unmarshal(raw, &one) == nil && one != nil {
		return []args{one}, nil
	}
	var list []args
	err := json.Unmarshal(raw, &list)
	return list, err
}

func (a args) replacement(example string) (replacement, error) {
	var r replacement
	var err error
	if r.Old, err = a.text(example, oldNames...); err != nil {
		return r, err
	}
	if r.New, err = a.text(example, newNames...); err != nil {
		return r, err
	}
	if r.Old == "" {
		return r, errors.New("oldText is empty: give the text to replace; to create a file or write it anew use the write tool")
	}
	if r.Old == r.New {
		return r, errors.New("oldText and newText are the same, so the edit would change nothing")
	}
	r.All, err = a.flag(allNames...)
	return r, err
}

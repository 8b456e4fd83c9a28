package skill

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// A document is a SKILL.md taken apart.
type document struct {
	name, description string
	allowedTools      []string
	permissions       map[string][]string
	userOnly          bool
	body              string
}

// A lineError is a fault of a SKILL.md at a line, counted from 1.
type lineError struct {
	line   int
	reason string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.reason) }

func faultAt(line int, format string, args ...any) error {
	return &lineError{line: line, reason: fmt.Sprintf(format, args...)}
}

// maxFront bounds the front matter, in bytes: reading it twice must stay cheap
// whatever a stranger wrote.
const maxFront = 32 << 10

// parse takes a SKILL.md apart. The front matter is YAML; where it is not,
// because people write `description: Use it: now`, it is read a second time
// with such values taken literally.
func parse(data []byte) (document, error) {
	text, err := clean(data)
	if err != nil {
		return document{}, err
	}
	front, body, err := split(text)
	if err != nil {
		return document{}, err
	}
	root, err := parseYAML(front)
	if err != nil {
		return document{}, err
	}
	doc, err := fields(root)
	doc.body = body
	return doc, err
}

// clean drops a byte order mark and carriage returns, and refuses what is no text.
func clean(data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return "", faultAt(1, "not a text file in UTF-8")
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)), nil
}

func split(text string) (front, body string, err error) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", "", faultAt(1, "no front matter: the file must begin with a line ---, then \"description: …\", then a line ---")
	}
	var lines []string
	for size := 0; rest != "" && size <= maxFront; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if end := strings.TrimRight(line, " \t"); end == "---" || end == "..." {
			return strings.Join(lines, "\n"), rest, nil
		}
		lines = append(lines, line)
		size += len(line) + 1
	}
	return "", "", faultAt(1, "the front matter has no end within %d bytes: add a line --- after it", maxFront)
}

// parseYAML returns the mapping of the front matter.
func parseYAML(front string) (*yaml.Node, error) {
	var root yaml.Node
	err := yaml.Unmarshal([]byte(front), &root)
	if err != nil {
		root = yaml.Node{}
		if yaml.Unmarshal([]byte(literal(front)), &root) != nil {
			return nil, yamlFault(err)
		}
	}
	if len(root.Content) == 0 {
		return nil, faultAt(2, "the front matter is empty: \"description\" is required")
	}
	if m := root.Content[0]; m.Kind == yaml.MappingNode {
		return m, nil
	}
	return nil, faultAt(2, "the front matter must be a list of \"key: value\" lines")
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// yamlFault moves the line that yaml counted by the --- above it.
func yamlFault(err error) error {
	line, reason := 1, err.Error()
	if m := yamlLine.FindStringSubmatch(reason); m != nil {
		if n, convErr := strconv.Atoi(m[1]); convErr == nil {
			line = n
		}
		reason = m[2]
		if m[1] != "" && strings.HasPrefix(reason, "did not find expected") {
			line++ // these the library counts from 0
		}
	}
	return faultAt(line+1, "the front matter is no YAML: %s", reason)
}

var keyLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*):[ \t]+(\S.*)$`)

// literal rewrites the lines of the front matter that are no YAML on their own
// so that their values mean what they look like. Lines keep their numbers.
func literal(front string) string {
	lines := strings.Split(front, "\n")
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		line = strings.ReplaceAll(line[:indent], "\t", "  ") + line[indent:]
		lines[i] = line
		m := keyLine.FindStringSubmatch(line)
		if m == nil || strings.ContainsAny(m[2][:1], "|>[{") {
			continue
		}
		value := strings.TrimSpace(m[2])
		var probe yaml.Node
		if yaml.Unmarshal([]byte("k: "+value), &probe) == nil && !continues(lines, i) {
			continue
		}
		lines[i] = m[1] + ": " + strconv.Quote(takeContinuation(lines, i, unquote(value)))
	}
	return strings.Join(lines, "\n")
}

// continues reports whether the value of line i goes on in the lines below,
// indented and neither a list nor a mapping.
func continues(lines []string, i int) bool {
	if i+1 >= len(lines) {
		return false
	}
	next := lines[i+1]
	return strings.TrimSpace(next) != "" && (next[0] == ' ' || next[0] == '\t') &&
		!strings.HasPrefix(strings.TrimSpace(next), "- ")
}

// takeContinuation joins the indented lines below i to value and blanks them.
func takeContinuation(lines []string, i int, value string) string {
	for continues(lines, i) {
		i++
		value += " " + strings.TrimSpace(lines[i])
		lines[i] = ""
	}
	return value
}

// unquote takes off a pair of quotes that is only half meant: 'it's'.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '\'' || s[0] == '"') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// fields reads the keys that a skill may have. Keys that are unknown here
// belong to others who read the same file.
func fields(m *yaml.Node) (document, error) {
	var d document
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], resolve(m.Content[i+1])
		var err error
		switch strings.ToLower(key.Value) {
		case "name":
			d.name, err = scalar(key, value)
		case "description":
			d.description, err = scalar(key, value)
		case "allowed-tools", "allowed_tools":
			d.allowedTools, err = words(key, value)
		case "permissions":
			d.permissions, err = permissions(key, value)
		case "disable-model-invocation", "disable_model_invocation":
			d.userOnly, err = truth(key, value)
		}
		if err != nil {
			return document{}, err
		}
	}
	if d.description == "" {
		return document{}, faultAt(2, "\"description\" is required: one sentence that says when to use the skill")
	}
	return d, checkName(m, d.name)
}

func checkName(m *yaml.Node, name string) error {
	bad := strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '/' || r == '\\' })
	if bad || len(name) > 128 {
		return faultAt(m.Line+1, "name %.140q: at most 128 bytes without slashes and control characters", name)
	}
	return nil
}

// resolve follows an alias; yaml refuses those that hold themselves.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// scalar takes any single value as its text: a number is a good name.
func scalar(key, n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode {
		return "", faultAt(n.Line+1, "%q must be a text", key.Value)
	}
	if n.Tag == "!!null" {
		return "", nil
	}
	return strings.TrimSpace(n.Value), nil
}

// words reads a list, or a text whose words are set apart by commas or blanks.
func words(key, n *yaml.Node) ([]string, error) {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return nil, nil
		}
		return splitWords(n.Value), nil
	case yaml.SequenceNode:
		var out []string
		for _, item := range n.Content {
			w, err := scalar(key, resolve(item))
			if err != nil {
				return nil, err
			}
			if w != "" {
				out = append(out, w)
			}
		}
		return out, nil
	}
	return nil, faultAt(n.Line+1, "%q must be a list", key.Value)
}

// splitWords parts s at commas and blanks outside of parentheses: "bash(git add:*), read".
func splitWords(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		}
		return depth == 0 && (r == ',' || unicode.IsSpace(r))
	})
}

func permissions(key, n *yaml.Node) (map[string][]string, error) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, faultAt(n.Line+1, "%q must name tools, each with a list of patterns", key.Value)
	}
	out := make(map[string][]string, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		patterns, err := words(n.Content[i], resolve(n.Content[i+1]))
		if err != nil {
			return nil, err
		}
		out[n.Content[i].Value] = patterns
	}
	return out, nil
}

func truth(key, n *yaml.Node) (bool, error) {
	switch strings.ToLower(n.Value) {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off", "", "~", "null":
		return false, nil
	}
	return false, faultAt(n.Line+1, "%q must be true or false, not %q", key.Value, n.Value)
}

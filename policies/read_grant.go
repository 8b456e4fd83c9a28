package policies

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/patriceckhart/zot/config/document"
)

// ParsePermissions reads the permissions of a manifest, or a grant as
// [Grant.MarshalJSON] writes it. Nil and "null" are nil: nothing was declared.
// Keys that are not known ask for nothing; a wrong type is an error.
func ParsePermissions(raw json.RawMessage) (*Grant, error) {
	text := strings.TrimSpace(string(raw))
	switch text {
	case "", "null":
		return nil, nil
	case `"all"`:
		return &Grant{All: true}, nil
	}
	f, err := document.Parse("permissions.json", []byte(text))
	if err != nil {
		return nil, fmt.Errorf("reading permissions: %w", err)
	}
	r := &reader{section: Section{File: "permissions"}}
	g := r.grant(f.Root, "permissions")
	for _, p := range r.problems {
		if !strings.Contains(p.Message, "has no key") {
			return nil, fmt.Errorf("reading permissions: %s", p.Message)
		}
	}
	return g, nil
}

// ParseLimits reads the limits of a manifest. Nothing gives none; limits that
// are not known are passed over.
func ParseLimits(raw json.RawMessage) (Limits, error) {
	if text := strings.TrimSpace(string(raw)); text == "" || text == "null" {
		return Limits{}, nil
	}
	g, err := ParsePermissions(json.RawMessage(`{"limits": ` + string(raw) + `}`))
	if err != nil {
		return Limits{}, err
	}
	return g.Limits, nil
}

type fieldReader = func(*document.Node, document.Pos)

// grant reads the vocabulary that manifests and rules share.
func (r *reader) grant(n *document.Node, what string) *Grant {
	g := &Grant{}
	list := func(into *[]string, name string) fieldReader {
		return func(v *document.Node, _ document.Pos) { *into = r.strings(v, what+"."+name, false) }
	}
	r.fields(n, what, map[string]fieldReader{
		"commands":  list(&g.Commands, "commands"),
		"tools":     list(&g.Tools, "tools"),
		"callTool":  list(&g.CallTool, "callTool"),
		"events":    func(v *document.Node, _ document.Pos) { g.Events = r.events(v, what+".events") },
		"intercept": func(v *document.Node, _ document.Pos) { g.Intercept = r.intercepts(v, what+".intercept") },
		"panels":    func(v *document.Node, _ document.Pos) { g.Panels = r.flag(v, what+".panels") },
		"notify":    func(v *document.Node, _ document.Pos) { g.Notify = r.flag(v, what+".notify") },
		"submit": func(v *document.Node, _ document.Pos) {
			g.Submit = uint8(r.word(v, what+".submit", submitWords...))
		},
		"systemPrompt": func(v *document.Node, _ document.Pos) {
			g.SystemPrompt = uint8(r.word(v, what+".systemPrompt", systemPromptWords...))
		},
		"fs": func(v *document.Node, _ document.Pos) {
			r.fields(v, what+".fs", map[string]fieldReader{
				"read":  func(v *document.Node, _ document.Pos) { g.FSRead = r.roots(v, what+".fs.read") },
				"write": func(v *document.Node, _ document.Pos) { g.FSWrite = r.roots(v, what+".fs.write") },
				"deny":  func(v *document.Node, _ document.Pos) { g.FSDeny = r.roots(v, what+".fs.deny") },
			})
		},
		"net": func(v *document.Node, _ document.Pos) {
			r.fields(v, what+".net", map[string]fieldReader{
				"connect": func(v *document.Node, _ document.Pos) { g.NetConnect = r.addresses(v, what+".net.connect") },
			})
		},
		"env": func(v *document.Node, _ document.Pos) {
			r.fields(v, what+".env", map[string]fieldReader{
				"pass": list(&g.EnvPass, "env.pass"), "secrets": list(&g.EnvSecrets, "env.secrets"),
			})
		},
		"exec": func(v *document.Node, _ document.Pos) {
			r.fields(v, what+".exec", map[string]fieldReader{
				"run":   list(&g.ExecRun, "exec.run"),
				"shell": func(v *document.Node, _ document.Pos) { g.ExecShell = r.flag(v, what+".exec.shell") },
			})
		},
		"limits": func(v *document.Node, _ document.Pos) { g.Limits = r.limits(v, what+".limits") },
	})
	return g
}

func (r *reader) events(n *document.Node, what string) map[string]Level {
	if n.Kind != document.Object {
		r.fault(n.Pos, `write {"tool_call": "redacted"}`, "%s must be an object, and is %s", what, n.Kind)
		return nil
	}
	out := map[string]Level{}
	for _, m := range n.Members {
		if _, twice := out[m.Name]; twice {
			r.fault(m.Pos, "keep one of the two", "%s has the key %q twice", what, m.Name)
		}
		out[m.Name] = Level(r.word(m.Value, what+"."+m.Name, "none", "redacted", "full"))
	}
	return out
}

func (r *reader) intercepts(n *document.Node, what string) map[string]Intercept {
	if n.Kind != document.Object {
		r.fault(n.Pos, `write {"tool_call": {"may": ["block"]}}`, "%s must be an object, and is %s", what, n.Kind)
		return nil
	}
	out := map[string]Intercept{}
	for _, m := range n.Members {
		if _, twice := out[m.Name]; twice {
			r.fault(m.Pos, "keep one of the two", "%s has the key %q twice", what, m.Name)
		}
		out[m.Name] = r.intercept(m.Value, what+"."+m.Name)
	}
	return out
}

func (r *reader) intercept(n *document.Node, what string) Intercept {
	var i Intercept
	r.fields(n, what, map[string]fieldReader{
		"may": func(v *document.Node, _ document.Pos) {
			for _, w := range r.strings(v, what+".may", false) {
				switch w {
				case "block":
					i.Block = true
				case "rewrite":
					i.Rewrite = true
				default:
					r.fault(v.Pos, "write block, rewrite or both", "%s.may has %q", what, w)
				}
			}
		},
		"tools": func(v *document.Node, _ document.Pos) { i.Tools = r.strings(v, what+".tools", false) },
		"onFailure": func(v *document.Node, _ document.Pos) {
			i.DenyOnFailure = r.word(v, what+".onFailure", "allow", "deny") == 1
		},
		"timeout": func(v *document.Node, _ document.Pos) {
			d, err := time.ParseDuration(r.text(v, what+".timeout"))
			if err != nil || d <= 0 || d > 10*time.Minute {
				r.fault(v.Pos, `for example "5s", at most 10m`, "%s.timeout: %q is not a time to wait", what, v.Text)
			}
			i.Timeout = d
		},
	})
	return i
}

var rootNames = []string{"${project}", "${data}", "${extension}", "${tmp}"}

// roots reads folders: a root or an absolute path, clean, with forward slashes.
func (r *reader) roots(n *document.Node, what string) []string {
	var out []string
	for _, text := range r.strings(n, what, false) {
		clean, ok := cleanRoot(text)
		if !ok {
			r.fault(n.Pos, "begin with ${project}, ${data}, ${extension}, ${tmp} or an absolute path, without ..", "%s: %q is not such a folder", what, text)
			continue
		}
		out = append(out, clean)
	}
	return out
}

func cleanRoot(text string) (string, bool) {
	text = strings.ReplaceAll(text, `\`, "/")
	for _, part := range strings.Split(text, "/") {
		if part == ".." {
			return "", false
		}
	}
	for _, name := range rootNames {
		if rest, ok := strings.CutPrefix(text, name); ok {
			return strings.TrimSuffix(name+path.Clean("/"+rest), "/"), rest == "" || rest[0] == '/'
		}
	}
	isDrive := len(text) > 2 && text[1] == ':' && text[2] == '/'
	if !strings.HasPrefix(text, "/") && !isDrive {
		return "", false
	}
	return path.Clean(text), true
}

func (r *reader) addresses(n *document.Node, what string) []string {
	var out []string
	for _, text := range r.strings(n, what, false) {
		host, port := cutPort(strings.ToLower(text))
		if !strings.Contains(text, ":") || host == "" || strings.ContainsAny(host, "/@ ") ||
			strings.Contains(strings.TrimPrefix(host, "*"), "*") || strings.HasPrefix(host, "*") && host != "*" && !strings.HasPrefix(host, "*.") || !isPort(port) {
			r.fault(n.Pos, "write host:port, such as api.example.org:443 or *.example.org:*", "%s: %q is not an address", what, text)
			continue
		}
		out = append(out, host+":"+port)
	}
	return out
}

func isPort(s string) bool {
	if s == "*" {
		return true
	}
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' || n > 65_535 {
			return false
		}
		n = n*10 + int(c-'0')
	}
	return s != "" && n > 0 && n <= 65_535
}

func (r *reader) limits(n *document.Node, what string) Limits {
	var out Limits
	known := map[string]fieldReader{}
	for _, k := range limitKeys {
		known[k.name] = func(v *document.Node, _ document.Pos) {
			if v.Kind != document.Number && v.Kind != document.String {
				r.fault(v.Pos, "write a number, or a string with a unit", "%s.%s is %s", what, k.name, v.Kind)
				return
			}
			value, remedy := k.parse(v.Text, v.Kind == document.Number)
			if remedy != "" {
				r.fault(v.Pos, remedy, "%s.%s: %q is out of bounds or not of this kind", what, k.name, v.Text)
				return
			}
			k.set(&out, value)
		}
	}
	r.fields(n, what, known)
	return out
}

// MarshalJSON writes the grant in the vocabulary of manifests, always in the
// same way; every right is the string "all".
func (g *Grant) MarshalJSON() ([]byte, error) {
	if g.All {
		return []byte(`"all"`), nil
	}
	out := map[string]any{}
	put := func(group, name string, value any, ok bool) {
		if !ok {
			return
		}
		if group == "" {
			out[name] = value
			return
		}
		inner, _ := out[group].(map[string]any)
		if inner == nil {
			inner = map[string]any{}
			out[group] = inner
		}
		inner[name] = value
	}
	list := func(group, name string, l []string) { put(group, name, union(l, nil), len(l) > 0) }
	list("", "commands", g.Commands)
	list("", "tools", g.Tools)
	list("", "callTool", g.CallTool)
	events := map[string]string{}
	for e, level := range g.Events {
		events[e] = level.String()
	}
	put("", "events", events, len(events) > 0)
	intercepts := map[string]any{}
	for e, i := range g.Intercept {
		intercepts[e] = i.plain()
	}
	put("", "intercept", intercepts, len(intercepts) > 0)
	put("", "panels", true, g.Panels)
	put("", "notify", true, g.Notify)
	put("", "submit", submitWords[g.Submit], g.Submit > 0)
	put("", "systemPrompt", systemPromptWords[g.SystemPrompt], g.SystemPrompt > 0)
	list("fs", "read", g.FSRead)
	list("fs", "write", g.FSWrite)
	list("fs", "deny", g.FSDeny)
	list("net", "connect", g.NetConnect)
	list("env", "pass", g.EnvPass)
	list("env", "secrets", g.EnvSecrets)
	list("exec", "run", g.ExecRun)
	put("exec", "shell", true, g.ExecShell)
	for _, k := range limitKeys {
		n := k.get(&g.Limits)
		var value any = k.format(n)
		if k.kind == countLimit {
			value = n
		}
		put("limits", k.name, value, n > 0)
	}
	return json.Marshal(out)
}

func (i Intercept) plain() map[string]any {
	out := map[string]any{}
	var may []string
	if i.Block {
		may = append(may, "block")
	}
	if i.Rewrite {
		may = append(may, "rewrite")
	}
	if may != nil {
		out["may"] = may
	}
	if i.Tools != nil {
		out["tools"] = union(i.Tools, nil)
	}
	if i.DenyOnFailure {
		out["onFailure"] = "deny"
	}
	if i.Timeout > 0 {
		out["timeout"] = i.Timeout.String()
	}
	return out
}

// UnmarshalJSON reads what MarshalJSON writes.
func (g *Grant) UnmarshalJSON(raw []byte) error {
	parsed, err := ParsePermissions(raw)
	if err != nil {
		return err
	}
	if parsed != nil {
		*g = *parsed
	}
	return nil
}

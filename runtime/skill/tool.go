package skill

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

// ToolName is the name of the tool that hands out skills.
const ToolName = "skill"

//go:embed tool.md
var toolDescription string

const toolSchema = `{"type":"object","properties":{"name":{"type":"string","description":"The name of the skill, as listed."}},"required":["name"],"additionalProperties":false}`

// NewTool returns the tool that hands a skill's text to the model. It asks
// current for the set at each call, so that a reload takes effect.
//
// A result's Structured is {"name", "path", "allowed_tools", "permissions"}:
// what a guard needs to hold the model to the tools that the skill allows.
func NewTool(current func() *Set) tool.Tool { return &skillTool{current: current} }

type skillTool struct{ current func() *Set }

func (t *skillTool) Spec() tool.Spec {
	return tool.Spec{Name: ToolName, Description: strings.TrimSpace(toolDescription), Schema: json.RawMessage(toolSchema)}
}

// Preview names the skill.
func (t *skillTool) Preview(args json.RawMessage) string {
	name, err := nameArg(args)
	if err != nil {
		return string(args)
	}
	return name
}

func (t *skillTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	name, err := nameArg(call.Args)
	if err != nil {
		return tool.ErrorResult(err.Error()), nil
	}
	set := t.current()
	s, ok := set.Find(name)
	if !ok {
		return tool.ErrorResult(fmt.Sprintf("there is no skill %q; %s", name, available(set))), nil
	}
	if s.DisableModelInvocation {
		return tool.ErrorResult(fmt.Sprintf("the skill %q can only be called by the user, with /skill:%s", s.Name, s.Name)), nil
	}
	return handOut(s), nil
}

func nameArg(args json.RawMessage) (string, error) {
	var a struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return "", fmt.Errorf("the arguments must be {\"name\": string}: %w", err)
	}
	if a.Name = strings.TrimSpace(a.Name); a.Name == "" {
		return "", fmt.Errorf("the argument \"name\" is missing")
	}
	return a.Name, nil
}

func available(set *Set) string {
	var names []string
	for _, s := range set.ForModel() {
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return "there are none"
	}
	return "there are: " + strings.Join(names, ", ")
}

func handOut(s Skill) tool.Result {
	body, err := s.Body()
	if err != nil {
		return tool.ErrorResult(err.Error())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Skill: %s\n%s\n", s.Name, s.Description)
	if dir := s.Dir(); dir != "" {
		fmt.Fprintf(&b, "Folder, which relative paths below start from: %s\n", dir)
	}
	if len(s.AllowedTools) > 0 {
		fmt.Fprintf(&b, "Tools meant to be used: %s\n", strings.Join(s.AllowedTools, ", "))
	}
	fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(body))
	facts, err := json.Marshal(map[string]any{
		"name": s.Name, "path": s.Path, "allowed_tools": s.AllowedTools, "permissions": s.Permissions,
	})
	if err != nil {
		return tool.ErrorResult(err.Error())
	}
	return tool.Result{
		Content: []message.Block{message.Text{Text: b.String()}},
		Status:  tool.Completed, Structured: facts,
	}
}

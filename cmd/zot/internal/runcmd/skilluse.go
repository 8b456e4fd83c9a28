package runcmd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/commands"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/skill"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/runtime/tool/builtin"
)

// A skillUse knows which skills are in use, so that a policy can hold the model
// to the tools that they list. A skill is in use from its handing out, by the
// skill tool or by its user, until the user's next prompt. It is safe for
// concurrent use; events reach it in order.
type skillUse struct {
	mu     sync.Mutex
	bounds []skillBound
	coming map[string]skillBound // of prompts that its user made of a skill, by their text
}

// A skillBound is what a skill lists, as far as it lists anything.
type skillBound struct {
	Name        string              `json:"name"`
	Allowed     []string            `json:"allowed_tools"`
	Permissions map[string][]string `json:"permissions"`
}

func (b skillBound) none() bool { return len(b.Allowed) == 0 && len(b.Permissions) == 0 }

// expect notes that a prompt with this text is the use of a skill.
func (u *skillUse) expect(text string, s skill.Skill) {
	b := skillBound{Name: s.Name, Allowed: s.AllowedTools, Permissions: s.Permissions}
	if b.none() {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.coming == nil {
		u.coming = map[string]skillBound{}
	}
	u.coming[text] = b
}

// useSkill is the prompt that a user makes of a skill.
func (a *run) useSkill(name, request string) (text string, err error) {
	s, ok := a.texts.skills().Find(name)
	if !ok {
		var names []string
		for _, s := range a.texts.skills().ForUser() {
			names = append(names, s.Name)
		}
		if len(names) == 0 {
			return "", fmt.Errorf("there is no skill %q, and no other", name)
		}
		return "", fmt.Errorf("there is no skill %q; there are: %s", name, strings.Join(names, ", "))
	}
	if text, err = s.Invocation(request); err == nil {
		a.skillUse.expect(text, s)
	}
	return text, err
}

// watch takes the events of the session.
func (u *skillUse) watch(e event.Event) {
	switch e := e.(type) {
	case event.UserMessage:
		u.begin(e.Message.Text())
	case event.ToolResult:
		var b skillBound
		if e.Name == skill.ToolName && e.Extension == "" && !e.IsError && json.Unmarshal(e.Structured, &b) == nil && !b.none() {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.bounds = append(u.bounds, b)
		}
	}
}

func (u *skillUse) begin(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bounds = nil
	if b, ok := u.coming[text]; ok {
		delete(u.coming, text)
		u.bounds = []skillBound{b}
	}
}

// outside names the first skill in use that does not list the call.
func (u *skillUse) outside(call tool.Call) (by string, listed []string, is bool) {
	if call.Name == skill.ToolName {
		return "", nil, false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, b := range u.bounds {
		if !b.lists(call) {
			return b.Name, b.entries(), true
		}
	}
	return "", nil, false
}

// entries are what the skill lists, in one form: "read", "bash(git log *)".
func (b skillBound) entries() []string {
	all := slices.Clone(b.Allowed)
	for name, patterns := range b.Permissions {
		for _, p := range patterns {
			all = append(all, name+"("+p+")")
		}
	}
	slices.Sort(all)
	return all
}

func (b skillBound) lists(call tool.Call) bool {
	var patterns []string
	for _, entry := range b.entries() {
		name, pattern, bounded := strings.Cut(strings.TrimSuffix(strings.TrimSpace(entry), ")"), "(")
		if !strings.EqualFold(strings.TrimSpace(name), call.Name) {
			continue
		}
		if !bounded {
			return true
		}
		patterns = append(patterns, pattern)
	}
	return len(patterns) > 0 && matchesCommand(call, patterns)
}

// matchesCommand judges a call of bash by patterns of commands. A pattern for
// any other tool bounds what nothing here knows, so it lists nothing.
func matchesCommand(call tool.Call, patterns []string) bool {
	if call.Name != "bash" {
		return false
	}
	line, err := builtin.CommandLine(call.Args)
	if err != nil {
		return false
	}
	var rules []commands.Rule
	for i, p := range patterns {
		if head, ok := strings.CutSuffix(p, ":*"); ok { // "git log:*" is how others write "git log *"
			p = head + " *"
		}
		rules = append(rules, commands.Rule{ID: fmt.Sprint(i), Verdict: policies.Allow, Pattern: p})
	}
	compiled, err := commands.Compile(rules, policies.Deny)
	return err == nil && compiled.Judge(line).Verdict == policies.Allow
}

// judge says what a policy has against a call that a skill in use does not
// list.
func (u *skillUse) judge(set *policies.Set, call tool.Call) policies.Decision {
	how, by := set.SkillTools()
	name, listed, outside := u.outside(call)
	if how == policies.SkillToolsAny || !outside {
		return policies.Decision{Verdict: policies.Allow}
	}
	d := policies.Decision{
		Verdict: policies.Deny, Code: policies.CodeOutsideGrant, By: by, Remedy: policies.Remedy(by.Layer),
		Reason: fmt.Sprintf("the skill %q lists the tools %s, and this call is of none of them", name, strings.Join(listed, ", ")),
	}
	if how == policies.SkillToolsAsk {
		d.Verdict = policies.Ask
	}
	return d
}

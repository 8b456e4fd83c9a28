package skill

import (
	"fmt"
	"slices"
	"strings"
)

// A Set is the outcome of a search. Skills have unique names and are in their
// order of rank.
type Set struct {
	Skills   []Skill
	Shadowed []Shadow
	Problems []Problem
}

// Find returns the skill of that name; case does not matter.
func (s *Set) Find(name string) (Skill, bool) {
	i := slices.IndexFunc(s.Skills, func(k Skill) bool { return strings.EqualFold(k.Name, name) })
	if i < 0 {
		return Skill{}, false
	}
	return s.Skills[i], true
}

// ForUser lists the skills that a user's listing shows: those of the program
// are left out.
func (s *Set) ForUser() []Skill {
	return s.filter(func(k Skill) bool { return k.Source != Builtin })
}

// ForModel lists the skills that a model may call by itself.
func (s *Set) ForModel() []Skill {
	return s.filter(func(k Skill) bool { return !k.DisableModelInvocation })
}

func (s *Set) filter(keep func(Skill) bool) []Skill {
	var out []Skill
	for _, k := range s.Skills {
		if keep(k) {
			out = append(out, k)
		}
	}
	return out
}

// maxDescription bounds, in runes, what one skill takes of the system prompt.
const maxDescription = 1024

// Prompt is the part of the system prompt that tells a model which skills
// there are; empty where there are none.
func (s *Set) Prompt() string {
	skills := s.ForModel()
	if len(skills) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("# Skills\n\nInstructions for particular tasks. Before a task that one of them describes, call the `" + ToolName + "` tool with its name and follow the text it returns.\n\n")
	for _, k := range skills {
		where := k.Path
		if k.Source == Builtin {
			where = "builtin"
		}
		fmt.Fprintf(&b, "- %s [%s]: %s\n", k.Name, where, clip(k.Description, maxDescription))
	}
	return b.String()
}

func clip(s string, runes int) string {
	if r := []rune(s); len(r) > runes {
		return string(r[:runes]) + "…"
	}
	return s
}

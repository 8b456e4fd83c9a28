package extension

import (
	"slices"
	"time"
)

// A Status is what is known of one extension, for list and doctor.
type Status struct {
	Name, Version, Scope, Dir, Exec string
	State                           State
	Error                           string
	Waits                           string // what it is waited for; empty once it is ready, or failed
	HelloName                       string // where it differs from Name
	LogPath                         string
	Commands, Tools                 []Registration
	Observes, Intercepts            []string
	Capabilities                    []string
	Messages                        []string      // diagnostics, oldest first
	Warnings                        []string      // those of them that the user was told
	Withheld                        []string      // environment variables it does not see
	Refusals                        []Refusal     // what the policy kept from it, oldest first
	LaunchTime                      time.Duration // until it ran: compiling and loading a module are in it
	StartTime                       time.Duration // from then until it was ready
}

// A Registration is a command or tool that an extension announced. Active
// says whether the name is its own; else By is the extension that has it, or
// empty where a built-in does.
type Registration struct {
	Name, Description string
	Active            bool
	By                string
	Deferred          bool
}

// Status lists every extension of the plan, in rank order.
func (m *Manager) Status() []Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Status
	for _, p := range m.peers {
		all = append(all, m.statusOf(p))
	}
	return all
}

// Failures lists what could not be loaded at all.
func (m *Manager) Failures() []Failure {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.failures)
}

func (m *Manager) statusOf(p *peer) Status {
	s := Status{
		Name: p.entry.Name, Version: p.entry.Version, Scope: p.entry.Scope, Dir: p.entry.Dir,
		Exec: p.entry.Exec, State: p.state, LogPath: p.log.path,
		Observes: keys(p.observes), Intercepts: keys(p.intercepts), Capabilities: keys(p.caps),
		Messages: slices.Clone(p.messages), Warnings: slices.Clone(p.warnings), Withheld: p.entry.Withheld,
		Refusals: slices.Clone(p.refusals),
	}
	if p.err != nil {
		s.Error = p.err.Error()
	}
	s.Waits = p.waits()
	if p.hello.Name != p.entry.Name {
		s.HelloName = p.hello.Name
	}
	s.LaunchTime = p.launchTime
	if !p.readyAt.IsZero() {
		s.StartTime = p.readyAt.Sub(p.started)
	}
	for _, r := range p.commands {
		owner := m.dir.commandOwner(r.Name)
		s.Commands = append(s.Commands, Registration{
			Name: r.Name, Description: r.Description, Active: owner == r, By: owner.name(),
		})
	}
	for _, r := range p.tools {
		owner := m.dir.toolOwner(r.Name)
		s.Tools = append(s.Tools, Registration{
			Name: r.Name, Description: r.Description, Active: owner == r, By: owner.name(), Deferred: r.deferred,
		})
	}
	return s
}

// waits says what of an extension has not come yet. The manager's mutex is held.
func (p *peer) waits() string {
	switch {
	case p.state == StateGreeted:
		return "ready did not come after its hello"
	case p.state != StateStarting:
		return ""
	case p.conn == nil:
		return "it is still being started"
	}
	return "no hello came from it" + p.strayText()
}

func keys(set map[string]bool) []string {
	var all []string
	for k := range set {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

package policies

// Event is how much of a lifecycle event the extension is told.
func (b *Bound) Event(event string) Level {
	for _, e := range eventForms {
		if b.Use(Events, e.value(event)).Verdict == Allow {
			return e.level
		}
	}
	return LevelNone
}

// eventForms lists the levels, highest first. Names of events that are common
// have their values at hand, so that asking allocates nothing.
var eventForms = []eventForm{newEventForm(LevelFull), newEventForm(LevelRedacted)}

type eventForm struct {
	level  Level
	values map[string]string
}

func newEventForm(level Level) eventForm {
	f := eventForm{level, map[string]string{}}
	for _, e := range []string{
		"session_start", "session_end", "user_prompt_submit", "before_agent_start", "turn_start", "turn_end",
		"tool_call", "tool_confirmation_requested", "tool_result", "permission_decision", "assistant_message",
		"pre_compact", "post_compact", "model_changed",
	} {
		f.values[e] = e + "=" + level.String()
	}
	return f
}

func (f eventForm) value(event string) string {
	if v, ok := f.values[event]; ok {
		return v
	}
	return event + "=" + f.level.String()
}

// Intercept is what the extension may do as an interceptor of an event, and
// whether it may be asked at all.
func (b *Bound) Intercept(event string) (Intercept, bool) {
	if b.Use(Intercepts, event).Verdict != Allow {
		return Intercept{}, false
	}
	i, _ := b.bounds.InterceptOf(event)
	i.Block = b.Use(Intercepts, event+"=block").Verdict == Allow
	i.Rewrite = b.Use(Intercepts, event+"=rewrite").Verdict == Allow
	i.DenyOnFailure = b.FailsClosed(event)
	return i, true
}

// FailsClosed tells whether a missing or broken answer of the interceptor
// refuses: in the strict modes, for a required extension unless the requirement
// says otherwise, and wherever a grant or its own manifest says so.
func (b *Bound) FailsClosed(event string) bool {
	if b.required != nil && !b.required.AllowOnFailure || b.set.mode > Open {
		return true
	}
	if own, ok := b.sub.asked.InterceptOf(event); ok && own.DenyOnFailure {
		return true
	}
	for i := range b.layers {
		for _, r := range b.layers[i].rules {
			if g, ok := r.grant.InterceptOf(event); ok && g.DenyOnFailure {
				return true
			}
		}
	}
	return false
}

// Limits is what the extension is held to: the smallest bound that anyone
// names, and the default where nobody does.
func (b *Bound) Limits() Limits { return b.bounds.Limits.WithDefaults() }

// Granted lists what the extension has, for whoever builds its confinement.
// Where a right was asked for and only a part of it granted, it holds that part.
func (b *Bound) Granted() *Grant {
	if b.load.Verdict == Deny {
		return &Grant{}
	}
	if b.bounds.All && !b.narrowed() {
		return &Grant{All: true, Limits: b.Limits()}
	}
	return b.keepAllowed()
}

package theme

import "slices"

// Tokens lists the tokens that a resolved theme has. Themes may style further
// ones below them, by dots.
var Tokens = []Token{
	"fg", "background", "muted", "accent", "success", "warn", "error", "border", "selection", "caret",
	"user", "user.bg", "assistant", "thinking", "thinking.max", "note", "display",
	"tool", "tool.ok", "tool.error", "tool.out", "panel.title", "dialog.title", "status", "queue", "spinner",
	"md.heading", "md.strong", "md.em", "md.code", "md.codeblock", "md.link", "md.url", "md.quote", "md.list", "md.rule", "md.table",
	"diff.add", "diff.del", "diff.context", "diff.hunk", "diff.lineno",
	"syn.comment", "syn.keyword", "syn.func", "syn.type", "syn.string", "syn.number", "syn.operator",
	"ansi.0", "ansi.1", "ansi.2", "ansi.3", "ansi.4", "ansi.5", "ansi.6", "ansi.7",
	"ansi.8", "ansi.9", "ansi.10", "ansi.11", "ansi.12", "ansi.13", "ansi.14", "ansi.15",
	"ctx.ok", "ctx.warn", "ctx.full",
}

// known reports whether t is one of Tokens, or below or above one by dots.
func known(t Token) bool {
	for name := t; name != ""; name = parent(name) {
		if slices.Contains(Tokens, name) {
			return true
		}
	}
	return slices.ContainsFunc(Tokens, func(k Token) bool {
		for up := parent(k); up != ""; up = parent(up) {
			if up == t {
				return true
			}
		}
		return false
	})
}

// standsAlone are the tokens that take nothing from their parent: the ground
// below the user's text has nothing to do with the colour of their name.
var standsAlone = []Token{"user.bg"}

// ansi16 is how tokens look on sixteen colours. What these sixteen are is the
// user's choice and not known, so a theme's colours are not rounded to them.
var ansi16 = Palette{
	"accent": {FG: named("cyan")}, "success": {FG: named("green")}, "warn": {FG: named("yellow")}, "error": {FG: named("red")},
	"muted": {FG: named("bright-black")}, "border": {FG: named("bright-black")}, "selection": {Reverse: true}, "caret": {FG: named("cyan")},
	"user": {Bold: true}, "thinking": {FG: named("bright-black")}, "thinking.max": {FG: named("magenta")}, "note": {FG: named("bright-black")},
	"tool": {FG: named("cyan")}, "tool.ok": {FG: named("green")}, "tool.error": {FG: named("red")}, "tool.out": {},
	"panel.title": {FG: named("cyan"), Bold: true}, "dialog.title": {FG: named("yellow"), Bold: true},
	"status": {FG: named("bright-black")}, "queue": {FG: named("yellow")}, "spinner": {FG: named("magenta")},
	"md.heading": {FG: named("cyan"), Bold: true}, "md.strong": {Bold: true}, "md.em": {Underline: true}, "md.code": {FG: named("yellow")},
	"md.link": {FG: named("blue"), Underline: true}, "md.url": {FG: named("bright-black")}, "md.quote": {FG: named("bright-black")},
	"md.list": {FG: named("cyan")}, "md.rule": {FG: named("bright-black")},
	"diff.add": {FG: named("green")}, "diff.del": {FG: named("red")}, "diff.hunk": {FG: named("cyan")}, "diff.lineno": {FG: named("bright-black")},
	"syn.comment": {FG: named("bright-black")}, "syn.keyword": {FG: named("magenta")}, "syn.func": {FG: named("blue")},
	"syn.type": {FG: named("cyan")}, "syn.string": {FG: named("green")}, "syn.number": {FG: named("yellow")},
	"ctx.warn": {FG: named("yellow")}, "ctx.full": {FG: named("red"), Bold: true},
}

// mono is how tokens look without colours; those that are not in it look plain.
var mono = Palette{
	"selection": {Reverse: true}, "accent": {Bold: true}, "warn": {Bold: true}, "error": {Bold: true}, "user": {Bold: true},
	"tool.error": {Bold: true}, "panel.title": {Bold: true}, "dialog.title": {Bold: true}, "ctx.full": {Bold: true},
	"md.heading": {Bold: true}, "md.strong": {Bold: true}, "md.em": {Underline: true}, "md.link": {Underline: true},
}

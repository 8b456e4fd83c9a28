package style

// Dark is the palette for dark backgrounds that is used until a theme says
// otherwise.
var Dark = Palette{
	FG: {FG: "#d8dee4"}, Muted: {FG: "#9aa4ae"}, Accent: {FG: "#6cb6ff"}, Success: {FG: "#7fd17f"},
	Warn: {FG: "#e5b567"}, Error: {FG: "#ff8080"}, Border: {FG: "#5c6773"},
	Selection: {FG: "#ffffff", BG: "#2f4f77"}, Caret: {FG: "#6cb6ff"},
	User: {FG: "#f0d8a8"}, UserBG: {BG: "#2a2f36"}, Thinking: {FG: "#9aa4ae", Italic: true}, Note: {FG: "#9aa4ae"},
	Display: {FG: "#d8dee4"}, Tool: {FG: "#8fd3e8"}, ToolOK: {FG: "#7fd17f"}, ToolError: {FG: "#ff8080"},
	PanelTitle: {FG: "#6cb6ff", Bold: true}, DialogTitle: {FG: "#e5b567", Bold: true},
	Status: {FG: "#9aa4ae"}, Queue: {FG: "#e5b567"},
	Heading: {FG: "#8fc8ff", Bold: true}, Strong: {Bold: true}, Em: {Italic: true}, Code: {FG: "#e5c890"},
	CodeBlock: {FG: "#c8d0d8"}, Link: {FG: "#6cb6ff", Underline: true}, URL: {FG: "#9aa4ae"}, Quote: {FG: "#a8b2bc", Italic: true},
	List: {FG: "#6cb6ff"}, Rule: {FG: "#5c6773"}, Table: {FG: "#d8dee4"},
	DiffAdd: {FG: "#a6e3a1", BG: "#1b2e20"}, DiffDel: {FG: "#ffaba8", BG: "#36201f"}, DiffContext: {FG: "#b4bcc4"},
	DiffHunk: {FG: "#8fd3e8"}, DiffLineNo: {FG: "#9aa4ae"},
	SynComment: {FG: "#9aa4ae", Italic: true}, SynKeyword: {FG: "#d6a6f5"}, SynFunc: {FG: "#8fc8ff"}, SynType: {FG: "#7fd6c2"},
	SynString: {FG: "#a6d98c"}, SynNumber: {FG: "#f0b580"}, SynOperator: {FG: "#c8d0d8"},
	ContextOK: {FG: "#9aa4ae"}, ContextWarn: {FG: "#e5b567"}, ContextFull: {FG: "#ff8080", Bold: true},
}

// Light is Dark's twin for light backgrounds.
var Light = Palette{
	FG: {FG: "#1f2328"}, Muted: {FG: "#57606a"}, Accent: {FG: "#0a55b0"}, Success: {FG: "#1a6b2f"},
	Warn: {FG: "#7a4d00"}, Error: {FG: "#b3261e"}, Border: {FG: "#8c959f"},
	Selection: {FG: "#102a4c", BG: "#cfe3fb"}, Caret: {FG: "#0a55b0"},
	User: {FG: "#5a3e00"}, UserBG: {BG: "#f0f2f4"}, Thinking: {FG: "#57606a", Italic: true}, Note: {FG: "#57606a"},
	Display: {FG: "#1f2328"}, Tool: {FG: "#0b5c73"}, ToolOK: {FG: "#1a6b2f"}, ToolError: {FG: "#b3261e"},
	PanelTitle: {FG: "#0a55b0", Bold: true}, DialogTitle: {FG: "#7a4d00", Bold: true},
	Status: {FG: "#57606a"}, Queue: {FG: "#7a4d00"},
	Heading: {FG: "#0a4a99", Bold: true}, Strong: {Bold: true}, Em: {Italic: true}, Code: {FG: "#7a3e00"},
	CodeBlock: {FG: "#30363c"}, Link: {FG: "#0a55b0", Underline: true}, URL: {FG: "#57606a"}, Quote: {FG: "#4d565f", Italic: true},
	List: {FG: "#0a55b0"}, Rule: {FG: "#8c959f"}, Table: {FG: "#1f2328"},
	DiffAdd: {FG: "#0f5323", BG: "#dff5e3"}, DiffDel: {FG: "#86181d", BG: "#ffe9e8"}, DiffContext: {FG: "#424a53"},
	DiffHunk: {FG: "#0b5c73"}, DiffLineNo: {FG: "#57606a"},
	SynComment: {FG: "#57606a", Italic: true}, SynKeyword: {FG: "#7627bb"}, SynFunc: {FG: "#0a4a99"}, SynType: {FG: "#0b5f54"},
	SynString: {FG: "#1a6b2f"}, SynNumber: {FG: "#8a4600"}, SynOperator: {FG: "#30363c"},
	ContextOK: {FG: "#57606a"}, ContextWarn: {FG: "#7a4d00"}, ContextFull: {FG: "#b3261e", Bold: true},
}

package policies

import (
	"path"
	"strings"
)

// FetchingLauncher names the part of a command that would fetch what it runs,
// or "" where nothing shows that it does: "npx -y", "uvx", "go run
// example.org/x@latest". What a script does inside cannot be told from outside.
func FetchingLauncher(exec string, args []string) string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(exec, `\`, "/")))
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		base = strings.TrimSuffix(base, suffix)
	}
	first, second := word(args, 0), word(args, 1)
	switch base {
	case "npx", "bunx", "uvx", "pnpx":
		return base
	case "env": // env npx …
		if len(args) > 0 {
			return FetchingLauncher(args[0], args[1:])
		}
	case "npm", "pnpm", "yarn", "bun":
		if first == "exec" || first == "dlx" || first == "x" {
			return base + " " + first
		}
	case "uv":
		if first == "run" || first == "tool" && second == "run" {
			return base + " " + strings.TrimSpace(first+" "+map[bool]string{true: "run"}[first == "tool"])
		}
	case "pipx":
		if first == "run" {
			return "pipx run"
		}
	case "go":
		if first == "run" && strings.Contains(strings.Join(args[1:], " "), "@") {
			return "go run " + second
		}
	case "deno":
		for _, a := range args {
			if strings.HasPrefix(a, "https://") || strings.HasPrefix(a, "npm:") || strings.HasPrefix(a, "jsr:") {
				return "deno " + a
			}
		}
	case "docker", "podman":
		if first == "run" {
			return base + " run"
		}
	}
	return ""
}

func word(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}

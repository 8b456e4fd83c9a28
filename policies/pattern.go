package policies

import (
	"net/netip"
	"strings"
)

// glob tells whether the whole of s matches a pattern in which * stands for any
// run of characters.
func glob(pattern, s string) bool { return wildcard(pattern, s, false) }

// foldGlob is glob without regard to the case of ASCII letters.
func foldGlob(pattern, s string) bool { return wildcard(pattern, s, true) }

// wildcard goes back to the last star where a character does not fit. It
// allocates nothing.
func wildcard(pattern, s string, fold bool) bool {
	star, mark := -1, 0
	p, i := 0, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && (pattern[p] == s[i] || fold && lower(pattern[p]) == lower(s[i])):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// anyOf tells whether the pattern or right is matched by one of the patterns.
func anyOf(patterns []string, value string, matches func(pattern, value string) bool) bool {
	for _, p := range patterns {
		if matches(p, value) {
			return true
		}
	}
	return false
}

func anyGlob(patterns []string, s string) bool     { return anyOf(patterns, s, glob) }
func anyGlobFold(patterns []string, s string) bool { return anyOf(patterns, s, foldGlob) }

// globInside tells whether everything that inner matches is matched by outer. A
// star in inner is matched by nothing but a star of outer, so reading inner as
// plain text answers it.
func globInside(inner, outer string) bool { return glob(outer, inner) }

func globInsideFold(inner, outer string) bool { return foldGlob(outer, inner) }

// globsMeet tells whether some string may match both patterns. Where it is not
// sure it says yes.
func globsMeet(a, b string) bool {
	if !strings.Contains(a, "*") {
		return glob(b, a)
	}
	if !strings.Contains(b, "*") {
		return glob(a, b)
	}
	headA, _, _ := strings.Cut(a, "*")
	headB, _, _ := strings.Cut(b, "*")
	tailA, tailB := a[strings.LastIndexByte(a, '*')+1:], b[strings.LastIndexByte(b, '*')+1:]
	heads := strings.HasPrefix(headA, headB) || strings.HasPrefix(headB, headA)
	tails := strings.HasSuffix(tailA, tailB) || strings.HasSuffix(tailB, tailA)
	return heads && tails
}

// rootInside tells whether the folder inner is outer or lies below it. Both are
// clean, with forward slashes.
func rootInside(inner, outer string) bool {
	if !strings.HasPrefix(inner, outer) {
		return false
	}
	return len(inner) == len(outer) || inner[len(outer)] == '/' || strings.HasSuffix(outer, "/")
}

func anyRoot(roots []string, path string) bool {
	return anyOf(roots, path, func(root, path string) bool { return rootInside(path, root) })
}

// cutPort splits "host:port". The host of an IPv6 address keeps its brackets.
func cutPort(address string) (host, port string) {
	i := strings.LastIndexByte(address, ':')
	if i < 0 {
		return address, "*"
	}
	return address[:i], address[i+1:]
}

// addressInside tells whether the address or pattern inner is matched by the
// pattern outer. Host names are compared in lower case, to which the reader
// brings patterns.
//
// Loopback, private and link-local addresses are reached only where a pattern
// names them: a host of * does not mean this machine and its network.
func addressInside(inner, outer string) bool {
	hostIn, portIn := cutPort(inner)
	hostOut, portOut := cutPort(outer)
	if portOut != "*" && portOut != portIn {
		return false
	}
	switch {
	case hostOut == hostIn:
		return true
	case hostOut == "*":
		return hostIn != "*" && !isNear(hostIn)
	case strings.HasPrefix(hostOut, "*."):
		tail := hostOut[1:]
		return len(hostIn) > len(tail) && strings.HasSuffix(hostIn, tail) && !isNear(hostIn)
	}
	return false
}

func anyAddress(patterns []string, address string) bool {
	return anyOf(patterns, address, func(pattern, address string) bool { return addressInside(address, pattern) })
}

// addressesMeet tells whether some address may match both patterns.
func addressesMeet(a, b string) bool {
	hostA, portA := cutPort(a)
	hostB, portB := cutPort(b)
	if portA != portB && portA != "*" && portB != "*" {
		return false
	}
	if hostA == "*" || hostB == "*" || hostA == hostB {
		return true
	}
	return strings.HasPrefix(hostA, "*.") && strings.HasSuffix(hostB, hostA[1:]) ||
		strings.HasPrefix(hostB, "*.") && strings.HasSuffix(hostA, hostB[1:])
}

// isNear tells whether a host is this machine or its own network.
func isNear(host string) bool {
	host = strings.TrimSuffix(host, ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") {
		return true
	}
	if len(host) == 0 || host[0] != '[' && (host[len(host)-1] < '0' || host[len(host)-1] > '9') {
		return false // no address ends in a letter
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		// Numbers that only look like an address are read as one by some
		// resolvers: 127.1 is this machine.
		return strings.IndexFunc(host, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) < 0
	}
	addr = addr.Unmap()
	return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified() ||
		addr.IsLinkLocalMulticast() || addr.IsMulticast()
}

// A selector names rights: "net.connect:*", "exec.shell", "fs.write:${project}".
type selector struct {
	cap   Capability
	value string // "*" for any
}

func parseSelector(text string) (selector, bool) {
	name, value, has := strings.Cut(text, ":")
	if !has {
		value = "*"
	}
	for _, c := range Capabilities {
		if string(c) == name {
			return selector{c, value}, value != ""
		}
	}
	return selector{}, false
}

// names tells whether the right lies wholly inside what the selector says.
func (s selector) names(c Capability, value string) bool {
	return s.cap == c && (s.value == "*" || s.inside(value, s.value))
}

// covers tells whether whoever has what the selector says has the right, too:
// by name, or because a larger right holds a smaller one.
func (s selector) covers(c Capability, value string) bool {
	if s.names(c, value) {
		return true
	}
	switch {
	case s.cap == ExecShell && c == ExecRun: // a shell starts any program
		return true
	case s.cap == FSWrite && c == FSRead: // what may be written may be read
		return selector{FSRead, s.value}.names(c, value)
	case s.cap != c:
		return false
	}
	switch c {
	case Submit:
		return wordLevel(submitWords, value) <= wordLevel(submitWords, s.value)
	case SystemPrompt:
		return wordLevel(systemPromptWords, value) <= wordLevel(systemPromptWords, s.value)
	case Events:
		event, isFull := strings.CutSuffix(s.value, "=full")
		told, isRedacted := strings.CutSuffix(value, "=redacted")
		return isFull && isRedacted && glob(event, told)
	}
	return false
}

// touches tells whether the right and what the selector names have anything in
// common.
func (s selector) touches(c Capability, value string) bool {
	switch {
	case s.cap == c:
	case s.cap == ExecRun && c == ExecShell: // a shell starts any program
		return true
	case s.cap == FSRead && c == FSWrite: // what may be written may be read
		return selector{FSWrite, s.value}.touches(c, value)
	default:
		return false
	}
	if s.value == "*" {
		return true
	}
	switch c {
	case Tools, CallTool, ExecRun: // most questions are about one name
		if strings.IndexByte(value, '*') < 0 {
			return glob(s.value, value)
		}
	}
	if value == "*" || value == "" || s.inside(value, s.value) || s.inside(s.value, value) {
		return true
	}
	switch c {
	case Submit: // the larger right holds the smaller one
		return wordLevel(submitWords, value) >= wordLevel(submitWords, s.value)
	case SystemPrompt:
		return wordLevel(systemPromptWords, value) >= wordLevel(systemPromptWords, s.value)
	case Events:
		event, word, _ := strings.Cut(value, "=")
		mine, level, _ := strings.Cut(s.value, "=")
		return globsMeet(mine, event) && (level != "full" || word == "full" || word == "*")
	case Intercepts:
		event, word, _ := strings.Cut(value, "=")
		mine, right, _ := strings.Cut(s.value, "=")
		return globsMeet(mine, event) && (right == "" || word == "" || right == word)
	case NetConnect:
		return addressesMeet(s.value, value)
	case Commands, Tools, CallTool, ExecRun:
		return globsMeet(s.value, value)
	}
	return false
}

func (s selector) inside(inner, outer string) bool {
	switch s.cap {
	case FSRead, FSWrite:
		return rootInside(inner, outer)
	case NetConnect:
		return addressInside(inner, outer) || inner == outer
	case Commands:
		return foldGlob(outer, inner)
	case Events, Intercepts:
		return glob(outer, inner) || glob(outer+"=*", inner)
	}
	return glob(outer, inner)
}

package policies

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// vendored begins the source of what lies in the project itself.
const vendored = "vendored:"

// NormalizeSource brings the many spellings of one source to one: the scheme
// and host in lower case, no user name that says nothing ("git@"), no default
// port, no ".git", no doubled or trailing slashes, no escapes that need not be.
//
//	https://GitHub.com:443/o/r.git   git+https://github.com/o/r
//	git@github.com:o/r.git           git+ssh://github.com/o/r
//	/home/u/ext                      path:/home/u/ext
//	vendored:.zot/extensions/x       vendored:.zot/extensions/x
//
// What cannot be read as a source is an error: a rule about sources must not
// be passed by a spelling that two programs read in two ways.
func NormalizeSource(text string) (string, error) { return readSource(text, false) }

// SourceAddress is the source as it is fetched by: normalized, with the user name
// and the ".git" that it has. Rules and drift look at neither, and some servers
// know a repository by one of the spellings alone.
func SourceAddress(text string) (string, error) { return readSource(text, true) }

// SameSource tells whether two spellings are of one source.
func SameSource(a, b string) bool {
	x, errX := NormalizeSource(a)
	y, errY := NormalizeSource(b)
	return errX == nil && errY == nil && x == y
}

// readSource reads a source; whole keeps what an address has besides.
func readSource(text string, whole bool) (string, error) {
	fail := func(why string) (string, error) { return "", fmt.Errorf("source %q %s", text, why) }
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return fail("is empty or holds white space, a control character or a backslash")
	}
	if strings.HasPrefix(text, "-") || strings.Contains(text, "::") {
		return fail("could be read as an option or as a program to run")
	}
	text, _, _ = strings.Cut(text, "#") // a ref says which version, not where from
	switch {
	case strings.HasPrefix(text, "path:"), strings.HasPrefix(text, vendored):
		scheme, rest, _ := strings.Cut(text, ":")
		return cleanLocal(scheme, rest)
	case strings.HasPrefix(text, "/"):
		return cleanLocal("path", text)
	}
	text = strings.TrimPrefix(text, "git+")
	if !strings.Contains(text, "://") {
		if at := strings.IndexByte(text, ':'); at > 0 && !strings.Contains(text[:at], "/") {
			text = "ssh://" + text[:at] + "/" + strings.TrimPrefix(text[at+1:], "/")
		} else {
			return fail("has no scheme; write https://, ssh://, path: or vendored:")
		}
	}
	return cleanURL(text, whole, fail)
}

func cleanLocal(scheme, p string) (string, error) {
	if p == "" || scheme == "path" && !path.IsAbs(p) || scheme == "vendored" && (path.IsAbs(p) || p != path.Clean(p) || strings.HasPrefix(p, "..")) {
		return "", fmt.Errorf("source %q is not a folder: write path: with an absolute path, or vendored: with one inside the project", scheme+":"+p)
	}
	return scheme + ":" + path.Clean(p), nil
}

func cleanURL(text string, whole bool, fail func(string) (string, error)) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Opaque != "" {
		return fail("is not an address")
	}
	scheme := strings.ToLower(u.Scheme)
	if scheme != "https" && scheme != "ssh" {
		return fail("uses " + scheme + "://; write https:// or ssh://")
	}
	if u.RawQuery != "" || u.ForceQuery {
		return fail("has a query")
	}
	if _, secret := u.User.Password(); secret {
		return fail("holds a password")
	}
	host := strings.TrimRight(strings.ToLower(u.Hostname()), ".")
	if strings.Trim(host, ".") == "" || strings.HasPrefix(host, "-") || strings.ContainsFunc(host, notHost) {
		return fail("has a host that is no plain name or address")
	}
	if strings.ContainsFunc(u.Path+u.User.Username(), notPath) {
		return fail("holds a character that could be read in two ways")
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && !(scheme == "https" && port == "443") && !(scheme == "ssh" && port == "22") {
		host += ":" + port
	}
	if name := u.User.Username(); name != "" && (whole || name != "git") {
		host = name + "@" + host
	}
	p, sub, hasSub := strings.Cut(strings.TrimLeft(u.Path, "/"), "//")
	p = path.Clean("/" + p)
	bare := strings.TrimRight(p, "/")
	for strings.HasSuffix(bare, "/") || strings.HasSuffix(bare, ".git") {
		bare = strings.TrimSuffix(strings.TrimRight(bare, "/"), ".git")
	}
	if bare == "" {
		return fail("names no repository")
	}
	if !whole {
		p = bare
	}
	out := "git+" + scheme + "://" + host + p
	if hasSub {
		if clean := strings.Trim(path.Clean("/"+sub), "/"); clean != "" {
			out += "//" + clean
		}
	}
	return out, nil
}

func notHost(r rune) bool {
	return !(r == '.' || r == '-' || r == '_' || r == ':' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z')
}

// notPath tells which characters, once escapes are undone, would mean something
// else when the result is read again.
func notPath(r rune) bool {
	return r <= ' ' || r == 0x7f || r == 0xfffd || strings.ContainsRune(`#?%*\:@[]`, r)
}

// normalizePattern brings a pattern for sources to the form that its matches
// have. Stars are kept: they may stand for a segment of a path, or with two of
// them for the tail, and nowhere else.
func normalizePattern(text string) (string, error) {
	const one, tail = "zot-any-segment", "zot-any-tail"
	if i := strings.Index(text, "://"); i >= 0 {
		authority, _, _ := strings.Cut(text[i+3:], "/")
		if strings.Contains(authority, "*") {
			return "", fmt.Errorf("source %q: a star stands for a part of the path, not of the host", text)
		}
	}
	scheme := ""
	if strings.HasPrefix(text, vendored) {
		scheme, text = vendored, strings.TrimPrefix(text, vendored)
	}
	segments := strings.Split(text, "/")
	for i, seg := range segments {
		switch {
		case seg == "**" && i == len(segments)-1:
			segments[i] = tail
		case seg == "*":
			segments[i] = one
		case strings.Contains(seg, "*"):
			return "", fmt.Errorf("source %q: * stands for one whole segment, ** for the tail", text)
		}
	}
	norm, err := NormalizeSource(scheme + strings.Join(segments, "/"))
	if err != nil {
		return "", err
	}
	return strings.NewReplacer(one, "*", tail, "**").Replace(norm), nil
}

// matchSource compares a normalized source to a normalized pattern.
func matchSource(pattern, source string) bool {
	if inside, ok := strings.CutPrefix(pattern, vendored); ok {
		folder, ok := strings.CutPrefix(source, vendored)
		if !ok {
			return false
		}
		pattern, source = "/"+inside, "/"+folder
	}
	if head, ok := strings.CutSuffix(pattern, "/**"); ok {
		n := strings.Count(head, "/")
		parts := strings.SplitN(source, "/", n+2)
		return len(parts) == n+2 && parts[n+1] != "" && matchSegments(head, strings.Join(parts[:n+1], "/"))
	}
	return matchSegments(pattern, source)
}

func matchSegments(pattern, source string) bool {
	p, s := strings.Split(pattern, "/"), strings.Split(source, "/")
	if len(p) != len(s) {
		return false
	}
	for i := range p {
		if p[i] != s[i] && (p[i] != "*" || s[i] == "") {
			return false
		}
	}
	return true
}

package install

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
)

// SourceKind says what a source is.
type SourceKind string

const (
	FromFolder SourceKind = "folder"
	FromGit    SourceKind = "git"
	FromModule SourceKind = "module" // a bare .wasm file
)

// A Source is where an extension comes from.
type Source struct {
	Kind   SourceKind
	Path   string // absolute; of a folder, a module or a local repository
	URL    string // of a repository, as given; empty for a local one
	Subdir string // below the source, with slashes; empty: the source itself
	Ref    string // branch, tag or commit; empty: the default branch
}

// Address is what git is given.
func (s Source) Address() string {
	if s.URL != "" {
		return s.URL
	}
	return s.Path
}

// String is the source as [ParseSource] reads it.
func (s Source) String() string {
	text := s.Address()
	if s.Subdir != "" {
		text += "//" + s.Subdir
	}
	if s.Ref != "" {
		text += "#" + s.Ref
	}
	return text
}

// A SourceError says why something cannot be installed from.
type SourceError struct {
	Source string // as it was given
	Reason string
	Remedy string
}

func (e *SourceError) Error() string {
	text := fmt.Sprintf("source %q %s (ZP085)", e.Source, e.Reason)
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

var (
	helperAddress = regexp.MustCompile(`^[A-Za-z0-9+.-]+::`)
	schemeAddress = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://`)
	scpAddress    = regexp.MustCompile(`^([^/\\:@\s]+)@([^/\\:@\s]+):(.+)$`)
	goodRef       = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/+@-]*$`)
)

// moduleSuffix is the end of the name of a bare module.
const moduleSuffix = ".wasm"

// ParseSource reads what a user gives to install: a folder, a bare module (a
// file whose name ends in .wasm), or the address of
// a git repository (https://, ssh://, user@host:path, or a local path that ends
// in .git) with //FOLDER and #REF after it, as wanted. Whatever exists as a
// folder is that folder. Errors are of type *SourceError.
func ParseSource(text, cwd string) (Source, error) {
	fail := func(reason, remedy string) (Source, error) {
		return Source{}, &SourceError{Source: text, Reason: reason, Remedy: remedy}
	}
	switch {
	case strings.TrimSpace(text) == "":
		return fail("is empty", "name a folder or a git address")
	case strings.HasPrefix(text, "-"):
		return fail("begins with a hyphen, as an option does", "for a folder of that name write ./"+text)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fail("holds a control character", "")
	case helperAddress.MatchString(text):
		return fail("names a git helper, which is a program to run", "use https:// or ssh://")
	}
	if scheme := schemeAddress.FindStringSubmatch(text); scheme != nil {
		return parseURL(text, strings.ToLower(scheme[1]))
	}
	if scpAddress.MatchString(text) {
		return parseScp(text)
	}
	return parsePath(text, cwd)
}

func parseURL(text, scheme string) (Source, error) {
	fail := func(reason, remedy string) (Source, error) {
		return Source{}, &SourceError{Source: text, Reason: reason, Remedy: remedy}
	}
	switch scheme {
	case "https", "ssh":
	case "http", "git":
		return fail("uses "+scheme+"://, which neither encrypts nor proves who answers", "use https:// or ssh://")
	case "file":
		return fail("is a file address", "give the path itself")
	default:
		return fail("uses "+scheme+"://, from which zot does not install", "use https:// or ssh://")
	}
	s, err := splitGit(text)
	if err != nil {
		return Source{}, err
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return fail("is not an address: "+err.Error(), "")
	}
	if _, secret := u.User.Password(); secret {
		return Source{}, &SourceError{Source: u.Redacted(), Reason: "holds a password, which would be written to disk",
			Remedy: "leave it out and set up a git credential helper"}
	}
	if u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-") || strings.HasPrefix(u.User.Username(), "-") {
		return fail("names no host", "")
	}
	if strings.Trim(u.Path, "/") == "" {
		return fail("names no repository", "")
	}
	return s, nil
}

func parseScp(text string) (Source, error) {
	s, err := splitGit(text)
	if err != nil {
		return Source{}, err
	}
	parts := scpAddress.FindStringSubmatch(s.URL)
	if parts == nil {
		return Source{}, &SourceError{Source: text, Reason: "names no repository"}
	}
	for _, part := range parts[1:] {
		if strings.HasPrefix(part, "-") {
			return Source{}, &SourceError{Source: text, Reason: "has a part that begins with a hyphen, as an option does"}
		}
	}
	return s, nil
}

func parsePath(text, cwd string) (Source, error) {
	whole := absolute(text, cwd)
	info, err := os.Stat(whole)
	isFolder := err == nil && info.IsDir()
	isRepository := strings.HasSuffix(strings.TrimRight(whole, `/\`), ".git") && !hasManifest(whole) ||
		strings.Contains(filepath.ToSlash(text), ".git//") // a folder of the repository, not of what is checked out
	if isFolder && !isRepository {
		return Source{Kind: FromFolder, Path: whole}, nil
	}
	if err == nil && info.Mode().IsRegular() && strings.HasSuffix(whole, moduleSuffix) {
		return Source{Kind: FromModule, Path: whole}, nil
	}
	s, err := splitGit(text)
	if err != nil {
		return Source{}, err
	}
	if strings.HasSuffix(s.URL, ".git") {
		s.Path, s.URL = absolute(s.URL, cwd), ""
		if _, err := os.Stat(s.Path); err != nil {
			return Source{}, &SourceError{Source: text, Reason: "is not there: " + s.Path, Remedy: "check the path"}
		}
		return s, nil
	}
	fail := &SourceError{Source: text, Reason: "is not a folder: " + whole,
		Remedy: "name a folder or a .wasm file that is there, or a git address: https://…, ssh://…, git@host:path or a path that ends in .git"}
	if errors.Is(err, os.ErrPermission) {
		fail.Reason = "may not be looked at: " + whole
	}
	return Source{}, fail
}

func hasManifest(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, manifest.FileName))
	return err == nil
}

func absolute(p, cwd string) string {
	if userHome, err := os.UserHomeDir(); err == nil {
		p = home.Expand(p, userHome)
	}
	if !filepath.IsAbs(p) {
		p = filepath.Join(cwd, p)
	}
	return filepath.Clean(p)
}

// splitGit cuts #REF and //FOLDER off an address. The address is in URL, also
// where it is a path.
func splitGit(text string) (Source, error) {
	s := Source{Kind: FromGit}
	rest := text
	if i := strings.LastIndexByte(rest, '#'); i >= 0 {
		rest, s.Ref = rest[:i], rest[i+1:]
		// The folder may stand behind the ref as well; no ref holds "//".
		if ref, folder, found := strings.Cut(s.Ref, "//"); found {
			rest, s.Ref = rest+"//"+folder, ref
		}
		if err := checkRef(text, s.Ref); err != nil {
			return Source{}, err
		}
	}
	start := 0
	if scheme := schemeAddress.FindString(rest); scheme != "" {
		start = len(scheme)
	}
	if i := strings.Index(rest[start:], "//"); i > 0 {
		rest, s.Subdir = rest[:start+i], strings.Trim(rest[start+i:], "/")
		if s.Subdir = path.Clean(s.Subdir); !filepath.IsLocal(filepath.FromSlash(s.Subdir)) || strings.Contains(s.Subdir, `\`) {
			return Source{}, &SourceError{Source: text, Reason: fmt.Sprintf("selects the folder %q, which is not inside the repository", s.Subdir)}
		}
		if s.Subdir == "." {
			s.Subdir = ""
		}
	}
	s.URL = strings.TrimRight(rest, "/")
	return s, nil
}

func checkRef(text, ref string) error {
	if ref == "" {
		return &SourceError{Source: text, Reason: "ends in # with nothing after it", Remedy: "name a branch, a tag or a commit there"}
	}
	if !goodRef.MatchString(ref) || strings.Contains(ref, "..") || strings.Contains(ref, "@{") || strings.HasSuffix(ref, ".lock") {
		return &SourceError{Source: text, Reason: fmt.Sprintf("pins %q, which is no name of a branch, tag or commit", ref)}
	}
	return nil
}

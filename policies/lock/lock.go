// Package lock pins extensions: a file that says which bytes each one is, and a
// store from which exactly those bytes run.
//
// The file is extensions.lock.json, beside the settings of a project or in the
// user's state folder. It is written in one way only, so that writing it again
// gives no difference. [File.Facts] compares an extension to its entry.
package lock

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/schemas"
)

// Version is the version of the file's format.
const Version = 1

// A File is a lock file. Its zero value has no entries.
type File struct {
	Extensions map[string]Entry // by the manifest's name
}

// An Entry pins one extension. The fields stand in the order of their names,
// which is the order of the file.
type Entry struct {
	// Commit is the full id that Ref resolved to.
	Commit string `json:"commit,omitempty"`
	// Descriptors is the digest of what the manifest contributes.
	Descriptors string `json:"descriptors,omitempty"`
	// Digest is the digest of the extension's folder.
	Digest string `json:"digest,omitempty"`
	// Permissions are what was approved when it was locked.
	Permissions *policies.Grant `json:"permissions"`
	// Platforms holds digests for platforms, like "linux/amd64", where the files
	// differ from Digest.
	Platforms map[string]string `json:"platforms,omitempty"`
	Ref       string            `json:"ref,omitempty"` // branch, tag or commit, as asked for
	Source    string            `json:"source"`        // as policies.SourceAddress writes it
	Transport string            `json:"transport"`
	Version   string            `json:"version,omitempty"`
}

// DigestFor is the digest for a platform; empty where the entry has none.
func (e Entry) DigestFor(platform string) string {
	if d, ok := e.Platforms[platform]; ok {
		return d
	}
	return e.Digest
}

// anew is what helps where a lock cannot be read: it is never written over.
const anew = "bring it back with git checkout, or delete it and run zot ext lock"

// ErrNone says that there is no lock file.
var ErrNone = errors.New("no lock file")

// Load reads a lock file. Without one it returns an empty File and ErrNone.
// Faults come as a *schemas.FileError with their places.
func Load(path string) (*File, error) {
	data, err := home.ReadFile(path, document.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &File{}, ErrNone
	case err != nil:
		return nil, fmt.Errorf("reading lock: %w", err)
	}
	return Parse(path, data)
}

// Parse reads the text of a lock file; name is for messages.
func Parse(name string, data []byte) (*File, error) {
	if line := conflictLine(data); line > 0 {
		return nil, fault(name, data, schemas.Problem{Kind: schemas.KindSyntax, Line: line, Column: 1,
			Message: "two versions of the lock were merged and not settled", Remedy: "take either, then run zot ext lock --check"})
	}
	doc, err := document.Parse(name, data)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		return nil, fault(name, data, schemas.Problem{Kind: schemas.KindSyntax, Line: syntax.Pos.Line, Column: syntax.Pos.Column, Message: syntax.Msg, Remedy: anew})
	}
	var raw struct {
		Schema     string           `json:"$schema"`
		Version    int              `json:"version"`
		Extensions map[string]Entry `json:"extensions"`
	}
	dec := json.NewDecoder(bytes.NewReader(doc.Root.JSON()))
	dec.DisallowUnknownFields()
	decodeErr := dec.Decode(&raw)
	out := &File{Extensions: raw.Extensions}
	if decodeErr != nil || raw.Version != Version || twice(doc.Root) || !out.sound() {
		return nil, explain(name, data, decodeErr)
	}
	return out, nil
}

// explain finds the faults of a lock whose reading failed, with their places.
func explain(name string, data []byte, cause error) error {
	problems := schemas.Validate("lock", data)
	if len(problems) == 0 {
		msg := "this is no lock that this zot reads"
		if cause != nil {
			msg = cause.Error()
		}
		problems = []schemas.Problem{{Kind: schemas.KindValue, Message: msg, Remedy: anew}}
	}
	return fault(name, data, problems...)
}

func fault(name string, data []byte, problems ...schemas.Problem) error {
	return &schemas.FileError{File: name, Text: data, Problems: problems}
}

func conflictLine(data []byte) int {
	for i, line := range bytes.Split(data, []byte("\n")) {
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) || bytes.HasPrefix(line, []byte(">>>>>>> ")) {
			return i + 1
		}
	}
	return 0
}

// twice tells whether some object holds a name twice, of which encoding/json
// would silently take the last.
func twice(n *document.Node) bool {
	seen := map[string]bool{}
	for _, m := range n.Members {
		if seen[m.Name] || twice(m.Value) {
			return true
		}
		seen[m.Name] = true
	}
	return false
}

var goodName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// sound checks what the types alone do not.
func (f *File) sound() bool {
	folded := map[string]bool{}
	for name, e := range f.Extensions {
		key := strings.ToLower(name)
		if !goodName.MatchString(name) || folded[key] || e.Source == "" || e.Permissions == nil {
			return false
		}
		folded[key] = true
		for _, d := range append(values(e.Platforms), e.Digest) {
			if d != "" && !IsDigest(d) {
				return false
			}
		}
		if norm, err := policies.SourceAddress(e.Source); err != nil || norm != e.Source {
			return false
		}
	}
	return true
}

func values(m map[string]string) []string {
	var out []string
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// IsDigest tells whether s has the form of a tree's digest.
func IsDigest(s string) bool {
	digits, ok := strings.CutPrefix(s, "zt1:")
	return ok && len(digits) == 64 && strings.Trim(digits, "0123456789abcdef") == ""
}

// Lookup finds an entry by name, in any case.
func (f *File) Lookup(name string) (Entry, bool) {
	if e, ok := f.Extensions[name]; ok {
		return e, true
	}
	for n, e := range f.Extensions {
		if strings.EqualFold(n, name) {
			return e, true
		}
	}
	return Entry{}, false
}

// Bytes is the file's text. There is one text for each content.
func (f *File) Bytes() ([]byte, error) {
	extensions := f.Extensions
	if extensions == nil {
		extensions = map[string]Entry{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(map[string]any{"$schema": schemas.ID("lock"), "extensions": extensions, "version": Version})
	return b.Bytes(), err
}

// Save writes the file in one step, and only where its text changes.
func (f *File) Save(h home.Home, path string) (changed bool, err error) {
	data, err := f.Bytes()
	if err != nil {
		return false, fmt.Errorf("writing lock: %w", err)
	}
	err = h.Update(path, func(old []byte) ([]byte, error) {
		changed = !bytes.Equal(old, data)
		return data, nil
	})
	return changed, err
}

// Descriptors is the digest of a manifest's contributes: of its JSON with names
// sorted and no white space. Without contributes it is empty.
func Descriptors(contributes json.RawMessage) (string, error) {
	canonical, err := Canonical(contributes)
	if err != nil || canonical == nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// Canonical writes JSON with names sorted and no white space; numbers stay as
// they are written. Nothing and null are nil.
func Canonical(raw json.RawMessage) ([]byte, error) {
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

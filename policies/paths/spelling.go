package paths

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// spellings lists the absolute paths that given may stand for, the exact one
// first, and the one that a new file would get. They are not clean: ".." has
// to be walked.
func (r Resolver) spellings(given string) (all []string, fresh string, err error) {
	if strings.TrimSpace(given) == "" {
		return nil, "", errors.New("it is empty")
	}
	if strings.ContainsRune(given, 0) {
		return nil, "", errors.New("it holds a zero byte")
	}
	trimmed := strings.TrimSpace(given)
	forms := []string{given, trimmed, strings.TrimPrefix(trimmed, "@")}
	if rest, ok := cutScheme(trimmed); ok {
		if forms, err = urlPaths(rest); err != nil {
			return nil, "", err
		}
		trimmed = forms[0]
	}
	for _, form := range forms {
		if form == "" {
			continue
		}
		abs, err := r.absolute(form)
		if err != nil {
			return nil, "", err
		}
		if form == trimmed {
			fresh = abs
		}
		if !slices.Contains(all, abs) {
			all = append(all, abs)
		}
	}
	return all, fresh, nil
}

// absolute expands "~" and puts a relative path below the working directory.
func (r Resolver) absolute(path string) (string, error) {
	if path == "~" || (len(path) > 1 && path[0] == '~' && os.IsPathSeparator(path[1])) {
		if r.Home == "" {
			return "", errors.New("there is no home folder that ~ could stand for")
		}
		return r.Home + string(filepath.Separator) + path[1:], nil
	}
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path, nil
	}
	if runtime.GOOS == "windows" && (filepath.VolumeName(path) != "" || os.IsPathSeparator(path[0])) {
		return filepath.Abs(path)
	}
	if !filepath.IsAbs(r.CWD) {
		return "", errors.New("it is relative, and there is no folder that it could be relative to")
	}
	return r.CWD + string(filepath.Separator) + path, nil
}

func cutScheme(s string) (string, bool) {
	const scheme = "file:"
	if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		return s, false
	}
	return s[len(scheme):], true
}

// urlPaths reads what follows "file:". A "#L10" may be a place in the file or
// a part of a name that was not escaped, so both are tried.
func urlPaths(rest string) ([]string, error) {
	if host, ok := strings.CutPrefix(rest, "//"); ok {
		slash := strings.IndexByte(host, '/')
		if slash < 0 {
			return nil, errors.New("a file URL needs a path: file:///folder/name")
		}
		if h := host[:slash]; h != "" && !strings.EqualFold(h, "localhost") {
			return nil, errors.New("a file URL on another host cannot be opened: write file:///folder/name")
		}
		rest = host[slash:]
	}
	forms := []string{rest}
	if before, _, ok := strings.Cut(rest, "#"); ok {
		forms = append(forms, before)
	}
	for i, f := range forms {
		if plain, err := url.PathUnescape(f); err == nil {
			forms[i] = plain
		}
		if strings.ContainsRune(forms[i], 0) {
			return nil, errors.New("it holds a zero byte")
		}
		if runtime.GOOS == "windows" && len(forms[i]) > 2 && forms[i][0] == '/' && forms[i][2] == ':' {
			forms[i] = forms[i][1:]
		}
	}
	return forms, nil
}

// looseEntry finds the one entry of dir that name means if accents, kinds of
// white space and kinds of quotes do not matter; "" for none or several.
func looseEntry(dir, name string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	want, found := LooseName(name), ""
	for _, e := range entries {
		if LooseName(e.Name()) != want {
			continue
		}
		if found != "" {
			return ""
		}
		found = e.Name()
	}
	return found
}

// LooseName is the form in which two names are the same to a reader: accents
// composed, every kind of space a space, every kind of quote a straight one.
func LooseName(name string) string {
	plain := func(r rune) rune {
		switch {
		case unicode.Is(unicode.Zs, r):
			return ' '
		case r == '‘' || r == '’' || r == 'ʼ':
			return '\''
		case r == '“' || r == '”':
			return '"'
		}
		return r
	}
	return strings.TrimSpace(strings.Map(plain, norm.NFC.String(name)))
}

// onDisk returns the spelling that dir itself has for name, which exists. They
// differ on file systems that ignore case or the composition of accents.
func onDisk(dir, name string, info fs.FileInfo) string {
	if !foldedHere(dir, name, info) {
		return name
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return name
	}
	same := ""
	for _, e := range entries {
		if e.Name() == name {
			return name
		}
		if Fold(e.Name()) != Fold(name) && runtime.GOOS != "windows" { // Windows has short names
			continue
		}
		if ei, err := e.Info(); err == nil && os.SameFile(ei, info) {
			same = e.Name()
		}
	}
	if same == "" {
		return name
	}
	return same
}

// foldedHere guesses cheaply whether dir may know the file by another spelling.
func foldedHere(dir, name string, info fs.FileInfo) bool {
	swapped := strings.Map(swapCase, name)
	if swapped == name {
		return strings.IndexFunc(name, func(r rune) bool { return r >= 0x80 }) >= 0
	}
	other, err := os.Lstat(filepath.Join(dir, swapped))
	if err == nil && os.SameFile(other, info) {
		return true
	}
	return strings.IndexFunc(name, func(r rune) bool { return r >= 0x80 }) >= 0
}

func swapCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}

package subprocess

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// startRetrying starts the program. One that was just written may still be
// open for writing in a child that is between its fork and its exec, which
// passes within milliseconds.
func startRetrying(cmd *exec.Cmd) error {
	for wait := time.Millisecond; ; wait *= 2 {
		err := cmd.Start()
		if !errors.Is(err, syscall.ETXTBSY) || wait > 100*time.Millisecond {
			return err
		}
		time.Sleep(wait)
		again := exec.Command(cmd.Path, cmd.Args[1:]...)
		again.Dir, again.Env, again.SysProcAttr, again.ExtraFiles = cmd.Dir, cmd.Env, cmd.SysProcAttr, cmd.ExtraFiles
		again.Stdin, again.Stdout, again.Stderr = cmd.Stdin, cmd.Stdout, cmd.Stderr
		*cmd = *again
	}
}

// explain turns the error of a start into its cause.
func explain(o Options, err error) error {
	return fail(o, causeOf(o, err), err)
}

func causeOf(o Options, err error) string {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return formatCause(o.Path)
	case errors.Is(err, fs.ErrNotExist): // the file was there, so something that it needs is not
		if loader := missingLoader(o.Path); loader != "" {
			return fmt.Sprintf("it needs the loader %q, which this system does not have", loader)
		}
		return "something that it needs to start does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "the system does not permit it (a folder above it that may not be entered, or a file system mounted without exec)"
	case errors.Is(err, syscall.ETXTBSY):
		return "the file is still being written"
	case errors.Is(err, syscall.E2BIG):
		return "its arguments and environment are too large for the system"
	}
	return rootCause(err)
}

// formatCause says what kind of file the system refused to execute.
func formatCause(path string) string {
	head := readHead(path)
	here := runtime.GOOS + "/" + runtime.GOARCH
	switch {
	case len(head) == 0:
		return "the file is empty"
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		return fmt.Sprintf("it is built for another system or processor (%s); this is %s", elfTarget(path), here)
	case isMachO(head):
		return "it is a program for macOS; this is " + here
	case bytes.HasPrefix(head, []byte("MZ")):
		return "it is a program for Windows; this is " + here
	case bytes.HasPrefix(head, []byte("\x00asm")):
		return `it is a WebAssembly module (its transport is "wasi")`
	case strings.EqualFold(filepath.Ext(path), ".bat"), strings.EqualFold(filepath.Ext(path), ".cmd"):
		return "it is a Windows batch file; this is " + here
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf#!")):
		return `a byte order mark before its "#!" line hides it (save the file without one)`
	case bytes.IndexByte(head, 0) < 0:
		return `it has no interpreter line (a first line like "#!/usr/bin/env python3")`
	}
	return "it is no program for this system, " + here
}

func isMachO(head []byte) bool {
	for _, magic := range []string{"\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}

func elfTarget(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return "a damaged file: " + err.Error()
	}
	defer f.Close()
	return strings.ToLower(strings.TrimPrefix(f.Machine.String(), "EM_"))
}

// missingLoader returns the dynamic loader that an ELF file names, where that
// does not exist.
func missingLoader(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP || p.Filesz > 4096 {
			continue
		}
		name, _ := io.ReadAll(p.Open())
		loader := string(bytes.TrimRight(name, "\x00"))
		if _, err := os.Stat(loader); err != nil {
			return loader
		}
	}
	return ""
}

// readHead returns the start of the file, as much as the system looks at for
// an interpreter line; nothing where it cannot be read.
func readHead(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	return head[:n]
}

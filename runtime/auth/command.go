package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A Command prints an API key: a password manager, a key service. It runs
// without a shell, and its output is kept in memory only.
type Command struct {
	// Program is an absolute path, one that begins with ~/, or a name to look
	// up in PATH.
	Program   string   `json:"program"`
	Args      []string `json:"args,omitempty"`
	TimeoutMS int      `json:"timeout_ms,omitempty"` // 0 stands for two minutes
}

// Bounds of a command.
const (
	defaultTimeout = 120 * time.Second
	maxTimeout     = 10 * time.Minute
	maxOutput      = 64 << 10 // bytes
	maxStderr      = 400      // bytes of standard error that a message shows
)

// key tells commands apart in the cache.
func (c Command) key() string {
	raw, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings and a number always encode
	}
	return string(raw)
}

// Forget drops the cached outputs of commands, so that the next lookup runs
// them again: a provider refused the key.
func (s *Store) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.cached)
}

// fromCommand runs c, or returns what it printed before. One command runs at a
// time: it may ask the user to unlock something.
func (s *Store) fromCommand(ctx context.Context, c Command) (Credential, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	source := "command " + filepath.Base(c.Program)
	if key, ok := s.cached[c.key()]; ok {
		return Credential{Kind: APIKey, Secret: key, Source: source}, nil
	}
	out, err := run(ctx, c)
	if err != nil {
		return Credential{}, fmt.Errorf("reading the key from the command %q: %w", c.Program, err)
	}
	line, err := onlyLine(out)
	if err != nil {
		return Credential{}, fmt.Errorf("reading the key from the command %q: its output %w", c.Program, err)
	}
	cred, err := checked(line, source)
	if err == nil {
		s.cached[c.key()] = cred.Secret
	}
	return cred, err
}

// onlyLine returns the one line of out that is not blank.
func onlyLine(out []byte) (string, error) {
	var found string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if found != "" {
			return "", errors.New("has more than one line")
		}
		found = line
	}
	if found == "" {
		return "", errors.New("is empty")
	}
	return found, nil
}

func run(ctx context.Context, c Command) ([]byte, error) {
	program, err := c.resolve()
	if err != nil {
		return nil, err
	}
	timeout := time.Duration(c.TimeoutMS) * time.Millisecond
	if timeout == 0 {
		timeout = defaultTimeout
	}
	if timeout < 0 || timeout > maxTimeout {
		return nil, fmt.Errorf("timeout_ms is %d and must be between 1 and %d", c.TimeoutMS, maxTimeout.Milliseconds())
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it did not end within %v", timeout))
	defer cancel()

	cmd := exec.CommandContext(ctx, program, c.Args...)
	cmd.Dir, _ = os.UserHomeDir() // not the project: nothing of it is to be picked up
	stdout, stderr := &bounded{max: maxOutput, full: cancel}, &bounded{max: maxStderr}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	ownGroup(cmd)
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	switch {
	case stdout.over:
		return nil, fmt.Errorf("it printed more than %d bytes", maxOutput)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, failure(err, stderr.kept.String())
	}
	return stdout.kept.Bytes(), nil
}

// resolve finds the program. A relative path is refused: it would be looked
// for in the project.
func (c Command) resolve() (string, error) {
	program := c.Program
	if rest, ok := strings.CutPrefix(program, "~/"); ok {
		dir, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		program = filepath.Join(dir, rest)
	}
	if program == "" {
		return "", errors.New("\"program\" is missing")
	}
	if filepath.IsAbs(program) {
		return program, nil
	}
	if strings.ContainsAny(program, `/\`) {
		return "", errors.New("a relative path: write it in full, or the name alone to find it in PATH")
	}
	found, err := exec.LookPath(program)
	if err != nil {
		return "", errors.New("it is not in PATH")
	}
	return found, nil
}

// failure says how the command ended, with the end of what it complained.
func failure(err error, stderr string) error {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	last := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, lines[len(lines)-1])
	if last == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, last)
}

// bounded keeps the first max bytes, and calls full once more come. It has no
// other method than Write, so that nothing gets around the bound.
type bounded struct {
	kept bytes.Buffer
	max  int
	over bool
	full func()
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.max - b.kept.Len()
	if len(p) > room && !b.over {
		b.over = true
		if b.full != nil {
			b.full()
		}
	}
	b.kept.Write(p[:min(len(p), room)])
	return len(p), nil
}

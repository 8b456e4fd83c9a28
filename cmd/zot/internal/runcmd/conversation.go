package runcmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/session"
)

// conversation opens the conversation that the flags ask for: a new one, the
// folder's latest, or a named one. What a resumed one remembers of the model
// holds unless a flag says otherwise.
func (a *run) conversation() (host.Conversation, error) {
	if a.flags.NoSession || a.flags.RPC && !a.resumes() || !a.w.Settings.Config.Sessions.Enabled {
		return host.Conversation{}, nil
	}
	path, err := a.sessionPath()
	if err != nil {
		return host.Conversation{}, err
	}
	if path == "" {
		return a.newConversation()
	}
	return a.resume(path)
}

func (a *run) resumes() bool { return a.flags.Continue || a.flags.Resume || a.flags.Session != "" }

// newConversation begins a conversation of this folder.
func (a *run) newConversation() (host.Conversation, error) {
	start := session.Start{Cwd: a.w.CWD, Version: version.Number}
	if c, err := a.connect.connect("", ""); err == nil {
		start.Provider, start.Model, start.Reasoning = c.Provider, c.ID, c.Reasoning
	}
	s, err := a.store.Create(start)
	if err != nil {
		return host.Conversation{}, err
	}
	a.kept = s
	return host.Conversation{ID: s.Meta().ID, Journal: s}, nil
}

// resume goes on with a conversation on disk.
func (a *run) resume(path string) (host.Conversation, error) {
	s, loaded, err := a.store.Resume(path, session.LoadOptions{MaxBlobs: int64(a.w.Settings.Config.Sessions.Memory)})
	if err != nil {
		return host.Conversation{}, err
	}
	a.kept = s
	for _, n := range loaded.Notices {
		a.say("warn", n)
	}
	a.connect.remember(loaded.Meta)
	return host.Conversation{
		ID: loaded.Meta.ID, Journal: s, Messages: loaded.Messages, Usage: loaded.Usage, LastTurn: loaded.LastTurn, Activated: loaded.Activated,
	}, nil
}

// sessionPath finds the file of the conversation to resume; empty begins a new
// one.
func (a *run) sessionPath() (string, error) {
	switch {
	case a.flags.Session != "":
		return a.findSession(a.flags.Session)
	case a.flags.Continue:
		info, err := a.store.Latest(a.w.CWD)
		if err != nil {
			return "", fmt.Errorf("--continue: %w", err)
		}
		return info.Path, nil
	case a.flags.Resume:
		return a.pickSession()
	}
	return "", nil
}

// findSession finds a session by path or id; it must belong to this folder.
func (a *run) findSession(ref string) (string, error) {
	if strings.ContainsAny(ref, `/\`) || strings.HasSuffix(ref, ".jsonl") {
		abs, err := filepath.Abs(ref)
		if err != nil {
			return "", err
		}
		ref = abs
	}
	info, err := a.store.Find(ref)
	if err != nil {
		return "", fmt.Errorf("--session: %w", err)
	}
	if err := info.CheckFolder(a.w.CWD); err != nil {
		return "", fmt.Errorf("--session: %w", err)
	}
	return info.Path, nil
}

// pickSession lists this folder's conversations on standard error and reads a
// number.
func (a *run) pickSession() (string, error) {
	infos, errs := a.store.List(a.w.CWD)
	for _, err := range errs {
		a.notice("warn", err.Error())
	}
	if len(infos) == 0 {
		return "", errors.New("--resume: there is no conversation of this folder")
	}
	if !a.streams.InTerminal {
		return "", errors.New("--resume asks for a number on a terminal; use --continue or --session ID here")
	}
	for i, info := range infos {
		fmt.Fprintf(a.streams.Err, "%3d  %s  %s\n", i+1, info.Modified.Local().Format("2006-01-02 15:04"), iostreams.Printable(info.Name()))
	}
	n, err := readNumber(a.streams, len(infos))
	if err != nil {
		return "", err
	}
	return infos[n-1].Path, nil
}

func readNumber(s *iostreams.Streams, most int) (int, error) {
	fmt.Fprintf(s.Err, "resume which? (1-%d) ", most)
	line, err := bufio.NewReader(s.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%q is not a number from 1 to %d", strings.TrimSpace(line), most)
	}
	return n, nil
}

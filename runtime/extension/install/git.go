package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/patriceckhart/zot/schemas"
)

// A GitError says what git could not do, in git's own last words.
type GitError struct {
	Address string
	Doing   string
	Detail  string
	Remedy  string
}

func (e *GitError) Error() string {
	text := fmt.Sprintf("%s %s: %s", e.Doing, e.Address, e.Detail)
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// git calls the program of the user, with the user's configuration and
// credential helpers, and without anything that would run a program of the
// repository or wait for a person.
type git struct {
	program       string
	address       string
	answer, clone time.Duration
	env           []string
}

func newGit(ctx context.Context, o Options, address string) (*git, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, &GitError{Address: address, Doing: "fetching", Detail: "git is not installed",
			Remedy: "install git, or download the extension and install its folder"}
	}
	g := &git{program: program, address: address, answer: o.AnswerTimeout, clone: o.CloneTimeout}
	g.env = gitEnviron(os.Environ())
	if ssh := g.sshCommand(ctx); ssh != "" {
		g.env = append(g.env, "GIT_SSH_COMMAND="+ssh)
	}
	return g, nil
}

// repositoryVariables point git at another repository than the one it is told
// of; they are set where zot runs inside a hook of git.
var repositoryVariables = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_TEMPLATE_DIR", "GIT_SHALLOW_FILE", "GIT_CEILING_DIRECTORIES",
	"SSH_ASKPASS", "GIT_TRACE",
}

func gitEnviron(inherited []string) []string {
	var env []string
	for _, pair := range inherited {
		name, _, _ := strings.Cut(pair, "=")
		if !slices.Contains(repositoryVariables, strings.ToUpper(name)) {
			env = append(env, pair)
		}
	}
	return append(env, "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "SSH_ASKPASS_REQUIRE=never", "LC_ALL=C")
}

// sshCommand is the user's ssh, told not to ask anything. Programs that do not
// take OpenSSH's options are left as they are.
func (g *git) sshCommand(ctx context.Context) string {
	command, set := os.LookupEnv("GIT_SSH_COMMAND")
	if !set {
		if _, set := os.LookupEnv("GIT_SSH"); set {
			return ""
		}
		configured, err := g.run(ctx, g.answer, "reading the configuration for", "config", "--get", "core.sshCommand")
		if command = strings.TrimSpace(configured); err != nil || command == "" {
			command = "ssh"
		}
	}
	words := strings.Fields(command)
	if len(words) == 0 || !strings.HasPrefix(filepath.Base(words[0]), "ssh") {
		return ""
	}
	return command + " -o BatchMode=yes -o ConnectTimeout=" + seconds(g.answer)
}

func seconds(d time.Duration) string { return fmt.Sprint(max(1, int(d.Seconds()))) }

// safeSettings come before every git command.
func (g *git) safeSettings() []string {
	var args []string
	for _, setting := range []string{
		"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "protocol.ext.allow=never", "submodule.recurse=false",
		"core.autocrlf=false", // the bytes of the commit, on every system
		"advice.detachedHead=false", "gc.auto=0", "maintenance.auto=false",
		"http.lowSpeedLimit=1", "http.lowSpeedTime=" + seconds(g.answer),
	} {
		args = append(args, "-c", setting)
	}
	return args
}

// run calls git and returns what it wrote to standard output.
func (g *git) run(ctx context.Context, limit time.Duration, doing string, args ...string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, g.program, append(g.safeSettings(), args...)...)
	cmd.Env = g.env
	cmd.WaitDelay = 2 * time.Second
	killGroup(cmd)
	var stdout bytes.Buffer
	stderr := tailBuffer{limit: 4 << 10}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case err == nil:
		return stdout.String(), nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "", &GitError{Address: g.address, Doing: doing, Detail: fmt.Sprintf("no answer within %s", limit),
			Remedy: "check the address and the network, or download the extension and install its folder"}
	}
	detail, remedy := rewordGit(stderr.String(), g.address)
	if detail == "" {
		detail = err.Error()
	}
	return "", &GitError{Address: g.address, Doing: doing, Detail: detail, Remedy: remedy}
}

// tailBuffer keeps the end of what is written to it.
type tailBuffer struct {
	buf   []byte
	limit int
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - t.limit; over > 0 {
		t.buf = t.buf[over:]
	}
	return len(p), nil
}

func (t *tailBuffer) String() string { return string(t.buf) }

// rewordGit takes the line that matters out of git's messages and says what to
// set up.
func rewordGit(stderr, address string) (detail, remedy string) {
	lines := strings.FieldsFunc(stderr, func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "fatal: "); ok {
			// What ssh said before that is the reason for it.
			if detail == "" || !strings.HasPrefix(rest, "Could not read from remote") {
				detail = rest
			}
			break
		}
		if line != "" {
			detail = line
		}
	}
	detail = strings.TrimSuffix(detail, ".")
	for _, known := range gitRemedies {
		if strings.Contains(stderr, known.words) {
			return schemas.Printable(detail), known.remedy
		}
	}
	return schemas.Printable(detail), ""
}

var gitRemedies = []struct{ words, remedy string }{
	{"Permission denied (publickey", "load a key that the server knows into your ssh agent (ssh-add), or use https:// with a credential helper"},
	{"Host key verification failed", "connect once with ssh and accept the host's key"},
	{"terminal prompts disabled", "it may be private or not exist: set up a git credential helper for this host, or use ssh:// with a key"},
	{"could not read Username", "it may be private or not exist: set up a git credential helper for this host, or use ssh:// with a key"},
	{"Authentication failed", "the stored credentials were refused: renew them in your git credential helper"},
	{"Could not resolve host", "check the address and the network"},
	{"Failed to connect", "check the address and the network"},
	{"Connection refused", "check the address and the network"},
	{"Connection timed out", "check the address and the network"},
	{"dubious ownership", "the repository belongs to another user: add it to safe.directory in your git configuration"},
	{"does not appear to be a git repository", "check the address"},
	{"not found", "check the address; a private repository needs credentials"},
	{"No space left on device", "make room on the disk of zot's home"},
}

// A remoteRef is a ref as the server has it.
type remoteRef struct {
	kind   RefKind
	name   string // for --branch
	commit string
}

var fullCommit = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
var likeCommit = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// resolve asks the server what ref is. Where it is neither branch nor tag and
// may be a commit, the answer is that commit, not looked up.
func (g *git) resolve(ctx context.Context, ref string) (remoteRef, error) {
	heads, tags := "refs/heads/"+strings.TrimPrefix(ref, "heads/"), "refs/tags/"+strings.TrimPrefix(ref, "tags/")
	out, err := g.run(ctx, g.answer, "asking", "ls-remote", "--", g.address, "HEAD", heads, tags, tags+"^{}")
	if err != nil {
		return remoteRef{}, err
	}
	commits := map[string]string{}
	for _, line := range strings.Split(out, "\n") {
		if commit, name, ok := strings.Cut(line, "\t"); ok {
			commits[name] = commit
		}
	}
	peeled := commits[tags+"^{}"]
	if peeled == "" {
		peeled = commits[tags]
	}
	switch {
	case ref == "":
		return remoteRef{kind: RefDefault, commit: commits["HEAD"]}, nil
	case commits[heads] != "" && !strings.HasPrefix(ref, "tags/"):
		return remoteRef{RefBranch, strings.TrimPrefix(ref, "heads/"), commits[heads]}, nil
	case peeled != "":
		return remoteRef{RefTag, strings.TrimPrefix(ref, "tags/"), peeled}, nil
	case likeCommit.MatchString(ref):
		return remoteRef{RefCommit, "", ref}, nil
	}
	return remoteRef{}, g.unknownRef(ctx, ref)
}

func (g *git) unknownRef(ctx context.Context, ref string) error {
	e := &GitError{Address: g.address, Doing: "asking", Detail: fmt.Sprintf("it has no branch, tag or commit %q", ref)}
	out, err := g.run(ctx, g.answer, "asking", "ls-remote", "--refs", "--heads", "--tags", "--", g.address)
	if err != nil {
		return e
	}
	var names []string
	for _, line := range strings.Split(out, "\n") {
		_, name, _ := strings.Cut(line, "\t")
		name = strings.TrimPrefix(strings.TrimPrefix(name, "refs/heads/"), "refs/tags/")
		if name != "" {
			names = append(names, name)
		}
	}
	if near := schemas.Nearest(ref, names); near != "" {
		e.Remedy = fmt.Sprintf("did you mean %q?", near)
	} else if len(names) > 0 && len(names) <= 10 {
		e.Remedy = "it has " + strings.Join(names, ", ")
	}
	return e
}

// fetch brings what ref names into dir, which does not exist, and returns the
// commit.
func (g *git) fetch(ctx context.Context, ref remoteRef, dir string) (string, error) {
	var err error
	switch {
	case ref.kind != RefCommit:
		err = g.shallow(ctx, ref.name, dir)
	case fullCommit.MatchString(ref.commit):
		if err = g.oneCommit(ctx, ref.commit, dir); err != nil && ctx.Err() == nil {
			err = g.searchCommit(ctx, ref.commit, dir) // the server gives only what a branch or tag names
		}
	default:
		err = g.searchCommit(ctx, ref.commit, dir)
	}
	if err != nil {
		return "", err
	}
	commit, err := g.run(ctx, g.answer, "reading", "-C", dir, "rev-parse", "--verify", "HEAD^{commit}")
	return strings.TrimSpace(commit), err
}

func (g *git) shallow(ctx context.Context, branch, dir string) error {
	args := []string{"clone", "--quiet", "--depth", "1", "--no-local", "--no-recurse-submodules", "--template="}
	if branch != "" {
		args = append(args, "--branch", branch)
	}
	_, err := g.run(ctx, g.clone, "cloning", append(args, "--", g.address, dir)...)
	return err
}

func (g *git) oneCommit(ctx context.Context, commit, dir string) error {
	if _, err := g.run(ctx, g.answer, "preparing for", "init", "--quiet", "--template=", "--", dir); err != nil {
		return err
	}
	if _, err := g.run(ctx, g.clone, "fetching", "-C", dir, "fetch", "--quiet", "--depth", "1", "--no-recurse-submodules", "--", g.address, commit); err != nil {
		return err
	}
	_, err := g.run(ctx, g.clone, "reading", "-C", dir, "checkout", "--quiet", "--detach", "FETCH_HEAD")
	return err
}

func (g *git) searchCommit(ctx context.Context, commit, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if _, err := g.run(ctx, g.clone, "cloning", "clone", "--quiet", "--no-checkout", "--no-local", "--no-recurse-submodules", "--template=", "--", g.address, dir); err != nil {
		return err
	}
	_, err := g.run(ctx, g.clone, "reading", "-C", dir, "checkout", "--quiet", "--detach", commit+"^{commit}")
	var failed *GitError
	if errors.As(err, &failed) {
		failed.Detail, failed.Remedy = fmt.Sprintf("it has no branch, tag or commit %q", commit), ""
	}
	return err
}

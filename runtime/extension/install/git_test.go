package install

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A repository for tests, with its work tree. Its path ends in .git.
type repository struct {
	t    *testing.T
	work string
	bare string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	config := filepath.Join(t.TempDir(), "gitconfig")
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	must(t, os.WriteFile(config, []byte("[user]\nname = t\nemail = t@example.com\n[init]\ndefaultBranch = main\n[commit]\ngpgsign = false\n"), 0o600))
	r := &repository{t: t, work: filepath.Join(t.TempDir(), "work"), bare: filepath.Join(t.TempDir(), "my repo.git")}
	must(t, os.MkdirAll(r.work, 0o755))
	r.git("init", "--quiet")
	r.git("init", "--quiet", "--bare", r.bare)
	return r
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.work
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes an extension of the given version, pushes it, and returns the
// commit.
func (r *repository) commit(version string, more ...string) string {
	r.t.Helper()
	write(r.t, r.work, append([]string{
		"extension.json", `{"name":"root","version":"` + version + `","exec":"./run.sh"}`, "run.sh*", program,
		"deep/er/extension.json", `{"name":"deep","version":"` + version + `","exec":"./run.sh"}`, "deep/er/run.sh*", program}, more...)...)
	r.git("add", "-A")
	r.git("commit", "--quiet", "--allow-empty", "-m", version)
	r.git("push", "--quiet", "--all", r.bare)
	r.git("push", "--quiet", "--tags", r.bare)
	return r.git("rev-parse", "HEAD")
}

func TestInstallFromGit(t *testing.T) {
	r := newRepository(t)
	first := r.commit("1.0.0")
	r.git("tag", "-a", "v1", "-m", "v1")
	second := r.commit("2.0.0")
	r.git("checkout", "--quiet", "-b", "feature/x")
	third := r.commit("3.0.0")
	r.git("checkout", "--quiet", "main")

	tests := []struct {
		suffix, name, version, commit string
		kind                          RefKind
	}{
		{"", "root", "2.0.0", second, RefDefault},
		{"#v1", "root", "1.0.0", first, RefTag},
		{"#feature/x", "root", "3.0.0", third, RefBranch},
		{"#heads/main", "root", "2.0.0", second, RefBranch},
		{"#" + first, "root", "1.0.0", first, RefCommit},
		{"#" + first[:10], "root", "1.0.0", first, RefCommit},
		{"//deep/er#v1", "deep", "1.0.0", first, RefTag},
	}
	for _, tt := range tests {
		t.Run("repo.git"+tt.suffix, func(t *testing.T) {
			o := Options{Home: t.TempDir(), CWD: filepath.Dir(r.bare)}
			result, err := Install(context.Background(), o, "./my repo.git"+tt.suffix)
			must(t, err)
			origin, known, err := OriginOf(o.Home, tt.name)
			must(t, err)
			if result.Name != tt.name || result.Version != tt.version || len(result.Skipped) > 0 {
				t.Errorf("result %+v", result)
			}
			if !known || origin.Commit != tt.commit || origin.RefKind != tt.kind || origin.Source != r.bare+tt.suffix {
				t.Errorf("origin %+v", origin)
			}
			if _, err := os.Stat(filepath.Join(result.Dir, ".git")); err == nil {
				t.Error(".git was copied")
			}
			// A tag and a commit stay; so says an update.
			r.git("commit", "--quiet", "--allow-empty", "-m", "later")
			again, err := Update(context.Background(), UpdateOptions{Options: o}, pick(t, o.Home, tt.name))
			must(t, err)
			if stays := tt.kind == RefTag || tt.kind == RefCommit; again.Changed || strings.Contains(again.Note, "stays at") != stays {
				t.Errorf("update: %+v", again)
			}
		})
	}
}

func TestUpdateFollowsABranch(t *testing.T) {
	r := newRepository(t)
	r.commit("1.0.0")
	o := Options{Home: t.TempDir()}
	_, err := Install(context.Background(), o, r.bare)
	must(t, err)
	second := r.commit("2.0.0", "new.txt", "new")
	result, err := Update(context.Background(), UpdateOptions{Options: o}, pick(t, o.Home, "root"))
	must(t, err)
	if !result.Changed || result.Version != "2.0.0" || result.Origin.Commit != second {
		t.Errorf("%+v", result)
	}
	if c := pick(t, o.Home, "root"); c.Manifest.Version != "2.0.0" {
		t.Errorf("installed %s", c.Manifest.Version)
	}
	again, err := Update(context.Background(), UpdateOptions{Options: o}, pick(t, o.Home, "root"))
	must(t, err)
	if again.Changed || again.Note != "is up to date at "+second[:12] {
		t.Errorf("%+v", again)
	}
}

func TestGitRefusals(t *testing.T) {
	r := newRepository(t)
	r.commit("1.0.0")
	r.git("tag", "release-1")
	r.commit("1.0.1", "bad/extension.json", `{"name":7}`, "empty/readme", "x")
	o := Options{Home: t.TempDir()}
	for suffix, want := range map[string]string{
		"#release-2":                   `it has no branch, tag or commit "release-2"; did you mean "release-1"?`,
		"#" + strings.Repeat("ab", 20): "it has no branch, tag or commit",
		"//nope":                       `the repository has no folder "nope"; there is one in`,
		"//empty":                      "holds no extension: there is no extension.json in it; there is one in",
		"//bad":                        "my repo.git//bad/extension.json:1:9: name must be a string, not a number",
	} {
		_, err := Install(context.Background(), o, r.bare+suffix)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), stagingPrefix) {
			t.Errorf("%s\ngot  %v\nwant %s", suffix, err, want)
		}
		if got := entries(t, o.Home); len(got) > 0 {
			t.Errorf("%s left %v", suffix, got)
		}
	}
}

// Neither the repository's nor the user's hooks run, nor a filter of the
// repository's, and no submodule is fetched.
func TestCloningRunsNothing(t *testing.T) {
	r := newRepository(t)
	hooks, marker := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	for _, hook := range []string{"post-checkout", "post-merge", "reference-transaction"} {
		write(t, hooks, hook+"*", "#!/bin/sh\necho ran > '"+marker+"'\n")
	}
	r.commit("1.0.0", ".gitattributes", "* filter=evil\n",
		".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c touch% "+marker+"\n")
	r.git("--git-dir", r.bare, "config", "filter.evil.smudge", "touch '"+marker+"'; cat")
	r.git("--git-dir", r.bare, "config", "uploadpack.packObjectsHook", "touch '"+marker+"' #")
	r.git("config", "--global", "core.hooksPath", hooks)
	r.git("config", "--global", "submodule.recurse", "true")
	r.git("config", "--global", "protocol.ext.allow", "always")
	_, err := Install(context.Background(), Options{Home: t.TempDir()}, r.bare)
	must(t, err)
	if _, err := os.Stat(marker); err == nil {
		t.Error("a program of the repository ran")
	}
}

func TestGitThatDoesNotAnswer(t *testing.T) {
	newRepository(t) // for its configuration
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer silent.Close()
	o := Options{Home: t.TempDir(), AnswerTimeout: 300 * time.Millisecond}
	began := time.Now()
	_, err = Install(context.Background(), o, "https://"+silent.Addr().String()+"/x.git")
	var failed *GitError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "no answer within 300ms") || failed.Remedy == "" {
		t.Error(err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("took %s", took)
	}
	if got := entries(t, o.Home); len(got) > 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestGitIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Install(context.Background(), Options{Home: t.TempDir()}, "https://h.example/a")
	if err == nil || !strings.Contains(err.Error(), "git is not installed; install git") {
		t.Error(err)
	}
}

func TestGitMessagesSayWhatToSetUp(t *testing.T) {
	for stderr, want := range map[string]string{ // of both, with a "; " between
		"git@h: Permission denied (publickey).\r\nfatal: Could not read from remote repository.\n":                                  "git@h: Permission denied (publickey); load a key that the server knows into your ssh agent (ssh-add)",
		"ssh: connect to host h port 22: Connection refused\r\nfatal: Could not read from remote repository.\n\nPlease make sure\n": "ssh: connect to host h port 22: Connection refused; check the address",
		"fatal: could not read Username for 'https://h': terminal prompts disabled\n":                                               "credential helper",
		"remote: Invalid\nfatal: Authentication failed for 'https://h/'\n":                                                          "renew them",
		"Host key verification failed.\nfatal: Could not read from remote repository.":                                              "accept the host's key",
		"fatal: unable to access 'https://h/': Could not resolve host: h\n":                                                         "network",
	} {
		detail, remedy := rewordGit(stderr, "x")
		if detail == "" || strings.HasPrefix(detail, "fatal") || !strings.Contains(detail+"; "+remedy, want) {
			t.Errorf("%q: %q; %q", stderr, detail, remedy)
		}
	}
}

func TestGitEnvironmentPointsNowhereElse(t *testing.T) {
	env := strings.Join(gitEnviron([]string{"PATH=/bin", "GIT_DIR=/x", "Git_Work_Tree=/y", "HOME=/h", "SSH_ASKPASS=gui", "GIT_ASKPASS=mine"}), " ")
	for _, gone := range []string{"/x", "/y", "gui"} {
		if strings.Contains(env, gone) {
			t.Errorf("%s is in %s", gone, env)
		}
	}
	for _, there := range []string{"PATH=/bin", "HOME=/h", "GIT_ASKPASS=mine", "GIT_TERMINAL_PROMPT=0"} {
		if !strings.Contains(env, there) {
			t.Errorf("%s is not in %s", there, env)
		}
	}
}

func TestSSHIsToldNotToAsk(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	ctx := context.Background()
	for command, want := range map[string]string{
		"ssh -i key":   "ssh -i key -o BatchMode=yes -o ConnectTimeout=20",
		"plink -batch": "",
	} {
		t.Setenv("GIT_SSH_COMMAND", command)
		g, err := newGit(ctx, Options{}.withDefaults(), "x")
		must(t, err)
		if got := g.sshCommand(ctx); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

package system

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// release is a binary of one version of the source, and what it says of itself.
type release struct{ binary, version, commit string }

// git runs git in a directory, and returns what it printed.
func git(ctx context.Context, t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v in %s: an upgrade from the last release needs its history\n%s", args, dir, out)
	return strings.TrimSpace(string(out))
}

// lastRelease is the commit of the version in the file VERSION: its tag, or the last commit before the source at hand
// that changed that file.
func lastRelease(ctx context.Context, t *testing.T, root string) string {
	t.Helper()
	tag := "refs/tags/v" + versionOf(t, root)
	if tagged := git(ctx, t, root, "for-each-ref", "--format=%(objectname)", tag); tagged != "" {
		return git(ctx, t, root, "rev-parse", tag+"^{commit}")
	}
	head := git(ctx, t, root, "rev-parse", "HEAD")
	for _, commit := range strings.Fields(git(ctx, t, root, "log", "-2", "--format=%H", "--", "VERSION")) {
		if commit != head {
			return commit
		}
	}
	require.Fail(t, "no release to upgrade from", "no commit before %s has changed the file VERSION", head)
	return ""
}

// versionOf is the version of a source.
func versionOf(t *testing.T, source string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(source, "VERSION"))
	require.NoError(t, err)
	return strings.TrimSpace(string(content))
}

// checkedOut is the source at a commit, in a worktree that goes with the test.
func checkedOut(ctx context.Context, t *testing.T, root, commit string) (source string) {
	t.Helper()
	source = filepath.Join(t.TempDir(), "release")
	git(ctx, t, root, "worktree", "add", "--detach", source, commit)
	// The test's own context has ended by then.
	t.Cleanup(func() { git(context.Background(), t, root, "worktree", "remove", "--force", source) })
	return source
}

// buildRelease builds a binary from a source, under a version's name, with a handler of an upgrade if that has a name.
func buildRelease(ctx context.Context, t *testing.T, source, version, commit, upgrade string) release {
	t.Helper()
	r := release{filepath.Join(t.TempDir(), "timerd"), version, commit}
	const pkg, own = "github.com/cosmos/cosmos-sdk/version.", "github.com/cosmos-timers/timers/app."
	flags := "-ldflags=-w -X " + pkg + "Name=timerd -X " + pkg + "AppName=timerd -X " + pkg + "Version=" + version +
		" -X " + pkg + "Commit=" + commit + " -X " + own + "rehearsal=" + upgrade
	require.NoError(t, node.BuildWithClock(ctx, source, r.binary, flags, "./cmd/timerd"))
	out, err := exec.CommandContext(ctx, r.binary, "version").CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, version, strings.TrimSpace(string(out)), "timerd version")
	return r
}

// TestLastRelease_IsAnOlderCommit: a tag of the version counts, or else the last commit that changed it.
func TestLastRelease_IsAnOlderCommit(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	git(ctx, t, root, "init", "--quiet")
	commit := func(version, file string) string {
		require.NoError(t, os.WriteFile(filepath.Join(root, "VERSION"), []byte(version+"\n"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(root, "file"), []byte(file), 0o600))
		git(ctx, t, root, "add", "-A")
		git(ctx, t, root, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", file)
		return git(ctx, t, root, "rev-parse", "HEAD")
	}
	first := commit("1.0.0-rc.1", "one")
	between := commit("1.0.0-rc.1", "two")
	require.Equal(t, first, lastRelease(ctx, t, root))
	second := commit("1.0.0-rc.2", "three")
	require.Equal(t, first, lastRelease(ctx, t, root), "the source at hand is no older release")
	commit("1.0.0-rc.2", "four")
	require.Equal(t, second, lastRelease(ctx, t, root))
	git(ctx, t, root, "tag", "v1.0.0-rc.2", between)
	require.Equal(t, between, lastRelease(ctx, t, root), "the tag says which")
}

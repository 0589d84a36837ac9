package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChangelog_GroupsCommitsAndPutsWhatBreaksFirst(t *testing.T) {
	commits := []string{
		"a1\nfix(engine): keep a charge\n\nwhy",
		"a2\nfeat(cli)!: take times\n",
		"a3\nfeat: list labels",
		"a4\nperf(evmapp): debit payers",
		"a5\nrefactor(state): move a cursor\n\nwhy\n\nBREAKING CHANGE: the store is another",
		"a6\nMend what the linter found",
		"a7\nodd(x): a type that is not known",
		"a8\nfix: a subject (with) `marks`: and colons",
		"a9\ndocs(site): a page; it says BREAKING CHANGE: in its midst",
		"b1\nfix():  no scope",
	}
	require.Equal(t, strings.Join([]string{
		"## Unreleased", "",
		"### Breaking", "", "- `cli`: take times (a2)", "- `state`: move a cursor (a5)", "",
		"### Features", "", "- list labels (a3)", "",
		"### Fixes", "", "- `engine`: keep a charge (a1)", "- a subject (with) `marks`: and colons (a8)", "",
		"### Speed", "", "- `evmapp`: debit payers (a4)", "",
		"### Documentation", "", "- `site`: a page; it says BREAKING CHANGE: in its midst (a9)", "",
		"### Other", "", "- Mend what the linter found (a6)", "- odd `x`: a type that is not known (a7)",
		"- fix():  no scope (b1)", "",
	}, "\n"), format(strings.Join(commits, "\x00")+"\x00"))
	require.Equal(t, "## Unreleased\n", format(""))
}

// TestChangelog_BeginsAtTheLastReleaseOfTheRoot: tags of other Go modules are no releases of the root.
func TestChangelog_BeginsAtTheLastReleaseOfTheRoot(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "somebody")
	}
	do := func(arguments ...string) {
		t.Helper()
		command := exec.Command("git", arguments...)
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	commit := func(subject string) { do("commit", "--quiet", "--allow-empty", "--message", subject) }
	printed := func(arguments ...string) string {
		t.Helper()
		var out strings.Builder
		require.NoError(t, run(arguments, &out))
		return out.String()
	}
	do("init", "--quiet")
	commit("feat(a): first")
	commit("fix(a): second")
	require.Contains(t, printed(), "- `a`: first (")
	do("tag", "v1.0.0")
	commit("feat(b): third")
	do("tag", "x/timers/v1.0.1")
	commit("fix(b)!: fourth")
	require.Regexp(t, "^## Unreleased\n\n### Breaking\n\n- `b`: fourth \\([0-9a-f]+\\)\n\n"+
		"### Features\n\n- `b`: third \\([0-9a-f]+\\)\n$", printed())
	require.Regexp(t, "^## Unreleased\n\n### Breaking\n\n- `b`: fourth \\([0-9a-f]+\\)\n$", printed("HEAD~1"))

	require.ErrorContains(t, run([]string{"no-such-revision"}, &strings.Builder{}), "no-such-revision")
	require.ErrorContains(t, run([]string{"--output=x"}, &strings.Builder{}), "git log")
	require.NoFileExists(t, "x..HEAD")
	require.Error(t, run([]string{"a", "b"}, &strings.Builder{}))
}

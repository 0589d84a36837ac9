#!/usr/bin/env bash
# Run every check but the tests, print one line for each, and fail at the end if any failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/tools.sh
scripts/protodeps.sh
scripts/install-lint.sh

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=()

check() { # check NAME COMMAND...
	local name=$1 start=$SECONDS
	shift
	if "$@" >"$log" 2>&1; then
		printf 'ok    %s (%d s)\n' "$name" $((SECONDS - start))
		return
	fi
	printf 'FAIL  %s (%d s)\n' "$name" $((SECONDS - start))
	sed -n '1,20s/^/      /p' "$log"
	local lines
	lines=$(wc -l <"$log")
	if ((lines > 20)); then echo "      ... $((lines - 20)) more lines; all of them: $*"; fi
	failed+=("$name")
}

skip() { # skip NAME REASON
	printf 'skip  %s: %s\n' "$1" "$2"
}

check "Go format" scripts/gomods.sh each "$PWD/build/tools/golangci-lint" fmt --diff ./...
check "Go lint" scripts/gomods.sh each "$PWD/build/tools/golangci-lint" run ./...
check "structure" make --no-print-directory house
check "what a timer passes" make --no-print-directory trace
check "rules have tests" make --no-print-directory rules
check "one version" scripts/version.sh -check
check "go.mod tidy" scripts/gomods.sh each go mod tidy -diff
check "proto format" build/tools/buf format proto --diff --exit-code
check "proto lint" build/tools/buf lint proto
check "generated code current" scripts/protogen.sh check
check "test vectors current" scripts/vectors.py --check
check "plots current" scripts/plot.py --check
check "comparison of policies current" scripts/policies.py --check
check "plot of growth current" scripts/growth.py --check
check "plots of simulations current" scripts/economics.py --check
check "proto not breaking" make --no-print-directory proto-breaking
if command -v shellcheck >/dev/null; then
	check "shell scripts" shellcheck scripts/*.sh .ci/run
else
	skip "shell scripts" "shellcheck is not installed"
fi
if command -v promtool >/dev/null; then
	check "alert rules" make -s alerts
else
	skip "alert rules" "promtool is not installed"
fi

if ((${#failed[@]})); then
	echo "${#failed[@]} check(s) failed" >&2
	exit 1
fi

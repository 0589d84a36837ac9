#!/usr/bin/env bash
# Builds the tests that refuse twice, as they are and with -trimpath from a copy in another directory, runs both, and compares
# the texts of all refusals, the results of transactions and the hash of the state byte by byte: two-builds.sh
#
# The second build compiles all once more. FAST=1 leaves out the chain of cosmos/evm, which takes longest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

root=$PWD
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
copy=$dir/another/directory
mkdir -p "$copy"
git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- --create --file=- | tar -xf - -C "$copy"

# run TREE NAME PACKAGE TESTS FLAG [BUILD_FLAG...]: writes what the tests refuse to $dir/NAME
run() {
	local tree=$1 name=$2 package=$3 tests=$4 flag=$5
	shift 5
	(cd "$tree/$package" && go test -c -vet=off "$@" -o "$dir/$name.test" . &&
		"$dir/$name.test" -test.run "$tests" "-$flag=$dir/$name" >"$dir/$name.log") ||
		{ cat "$dir/$name.log"; return 1; }
	LC_ALL=C sort -u -o "$dir/$name" "$dir/$name"
}

# both NAME PACKAGE TESTS FLAG: runs both builds of a package, and compares them
both() {
	local name=$1
	shift
	run "$root" "$name-plain" "$@"
	run "$copy" "$name-trimmed" "$@" -trimpath -ldflags='-s -w'
	if ! diff "$dir/$name-plain" "$dir/$name-trimmed"; then
		echo "two-builds: $name: the two builds differ" >&2
		exit 1
	fi
	echo "$name: $(wc -l <"$dir/$name-plain") lines, the same in both builds"
}

both keeper x/timers/keeper 'Refus|Errors|Allowance' keeper.refusals
if [[ -z ${FAST:-} ]]; then
	both evm evmbinding/testutil/evmapp 'TestRefusals' refusals
fi

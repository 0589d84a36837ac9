#!/usr/bin/env bash
# Run the tests and print what share of each package's statements they execute: cover.sh [PATTERN...]
#
# A statement counts when a test of any package of its module executes it. Generated code does not count, and real nodes
# are not started: what runs in another process is not seen.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ((!$#)); then set -- ./...; fi
profiles=$PWD/build/cover
rm -rf "$profiles"
mkdir -p "$profiles"
export profiles

status=0
# shellcheck disable=SC2016 # expanded by the inner shell
scripts/gomods.sh run -skip '/testutil/(system|bench)' "$@" -- bash -euo pipefail -c '
	packages=$(IFS=,; echo "$*")
	name=${PWD//\//_}
	go test -timeout 20m -coverpkg="$packages" -coverprofile="$profiles/$name.out" "$@" |
		sed -e "/^\t\|no test files/d" -e "s/\tcoverage: .*//"
' cover || status=1

LC_ALL=C awk '
	FNR == 1 || $1 ~ /\.pb(\.gw)?\.go:/ { next }
	{
		statements[$1] = $2
		if ($3 > 0) executed[$1] = 1
	}
	END {
		for (block in statements) {
			package = block
			sub(/\/[^\/]*$/, "", package)
			all[package] += statements[block]
			total += statements[block]
			if (block in executed) {
				hit[package] += statements[block]
				totalHit += statements[block]
			}
		}
		if (!total) exit 1
		for (package in all) printf "%6.1f %%  %6d  %s\n", 100 * hit[package] / all[package], all[package], package | "sort -k4"
		close("sort -k4")
		printf "%6.1f %%  %6d  all\n", 100 * totalHit / total, total
	}
' "$profiles"/*.out || status=1
exit "$status"

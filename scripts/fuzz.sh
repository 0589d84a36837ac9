#!/usr/bin/env bash
# Run every native fuzz target under app, cmd, lab, wasmbinding, evmbinding and x for the given time each: fuzz.sh [20s]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fuzz_time=${1:-20s}
found=0
while IFS=: read -r file declaration; do
	found=1
	target=${declaration#func }
	target=${target%%(*}
	echo "fuzzing $target in ${file%/*} for $fuzz_time"
	scripts/gomods.sh run "./${file%/*}" -- go test -run '^$' -fuzz "^$target\$" -fuzztime "$fuzz_time" -fuzzminimizetime 20x
done < <(grep -rE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*\(' app cmd lab wasmbinding evmbinding x 2>/dev/null | LC_ALL=C sort)

if ((!found)); then
	echo "fuzz: no fuzz targets under app, cmd, lab, wasmbinding, evmbinding and x" >&2
	exit 1
fi

#!/usr/bin/env bash
# Print what a chain takes over that imports x/timers: the least versions of Go and the SDK, the Go modules of the packages
# that are compiled in, and their number.
#
#   scripts/inherit.sh          print it
#   scripts/inherit.sh check    fail unless it is what x/timers/docs/extend/inherit.txt says
#   scripts/inherit.sh write    write that file
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../x/timers"

# The packages that a chain imports to wire the module. Those below testutil are for tests alone.
wired=(. ./actors ./authz ./fees ./keeper ./module/v1 ./types ./watch)

inherit() {
	go mod edit -json | awk -F '"' '/^\t"Go"/ { print "Go " $4 }'
	echo "SDK $(go list -m -f '{{.Version}}' github.com/cosmos/cosmos-sdk)"
	go list -deps -f '{{if .Module}}{{.Module.Path}} {{.Module.Version}}{{end}}' "${wired[@]}" | LC_ALL=C sort |
		awk '$1 != "github.com/cosmos-timers/timers/x/timers" { count[$1 " " $2]++; packages++ } $1 == "github.com/cosmos-timers/timers/x/timers" { own++ }
			END { printf "%d packages of the module\n%d packages of %d Go modules:\n", own, packages, length(count)
				for (m in count) print m " " count[m] | "LC_ALL=C sort" }'
}

case ${1:-print} in
print) inherit ;;
check) diff <(inherit) docs/extend/inherit.txt || { echo "inherit: run scripts/inherit.sh write, and say why in the commit" >&2; exit 1; } ;;
write) inherit >docs/extend/inherit.txt ;;
*)
	echo "usage: inherit.sh [print|check|write]" >&2
	exit 2
	;;
esac

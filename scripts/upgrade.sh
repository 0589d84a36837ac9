#!/usr/bin/env bash
# Try the upgrade v2 on a real node (testutil/upgrade). The binary of version 1 is built once, from the commit at which the
# states of version 1 were made.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

states=x/timers/testdata/state/v1
commit=$(sed -nE 's/^The files were made at commit ([0-9a-f]{40}).*/\1/p' "$states/README.md")
old=build/timerd-$commit
if [[ ! -x $old ]]; then
	source=$(mktemp -d)
	trap 'rm -rf "$source"' EXIT
	git archive "$commit" | tar -x -C "$source"
	version=github.com/cosmos/cosmos-sdk/version
	(cd "$source" && go build -buildvcs=false -ldflags "-w -X $version.Name=timerd -X $version.AppName=timerd" -o timerd ./cmd/timerd)
	mv "$source/timerd" "$old"
fi
go run ./testutil/upgrade -old "$old" -new build/timerd -state "$states/storm"

#!/usr/bin/env bash
# Test x/timers with a later release line of the SDK: copy it to build/, rewrite the import paths that moved, raise the
# versions, and run its tests there. The first run downloads and compiles that SDK.
#
#   scripts/nextsdk.sh LINE [PACKAGE...]    LINE is 0.54 or 0.55; without packages all of them
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

line=${1:?usage: nextsdk.sh LINE [PACKAGE...]}
shift
sdk=github.com/cosmos/cosmos-sdk
case $line in
0.54) versions=("$sdk@v0.54.4" github.com/cosmos/cosmos-sdk/store/v2@v2.0.0 cosmossdk.io/log/v2@v2.1.0 cosmossdk.io/client/v2@v2.11.0) ;;
0.55) versions=("$sdk@v0.55.0" cosmossdk.io/client/v2@v2.11.0) ;;
*)
	echo "nextsdk: no versions are known for the line $line" >&2
	exit 2
	;;
esac

copy=build/sdk-$line
rm -rf "$copy"
mkdir -p "$copy/x" "$copy/testutil"
cp -r x/timers "$copy/x/timers"
# The tests of documents read these.
cp -r proto wasmbinding README.md CONTRIBUTING.md "$copy/"
cp -r testutil/{subscriptions,smallest,counters} "$copy/testutil/"
cd "$copy/x/timers"

# Import paths, as they moved between the lines.
find . -name '*.go' -exec sed -i -E \
	-e 's#"cosmossdk\.io/log"#"cosmossdk.io/log/v2"#' \
	-e 's#"cosmossdk\.io/store(/[a-z/]+)?"#"github.com/cosmos/cosmos-sdk/store/v2\1"#' \
	-e 's#"cosmossdk\.io/x/feegrant(/[a-z/]+)?"#"github.com/cosmos/cosmos-sdk/x/feegrant\1"#' {} +
# The stores of these lines have neither metrics nor traces.
find . -name '*.go' -exec sed -i -e '/"github.com\/cosmos\/cosmos-sdk\/store\/v2\/metrics"/d' -e 's/, metrics\.NewNoOpMetrics()//' {} +
sed -e 's#"cosmossdk\.io/store/types"#"github.com/cosmos/cosmos-sdk/store/v2/types"#' ../../../../scripts/nextsdk/trace.go.txt >sandbox/branch/trace.go
rm sandbox/branch/trace_test.go
# Their x/bank has a store of objects, and they run transactions side by side.
sed -i -e 's/^\tc\.Bank = bankkeeper\.NewBaseKeeper(.*)$/&.WithObjStoreKey(objects)/' \
	-e 's/^\tc\.store\.MountStoreWithDB(notes, .*/&\n\tc.store.MountStoreWithDB(objects, storetypes.StoreTypeObject, nil)/' lab/chain.go
cp ../../../../scripts/nextsdk/objects.go.txt lab/objects.go
cp ../../../../scripts/nextsdk/lines_test.go.txt lab/lines_test.go
go mod edit -droprequire cosmossdk.io/log -droprequire cosmossdk.io/store -droprequire cosmossdk.io/x/feegrant
# Indirect requirements of the old line would hold the new one back.
go mod edit -json | awk -F '"' '/"Path"/ { path = $4 } /"Indirect": true/ { print path }' |
	while read -r path; do go mod edit -droprequire "$path"; done
# Adds what is missing to go.mod as it is needed: tidying would download what only tests of dependencies need.
export GOFLAGS=-mod=mod
go mod edit -go "$(go env GOVERSION | sed 's/^go//')"
go get "${versions[@]}"
# What holds go.mod to the line 0.53 does not apply.
rm -f gomod_test.go
if (($# == 0)); then set -- ./...; fi
go vet "$@"
go test -timeout 40m "$@"

#!/usr/bin/env bash
# Test the module with a later release line of the SDK: copy x/timers, lab, wasmbinding, evmbinding and the example apps
# to build/, rewrite the import paths and calls that moved, raise the versions, and run their tests there. The first run
# downloads and compiles that SDK.
#
#   scripts/nextsdk.sh LINE [PACKAGE...]    LINE is 0.54 or 0.55; PACKAGE names some packages of x/timers, ./dir/...,
#                                           or is "chains": wasmbinding, evmbinding and the example apps alone, which
#                                           are known to run up to 0.54. All by default.
#   scripts/nextsdk.sh LINE node            test evmbinding's chain as a node, by JSON-RPC (needs Node.js)
#   scripts/nextsdk.sh LINE -short          vet x/timers, and run the tests of the packages that use the SDK most, on 0.55
#                                           without guests
#   scripts/nextsdk.sh LINE -download       download what -short compiles
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

line=${1:?usage: nextsdk.sh LINE [-short | -download | chains | node | PACKAGE...]}
shift
mode=all packages=(./...)
case ${1-} in
'') ;;
-short | -download | chains | node) mode=${1#-} ;;
./*) mode=packages packages=("$@") ;;
*)
	echo "nextsdk: $1: want -short, -download, chains, node, or packages of x/timers as ./keeper/..." >&2
	exit 2
	;;
esac
sdk=github.com/cosmos/cosmos-sdk
case $line in
0.54)
	versions=("$sdk@v0.54.4" "$sdk/store/v2@v2.0.0" cosmossdk.io/log/v2@v2.1.0 cosmossdk.io/client/v2@v2.11.0)
	wasmd=github.com/CosmWasm/wasmd@v0.70.3
	evm=github.com/cosmos/evm@v0.7.3
	ibc=github.com/cosmos/ibc-go/v11@v11.1.0
	;;
0.55)
	versions=("$sdk@v0.55.0" cosmossdk.io/client/v2@v2.11.0)
	wasmd='' evm=''
	;;
*)
	echo "nextsdk: no versions are known for the line $line" >&2
	exit 2
	;;
esac
if [[ $mode == node && -z $evm ]]; then
	echo "nextsdk: no cosmos/evm is known for the line $line" >&2
	exit 2
fi

files=$PWD/scripts/nextsdk
copy=build/sdk-$line
if [[ $mode == short || $mode == download ]]; then copy+=-short; fi
rm -rf "$copy"
mkdir -p "$copy/x" "$copy/testutil"
cp -r x/timers "$copy/x/timers"
if [[ $mode != short && $mode != download ]]; then
	# The tests of documents read these too.
	tar -c --exclude=node_modules proto lab wasmbinding evmbinding README.md CONTRIBUTING.md go.{mod,sum} |
		tar -x -C "$copy"
	cp -r testutil/{subscriptions,smallest,counters,exampleapp,contracts} "$copy/testutil/"
fi
cd "$copy"

edit() { # edit SED-OPTION... in all Go files
	find . -name '*.go' -exec sed -i -E "$@" {} +
}

# Import paths, as they moved between the lines.
edit -e 's#"cosmossdk\.io/log"#"cosmossdk.io/log/v2"#' \
	-e "s#\"cosmossdk\.io/store(/[a-z/]+)?\"#\"$sdk/store/v2\1\"#" \
	-e "s#\"cosmossdk\.io/x/(feegrant|upgrade)(/[a-z/]+)?\"#\"$sdk/x/\1\2\"#"
# The stores of these lines have neither metrics nor traces.
edit -e "\#\"$sdk/store/v2/metrics\"#d" -e 's/, metrics\.NewNoOpMetrics\(\)//'
sed -e "s#\"cosmossdk\.io/store/types\"#\"$sdk/store/v2/types\"#" "$files/trace.go.txt" >x/timers/sandbox/branch_trace.go
rm x/timers/sandbox/branch_trace_test.go
# Their x/bank has a store of objects, and they run transactions side by side.
sed -i -e 's/^\tc\.Bank = bankkeeper\.NewBaseKeeper(.*)$/&.WithObjStoreKey(objects)/' \
	-e 's/^\tif err := c\.store\.LoadLatestVersion().*/\tc.store.MountStoreWithDB(objects, storetypes.StoreTypeObject, nil)\n&/' \
	x/timers/testutil/lab/chain.go
if [[ $(grep -c '(objects' x/timers/testutil/lab/chain.go) != 2 ]]; then
	echo "nextsdk: the lab's chain got no store of objects" >&2
	exit 1
fi
cp "$files/objects.go.txt" x/timers/testutil/lab/objects.go
for test in lines parallel authority; do cp "$files/${test}_test.go.txt" "x/timers/testutil/lab/${test}_test.go"; done
# From 0.55 on there is no sign mode textual.
if [[ $line == 0.55 ]]; then rm x/timers/types/signing_textual_test.go; fi
# Applications: the same, x/bank first among the end blockers, and how votes are counted is an argument of x/gov.
rewrite_apps() {
	for app in before after; do
		sed -i -E -e '/^\t"io"$/d' -e 's/ traceStore io\.Writer,//' -e '/SetCommitMultiStoreTracer/d' \
			-e '/keys\[govtypes\.StoreKey\]/s/ app\.StakingKeeper,$//' \
			-e 's/govtypes\.DefaultConfig\(\), authority/&, govkeeper.NewDefaultCalculateVoteResultsAndVotingPower(app.StakingKeeper)/' \
			-e 's/BlockedAddresses\(\), authority, app\.Logger\(\)\)/&.WithObjStoreKey(objects)/' \
			-e 's/^\tapp\.MountKVStores\(keys\)/&\n\tapp.MountObjectStores(map[string]*storetypes.ObjectStoreKey{objects.Name(): objects})/' \
			-e 's/^\tapp\.ModuleManager\.SetOrderEndBlockers\(/&\n\t\tbanktypes.ModuleName,/' "testutil/exampleapp/$app/app.go"
		sed -e 's/^package lab/package app/' "$files/objects.go.txt" >"testutil/exampleapp/$app/objects.go"
	done
	sed -i -e 's/db, nil, true,/db, true,/' testutil/exampleapp/after/app_test.go
	sed -i -e 's/builder\.Build(db, nil, /builder.Build(db, /' \
		-e 's/^\t\t\tEndBlockers: \[\]string{/&\n\t\t\t\tbanktypes.ModuleName,/' testutil/exampleapp/byconfig/app.go
	for test in order gmp stm; do cp "$files/${test}_test.go.txt" "testutil/exampleapp/after/${test}_test.go"; done
}
if [[ -d testutil/exampleapp ]]; then rewrite_apps; fi
# What holds go.mod, documents, frozen blocks and golden output to the line 0.53 does not apply: a fire takes a few units
# of gas more.
rm -f {x/timers,wasmbinding}/gomod_test.go
# What x/feegrant 0.2.0 does wrong is mended in theirs.
left_out='TestTheDocumented(Wiring|Module)|TestDocumentedWiring_|TestFeegrant020_Deletes'
left_out+='|TestScenarios(PrintTheirGoldenOutput|_BlocksAreFrozen)'
if [[ $line == 0.54 && -d evmbinding ]]; then (cd evmbinding && . "$files/evm.sh"); fi

# raise states the versions of the line in the go.mod of a directory. What is missing there is added as it is needed:
# tidying would download what only tests of dependencies need.
export GOFLAGS=-mod=mod
raise() { # raise DIRECTORY MODULE@VERSION...
	local dir=$1 path out
	shift
	(
		cd "$dir"
		for path in cosmossdk.io/{log,store,x/feegrant,x/upgrade,x/evidence,x/tx} github.com/cosmos/ibc-go/v10; do
			go mod edit -droprequire "$path"
		done
		# Indirect requirements of the old line would hold the new one back.
		go mod edit -json | awk -F '"' '/"Path"/ { path = $4 } /"Indirect": true/ { print path }' |
			while read -r path; do go mod edit -droprequire "$path"; done
		go mod edit -go "$(go env GOVERSION | sed 's/^go//')"
		if ! out=$(go get "$@" 2>&1); then
			echo "$out" >&2
			exit 1
		fi
	)
}

# Run the tests of packages as `make check` does: without a vet of their own, and without debug information.
run_tests() { GOGC=300 go test -ldflags='-s -w' -vet=off -timeout 40m -skip "$left_out" "$@"; }

if [[ $mode == node ]]; then
	raise evmbinding "${versions[@]}" "$evm"
	raise evmbinding/testutil/evmapp "${versions[@]}" "$evm"
	cd evmbinding/testutil/evmapp
	go build -ldflags='-s -w' -o evmappd ./cmd/evmappd
	export EVMAPPD=$PWD/evmappd
	cd nodetest
	npm ci --no-audit --no-fund --silent
	npm test
	exit
fi
raise x/timers "${versions[@]}"
case $mode in
download)
	(cd x/timers && go list -deps -test ./... >/dev/null)
	exit
	;;
short)
	# Those of blocks and their state, of genesis and of messages; the lab's run transactions by BlockSTM. On the last line
	# they run without guests (make test-core).
	guests=with tags=
	if [[ $line == 0.55 ]]; then guests=without tags=noguests; fi
	cd x/timers
	go vet ./...
	run_tests -tags "$tags" ./engine/... ./keeper ./testutil/lab
	echo "SDK $line: x/timers compiles, and its short tests pass $guests guests (make sdk${line/0./} runs all)"
	exit
	;;
all | packages)
	cd x/timers
	go vet "${packages[@]}"
	run_tests "${packages[@]}"
	cd ../..
	;;
esac
if [[ $mode == packages ]]; then exit; fi
raise lab "${versions[@]}"
if [[ $mode == all ]]; then (cd lab && go vet ./... && run_tests ./...); fi

if [[ -z $wasmd ]]; then
	echo "SDK $line: contracts, the EVM and the example apps are left out: no wasmd and no cosmos/evm are known for it"
	exit
fi
raise wasmbinding "${versions[@]}" "$wasmd"
(cd wasmbinding && go vet . && run_tests .)
raise . "${versions[@]}" "$wasmd" "$ibc"
apps=(./testutil/exampleapp/{after,byconfig,withcontracts})
go vet "${apps[@]}"
run_tests "${apps[@]}"
for dir in evmbinding{,/testutil/evmapp}; do
	raise "$dir" "${versions[@]}" "$evm"
	(cd "$dir" && go vet ./... && run_tests ./...)
done

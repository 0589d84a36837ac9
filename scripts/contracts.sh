#!/usr/bin/env bash
# Builds the contracts again and compares them with the committed ones in testutil/contracts, then checks each as chains do
# when it is stored. clients/rust/build.sh says which compiler it takes; cosmwasm-check comes from crates.io and is built
# once, which takes some minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
committed=testutil/contracts rebuilt=build/contracts

(cd "$committed" && sha256sum --check --quiet SHA256SUMS)
rm -rf "$rebuilt"
bash clients/rust/build.sh "$rebuilt"
if ! diff "$committed/SHA256SUMS" "$rebuilt/SHA256SUMS"; then
	echo "contracts.sh: the sources of clients/rust compile to other bytes than the committed ones" \
		"(bash clients/rust/build.sh writes them)" >&2
	exit 1
fi

# The version is that of wasmvm in go.mod. Its wasmer names a symbol that Rust 1.92 and later do not have and that checks
# never call; they compile contracts and run none.
version=3.0.7
grep -q "CosmWasm/wasmvm/v3 v$version\b" go.mod || {
	echo "contracts.sh: cosmwasm-check $version is not the version of wasmvm in go.mod" >&2
	exit 1
}
root=build/tools/cosmwasm-check-$version
if [[ ! -x $root/bin/cosmwasm-check ]]; then
	RUSTFLAGS='-C link-arg=-Wl,--defsym=__rust_probestack=0' CARGO_TARGET_DIR=build/cosmwasm-check \
		cargo install cosmwasm-check --version "$version" --locked --quiet --root "$root"
	rm -rf build/cosmwasm-check
fi
# What chains offer with CosmWasm 2.0 or later and the binding.
capabilities=iterator,staking,stargate,cosmwasm_1_1,cosmwasm_1_2,cosmwasm_1_3,cosmwasm_1_4,cosmwasm_2_0,timers
"$root/bin/cosmwasm-check" --available-capabilities "$capabilities" "$committed"/*.wasm
echo "the committed contracts are what clients/rust compiles to, and pass"

#!/usr/bin/env bash
# Builds the contracts of contracts/ and fixtures/ to wasm: bash build.sh [DIRECTORY] writes them there, by default to
# testutil/contracts, each as small as wasm-opt makes it, with their checksums. Tests in Go take the committed files and
# need no Rust.
#
# Another compiler makes other bytes, so the tools are pinned. They are Debian 12's, with its security updates (apt
# install rustc-web cargo-web rust-web-src lld binaryen). These have the sources of the standard library but not the
# library for wasm; it is built here. target-cpu=mvp keeps out what x/wasm refuses: reference types and bulk memory.
# RUSTC, CARGO, WASM_OPT and WASM_LD name tools elsewhere; CARGO_TARGET_DIR where to build.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
out=$(realpath -m "${1:-$here/../../testutil/contracts}")
cd "$here"
RUSTC=${RUSTC:-/usr/bin/rustc} CARGO=${CARGO:-/usr/bin/cargo} WASM_OPT=${WASM_OPT:-wasm-opt} WASM_LD=${WASM_LD:-wasm-ld}

pinned() { # pinned WANT PACKAGE COMMAND...: the command prints WANT first
	local want=$1 package=$2 have
	have=$("${@:3}" 2>/dev/null | head -1) || true
	if [[ "$have " != "$want "* ]]; then
		echo "build.sh: ${*:3} prints '${have:-nothing}', want '$want' (Debian 12's $package)" >&2
		exit 1
	fi
}
pinned 'rustc 1.96.0' rustc-web "$RUSTC" --version
pinned 'cargo 1.96.0' cargo-web "$CARGO" --version
pinned 'wasm-opt version 108' binaryen "$WASM_OPT" --version
pinned 'Debian LLD 14.0.6' lld "$WASM_LD" --version
library=$("$RUSTC" --print sysroot)/lib/rustlib/src/rust/library
[[ -f $library/Cargo.toml ]] || {
	echo "build.sh: no sources of the standard library in $library (Debian 12's rust-web-src)" >&2
	exit 1
}

export RUSTC RUSTC_BOOTSTRAP=1
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}
target=wasm32-unknown-unknown
"$CARGO" fetch --locked --quiet --target "$target"
# Where crates and this directory are on this machine must not be in the code.
# A panic stops the VM as it is: without its message, which the VM does not show, the code is a sixth smaller.
RUSTFLAGS="-Z unstable-options -C panic=immediate-abort -C target-cpu=mvp -C linker=$WASM_LD"
RUSTFLAGS+=" -C link-arg=--allow-undefined --remap-path-prefix=$PWD=."
for registry in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
	RUSTFLAGS+=" --remap-path-prefix=$registry=crates"
done
export RUSTFLAGS

mkdir -p "$out"
contracts=()
for manifest in contracts/*/Cargo.toml fixtures/*/Cargo.toml; do
	contract=$(basename "$(dirname "$manifest")")
	contracts+=("$contract")
	# As a cdylib alone, so that it is linked with LTO.
	"$CARGO" rustc --locked --quiet --release --lib --crate-type cdylib --target "$target" -p "timers-$contract" \
		-Z build-std=std,panic_abort -Z build-std-features=
	"$WASM_OPT" -Oz -o "$out/$contract.wasm" "$CARGO_TARGET_DIR/$target/release/timers_$contract.wasm"
done
(cd "$out" && printf '%s.wasm\n' "${contracts[@]}" | sort | xargs sha256sum >SHA256SUMS)

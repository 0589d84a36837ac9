#!/usr/bin/env bash
# Builds the contracts to wasm: bash build.sh DIRECTORY writes them there, each as small as wasm-opt makes it, with their
# checksums. Another compiler makes other bytes.
#
# The compiler is Debian's (apt install rustc-web cargo-web rust-web-src lld binaryen), which has the sources of the standard
# library but not the library for wasm; it is built here. target-cpu=mvp keeps out what x/wasm refuses: reference types and
# bulk memory. RUSTC, CARGO and WASM_OPT name other tools; CARGO_TARGET_DIR where to build.
set -euo pipefail
out=$(realpath -m "${1:?the directory to write to}")
cd "$(dirname "${BASH_SOURCE[0]}")"
mkdir -p "$out"

export RUSTC=${RUSTC:-/usr/bin/rustc} RUSTC_BOOTSTRAP=1
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-../target}
export RUSTFLAGS="-C target-cpu=mvp -C linker=wasm-ld -C link-arg=--allow-undefined --remap-path-prefix=$HOME=~ --remap-path-prefix=$PWD=."
target=wasm32-unknown-unknown

contracts=()
for manifest in */Cargo.toml; do
	name=$(dirname "$manifest")
	contract=timers_$name
	contracts+=("$contract")
	# As a cdylib alone, so that it is linked with LTO.
	"${CARGO:-/usr/bin/cargo}" rustc --locked --release --lib --crate-type cdylib --target "$target" -p "timers-$name" \
		-Z build-std=std,panic_abort -Z build-std-features=
	"${WASM_OPT:-wasm-opt}" -Oz -o "$out/$contract.wasm" "$CARGO_TARGET_DIR/$target/release/$contract.wasm"
done
(cd "$out" && sha256sum "${contracts[@]/%/.wasm}" >SHA256SUMS)

#!/usr/bin/env bash
# Builds the contract to artifacts/{{crate_name}}.wasm.
#
# x/wasm refuses reference types and bulk memory, which Rust's own library for wasm has since 1.82. So the library is built
# too, from its sources (rustup component add rust-src; on Debian 12 apt install rustc-web cargo-web rust-web-src lld).
# RUSTC and CARGO name another toolchain. With wasm-opt (binaryen) the contract is a tenth smaller.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

has_sources() { [[ -f $("$1" --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library/Cargo.toml ]]; }
rustc=${RUSTC:-rustc} cargo=${CARGO:-cargo}
if ! has_sources "$rustc"; then
	rustc=/usr/bin/rustc cargo=/usr/bin/cargo
	has_sources "$rustc" || {
		echo "build.sh: no sources of Rust's standard library: rustup component add rust-src" >&2
		exit 1
	}
fi
flags="-C target-cpu=mvp -C link-arg=--allow-undefined"
if command -v wasm-ld >/dev/null; then flags+=" -C linker=wasm-ld"; fi
target=wasm32-unknown-unknown
RUSTC=$rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS=$flags "$cargo" rustc --release --lib --crate-type cdylib --target "$target" \
	-Z build-std=std,panic_abort -Z build-std-features=
mkdir -p artifacts
built=${CARGO_TARGET_DIR:-target}/$target/release/{{crate_name}}.wasm
if command -v wasm-opt >/dev/null; then
	wasm-opt -Oz -o artifacts/{{crate_name}}.wasm "$built"
else
	cp "$built" artifacts/{{crate_name}}.wasm
fi
ls -l artifacts/{{crate_name}}.wasm

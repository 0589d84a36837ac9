#!/usr/bin/env bash
# Builds the tests' contracts: bash build.sh [DIRECTORY] writes them there, by default beside this script, with their
# checksums. The compiler is Debian 12's (apt install rustc libstd-rust-dev-wasm32 lld-14), version 1.63.0: another one
# makes other bytes. Tests take the committed files and need no Rust.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
out=${1:-.}

rustc=${RUSTC:-/usr/bin/rustc}
want="rustc 1.63.0"
have=$("$rustc" --version 2>/dev/null || echo "no $rustc")
if [[ $have != "$want"* ]]; then
	echo "build.sh: have $have, want $want of Debian 12 (RUSTC=path names another)" >&2
	exit 1
fi
mkdir -p "$out"
contracts=(council heartbeat hostile listener treasury witness)
for contract in "${contracts[@]}"; do
	"$rustc" --edition 2021 --crate-type cdylib --crate-name "$contract" --target wasm32-unknown-unknown \
		-C opt-level=s -C panic=abort -C lto=fat -C codegen-units=1 -C strip=symbols -C overflow-checks=yes \
		-C linker=wasm-ld-14 --remap-path-prefix="$PWD=." -o "$out/$contract.wasm" "src/$contract.rs"
done
(cd "$out" && sha256sum "${contracts[@]/%/.wasm}" >SHA256SUMS)

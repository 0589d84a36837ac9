#!/usr/bin/env bash
# Checks the Rust crates: format, lint, tests; and the template: what is made of it is formatted, passes lint and its
# tests, and writes its schema. The first run downloads crates and compiles them, some minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../clients/rust"

command -v cargo >/dev/null || {
	echo "rust.sh: cargo is not installed: want Rust 1.85 or later (https://rustup.rs)" >&2
	exit 1
}
missing=()
cargo fmt --version >/dev/null 2>&1 || missing+=(rustfmt)
cargo clippy --version >/dev/null 2>&1 || missing+=(clippy)
if ((${#missing[@]})); then
	echo "rust.sh: $(cargo --version) has no ${missing[*]}: rustup component add ${missing[*]}" >&2
	exit 1
fi

step() { # step NAME COMMAND...
	local start=$SECONDS
	echo "== rust: $1"
	"${@:2}"
	echo "== rust: $1 took $((SECONDS - start)) s"
}
step format cargo fmt --all --check
step lint cargo clippy --quiet --locked --workspace --all-targets --all-features -- -D warnings
step test cargo test --quiet --locked --workspace --all-features

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
bash render.sh "$made/first-contract"
if cargo generate --version >/dev/null 2>&1; then
	mkdir "$made/generated"
	cargo generate --silent --vcs none --path template --name first-contract --define "timers=$(realpath ../..)" \
		--destination "$made/generated" >/dev/null
	step "cargo generate makes the same" diff -r --exclude Cargo.lock "$made/first-contract" "$made/generated/first-contract"
fi
# With the crates that are built already.
cp Cargo.lock "$made/first-contract/"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
cd "$made/first-contract"
step "template: format" cargo fmt --check
step "template: lint" cargo clippy --quiet --all-targets -- -D warnings
step "template: test" cargo test --quiet
step "template: schema" cargo run --quiet --bin schema
for message in instantiate execute query; do
	[[ -s schema/raw/$message.json ]] || { echo "rust.sh: the template writes no schema/raw/$message.json" >&2; exit 1; }
done

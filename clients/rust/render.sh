#!/usr/bin/env bash
# Makes a contract of template/ as `cargo generate --path clients/rust/template` does, without cargo-generate:
# bash render.sh DIRECTORY/NAME. Its crates come from this checkout. NAME has lower-case letters, digits and dashes.
set -euo pipefail
out=$(realpath -m "${1:?the directory to make}")
cd "$(dirname "${BASH_SOURCE[0]}")"
name=$(basename "$out") checkout=$(realpath ../..)
[[ $name =~ ^[a-z][a-z0-9-]*$ ]] || { echo "render.sh: $name is no name of a crate" >&2; exit 1; }
[[ ! -e $out ]] || { echo "render.sh: $out exists" >&2; exit 1; }
mkdir -p "$(dirname "$out")"
cp -r template "$out"
rm "$out/cargo-generate.toml"
find "$out" -type f -exec sed -i -E \
	-e 's/\{% if timers == "" %\}.*\{% else %\}(.*)\{% endif %\}/\1/' \
	-e "s|\{\{timers\}\}|$checkout|g; s/\{\{project-name\}\}/$name/g; s/\{\{crate_name\}\}/${name//-/_}/g" {} +

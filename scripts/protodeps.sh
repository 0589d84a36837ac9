#!/usr/bin/env bash
# Copy the .proto files ours import from the Go module cache into .protodeps/, so that buf needs no network.
# Versions come from the module's go.mod, so that its protos need nothing newer than its Go code does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

deps_dir=.protodeps
module_dir=x/timers
# name under .protodeps/, Go module, directory inside the module, subdirectories to take
sources=(
	"cosmos-sdk   github.com/cosmos/cosmos-sdk           proto                  amino cosmos tendermint"
	"gogoproto    github.com/cosmos/gogoproto            .                      gogoproto"
	"cosmos-proto github.com/cosmos/cosmos-proto         proto                  cosmos_proto"
	"googleapis   github.com/grpc-ecosystem/grpc-gateway third_party/googleapis google"
)

module_version() { # read from go.mod alone: works before the module graph is complete
	local version
	version=$(awk -v module="$1" '$1 == module { print $2; exit } $1 == "require" && $2 == module { print $3; exit }' $module_dir/go.mod)
	[[ $version == v* ]] || { echo "protodeps: $module_dir/go.mod does not require $1" >&2; return 1; }
	echo "$version"
}

stamp=""
for source in "${sources[@]}"; do
	read -r _ module _ <<<"$source"
	version=$(module_version "$module")
	stamp+="$module@$version"$'\n'
done
stamp+=$(sha256sum scripts/protodeps.sh)

if [[ -f $deps_dir/.stamp && $(<"$deps_dir/.stamp") == "$stamp" ]]; then
	exit 0
fi

# Downloads are verified against a copy of go.sum: the real one must not change under a build step.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$module_dir/go.mod" "$module_dir/go.sum" "$scratch/"

rm -rf "$deps_dir"
for source in "${sources[@]}"; do
	read -r name module root subdirs <<<"$source"
	version=$(module_version "$module")
	dir=$(go mod download -modfile="$scratch/go.mod" -json "$module@$version" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')
	[[ -d $dir ]] || { echo "protodeps: cannot download $module@$version" >&2; exit 1; }
	for subdir in $subdirs; do
		while IFS= read -r -d '' file; do
			target=$deps_dir/$name/${file#"$dir/$root/"}
			mkdir -p "${target%/*}"
			# Not cp: files in the module cache are read-only, copies should not be.
			cat "$file" >"$target"
		done < <(find "$dir/$root/$subdir" -name '*.proto' -print0)
	done
done
echo "$stamp" >"$deps_dir/.stamp"

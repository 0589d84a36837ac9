#!/usr/bin/env bash
# Builds the release of the committed state twice, each from a clone in a directory of its own with an empty build cache, and
# compares the checksums: scripts/reproduce.sh [SHA256SUMS]
#
# With SHA256SUMS of a published release, that is compared too. It takes as long as two first builds.
#
# MODCACHE=own   the second build has a module cache of its own too, filled from the first one's downloads
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
published=${1:+$(realpath "$1")}
version=${VERSION:-$(git describe --tags --match 'v*' --always | sed 's/^v//')}
# Builds take long: what is committed meanwhile is in neither.
commit=$(git rev-parse HEAD)
git diff --quiet HEAD || echo "reproduce: what is not committed is left out" >&2
dir=$(mktemp -d)
# The module cache is read-only.
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT

build() { # build NAME [VARIABLE=VALUE...]: a release in a directory whose name is NAME
  local clone=$dir/$1
  shift
  git clone --quiet --no-hardlinks --no-checkout "$root" "$clone"
  git -C "$clone" checkout --quiet --detach "$commit"
  # The generators of code are no part of the release: they need not be built anew.
  mkdir -p "$clone/build"
  if [[ -d build/tools ]]; then cp -a "$(realpath build/tools)" "$clone/build/tools"; fi
  (cd "$clone" && env VERSION="$version" GOCACHE="$clone.cache" "$@" scripts/release.sh >/dev/null)
  rm -rf "$clone.cache"
  cat "$clone/build/release/SHA256SUMS"
}

echo "first build"
build one
echo "second build"
if [[ ${MODCACHE:-} == own ]]; then
  build directory/with-a-longer-name GOMODCACHE="$dir/modules" GOPROXY="file://$(go env GOMODCACHE)/cache/download" GOSUMDB=off
else
  build directory/with-a-longer-name
fi
sums() { cat "$dir/$1/build/release/SHA256SUMS"; }
if ! diff <(sums one) <(sums directory/with-a-longer-name); then
  echo "reproduce: the two builds differ" >&2
  exit 1
fi
if [[ -n $published ]] && ! diff "$published" <(sums one); then
  echo "reproduce: the published release differs" >&2
  exit 1
fi
echo "the builds are the same"

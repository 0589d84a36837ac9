#!/usr/bin/env bash
# Writes a release to build/release: an archive with timerd, the library that runs contracts, and the licences, and its
# checksums. The binary finds the library beside itself and needs neither Go nor the module cache.
#
# Paths are trimmed, and times, owners and the order of the archive are fixed, so that builds can be compared. One path stays:
# that of the module cache, which cgo's flags of wasmvm put into the binary's search path. Compare builds with the same cache.
#
# VERSION        of the binary (default: git describe)
# RELEASE_FLAGS  for go build (default -trimpath)
set -euo pipefail
cd "$(dirname "$0")/.."

version=${VERSION:-$(git describe --tags --always --dirty | sed 's/^v//')}
commit=$(git rev-parse HEAD)
arch=$(go env GOARCH)
[[ $(go env GOOS) == linux ]] || { echo "release: only Linux is supported" >&2; exit 1; }
case $arch in
amd64) library=libwasmvm.x86_64.so ;;
arm64) library=libwasmvm.aarch64.so ;;
*) echo "release: no contracts' library for $arch" >&2; exit 1 ;;
esac
name=timerd-$version-linux-$arch
out=build/release
rm -rf "$out"
mkdir -p "$out/$name"

pkg=github.com/cosmos/cosmos-sdk/version
# The dynamic linker reads $ORIGIN: it looks for the library beside the binary.
# shellcheck disable=SC2086 # the flags are words
go build ${RELEASE_FLAGS--trimpath} -buildvcs=false -o "$out/$name/timerd" \
  -ldflags "-s -w -buildid= -X $pkg.Name=timerd -X $pkg.AppName=timerd -X $pkg.Version=$version -X $pkg.Commit=$commit -extldflags '-Wl,-rpath,\$ORIGIN -Wl,--build-id=none'" \
  ./cmd/timerd
cp "$(go list -m -f '{{.Dir}}' github.com/CosmWasm/wasmvm/v3)/internal/api/$library" "$out/$name/$library"
chmod 755 "$out/$name/timerd" "$out/$name/$library"
cp LICENSE CHANGELOG.md SECURITY.md "$out/$name/"
# What it was built from: each module with its version and checksum, as the binary itself states them.
go version -m "$out/$name/timerd" | sed "s#^$out/$name/##" >"$out/$name/modules.txt"

tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -C "$out" -cf - "$name" | gzip -n9 >"$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" >SHA256SUMS)
echo "$out/$name.tar.gz"
cat "$out/SHA256SUMS"

#!/usr/bin/env bash
# Writes a release to build/release: an archive with timerd, the library that runs contracts, and the licences; a bill of
# materials; an image of the proto files; and the checksums of these. The binary finds the library beside itself and needs
# neither Go nor the module cache.
#
# The same commit gives the same bytes, whatever the directory, the caches and the time: paths are trimmed, the library is
# linked by its name, and times, owners and the order of the archive are fixed. scripts/reproduce.sh tries it.
#
# Run `make before-release` on the commit first: it runs the tests in their long forms, which `make check` leaves out.
#
# VERSION        of the binary (default: git describe)
# RELEASE_FLAGS  for go build (default -trimpath)
set -euo pipefail
cd "$(dirname "$0")/.."

version=${VERSION:-$(git describe --tags --match 'v*' --always --dirty | sed 's/^v//')}
commit=$(git rev-parse HEAD)
arch=$(go env GOARCH)
[[ $(go env GOOS) == linux ]] || { echo "release: only Linux is supported" >&2; exit 1; }
case $arch in
amd64) library=libwasmvm.x86_64.so ;;
arm64) library=libwasmvm.aarch64.so ;;
*) echo "release: no contracts' library for $arch" >&2; exit 1 ;;
esac
name=timerd-$version-linux-$arch
out=$PWD/build/release
rm -rf "$out"
mkdir -p "$out/$name"

# Without the tag sys_wasmvm the binary would search the builder's module cache for the library, before its own directory.
# With it the linker looks for libwasmvm.so where LIBRARY_PATH says.
wasmvm=github.com/CosmWasm/wasmvm/v3
go mod download $wasmvm
cp "$(go list -m -f '{{.Dir}}' $wasmvm)/internal/api/$library" "$out/$name/libwasmvm.so"
pkg=github.com/cosmos/cosmos-sdk/version
# The dynamic linker reads $ORIGIN: it looks for the library beside the binary.
# shellcheck disable=SC2086 # the flags are words
LIBRARY_PATH=$out/$name go build ${RELEASE_FLAGS--trimpath} -tags sys_wasmvm -buildvcs=false -o "$out/$name/timerd" \
  -ldflags "-s -w -buildid= -X $pkg.Name=timerd -X $pkg.AppName=timerd -X $pkg.Version=$version -X $pkg.Commit=$commit -extldflags '-Wl,-rpath,\$ORIGIN -Wl,--build-id=none'" \
  ./cmd/timerd
chmod 755 "$out/$name/timerd" "$out/$name/libwasmvm.so"
cp LICENSE CHANGELOG.md SECURITY.md "$out/$name/"
# With the same flags, so that what is compiled for the binary serves here too.
# shellcheck disable=SC2086
go run ${RELEASE_FLAGS--trimpath} ./scripts/sbom -version "$version" "$out/$name/timerd" "$out/$name/libwasmvm.so=$wasmvm" >"$out/$name/sbom.cdx.json"
cp "$out/$name/sbom.cdx.json" "$out/$name.cdx.json"
scripts/tools.sh
scripts/protodeps.sh
build/tools/buf build proto --exclude-source-info --output "$out/timers-v1.binpb"

# Modes too are fixed: a working copy's follow the builder's umask.
tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w --mtime="@$(git log -1 --format=%ct)" -C "$out" -cf - "$name" |
  gzip -n9 >"$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" "$name.cdx.json" timers-v1.binpb >SHA256SUMS)
echo "$out/$name.tar.gz"
cat "$out/SHA256SUMS"

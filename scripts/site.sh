#!/usr/bin/env bash
# Build the documentation site: site.sh VERSION, main or a release such as v0.2.0. It goes to build/site/VERSION;
# versions that were built before stay. SITE_BASE is the path below which all versions are served (default /).
#
# It needs Go and Node.js 20, and a network once for the packages of site/package-lock.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=${1:?want a version: main, or a release such as v0.2.0}
command -v npm >/dev/null || { echo "site: npm is missing: want Node.js 20" >&2; exit 1; }

go run ./site stage "$version"
src=build/site-src
if [[ ! site/node_modules/.package-lock.json -nt site/package-lock.json ]]; then
	(cd site && npm ci --no-audit --no-fund --silent)
	touch site/node_modules/.package-lock.json
fi
ln -sfn ../../site/node_modules "$src/node_modules"
cp "$(go env GOROOT)/lib/wasm/wasm_exec.js" "$src/public/simulator/"
GOOS=js GOARCH=wasm go build -trimpath -buildvcs=false -ldflags '-s -w' \
	-o "$src/public/simulator/simulator.wasm" ./site/simulator

rm -rf "build/site/$version"
(cd site && SITE_VERSION=$version npm run --silent build)
go run ./site finish "$version"
echo "built build/site/$version: serve build/site with any server of files, such as python3 -m http.server"

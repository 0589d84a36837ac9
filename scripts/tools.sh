#!/usr/bin/env bash
# Build the code generators pinned in tools/go.mod into build/tools/. Does nothing when they are already current.
#
# Do not run `go mod tidy` in tools/: it drops the genproto requirement that keeps grpc compiling.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stamp_file=build/tools/.stamp
stamp=$(go env GOVERSION GOOS GOARCH; cat tools/go.mod tools/go.sum)
if [[ -f $stamp_file && $(<"$stamp_file") == "$stamp" ]]; then
	exit 0
fi

echo "building code generators into build/tools (about 90 s the first time)" >&2
mkdir -p build/tools
rm -f "$stamp_file"
(cd tools && go build -buildvcs=false -o ../build/tools/ tool)
printf '%s\n' "$stamp" >"$stamp_file"

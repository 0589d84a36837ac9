#!/usr/bin/env bash
# Install the pinned golangci-lint into build/tools/, unless that version is already there.
# Built from source, which takes minutes of CPU: hence a script of its own, at low priority.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=v2.12.2
binary=build/tools/golangci-lint

if [[ -x $binary && $("$binary" version --short 2>/dev/null) == "${version#v}" ]]; then
	exit 0
fi

echo "building golangci-lint $version into build/tools (takes minutes)" >&2
mkdir -p build/tools
if ! output=$(GOBIN=$PWD/build/tools nice -n 15 \
	go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version" 2>&1); then
	printf '%s\n' "$output" >&2
	exit 1
fi

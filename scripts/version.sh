#!/usr/bin/env bash
# Writes the one number of a release everywhere, and prints its tags: scripts/version.sh 1.0.0-rc.1
# With --check it changes nothing, and fails if a place states another number than the file VERSION.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
go run ./scripts/version "$@"

#!/usr/bin/env bash
# Builds timerd and shows timers at work on a real node. Arguments go to the demo: -keep keeps the node's home.
set -euo pipefail
cd "$(dirname "$0")/.."

make --no-print-directory build
scripts/build.sh -trimpath -o build/demo ./testutil/demo
build/demo -timerd build/timerd "$@"

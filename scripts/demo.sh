#!/usr/bin/env bash
# Builds timerd and shows timers at work on a real node. Arguments go to the demo: -keep keeps the node's home.
set -euo pipefail
cd "$(dirname "$0")/.."

# A first build compiles the Cosmos SDK and takes some minutes, later ones seconds: show that it goes on.
mkdir -p build
log=build/demo-build.log
make --no-print-directory build >"$log" 2>&1 &
build=$!
trap 'kill $build 2>/dev/null || true' EXIT
printf 'building timerd (minutes the first time, then seconds) '
while kill -0 $build 2>/dev/null; do
  sleep 1
  printf .
done
if ! wait $build; then
  echo
  cat "$log" >&2
  exit 1
fi
echo " done in ${SECONDS} s"
go build -trimpath -o build/demo ./testutil/demo
build/demo -timerd build/timerd "$@"

#!/usr/bin/env bash
# Run a test binary as `go test -exec` says, and write to a file in $CPU_DIR what processor time it took, and its package.
"$@"
status=$?
{ times; pwd; } >"${CPU_DIR:?}/$$"
exit "$status"

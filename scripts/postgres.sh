#!/usr/bin/env bash
# Runs the tests of the dashboard on PostgreSQL too: on a server of its own, in a directory that is removed afterwards. With EVENTS
# it asks each endpoint about a history of so many, and prints the times, instead.
# Needs initdb and postgres (on Debian: the package postgresql, and its bin directory in PATH).
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in initdb pg_ctl; do
  command -v "$tool" >/dev/null || { echo "postgres: $tool is not in PATH: install PostgreSQL" >&2; exit 1; }
done
dir=$(mktemp -d)
# PostgreSQL does not run as root.
as=()
if [[ $(id -u) == 0 ]]; then
  chown nobody "$dir"
  as=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups)
fi
run() { (cd "$dir" && "${as[@]}" "$@"); }
stop() {
  run pg_ctl -D "$dir/data" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$dir"
}
trap stop EXIT

run initdb -D "$dir/data" -U timers --auth=trust >/dev/null
# It listens on a socket in its directory alone, so that it takes no port.
run pg_ctl -D "$dir/data" -w -o "-c listen_addresses='' -k $dir" -l "$dir/log" start >/dev/null
database="postgres:///postgres?host=$dir&user=timers&sslmode=disable"
if [[ -n ${EVENTS:-} ]]; then
  go test -count=1 -v ./dashboard/api -run ReadNoHistory "$@" -args -postgres="$database" -events="$EVENTS"
  exit
fi
go test -count=1 ./dashboard/api -run ReadNoHistory "$@" -args -postgres="$database"
go test -count=1 ./dashboard/store "$@" -args -store.postgres="$database"

#!/usr/bin/env bash
# Four validators on this machine's loopback: scripts/localnet.sh start|status|env|dashboard|stop|clean
#
# LOCALNET_DIR  where the homes, logs and pid files go (default .localnet in the repository)
# LOCALNET_PORT first port (default 27000); each node uses six from there, ten apart. A network keeps its ports.
# VALIDATORS    how many (default 4). A network keeps them too.
# BLOCK_MAX_GAS the gas limit of a block in the genesis (default -1: none)
# DASHBOARD     1: start the dashboard too, on the seventh port; "dashboard" runs it in the foreground
#
# Two networks run side by side with a directory and a port each. Pages of any origin may use RPC and REST: CORS is open.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=${LOCALNET_DIR:-.localnet}
# The ports are in the homes: a network keeps those that it was made with, and its validators.
port=$(cat "$dir/port" 2>/dev/null || echo "${LOCALNET_PORT:-27000}")
homes=$(find "$dir" -maxdepth 1 -name 'node*' -type d 2>/dev/null | wc -l || true)
validators=$((homes > 0 ? homes : ${VALIDATORS:-4}))
timerd=build/timerd
wait_seconds=60

fail() {
  echo "localnet: $*" >&2
  exit 1
}

pid_of() { cat "$dir/node$1/timerd.pid" 2>/dev/null || true; }
running() {
  local pid
  pid=$(pid_of "$1")
  [[ -n $pid ]] && kill -0 "$pid" 2>/dev/null
}
rpc() { echo "http://127.0.0.1:$((port + $1 * 10 + 1))"; }
# The number of a node that answers, or nothing.
height() { curl -sf --max-time 2 "$(rpc "$1")/status" 2>/dev/null | sed -n 's/.*"latest_block_height":"\([0-9]*\)".*/\1/p'; }
app_hash() { curl -sf --max-time 2 "$(rpc "$1")/status" 2>/dev/null | sed -n 's/.*"latest_app_hash":"\([0-9A-F]*\)".*/\1/p'; }
nodes() { seq 0 $((validators - 1)); }

dashboard_pid() { cat "$dir/dashboard.pid" 2>/dev/null || true; }
dashboard_runs() {
  local pid
  pid=$(dashboard_pid)
  [[ -n $pid ]] && kill -0 "$pid" 2>/dev/null
}

# Becomes the dashboard of node0.
dashboard() {
  [[ -d $dir ]] || fail "there is no local network in $dir: run make localnet"
  exec "$timerd" dashboard --home "$dir/node0" --node "tcp://127.0.0.1:$((port + 1))" --listen "127.0.0.1:$((port + 6))"
}

start_dashboard() {
  local page
  if ! dashboard_runs; then
    (dashboard) </dev/null >>"$dir/dashboard.log" 2>&1 &
    echo $! >"$dir/dashboard.pid"
  fi
  page=http://127.0.0.1:$((port + 6))
  until curl -sf --max-time 2 -o /dev/null "$page"; do
    dashboard_runs || fail "the dashboard ended; see $dir/dashboard.log"
    sleep 0.2
  done
  echo "the dashboard is at:      $page"
}

stop_dashboard() {
  if dashboard_runs; then
    kill "$(dashboard_pid)"
    echo "stopped the dashboard"
  fi
  rm -f "$dir/dashboard.pid"
}

# Fails if something else listens on a port of a node that is to be started.
check_ports() {
  local i k names=(P2P RPC API gRPC pprof Prometheus)
  for i in $(nodes); do
    running "$i" && continue
    for k in "${!names[@]}"; do
      if (exec 3<>"/dev/tcp/127.0.0.1/$((port + i * 10 + k))") 2>/dev/null; then
        local how="LOCALNET_PORT=$((port + 1000)) moves them all"
        [[ -d $dir ]] && how="scripts/localnet.sh clean, and then $how"
        fail "port $((port + i * 10 + k)) (${names[k]} of node$i) is taken: $how; another network has a LOCALNET_DIR too"
      fi
    done
  done
}

status() {
  printf '%-7s %-8s %-24s %-24s %8s  %s\n' NODE STATE RPC API HEIGHT 'APP HASH'
  local i state
  for i in $(nodes); do
    state=down
    running "$i" && state=up
    printf '%-7s %-8s %-24s %-24s %8s  %s\n' "node$i" "$state" "$(rpc "$i")" \
      "http://127.0.0.1:$((port + i * 10 + 2))" "$(height "$i" || true)" "$(app_hash "$i" | cut -c1-16 || true)"
  done
}

start() {
  [[ -x $timerd ]] || fail "$timerd is missing: run make build"
  command -v curl >/dev/null || fail "curl is missing"
  check_ports
  if [[ ! -d $dir ]]; then
    "$timerd" testnet init-files --v "$validators" --single-host --base-port "$port" --output-dir "$dir" --fast-gov \
      --block-max-gas "${BLOCK_MAX_GAS:--1}" --chain-id timers-local-1 --accounts alice,bob \
      --home "$dir.unused" >/dev/null
    rm -rf "$dir.unused"
    echo "$port" >"$dir/port"
    echo "made $validators homes in $dir; alice and bob have funds, their keys are in node0's key ring"
  fi
  local i
  for i in $(nodes); do
    running "$i" && continue
    nohup "$timerd" start --home "$dir/node$i" --log_no_color >>"$dir/node$i/node.log" 2>&1 &
    echo $! >"$dir/node$i/timerd.pid"
  done
  printf 'waiting for block 3 on every node'
  local deadline=$((SECONDS + wait_seconds))
  for i in $(nodes); do
    until [[ $(height "$i" || echo 0) -ge 3 ]]; do
      running "$i" || { echo; fail "node$i ended; see $dir/node$i/node.log"; }
      ((SECONDS < deadline)) || { echo; fail "node$i has no block 3 after $wait_seconds s; see $dir/node$i/node.log"; }
      printf .
      sleep 0.2
    done
  done
  echo
  status
  echo
  local named=
  [[ -z ${LOCALNET_DIR:-} ]] || named="LOCALNET_DIR=$LOCALNET_DIR "
  [[ ${DASHBOARD:-} != 1 ]] || start_dashboard
  echo "to use it without flags:  eval \"\$(${named}scripts/localnet.sh env)\""
  echo "REST is described at:     http://127.0.0.1:$((port + 2))/swagger/"
  echo "then try:                 timerd query timers lane"
}

# Prints what sets the home of node0, which knows node, chain id and keys, and the gas of transactions. The SDK's commands
# simulate without the payment of the fee: a vote takes more than 1.4 times of what that says.
env_lines() {
  [[ -d $dir ]] || fail "there is no local network in $dir: run make localnet"
  printf 'export PATH=%q:"$PATH" TIMERD_HOME=%q TIMERD_GAS=auto TIMERD_GAS_PRICES=0.001utmr TIMERD_GAS_ADJUSTMENT=1.6\n' \
    "$PWD/build" "$(cd "$dir/node0" && pwd)"
}

stop() {
  local i pid
  stop_dashboard
  for i in $(nodes); do
    pid=$(pid_of "$i")
    if running "$i"; then
      kill "$pid"
      for _ in $(seq 100); do
        running "$i" || break
        sleep 0.1
      done
      running "$i" && kill -9 "$pid"
      echo "stopped node$i"
    fi
    rm -f "$dir/node$i/timerd.pid"
  done
}

case ${1:-} in
start) start ;;
status) status ;;
env) env_lines ;;
dashboard)
  ! dashboard_runs || fail "the dashboard runs already, at http://127.0.0.1:$((port + 6))"
  dashboard
  ;;
stop) stop ;;
clean)
  stop
  rm -rf "$dir"
  ;;
*) fail "want start, status, env, dashboard, stop or clean, not '${1:-}'" ;;
esac

#!/usr/bin/env bash
# Run tests that need a node on one of their own: node-test.sh TIMERD SCRIPT, the script one of package.json
#
# INDEXER  the node's index of transactions (default kv; null: none)
#
# The tests can stop the node and start it again: NODE_PID names the file of its process id, and the node starts again after
# it has ended, once there is no file NODE_DOWN.
set -euo pipefail
timerd=$(realpath "$1")
script=$2
cd "$(dirname "${BASH_SOURCE[0]}")"

home=$(mktemp -d)
keeper=
end() {
  [[ -z $keeper ]] || kill "$keeper" 2>/dev/null || true
  wait
  if [[ -e $home/pid ]]; then
    while kill "$(<"$home/pid")" 2>/dev/null; do sleep 0.1; done
  fi
  rm -rf "$home"
}
trap end EXIT
run() { "$timerd" "$@" --home "$home"; }

run init node --chain-id timers-ts >/dev/null 2>&1
MNEMONIC=$(run keys add alice --keyring-backend test --output json 2>&1 | sed 's/.*"mnemonic":"\([^"]*\)".*/\1/')
run genesis add-genesis-account "$(run keys show alice -a --keyring-backend test)" 1000000000000utmr
run genesis gentx alice 1000000000utmr --chain-id timers-ts --keyring-backend test >/dev/null 2>&1
run genesis collect-gentxs >/dev/null 2>&1
sed -i 's/^cors_allowed_origins = .*/cors_allowed_origins = ["*"]/' "$home/config/config.toml"
sed -i "s/^indexer = .*/indexer = \"${INDEXER:-kv}\"/" "$home/config/config.toml"
sed -i 's/^timeout_commit = .*/timeout_commit = "500ms"/' "$home/config/config.toml"

port=$((20000 + RANDOM % 20000))
export TIMERD=$timerd MNEMONIC RPC=http://127.0.0.1:$port PREFIX=timer DENOM=utmr GAS_PRICE=0.001 NODE_PID=$home/pid NODE_DOWN=$home/down
keep() {
  while :; do
    "$timerd" start --home "$home" --rpc.laddr "tcp://127.0.0.1:$port" --p2p.laddr "tcp://127.0.0.1:$((port + 1))" \
      --rpc.pprof_laddr "" --grpc.address "127.0.0.1:$((port + 2))" --minimum-gas-prices 0.001utmr >>"$home/log" 2>&1 &
    echo $! >"$home/pid"
    wait $! || true
    [[ -e $NODE_DOWN ]] || return 1
    while [[ -e $NODE_DOWN ]]; do sleep 0.1; done
  done
}
keep &
keeper=$!
for ((i = 0; i < 300; i++)); do
  if curl -sf "$RPC/status" 2>/dev/null | grep -q '"latest_block_height":"[2-9]'; then
    npm run --silent "$script"
    exit
  fi
  kill -0 "$keeper" 2>/dev/null || break
  sleep 0.2
done
echo "node-test: the node made no blocks" >&2
tail -5 "$home/log" >&2
exit 1

#!/usr/bin/env bash
# Makes the pictures of the README anew: a network of one validator with some timers, its dashboard and its terminal view.
#
# It needs curl, jq, script(1), Node.js, Chromium, playwright-core and @xterm/xterm: see scripts/screenshots.mjs and terminal.mjs.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in curl jq script node; do
  command -v "$tool" >/dev/null || { echo "pictures: $tool is missing" >&2; exit 1; }
done
dir=$PWD/build/pictures
pictures=$PWD/dashboard/docs
columns=118 rows=34
export LOCALNET_DIR=$dir/net LOCALNET_PORT=28500 VALIDATORS=1 DASHBOARD=1
scripts/localnet.sh clean
mkdir -p "$dir/views"
trap 'scripts/localnet.sh clean' EXIT
scripts/localnet.sh start >/dev/null
eval "$(scripts/localnet.sh env)"

schedule() { timerd tx timers schedule "$@" --wait --yes >>"$dir/log" 2>&1 || { tail -3 "$dir/log" >&2; exit 1; }; }
# A crowd fills the lane for some blocks every now and then: one transaction with many messages.
crowd() { # crowd SIZE FLAG...
  local size=$1 file=$dir/crowd.json
  shift
  env -u TIMERD_GAS_PRICES timerd tx timers schedule send bob 1utmr --gas-limit 100000 --from alice "$@" \
    --generate-only --gas 100000000 --fees 100000utmr 2>/dev/null |
    jq --argjson size "$size" '.body.messages[0] as $m | .body.messages = [range($size) as $i | $m | .spec.name += "-\($i)"]' >"$file"
  env -u TIMERD_GAS_PRICES timerd tx sign "$file" --from alice 2>/dev/null >"$file.signed"
  # The next one is signed with the number that follows it once it is in a block.
  timerd query wait-tx "$(timerd tx broadcast "$file.signed" --output json | jq -r .txhash)" --output json >"$file.result"
  jq -e '.code == 0' "$file.result" >/dev/null || { jq -r .raw_log "$file.result" >&2; exit 1; }
}
echo "scheduling"
schedule send bob 500utmr --every 4 --gas-limit 60000 --name rent --from alice
schedule send alice 100utmr --every 6 --gas-limit 60000 --name savings --from bob
# It fails, since bob does not have so much: the command objects.
schedule send alice 900000000000000utmr --every 9 --gas-limit 60000 --name loan --from bob --force
schedule send bob 5utmr --every 5 --on-unfunded suspend --gas-limit 60000 --tier fast --name payroll --from alice
schedule send alice 5utmr --watch bank:balance:bob:utmr --when '< 1000' --gas-limit 60000 --name top-up --from bob
crowd 150 --in 12 --name airdrop
crowd 80 --every 21 --name rewards

page=http://127.0.0.1:$((LOCALNET_PORT + 6))
until (($(curl -sf "$page/api/status" | jq .height) >= 90)); do sleep 1; done
# In the midst of a crowd some timers are left ready: it lasts sixteen blocks, since a browser takes some to start. It fires
# once: one that repeats spreads over the blocks.
crowd 800 --in 12 --name bonus
until curl -sf "$page/api/ready" | jq -e '.timers | length > 10' >/dev/null; do sleep 0.1; done
node scripts/screenshots.mjs "$page/" "$dir/views"
cp "$dir/views/light.png" "$pictures/dashboard.png"
timeout 40 script -qefc "stty cols $columns rows $rows; timerd query timers monitor --blocks 16" "$dir/monitor" >/dev/null </dev/null || true
node scripts/terminal.mjs "$dir/monitor" "$pictures/monitor.png" "$columns" "$rows"
echo "made $pictures/dashboard.png and monitor.png"

#!/usr/bin/env bash
# Runs the model in spec/ (spec/README.md). Usage: model.sh check | mutants | traces DIR
#   SAMPLES runs of STEPS steps are drawn of each instance; SEED makes them the same again.
set -euo pipefail

spec=$(cd "$(dirname "$0")/../spec" && pwd)
tools="$spec/../build/quint"
quint="$tools/node_modules/.bin/quint"
samples=${SAMPLES:-20}
steps=${STEPS:-150}
seed=${SEED:-}
properties="leavesOnce neverEarly neverTwice neverAfterItLeft conserved firesInTime withinTheLane withinTheBid sharesTheLane noEdgeIsMissed inOrder inItsWindow noneIsLeftOut"
properties+=" callsAreBounded paysItsOwn seesTheState leavesNothing"

install() {
  if [[ ! -x $quint ]] || ! cmp -s "$spec/package.json" "$tools/package.json"; then
    mkdir -p "$tools"
    cp "$spec/package.json" "$tools/"
    npm install --prefix "$tools" --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error
  fi
}

# simulate FILE MODULE PROPERTIES OPTIONS...: the evaluator in TypeScript, since the other one is downloaded on first use.
simulate() {
  local file=$1 module=$2 invariants=$3
  shift 3
  # shellcheck disable=SC2086 # the properties are words
  "$quint" run "$spec/$file" --backend=typescript --verbosity=1 --main="$module" --invariants $invariants \
    --max-samples="$samples" --max-steps="$steps" ${seed:+--seed="$seed"} "$@"
}

check() {
  local module
  for module in life storm market; do
    echo "$module: $samples runs of $steps steps"
    simulate timers.qnt "$module" "$properties"
  done
}

# mutants holds that each model in mutants.qnt breaks the property that is named above it. One run that does is enough.
mutants() {
  samples=${SAMPLES:-200}
  local expected="" survivors=0 line module out
  while read -r line; do
    case $line in
      "// expect: "*) expected=${line#// expect: } ;;
      "module "*)
        module=$(cut -d' ' -f2 <<<"$line")
        out=$(simulate mutants.qnt "$module" "$expected" 2>&1) || true
        if grep -q 'Found an issue' <<<"$out"; then
          echo "$module: $expected fails, as it must"
        else
          echo "$module: $expected holds, but must not"
          tail -3 <<<"$out"
          survivors=$((survivors + 1))
        fi
        ;;
    esac
  done <"$spec/mutants.qnt"
  [[ $survivors -eq 0 ]]
}

# traces writes one file for each run into a directory.
traces() {
  local dir=$1 module constants file
  mkdir -p "$dir"
  for module in life storm market; do
    constants='{"window":64,"removals":2,"weightMin":16}'
    if [[ $module == storm ]]; then constants='{"window":2,"removals":64,"weightMin":32}'; fi
    rm -f "$dir/$module"_*.itf.json
    # Another seed for each instance: with the same one both would draw the same messages.
    seed=${seed:+$((seed + 1))}
    simulate timers.qnt "$module" "$properties" --n-traces="$samples" --out-itf="$dir/$module"_{seq}.itf.json
    for file in "$dir/$module"_*.itf.json; do node "$spec/traces.mjs" "$constants" "$file" "$file"; done
  done
}

install
case ${1:-} in
  check | mutants) "$1" ;;
  traces) traces "${2:?a directory}" ;;
  *) sed -n '2,3s/^# //p' "$0" >&2; exit 2 ;;
esac

#!/usr/bin/env bash
# Generate src/gen from the module's .proto files, with the generator that package.json pins.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
root=../..

"$root/scripts/tools.sh"
"$root/scripts/protodeps.sh"
[[ -x node_modules/.bin/protoc-gen-ts_proto ]] || { echo "generate: run npm install in $PWD first" >&2; exit 1; }

rm -rf src/gen
(cd "$root" && PATH="$PWD/clients/ts/node_modules/.bin:$PATH" build/tools/buf generate proto --include-imports --template '{
  "version": "v2",
  "plugins": [{
    "local": "clients/ts/node_modules/.bin/protoc-gen-ts_proto",
    "out": "clients/ts/src/gen",
    "strategy": "all",
    "opt": [
      "esModuleInterop=true", "importSuffix=.js", "forceLong=bigint", "snakeToCamel=keys", "protoJsonFormat=false", "useNumericEnumForJson=true",
      "outputServices=default", "useExactTypes=false", "useDate=false", "removeEnumPrefix=true", "unrecognizedEnum=true",
      "outputPartialMethods=true", "onlyTypes=false", "comments=true"
    ]
  }]
}')
# The options of fields are of no use to a client.
(cd src/gen && rm -rf amino gogoproto cosmos_proto cosmos/msg cosmos/app cosmos/query google/api google/protobuf/descriptor.ts timers/module timers/v1/genesis.ts)
find src/gen -type f | LC_ALL=C sort

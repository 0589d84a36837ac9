#!/usr/bin/env bash
# Generate Go code from proto/, and from the messages of the policy of x/timers/docs/extend/policy.md.
#
#   scripts/protogen.sh          write it to where each file's go_package says
#   scripts/protogen.sh check    write nothing; fail when the committed code is not what proto/ generates
#   scripts/protogen.sh swagger  write the OpenAPI description that the node serves to app/swagger/
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=${1:-write}
go_module=github.com/cosmos-timers/timers
# Where generated files live. A stale one (its .proto gone or renamed) found here is removed, or reported by check.
generated_roots=(x testutil/smallest)

list_generated() {
	(cd "$1" && find "${generated_roots[@]}" \( -name '*.pb.go' -o -name '*.pb.gw.go' \) -print 2>/dev/null | LC_ALL=C sort)
}

if [[ -z $(find proto -name '*.proto' -print -quit 2>/dev/null) ]]; then
	echo "protogen: there are no .proto files under proto/" >&2
	exit 1
fi
scripts/tools.sh
scripts/protodeps.sh

mkdir -p build
out=$(mktemp -d build/protogen.XXXXXX)
trap 'rm -rf "$out"' EXIT

case $mode in
swagger)
	build/tools/buf generate --template buf.gen.swagger.yaml --output "$out"
	# The generator knows neither title nor version, and describes packed messages as bytes: REST decodes them.
	cat >"$out/any" <<-'JSON'
		    "google.protobuf.Any": {
		      "type": "object",
		      "description": "A message, decoded: @type is its type, the other fields are its own. Numbers of 64 bits are text.",
		      "properties": {
		        "@type": {
		          "type": "string"
		        }
		      },
		      "additionalProperties": true,
		      "example": {
		        "@type": "/cosmos.bank.v1beta1.MsgSend",
		        "from_address": "timer1...",
		        "to_address": "timer1...",
		        "amount": [
		          {
		            "denom": "utmr",
		            "amount": "5"
		          }
		        ]
		      }
		    },
	JSON
	others='Routes of the SDK are described in swagger.yaml, the other description of the page /swagger/.'
	others+=' The node serves those of contracts (/cosmwasm) and IBC (/ibc) too, which wasmd and ibc-go describe.'
	sed -e 's|"title": "[^"]*"|"title": "x/timers: native timers"|' \
		-e "s|\"version\": \"version not set\"|\"description\": \"The queries of x/timers. $others\",\n    \"version\": \"v1\"|" \
		-e '/^    "google.protobuf.Any": {$/,/^    },$/{/^    },$/r '"$out/any"$'\n'' d' -e '}' \
		"$out"/timers.swagger.json >app/swagger/timers.json
	exit 0
	;;
write | check) ;;
*)
	echo "usage: protogen.sh [write|check|swagger]" >&2
	exit 2
	;;
esac

build/tools/buf generate --output "$out"
build/tools/buf generate testutil/smallest/proto --output "$out"
new=$out/$go_module
for root in "${generated_roots[@]}"; do
	if [[ ! -d $new/$root ]]; then
		echo "protogen: nothing was generated under $go_module/$root: check option go_package" >&2
		exit 1
	fi
done

stale=0
while IFS= read -r file; do
	cmp -s "$new/$file" "$file" && continue
	if [[ $mode == check ]]; then
		echo "protogen: $file is not what its .proto file generates" >&2
		stale=1
	else
		cp "$new/$file" "$file"
	fi
done < <(list_generated "$new")

while IFS= read -r file; do
	[[ -e $new/$file ]] && continue
	if [[ $mode == check ]]; then
		echo "protogen: $file has no .proto file any more" >&2
		stale=1
	else
		rm "$file"
	fi
done < <(list_generated .)

if ((stale)); then
	echo "protogen: run 'make proto' and commit the result" >&2
	exit 1
fi

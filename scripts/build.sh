#!/usr/bin/env bash
# Builds one command as "go build" does, and says from the first second on how far it is: build.sh FLAG... -o FILE PACKAGE
#
# A first build compiles the Cosmos SDK and takes minutes, later ones seconds. On a terminal one line is renewed each
# second; elsewhere there is a line every ten seconds. What the compiler says is printed as it is.
set -euo pipefail

package=${*: -1}
name=$(basename "$package")
every=10
[[ -t 2 ]] && every=1

# tell shows what goes on: at once, and then as often as a reader can follow.
told=-1000
tell() {
  ((SECONDS - told >= every)) || return 0
  told=$SECONDS
  if [[ -t 2 ]]; then
    printf '\r\033[K%s, %d s' "$1" "$SECONDS" >&2
  else
    echo "$1, $SECONDS s" >&2
  fi
}

# watch reads what go says: packages that it compiles, and modules that it downloads. Each is a line.
watch() {
  local total=$1 line status built=0 downloaded=0 doing="looking at what $name is made of"
  while tell "$doing"; do
    status=0
    IFS= read -r -t 1 line || status=$?
    ((status <= 128)) || continue # Nothing new for a second.
    ((status == 0)) || break
    case $line in
    "go: downloading "*)
      downloaded=$((downloaded + 1))
      doing="downloading modules for $name: $downloaded so far"
      ;;
    *[!A-Za-z0-9./_~-]*) echo "$line" >&2 ;;
    *)
      built=$((built + 1))
      doing="building $name: $built of $total packages"
      ;;
    esac
  done
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
}

# What is in the build cache is not built again, and so not counted. The tests of these flags are those of the build.
list() { go list -deps "${@:1:$#-3}" -f '{{if .Stale}}{{.ImportPath}}{{end}}' "$package"; }
exec 3>&1
# Both parts of a pipe are subshells: what is counted is printed, and what go says of it is watched.
total=$({ list "$@" 2>&1 >&4 | watch 0 >&3; } 4>&1 | grep -c . || true)
go build -v "$@" 2>&1 >&3 | watch "$total"
echo "built $name in $SECONDS s" >&2

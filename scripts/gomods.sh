#!/usr/bin/env bash
# Run a command in each of the repository's Go modules but tools/, which only pins tools.
#
#   scripts/gomods.sh list                                  print the modules' directories
#   scripts/gomods.sh each COMMAND...                       run a command in each
#   scripts/gomods.sh run [-together] [-skip RE] PATTERN... -- COMMAND...
#                                                           run a command with the packages that the patterns name
#
# A pattern is a path from the root of the repository: ./... is every package of every module, ./x/timers/market/... is
# ./market/... of the module in x/timers. With -skip, packages whose import path matches the regular expression are left
# out. A command runs in every module that has packages for it, one module after another, or with -together in all at the
# same time. The script fails at the end if the command failed in any.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

list_modules() {
	find . \( -name '.?*' -o -path ./build -o -path ./tools -o -name testdata \) -prune -o -name go.mod -printf '%h\n' |
		LC_ALL=C sort
}

usage() {
	sed -n '2,/^set /{/^# \{0,1\}/{s///;p}}' "${BASH_SOURCE[0]}" >&2
	exit 2
}

failed=()

in_module() { # in_module DIRECTORY COMMAND...
	local dir=$1
	shift
	(cd "$root/$dir" && "$@") || failed+=("$dir")
}

owner() { # owner DIRECTORY: the module that it belongs to, the one with the longest path
	local module best=.
	for module in "${modules[@]}"; do
		if [[ $1/ == "$module"/* ]] && ((${#module} > ${#best})); then best=$module; fi
	done
	echo "$best"
}

plan() { # plan PATTERN: lines "MODULE PATTERN-IN-IT"
	local pattern=${1%/} dir rest="" module home
	[[ $pattern == . || $pattern == ./* ]] || {
		echo "gomods: $1: want a path from the root of the repository, as ./x/timers/market/..." >&2
		return 1
	}
	dir=$pattern
	if [[ $pattern == */... ]]; then
		dir=${pattern%/...}
		rest=/...
	fi
	[[ -d $dir ]] || { echo "gomods: $1: there is no directory $dir" >&2; return 1; }
	home=$(owner "$dir")
	local below=()
	if [[ -n $rest ]]; then
		for module in "${modules[@]}"; do
			if [[ $module == "$dir"/* ]]; then below+=("$module"); fi
		done
	fi
	# A directory that only leads to other modules has no package of its own module.
	if [[ $dir == "$home" || ${#below[@]} == 0 ]] || [[ -n $(cd "$home" && go list ".${dir#"$home"}$rest" 2>/dev/null) ]]; then
		echo "$home .${dir#"$home"}$rest"
	fi
	for module in "${below[@]}"; do echo "$module ./..."; done
}

run() {
	local skip="" together="" patterns=() plans="" module pattern packages
	local -A started=()
	if [[ ${1:-} == -together ]]; then
		together=yes
		shift
	fi
	if [[ ${1:-} == -skip ]]; then
		skip=${2:?}
		shift 2
	fi
	while (($#)) && [[ $1 != -- ]]; do
		patterns+=("$1")
		shift
	done
	if ((${#patterns[@]} == 0 || $# < 2)); then usage; fi
	shift
	for pattern in "${patterns[@]}"; do plans+=$(plan "$pattern")$'\n'; done
	for module in "${modules[@]}"; do
		packages=()
		while read -r dir pattern; do
			if [[ $dir == "$module" ]]; then packages+=("$pattern"); fi
		done <<<"$plans"
		((${#packages[@]})) || continue
		if [[ -n $skip ]]; then
			local all
			all=$(cd "$module" && go list "${packages[@]}")
			mapfile -t packages < <(grep -vE -- "$skip" <<<"$all")
			((${#packages[@]})) || continue
		fi
		if [[ -n $together ]]; then
			(cd "$root/$module" && "$@" "${packages[@]}") &
			started[$module]=$!
		else
			in_module "$module" "$@" "${packages[@]}"
		fi
	done
	for module in "${!started[@]}"; do wait "${started[$module]}" || failed+=("$module"); done
}

mapfile -t modules < <(list_modules)
case ${1:-} in
list) printf '%s\n' "${modules[@]}" ;;
each)
	shift
	(($#)) || usage
	for module in "${modules[@]}"; do in_module "$module" "$@"; done
	;;
run)
	shift
	run "$@"
	;;
*) usage ;;
esac

if ((${#failed[@]})); then
	echo "gomods: failed in ${failed[*]}" >&2
	exit 1
fi

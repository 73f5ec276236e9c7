# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Completion for bash, of what a command says with --help: its options, the values of an option
# that are written a|b|c, and comch-perf's tests. Else files.

# _comch_values OPTION: of the text on standard input, the values of an option.
_comch_values() {
	sed -nE "s/^ *(-[a-zA-Z], )?$1[ =]([^ ]*\|[^ ]*)( .*)?\$/\2/p" | tr '|' '\n'
}

# _comch_tests: those of a section "Tests:".
_comch_tests() {
	sed -n '/^Tests:/,/^[^ ]/s/^  \([a-z-]*\) .*/\1/p'
}

_comch() {
	local command=$1 cur=$2 prev=$3 help words
	help=$("$command" --help 2>/dev/null) || return
	case $prev in
	--gdb | --strace | --valgrind)
		words='dpu host' ;;
	--profile)
		words='bf2 bf3' ;;
	--doca)
		words=$(comch-doca-env --list 2>/dev/null | grep -oE '\b[0-9]+\.[0-9]+\b' | sort -uV) ;;
	-*)
		words=$(_comch_values "$prev" <<<"$help")
		# Another value: a file, perhaps.
		[ -n "$words" ] || ! grep -qE "^ *(-[a-zA-Z], )?${prev}[ =][A-Z]" <<<"$help" || return 0 ;;
	*)
		words= ;;
	esac
	if [ -z "$words" ] && [[ $cur == -* ]]; then
		# Where a line begins with them, or with a letter.
		words=$(grep -E '^ *-' <<<"$help" | grep -oE -- '(^ *|, )(-[a-zA-Z], )?--[a-z][a-z-]*' |
			grep -oE -- '--[a-z][a-z-]*' | sort -u)
	elif [ -z "$words" ]; then
		case ${command##*/} in
		comch-perf) words=$(_comch_tests <<<"$help") ;;
		comch-doca-env) words='dpu host' ;;
		comch-lab) words=$(sed -nE 's/^  ([a-z]+)( .*)?$/\1/p' <<<"$help") ;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -o default -F _comch comch-doca-env comch-dpacc comch-info comch-lab comch-perf comch-run \
	test-comch

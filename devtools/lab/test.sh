# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Groups of tests. Part of lab.sh.
#
# A group is a file devtools/lab/tests/NAME.sh. Its first comment after the copyright says
# what it tests. It sets:
#
#   machines  those that run before its first case: "host dpu", or "one"
#   programs  programs of the build directory that its cases use, if any
#   cases     names of its cases, in order; the function case_NAME is the test
#   quick     those of them that "test --quick" runs
#
# A case fails if one of its commands fails (set -e), and is skipped if it exits with 77. It
# uses the functions of vm.sh. What it prints is shown if it fails. A case ends what it has
# started, and boots a machine that it has ended: the next group uses the same machines.
# What it writes to $lab_run/report is shown in any case.
# After a failed case all machines of the group boot again.

test_passed=0
test_failed=0
test_skipped=0
test_verbose=false

# test_groups: print the names of all groups.
test_groups() {
	local file
	for file in "$top"/devtools/lab/tests/*.sh; do
		basename "$file" .sh
	done
}

# test_each_conformance_group FUNCTION: for a group of tests whose cases are the groups of the
# conformance suite: case_NAME calls FUNCTION NAME.
test_each_conformance_group() {
	local name
	cases=(lifecycle limits ctrl credit flags order poll dp dperr mem mbuf disconnect)
	for name in "${cases[@]}"; do
		eval "case_$name() { $1 $name; }"
	done
}

# test_load GROUP: the variables and functions of a group.
test_load() {
	machines=
	programs=()
	cases=()
	quick=()
	# shellcheck source=/dev/null # each is checked by itself
	. "$top/devtools/lab/tests/$1.sh"
}

command_list() {
	local group
	need 0 "$@"
	for group in $(test_groups); do
		printf '%-12s %s\n' "$group" "$(sed -n '1,/^#$/d; s/^# //p; /^$/q' \
			"$top/devtools/lab/tests/$group.sh" | head -n 1)"
	done
}

command_test() {
	local only_quick=false groups=() group begin=$SECONDS
	while [[ ${1:-} == -* ]]; do
		case $1 in
		--quick) only_quick=true ;;
		--verbose) test_verbose=true ;;
		*) die "test: unknown option $1 (--help)" ;;
		esac
		shift
	done
	groups=("$@")
	if [ $# -eq 0 ]; then
		mapfile -t groups < <(test_groups)
	fi
	for group in "${groups[@]}"; do
		test_exists "$group"
	done
	if $only_quick; then
		mapfile -t groups < <(test_quick "${groups[@]}")
	fi
	"$top/devtools/setup.sh" test
	lab_prepare amd64 arm64
	test_build "${groups[@]}"
	lab_open
	for group in "${groups[@]}"; do
		test_group "$group" "$only_quick"
	done
	took $((SECONDS - begin)) "lab.sh test"
	printf '\n%d passed, %d failed, %d skipped\n' "$test_passed" "$test_failed" "$test_skipped"
	[ "$test_failed" -eq 0 ]
}

# test_quick GROUP...: print those that have quick cases.
test_quick() {
	local group
	for group; do
		test_load "$group"
		[ "${#quick[@]}" -eq 0 ] || echo "$group"
	done
}

# test_exists GROUP[/CASE]: end the script if there is no such group or case.
test_exists() {
	local group=${1%%/*}
	[ -e "$top/devtools/lab/tests/$group.sh" ] ||
		die "no group '$group' of tests: $(test_groups | paste -sd ' ')"
	[ "$group" != "$1" ] || return 0
	test_load "$group"
	[[ " ${cases[*]} " == *" ${1#*/} "* ]] ||
		die "no case '${1#*/}' in the group '$group': ${cases[*]}"
}

# test_build GROUP[/CASE]...: build the programs of these groups, for the architectures on which
# they run.
test_build() {
	local group machine
	local -A wanted=()
	for group; do
		test_load "${group%%/*}"
		for machine in $machines; do
			wanted[${vm_arch[$machine]}]+=" ${programs[*]}"
		done
	done
	for machine in "${!wanted[@]}"; do
		mapfile -t programs < <(tr ' ' '\n' <<<"${wanted[$machine]}" | sort -u)
		lab_build "$machine" "${programs[@]}"
	done
}

# test_group GROUP[/CASE] ONLY-QUICK: run its cases, or this one.
test_group() {
	local group=${1%%/*} names
	test_load "$group"
	names=("${cases[@]}")
	! $2 || names=("${quick[@]}")
	[ "$group" = "$1" ] || names=("${1#*/}")
	[ "${#names[@]}" -gt 0 ] || return 0
	step "$group: $machines"
	test_boot "$group"
	for name in "${names[@]}"; do
		test_machines || return 0
		test_case "$group" "$name"
	done
}

# test_machines: do all machines of the group run? Not after booting failed.
test_machines() {
	local name
	for name in $machines; do
		vm_alive "$name" || return
	done
}

# test_boot GROUP: boot those of its machines that do not run. That is a case, too.
test_boot() {
	local name
	booting=()
	for name in $machines; do
		vm_alive "$name" || booting+=("$name")
	done
	[ "${#booting[@]}" -gt 0 ] || return 0
	for name in "${booting[@]}"; do
		rm -rf "${lab_run:?}/$name"
		vm_new "$name"
	done
	# shellcheck disable=SC2317 # called by name
	case_boot() {
		vm_boot "${booting[@]}"
	}
	test_case "$1" boot
}

# test_case GROUP CASE: run a case and print its line.
test_case() {
	local log=$lab_run/log status begin word=ok
	begin=$(date +%s%N)
	# Not in a condition, where bash would ignore "set -e".
	set +e
	(
		# The machines belong to the script.
		trap - EXIT
		set -e
		"case_$2"
	) >"$log" 2>&1
	status=$?
	set -e
	case $status in
	0)
		test_passed=$((test_passed + 1)) ;;
	77)
		word=skipped
		test_skipped=$((test_skipped + 1)) ;;
	*)
		word=FAILED
		test_failed=$((test_failed + 1)) ;;
	esac
	printf '%-8s %6.1f s  %s: %s\n' "$word" \
		"$(($(date +%s%N) - begin))e-9" "$1" "$2"
	if [ -e "$lab_run/report" ]; then
		cat "$lab_run/report"
		rm "$lab_run/report"
	fi
	! $test_verbose || cat "$log"
	case $word in
	skipped)
		tail -n 1 "$log" ;;
	FAILED)
		test_keep "$1-$2"
		# shellcheck disable=SC2086 # names
		vm_kill $machines
		if [ "$2" != boot ]; then
			test_boot "$1"
		fi ;;
	esac
}

# test_keep NAME: keep the output of a failed case, and the consoles and all commands of the
# machines.
test_keep() {
	local to=$lab_dir/logs/$1 name
	rm -rf "$to"
	mkdir -p "$to"
	cp "$lab_run/log" "$to/output"
	for name in $machines; do
		mkdir "$to/$name"
		cp "$lab_run/$name"/*.log "$lab_run/$name/box/"*.{cmd,out,rc} "$to/$name/" \
			2>/dev/null || true
	done
	tail -n 40 "$to/output"
	echo "logs: $to"
}

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Check the rules of the gate, devtools/run_tests.py, with planted tests: which failures of a test
# it forgives, and which never.
#
# usage: devtools/check-gate.sh
#
# The last line is "N passed, N failed, N skipped".

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/source"

# A planted test fails by its command the first time, and passes afterwards.
cat >"$work/source/once.sh" <<'END'
#!/bin/sh
[ ! -e "$1" ] || exit 0
touch "$1"
eval "$2"
exit 1
END
chmod +x "$work/source/once.sh"

setup=()
# gate COMMAND...: the gate's verdict on a project with a test for each command; sets verdict to the
# counts, and leaves the lists in $work/results.
gate() {
	local command i=0
	rm -rf "$work/build" "$work/results" "$work"/failed-*
	mkdir "$work/results"
	touch "$work/results"/{failed,flaky,skipped}
	{
		echo "project('planted')"
		echo "add_test_setup('other')"
		for command; do
			i=$((i + 1))
			printf "test('t%d', find_program('once.sh'), args: ['%s', '''%s'''], timeout: 5)\n" \
				"$i" "$work/failed-$i" "$command"
		done
	} >"$work/source/meson.build"
	quietly meson setup "$work/build" "$work/source"
	CI=true "$top/devtools/run_tests.py" --gate planted "$work/build" "$work/results" \
		--num-processes 1 "${setup[@]}" >/dev/null 2>&1
	verdict=$(cat "$work/results/counts")
}

passed=0
failed=0
# expect TEXT VERDICT FLAKY COMMAND...: what the gate says of these tests: counts, and the number of
# flaky ones.
expect() {
	local text=$1 wanted=$2 wanted_flaky=$3 nb_flaky
	shift 3
	gate "$@"
	nb_flaky=$(grep -c '^FLAKY ' "$work/results/flaky" || true)
	if [ "$verdict" = "$wanted" ] && [ "$nb_flaky" -eq "$wanted_flaky" ]; then
		printf 'ok      %s\n' "$text"
		passed=$((passed + 1))
	else
		printf 'FAILED  %s: expected "%s" and %d flaky, is "%s" and %d\n' "$text" "$wanted" \
			"$wanted_flaky" "$verdict" "$nb_flaky"
		cat "$work/results/failed"
		failed=$((failed + 1))
	fi
}

say_timeout='echo "timed out: x == y"'
expect 'tests that pass' '2 0 0' 0 'exit 0' 'exit 0'
expect 'a flaky test is listed' '2 0 0' 1 'exit 0' "$say_timeout"
expect 'three are' '3 0 0' 3 "$say_timeout" "$say_timeout" "$say_timeout"
expect 'four fail' '0 4 0' 0 "$say_timeout" "$say_timeout" "$say_timeout" "$say_timeout"
# shellcheck disable=SC2016 # the planted test expands it
expect 'a test that always fails' '0 1 0' 0 'rm "$1"'
# shellcheck disable=SC2016
expect 'the end by a signal' '0 1 0' 0 'kill -SEGV $$'
expect 'the crash of a case of Criterion' '0 1 0' 0 'echo "Unexpected signal caught: CRASH!"'
expect 'a report of ASan' '0 1 0' 0 'echo "==1==ERROR: AddressSanitizer: heap-use-after-free"'
expect 'a report of UBSan' '0 1 0' 0 'echo "a.c:1:2: runtime error: signed integer overflow"'
expect 'a report of TSan' '0 1 0' 0 'echo "WARNING: ThreadSanitizer: data race"'
expect 'a signal that a test tells of' '0 1 0' 0 'echo "life 5, call 3: signal 11"'
expect 'one that a shell tells of' '0 1 0' 0 'echo "Aborted (core dumped)"'
expect 'one that python tells of' '0 1 0' 0 'echo "exit status -11, expected 0"'
expect 'messages that are compared' '0 1 0' 0 'echo "a.c:1: memcmp(a, b, 8) (1) == 0 (0)"'
expect 'a sequence' '0 1 0' 0 'echo "a.c:1: number is 5 instead of 4"'
expect 'the end of a connection is no signal' '1 0 0' 1 'echo "DISCONNECTED status -104 len 0"'
expect 'wrong content' '0 1 0' 0 'echo "a.c:1: t_verify(p, n, 1) (17) == -1 (-1)"'
expect 'a test that hangs' '0 1 0' 0 'sleep 60'
expect 'five tests that hang end the run' '0 6 0' 0 'sleep 60' 'sleep 60' 'sleep 60' 'sleep 60' \
	'sleep 60' 'sleep 60' 'sleep 60'
expect 'a skip that is not listed' '0 1 1' 0 'exit 77'
setup=(--setup other)
expect 'tests with a setup' '2 0 0' 0 'exit 0' 'exit 0'
setup=(--setup nonsense)
expect 'a run that fails by itself' '0 1 0' 0 'exit 0'
printf '\n%d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]

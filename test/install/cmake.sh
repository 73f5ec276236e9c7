#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# A project of CMake, against the installed library, shared and static, and its tests of pairs.
#
# usage: cmake.sh SOURCE-DIR BUILD-DIR PREFIX LIBDIR COMPILER...

set -euo pipefail

# CMake takes one word: without ccache.
export CC=${*: -1}

if ! command -v cmake >/dev/null; then
	echo 'skipped: cmake is not installed'
	exit 77
fi
# shellcheck source-path=SCRIPTDIR source=installed.sh
. "$(dirname "$0")/installed.sh"

# configure VERSION DIRECTORY: for the project that wants this version.
configure() {
	cmake -S "$source/test/install/cmake" -B "$tmp/$2" -DWANTED="$1" \
		-DCMAKE_PREFIX_PATH="$root" "${@:3}" >"$tmp/log" 2>&1
}

version=$(cat "$source/VERSION")
for wrong in "$version.1" 0.0.1 99; do
	! configure "$wrong" "build-$wrong" || fail "$version does as $wrong"
	grep -q "version: $version" "$tmp/log" || fail "$wrong: $(cat "$tmp/log")"
done
configure "${version%.*}" build || fail "$(cat "$tmp/log")"
cmake --build "$tmp/build" >"$tmp/log" 2>&1 || fail "$(cat "$tmp/log")"

# CMake has put an rpath into the program: no variable is needed.
for program in probe probe-static; do
	"$tmp/build/$program" --no-huge -m 32 --no-pci --no-telemetry --log-level='*:4' \
		--file-prefix="$program" >"$tmp/said" || fail "$program ended with status $?"
	[ "$(cat "$tmp/said")" = "comch $version" ] || fail "$program said: $(cat "$tmp/said")"
done
readelf -d "$tmp/build/probe" | grep -q 'NEEDED.*librte_comch' ||
	fail 'probe has no shared library of comch'
! readelf -d "$tmp/build/probe-static" | grep 'NEEDED.*librte_' ||
	fail 'probe-static has shared libraries'

# Pairs, by comch_add_pair_test().
(cd "$tmp/build" && ctest -V) >"$tmp/log" 2>&1 || fail "ctest: $(cat "$tmp/log")"
grep -q 'comch-run: timeout after 1 s: ' "$tmp/log" || fail "no sentence: $(cat "$tmp/log")"
grep -q '3 messages sent, 3 delivered, 3 answered' "$tmp/build/talks.out/host1.log" ||
	fail 'the first host has no log'
grep -q '"two words"' "$tmp/build/talks.out/dpu.log" ||
	fail "an argument of two words came apart: $(cat "$tmp/build/talks.out/dpu.log")"
for wrong in 'server;HOST;client' 'DPU;server' 'DPU;server;HOST' 'DPU;a;HOST;b;TIMEOUT;soon' \
	'DPU;a;HOST;HOST;b'; do
	! configure "${version%.*}" build -DWRONG="$wrong" || fail "comch_add_pair_test takes $wrong"
	grep -q 'comch_add_pair_test(wrong)' "$tmp/log" || fail "$wrong: $(cat "$tmp/log")"
done

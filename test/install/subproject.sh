#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# comch as a subproject: librte_comch is found by its name, shared or static, and
# nothing but the library is built.
#
# usage: subproject.sh SOURCE-DIR COMPILER...

set -euo pipefail

source=$1
shift
export CC="$*"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

fail() {
	echo "$*" >&2
	exit 1
}

mkdir -p "$tmp/outer/subprojects"
cp "$source/test/install/outer/meson.build" "$tmp/outer"
cp "$source/test/install/probe.c" "$tmp"
ln -s "$source" "$tmp/outer/subprojects/comch"
# Not one that is installed.
meson setup --wrap-mode=forcefallback -Ddefault_library=static -Doptimization=0 -Ddebug=false \
	"$tmp/build" "$tmp/outer" >"$tmp/log" || fail "$(cat "$tmp/log")"
! grep 'WARNING' "$tmp/log" || fail 'meson warns'

# What meson makes of the options: the library, and the programs of the project.
ninja -C "$tmp/build" -t targets all >"$tmp/targets"
others=$(grep -E '^subprojects/comch/(app|examples|test|doc|lib/doca)/' "$tmp/targets" || true)
[ -z "$others" ] || fail "in a subproject there are: $others"

ninja -C "$tmp/build" >"$tmp/log" || fail "$(cat "$tmp/log")"
for program in probe probe-shared probe-static; do
	"$tmp/build/$program" --no-huge -m 32 --no-pci --no-telemetry --log-level='*:4' \
		--file-prefix="$program" >"$tmp/said" || fail "$program ended with status $?"
	[ "$(cat "$tmp/said")" = "comch $(cat "$source/VERSION")" ] ||
		fail "$program said: $(cat "$tmp/said")"
	wanted=0
	[ "$program" != probe-shared ] || wanted=1
	needed=$(readelf -d "$tmp/build/$program" | grep -c 'NEEDED.*librte_comch' || true)
	[ "$needed" = "$wanted" ] || fail "$program needs $needed shared libraries of comch"
done

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Run one test (the arguments) with a directory of its own for everything that
# it leaves behind: EAL's runtime files, comch's sockets, temporary files.

set -euo pipefail

# Short: the path of a unix socket holds 107 bytes.
dir=$(mktemp -d /tmp/ct.XXXXXX)
cleanup() {
	# shellcheck disable=SC2317 # called by the trap
	# Criterion's own socket stays behind if the test was killed.
	rm -rf "/tmp/criterion_$(cat "$dir/pid").sock" "$dir"
}
trap cleanup EXIT
# A test that runs too long is ended by a signal to the whole process group:
# wait for the test, then clean up.
trap : INT TERM

mkdir "$dir/tmp" "$dir/run" "$dir/comch"
chmod 700 "$dir"/*
export TMPDIR=$dir/tmp RUNTIME_DIRECTORY=$dir/run COMCH_DIR=$dir/comch
# Only TSan reads it.
export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$(realpath "${0%/*}")/tsan.supp}
# UBSan alone prints and goes on: a report is to fail the test.
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
# Another librte_comch than the build's own, before what meson puts there.
if [ -n "${T_LIBRARY:-}" ]; then
	export LD_LIBRARY_PATH=$T_LIBRARY${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi

# EAL loads each plug-in of the distribution, hundreds, in each test process: more work than most
# cases are. Where we may mount, show it only those that many tests need, and T_PLUGINS, words; all
# if it is "all". A test whose plug-ins are not installed is skipped.
# shellcheck disable=SC2016 # sh expands it
few=(unshare --mount --propagation private -- sh -c 'mount --bind "$0" "$1" && shift && exec "$@"')
plugins=(/usr/lib/*/dpdk/pmds-*)
names=()
[ "${T_PLUGINS:-}" = all ] || read -ra names <<<"${T_PLUGINS:-}"
for name in "${names[@]}"; do
	if ! compgen -G "${plugins[0]}/librte_$name.so*" >/dev/null; then
		echo "skipped: this DPDK has no librte_$name"
		exit 77
	fi
done
if [ "${T_PLUGINS:-}" != all ] && [ -d "${plugins[0]}" ] && [ ${#plugins[@]} -eq 1 ] &&
	unshare --mount true 2>/dev/null; then
	mkdir -m 755 "$dir/plugins"
	for name in bus_vdev dma_skeleton mempool_ring mempool_stack "${names[@]}"; do
		cp -P "${plugins[0]}/librte_$name.so"* "$dir/plugins"
	done
	set -- "${few[@]}" "$dir/plugins" "${plugins[0]}" "$@"
fi

status=0
(
	echo "$BASHPID" >"$dir/pid"
	exec "$@"
) || status=$?
exit "$status"

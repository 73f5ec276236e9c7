#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Run the examples with an older library on one side, and today's on the other, both ways.
#
# usage: devtools/try-old.sh [COMMIT]
#
#   COMMIT  of the older library; default: the first one whose peers must be understood
#
# Builds the older library and its examples in build-old, and today's in build. It needs the
# project's history.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

commit=e26d2c3
old=$top/build-old
# DPU program | host program, with arguments.
pairs=(
	'ctrl_path/server --clients 1 | ctrl_path/client --count 1000'
	'data_path/consumer | data_path/producer --length 67108864'
	'multi_consumer/consumers | multi_consumer/producers --count 10000'
	'doca_ctrl_path/doca_ctrl_path_dpu | doca_ctrl_path/doca_ctrl_path_host --count 1000'
	'doca_data_path/doca_data_path_dpu | doca_data_path/doca_data_path_host --size 256 --both'
	'doca_cc_data_path/doca_cc_data_path_dpu | doca_cc_data_path/doca_cc_data_path_host --size 256'
	'doca_comm_channel/cc_server --count 1 | doca_comm_channel/cc_client --count 1000 --queue 16'
)

case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
-*)
	die "unknown option '$1': see --help" ;;
?*)
	commit=$1 ;;
esac

# programs: all of them, as targets of ninja.
programs() {
	printf '%s\n' "${pairs[@]}" | tr '|' '\n' | awk '{ print "examples/" $1 }'
}

# build_old: unpack and build the older library.
build_old() {
	if [ "$(cat "$old/commit" 2>/dev/null)" != "$commit" ]; then
		rm -rf "$old"
		mkdir -p "$old/tree"
		own_git archive "$commit" | tar -x -C "$old/tree" ||
			die "there is no commit $commit: this needs the project's history"
		step "Configuring: meson setup build-old/build"
		quietly meson setup --buildtype=release -Dtests=disabled -Dapps=disabled \
			-Dexamples=enabled "$old/build" "$old/tree" || return
		echo "$commit" >"$old/commit"
	fi
	step "Building: ninja -C build-old/build, $commit"
	# Warnings of its day are not ours.
	programs | quietly xargs ninja --quiet -C "$old/build"
}

# pair DPU-BUILD HOST-BUILD PAIR: run it, quietly if it goes well.
pair() {
	local dpu host
	read -ra dpu <<<"${3%|*}"
	read -ra host <<<"${3#*|}"
	quietly timeout 120 "$top/test/isolate.sh" "$top/test/smoke/pair.sh" \
		"$1/examples/${dpu[0]}" "${dpu[@]:1}" -- "$2/examples/${host[0]}" "${host[@]:1}"
}

passed=0
failed=0
# check TEXT DPU-BUILD HOST-BUILD PAIR
check() {
	if pair "$2" "$3" "$4"; then
		printf 'ok      %s: %s\n' "$1" "$4"
		passed=$((passed + 1))
	else
		printf 'FAILED  %s: %s\n' "$1" "$4"
		failed=$((failed + 1))
	fi
}

"$top/devtools/setup.sh" build
build_old || die "the older library does not build: see above"
mapfile -t targets < <(programs)
build_targets "${targets[@]}"
for pair in "${pairs[@]}"; do
	check "old DPU, new host" "$old/build" "$top/build" "$pair"
	check "new DPU, old host" "$top/build" "$old/build" "$pair"
done
printf '\n%d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]

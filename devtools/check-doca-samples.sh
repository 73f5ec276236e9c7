#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Build NVIDIA's public DOCA Comch programs with comch, unchanged, and run both sides of
# each.
#
# usage: devtools/check-doca-samples.sh [--quick] [--work DIR] DIR
#
# DIR is a checkout of https://github.com/NVIDIA-DOCA/doca-samples, of any release from 2.9
# on (see its file VERSION). The script does not write to it.
#
#   --quick     fewer messages
#   --work DIR  build in DIR and keep the files; removes those of an earlier run
#               (default: a temporary directory)
#
# Prints one line per build and per run, with the end of the output if it failed. The last
# line is "N passed, N failed"; the exit status is 0 if nothing failed.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

quick=false
work=
samples=
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0 ;;
	--quick) quick=true ;;
	--work)
		[ $# -ge 2 ] || die "--work needs a directory"
		work=$2
		shift ;;
	-*) die "unknown option '$1' (try --help)" ;;
	*)
		[ -z "$samples" ] || die "unexpected argument '$1' (try --help)"
		samples=$1 ;;
	esac
	shift
done
[ -n "$samples" ] || die "no checkout given (try --help)"
release=$(samples_release "$samples")

server_pid=
cleanup() {
	[ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
	rm -rf "$runtime_dir" ${temporary:+"$temporary"}
}
own_runtime
# It would set the role of both sides.
unset COMCH_ROLE
if [ -z "$work" ]; then
	temporary=$(mktemp -d)
	work=$temporary
fi
trap cleanup EXIT
mkdir -p "$work"
work=$(cd "$work" && pwd)
(cd "$work" && rm -rf tree root dpu host run)
mkdir "$work/tree" "$work/dpu" "$work/host" "$work/run"

passed=0
failed=0

# result STATUS WHAT [LOG...]: count and print a result; for a failure, with the end of the logs.
result() {
	local status=$1 what=$2 log
	shift 2
	if [ "$status" -eq 0 ]; then
		printf 'ok      %s\n' "$what"
		passed=$((passed + 1))
		return
	fi
	printf 'FAILED  %s\n' "$what"
	failed=$((failed + 1))
	for log; do
		printf '  the end of %s:\n' "${log#"$work"/}"
		tail -n 15 "$log" | sed 's/^/    /'
	done
}

# build_program ROLE NAME SOURCE PROGRAM [OPTION...]: configure and build a directory of the
# tree, which must produce PROGRAM, a path in the build directory.
build_program() {
	local role=$1 name=$2 source=$3 program=$4 dir=$work/$1/$2 status=0
	shift 4
	{
		"$doca_env" --doca "$release" "$role" -- meson setup "$@" "$dir" "$source" &&
			"$doca_env" --doca "$release" "$role" -- ninja -C "$dir" &&
			[ -x "$dir/$program" ]
	} >"$dir.log" 2>&1 || status=$?
	result "$status" "build $name for the $role" "$dir.log"
}

# listening: check whether a server listens in the directory of this run.
listening() {
	awk -v dir="$COMCH_DIR/" '$4 == "00010000" && index($8, dir) == 1 { found = 1 }
		END { exit !found }' /proc/net/unix
}

# await_server: wait until the server listens; fails if it exits or takes too long.
await_server() {
	local tries
	for ((tries = 0; tries < 200; tries++)); do
		! listening || return 0
		kill -0 "$server_pid" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}

# run_pair NAME PATTERN DPU-PROGRAM HOST-PROGRAM [ARGUMENT...]: run both programs, given
# relative to the role's directory. Both must exit with status 0 and print PATTERN.
run_pair() {
	local name=$1 pattern=$2 server=$work/dpu/$3 client=$work/host/$4 status=0 log
	log=$work/run/${name//[^a-z0-9]/_}
	shift 4
	: >"$log.dpu"
	: >"$log.host"
	if [ ! -x "$server" ] || [ ! -x "$client" ]; then
		result 1 "run $name: not built"
		return
	fi
	export COMCH_DIR=$runtime_dir/$((passed + failed))
	mkdir -m 700 "$COMCH_DIR"
	timeout "$seconds" "$doca_env" dpu -- "$server" -p 03:00.0 -r b1:00.0 "$@" \
		>"$log.dpu" 2>&1 &
	server_pid=$!
	if await_server; then
		timeout "$seconds" "$doca_env" host -- "$client" -p b1:00.0 "$@" \
			>"$log.host" 2>&1 || ended host $?
	else
		echo 'no server listens' >>"$log.dpu"
		status=1
		kill "$server_pid" 2>/dev/null || true
	fi
	wait "$server_pid" || ended dpu $?
	server_pid=
	for side in dpu host; do
		grep -qE "$pattern" "$log.$side" || status=1
	done
	result "$status" "run $name" "$log.dpu" "$log.host"
}

# ended SIDE STATUS: record a failed side, for run_pair.
ended() {
	echo "ended with status $2" >>"$log.$1"
	status=1
}

"$top/devtools/setup.sh" samples
build build --buildtype=release
step "Installing into $work/root"
quietly meson install -C "$top/build" --no-rebuild --destdir "$work/root"
doca_env=$(find "$work/root" -path '*/bin/comch-doca-env')
"$doca_env" --doca "$release" dpu >/dev/null || die "$samples has the unsupported release $release"

samples_copy "$samples" "$work/tree"

step "Building the programs of release $release"
for role in dpu host; do
	for source in "$work/tree"/samples/doca_comch/*/; do
		name=$(basename "$source")
		build_program "$role" "$name" "$source" "doca_$name"
	done
	build_program "$role" secure_channel "$work/tree/applications" \
		secure_channel/doca_secure_channel \
		-Denable_all_applications=false -Denable_secure_channel=true
done

step 'Running the programs'
short=10000000 long=100000 seconds=600
if $quick; then
	short=100000 long=2000 seconds=60
fi
for name in comch_ctrl_path comch_data_path_high_speed; do
	run_pair "$name" 'Message received' \
		"${name}_server/doca_${name}_server" "${name}_client/doca_${name}_client"
done
program=secure_channel/secure_channel/doca_secure_channel
for pair in "64 $short" "65535 $long"; do
	read -r size count <<<"$pair"
	run_pair "secure_channel -s $size -n $count" "received $count messages" \
		"$program" "$program" -s "$size" -n "$count"
done

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# A host and its DPU as two virtual machines: an x86-64 host and an arm64 DPU, each with an
# RDMA device (Soft-RoCE), joined by a network. Runs programs in them, and tests.
#
# usage: devtools/lab.sh [OPTION...] COMMAND
#
#   run HOST_CMD DPU_CMD  run a command in each machine; the DPU's starts first
#   one CMD               run a command in one x86-64 machine with Soft-RoCE
#   shell host|dpu        boot both machines and get a shell in one
#   test [--quick] [--verbose] [GROUP[/CASE]...]
#                         run tests; --quick: those of nightly.sh, at most 5 minutes; --verbose:
#                         show the output of those that pass, too. The last line is
#                         "N passed, N failed, N skipped"
#   compile host|dpu SOURCE BUILD
#                         build a program for DOCA, of the directory SOURCE with a
#                         meson.build, for a machine, in the directory BUILD
#   list                  list the groups of tests
#   devices               print the device table of DOCA programs in the machines
#   fetch                 fetch and build what the other commands need
#
#   --files DIR    the machines see DIR, read-only, as /lab/files
#   --lib DIR      libraries of the host's (--lib) or of the DPU's (--dpu-lib) program
#   --dpu-lib DIR
#   --devices FILE the device table of DOCA programs; default: devtools/lab/devices.ini
#   --doca VERSION the release of DOCA that "compile" serves; default: the newest
#   --samples DIR  a checkout of doca-samples, for "test doca"
#   --out DIR      keep the output of each machine's command as DIR/host and DIR/dpu
#   --delay SECONDS start the host's command this long after the DPU's; default: 2
#   --time SECONDS maximum duration of a command; default: 120
#   --mem MB       memory of each machine; default: 1024
#   --mirror URL   Debian mirror; default: http://deb.debian.org/debian
#
# A command is a line for a shell in the machine. Its first word is a program of the build
# directory (examples/ctrl_path/server), which is built for that machine's architecture;
# a file of yours, which is copied there with its libraries; or a program of the machine
# (rping, ibv_devinfo, ib_send_bw, rdma, those of busybox). The exit status is 0 only if that of
# all commands is.
#
# Kernels are downloaded to build-lab, arm64 libraries to build-arm64, or both to
# $COMCH_LAB_CACHE. Later runs need no network. The machines are emulated, without KVM.
# Logs of failed tests are kept in build-lab/logs.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source-path=SCRIPTDIR source=debs.sh
. "$(dirname "$0")/debs.sh"
# shellcheck source-path=SCRIPTDIR source=arm64.sh
. "$(dirname "$0")/arm64.sh"
lab_dir=$top/build-lab
lab_cache=$(realpath -m "${COMCH_LAB_CACHE:-$lab_dir}")
lab_devices=$top/devtools/lab/devices.ini
lab_files=
lab_libs_amd64=()
lab_libs_arm64=()
lab_out=
lab_release=()
lab_samples=
lab_time=120
lab_delay=2
mirror=http://deb.debian.org/debian
# shellcheck source-path=SCRIPTDIR source=lab/kernel.sh
. "$top/devtools/lab/kernel.sh"
# shellcheck source-path=SCRIPTDIR source=lab/build.sh
. "$top/devtools/lab/build.sh"
# shellcheck source-path=SCRIPTDIR source=lab/vm.sh
. "$top/devtools/lab/vm.sh"
# shellcheck source-path=SCRIPTDIR source=lab/test.sh
. "$top/devtools/lab/test.sh"

# lab_error TEXT...: report an error without ending.
lab_error() {
	printf 'lab.sh: %s\n' "$*" >&2
}

# lab_open: a directory for the state of the machines, which end with this script.
lab_open() {
	# Short, because the path of a unix socket holds 107 bytes.
	lab_run=$(mktemp -d /tmp/lab.XXXXXX)
	trap lab_close EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

lab_close() {
	local pid
	vm_kill host dpu one
	# Those that show output; a background process ignores Ctrl-C.
	for pid in $(jobs -p); do
		kill "$pid" 2>/dev/null || true
	done
	wait
	rm -rf "$lab_run"
}

# lab_follow NAME ID: print the output of a command as it comes, each line with the name.
lab_follow() {
	local file
	file=$(vm_output "$1" "$2")
	: >>"$file"
	tail -n +1 -s 0.2 --pid="$3" -F "$file" 2>/dev/null | sed -u "s/^/$1 | /"
}

# lab_together SECONDS NAME COMMAND...: run commands, each in the machine named before it,
# print their output, and return 0 only if all succeed.
lab_together() {
	local seconds=$1 names=() ids=() followers=() statuses=() i status failed=0 waiting
	shift
	sleep infinity &
	waiting=$!
	while [ $# -gt 0 ]; do
		[ "${#names[@]}" -eq 0 ] || sleep "$lab_delay"
		names+=("$1")
		ids+=("$(vm_begin "$1" "$2")")
		lab_follow "$1" "${ids[-1]}" "$waiting" &
		followers+=($!)
		shift 2
	done
	for i in "${!names[@]}"; do
		status=0
		vm_end "${names[i]}" "${ids[i]}" "$seconds" || status=$?
		statuses[i]=$status
		[ "$status" -eq 0 ] || failed=1
	done
	# The followers print the rest and end.
	kill "$waiting"
	wait "$waiting" "${followers[@]}" 2>/dev/null || true
	for i in "${!names[@]}"; do
		printf '%s: exit status %d\n' "${names[i]}" "${statuses[i]}"
		if [ -n "$lab_out" ]; then
			mkdir -p "$lab_out"
			cp "$(vm_output "${names[i]}" "${ids[i]}")" "$lab_out/${names[i]}"
		fi
	done
	return "$failed"
}

# lab_ready NAME...: announce and boot machines; on failure, show their consoles.
lab_ready() {
	local name begin=$SECONDS
	step "Booting: $*"
	vm_boot "$@" || {
		for name; do
			printf '\n%s: the end of its console:\n' "$name" >&2
			tail -n 30 "$lab_run/$name/console.log" >&2 || true
		done
		exit 1
	}
	echo "$((SECONDS - begin)) s"
}

# need COUNT ARGUMENTS...: check the number of a command's arguments.
need() {
	[ $(($# - 1)) -eq "$1" ] || die "wrong number of arguments (--help)"
}

command_run() {
	local host dpu
	need 2 "$@"
	lab_prepare amd64 arm64
	lab_build amd64 "$(lab_target amd64 "$1")"
	lab_build arm64 "$(lab_target arm64 "$2")"
	lab_open
	vm_new host
	vm_new dpu
	host=$(lab_command host "$1")
	dpu=$(lab_command dpu "$2")
	lab_ready dpu host
	step "Running"
	lab_together "$lab_time" dpu "$dpu" host "$host"
}

command_one() {
	local one
	need 1 "$@"
	lab_prepare amd64
	lab_build amd64 "$(lab_target amd64 "$1")"
	lab_open
	vm_new one
	one=$(lab_command one "$1")
	lab_ready one
	step "Running"
	lab_together "$lab_time" one "$one"
}

command_shell() {
	local peer
	need 1 "$@"
	peer=$(vm_peer "$1")
	[ -n "$peer" ] || die "shell: '$1' is neither host nor dpu"
	lab_prepare amd64 arm64
	lab_build amd64
	lab_build arm64
	lab_open
	vm_new host
	vm_new dpu
	lab_ready "$peer"
	step "Booting: $1. Programs are in /lab/build. 'exit' ends both machines"
	vm_start "$1" shell
	wait "$(cat "$lab_run/$1/pid")" || true
	[ ! -t 0 ] || stty sane
}

command_compile() {
	local arch run=() options=(--buildtype=release)
	need 3 "$@"
	[ -n "$(vm_peer "$1")" ] || die "compile: '$1' is neither host nor dpu"
	arch=${vm_arch[$1]}
	[ -e "$2/meson.build" ] || die "compile: there is no $2/meson.build"
	"$top/devtools/setup.sh" build lab
	mkdir -p "$lab_dir"
	if [ "$arch" = arm64 ]; then
		arm64_prepare "$mirror"
		run=(arm64_run)
		options+=(--cross-file "$arm64_dir/cross.ini")
	fi
	lab_install "$arch"
	run+=("$lab_env" "${lab_release[@]}" "$1" --)
	step "Compiling $2 for the $1"
	[ -e "$3/build.ninja" ] || "${run[@]}" meson setup "${options[@]}" "$3" "$2"
	"${run[@]}" ninja -C "$3"
}

command_devices() {
	need 0 "$@"
	cat "$lab_devices"
}

command_fetch() {
	need 0 "$@"
	lab_prepare amd64 arm64
}

option() {
	[ $# -gt 1 ] || die "$1 needs a value"
}

while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage | sed "s|devtools/lab.sh|${COMCH_LAB_NAME:-&}|"
		exit 0 ;;
	--files)
		option "$@"
		lab_files=$(realpath -e "$2") || die "--files: there is no $2" ;;
	--lib)
		option "$@"
		lab_libs_amd64+=("$(realpath -e "$2")") || die "--lib: there is no $2" ;;
	--dpu-lib)
		option "$@"
		lab_libs_arm64+=("$(realpath -e "$2")") || die "--dpu-lib: there is no $2" ;;
	--devices)
		option "$@"
		lab_devices=$(realpath -e "$2") || die "--devices: there is no $2" ;;
	--doca)
		option "$@"
		lab_release=(--doca "$2") ;;
	--samples)
		option "$@"
		# shellcheck disable=SC2034 # of a test
		lab_samples=$(realpath -e "$2") || die "--samples: there is no $2" ;;
	--out)
		option "$@"
		lab_out=$2 ;;
	--delay)
		option "$@"
		lab_delay=$2 ;;
	--time)
		option "$@"
		lab_time=$2 ;;
	--mem)
		option "$@"
		vm_mem=$2 ;;
	--mirror)
		option "$@"
		mirror=$2 ;;
	-*)
		die "unknown option $1 (--help)" ;;
	*)
		break ;;
	esac
	shift 2
done
command=${1:-}
case $command in
run | one | shell | test | compile | list | devices | fetch)
	shift
	"command_$command" "$@" ;;
'')
	usage
	exit 2 ;;
*)
	die "unknown command '$command' (--help)" ;;
esac

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
#   up DIR                boot both machines and leave them, as "run" uses them with --machines DIR
#   down DIR              end them
#   one CMD               run a command in one x86-64 machine with Soft-RoCE
#   shell host|dpu        boot both machines and get a shell in one
#   test [--quick] [--verbose] [GROUP[/CASE]...]
#                         run tests; --quick: those of nightly.sh, at most 5 minutes; --verbose:
#                         show the output of those that pass, too. The last line is
#                         "N passed, N failed, N skipped"
#   compile host|dpu SOURCE BUILD [OPTION...]
#                         build a program for DOCA, of the directory SOURCE with a
#                         meson.build, for a machine, in the directory BUILD; with options of
#                         meson setup
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
#   --out DIR      keep the output of each machine's command as DIR/host.log and DIR/dpu.log; and if
#                  the time is over, what comch-info says there, twice, as DIR/host.1.json and so on
#   --delay SECONDS start the host's command this long after the DPU's; default: 2
#   --time SECONDS maximum duration of a command; default: 120
#   --grace SECONDS end a command when the other one has failed, and the DPU's this long after
#                  the host's has ended well
#   --may-die NAME host or dpu: that its command is killed by a signal is no failure
#   --machines DIR use the machines of "up DIR"; --files and --mem are those of "up"
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
lab_grace=
lab_may_die=()
lab_machines=
lab_locked=
# Of lab_together: the machine, and the id of its command.
names=()
ids=()
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
}

# lab_lock: one of these scripts at a time builds, and makes what machines boot from.
lab_lock() {
	mkdir -p "$lab_dir"
	exec {lab_locked}>"$lab_dir/lock"
	flock -n "$lab_locked" || {
		step 'Waiting for another lab.sh that builds'
		flock "$lab_locked"
	}
}

lab_unlock() {
	exec {lab_locked}>&-
	lab_locked=
}

lab_close() {
	vm_kill host dpu one
	lab_close_jobs
	rm -rf "$lab_run"
}

# lab_leave: the machines of "up" stay, without what was begun in them.
lab_leave() {
	[ "${#names[@]}" -eq 0 ] || lab_end 'lab.sh was ended'
	lab_close_jobs
}

lab_close_jobs() {
	local pid
	# Those that show output; a background process ignores Ctrl-C.
	for pid in $(jobs -p); do
		kill "$pid" 2>/dev/null || true
	done
	wait
}

# lab_follow NAME ID: print the output of a command as it comes, each line with the name.
lab_follow() {
	local file
	file=$(vm_output "$1" "$2")
	: >>"$file"
	# The last line may lack its end.
	tail -n +1 -s 0.2 --pid="$3" -F "$file" 2>/dev/null |
		awk -v name="$1" '{ print name " | " $0; fflush() }'
}

# lab_status NAME ID: print the exit status of a command; nothing while it runs.
lab_status() {
	cat "$lab_run/$1/box/$2.rc" 2>/dev/null || true
}

# lab_failed NAME STATUS: has it failed? One that may die has not if it was killed.
lab_failed() {
	[ "$2" != 0 ] && ! { [ "$2" = 137 ] && [[ " ${lab_may_die[*]} " == *" $1 "* ]]; }
}

# lab_look: what comch-info knows in the machines of lab_together. What is the same the second time
# does not move.
lab_look() {
	local turn i looks
	for turn in 1 2; do
		[ "$turn" = 1 ] || sleep 2
		looks=()
		for i in "${!names[@]}"; do
			looks+=("$(vm_begin "${names[i]}" 'exec 2>/dev/null
				/lab/build/app/comch-info/comch-info --json')")
		done
		for i in "${!names[@]}"; do
			if vm_end "${names[i]}" "${looks[i]}" 20; then
				cp "$(vm_output "${names[i]}" "${looks[i]}")" \
					"$lab_out/${names[i]}.$turn.json"
			fi 2>/dev/null
		done
	done
}

# lab_wait SECONDS: wait for the commands of lab_together. Sets reason[i] for those that have to be
# ended.
lab_wait() {
	local end=$((SECONDS + $1)) i status left host_done='' failed=''
	while :; do
		left=0
		for i in "${!names[@]}"; do
			status=$(lab_status "${names[i]}" "${ids[i]}")
			vm_alive "${names[i]}" || status=${status:-125}
			if [ -z "$status" ]; then
				left=1
			elif [ -n "$lab_grace" ] && lab_failed "${names[i]}" "$status"; then
				failed=${names[i]}
			elif [ "${names[i]}" = host ]; then
				host_done=${host_done:-$SECONDS}
			fi
		done
		[ "$left" -eq 1 ] || return 0
		if [ "$SECONDS" -ge "$end" ]; then
			[ -z "$lab_out" ] || lab_look
			lab_end 'time is over'
			return
		elif [ -n "$failed" ]; then
			lab_end "$failed has failed"
			return
		elif [ -n "$lab_grace" ] && [ -n "$host_done" ] &&
			[ "$SECONDS" -ge $((host_done + lab_grace)) ]; then
			lab_end 'the host is done'
			return
		fi
		sleep 0.1
	done
}

# lab_end REASON: end what still runs, and set reason[i].
lab_end() {
	local i signal
	for signal in TERM KILL; do
		for i in "${!names[@]}"; do
			[ -z "$(lab_status "${names[i]}" "${ids[i]}")" ] || continue
			reason[i]=$1
			vm_signal "${names[i]}" "$signal" "${ids[i]}"
		done
		for i in "${!names[@]}"; do
			vm_end "${names[i]}" "${ids[i]}" 3 2>/dev/null || true
		done
	done
}

# lab_together SECONDS NAME COMMAND...: run commands, each in the machine named before it,
# print their output, and return 0 only if all succeed.
lab_together() {
	local seconds=$1 followers=() i status failed=0 waiting reason=()
	shift
	names=() ids=()
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
	[ -z "$lab_out" ] || mkdir -p "$lab_out"
	[ -z "$lab_out" ] || rm -f "$lab_out"/{host,dpu,one}.{log,1.json,2.json}
	lab_wait "$seconds"
	# The followers print the rest and end.
	kill "$waiting"
	wait "$waiting" "${followers[@]}" 2>/dev/null || true
	for i in "${!names[@]}"; do
		status=$(lab_status "${names[i]}" "${ids[i]}")
		if [ -z "$status" ]; then
			status=125
			lab_error "${names[i]}: the machine ended during: $(
				cat "$lab_run/${names[i]}/box/${ids[i]}.cmd")"
		fi
		if [ -z "${reason[i]:-}" ]; then
			! lab_failed "${names[i]}" "$status" || failed=1
			printf '%s: exit status %d\n' "${names[i]}" "$status"
		elif [ "${reason[i]}" = 'time is over' ]; then
			failed=1
			printf '%s: exit status 124: ended after %s s\n' "${names[i]}" "$seconds"
		else
			printf '%s: ended: %s\n' "${names[i]}" "${reason[i]}"
		fi
		if [ -n "$lab_out" ]; then
			cp "$(vm_output "${names[i]}" "${ids[i]}")" "$lab_out/${names[i]}.log"
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
	[ $(($# - 1)) -eq "$1" ] || misuse "wrong number of arguments (--help)"
}

# What the machines have beside the programs that are named.
lab_info=app/comch-info/comch-info

command_run() {
	local host dpu host_target dpu_target
	need 2 "$@"
	lab_lock
	if [ -z "$lab_machines" ]; then
		lab_prepare amd64 arm64
	else
		lab_use "$lab_machines"
	fi
	host_target=$(lab_target amd64 "$1")
	dpu_target=$(lab_target arm64 "$2")
	if [ -z "$lab_machines" ]; then
		lab_build amd64 "$lab_info" "$host_target"
		lab_build arm64 "$lab_info" "$dpu_target"
		lab_open
		vm_new host
		vm_new dpu
	else
		[ -z "$host_target" ] || lab_build amd64 "$host_target"
		[ -z "$dpu_target" ] || lab_build arm64 "$dpu_target"
	fi
	host=$(lab_command host "$1")
	dpu=$(lab_command dpu "$2")
	[ -n "$lab_machines" ] || lab_ready dpu host
	lab_unlock
	step "Running"
	lab_together "$lab_time" dpu "$dpu" host "$host"
}

# lab_use DIR: the machines of "up DIR".
lab_use() {
	local name
	lab_run=$(cat "$1/lab" 2>/dev/null) || lab_run=/nowhere
	vm_recall host dpu
	for name in host dpu; do
		vm_alive "$name" || misuse "--machines: no machines run there: 'up $1' boots them"
	done
	exec {lab_used}>"$1/lock"
	flock -n "$lab_used" || misuse "--machines: another lab.sh uses the machines of $1"
	trap lab_leave EXIT
	for name in host dpu; do
		cp "$lab_devices" "$lab_run/$name/box/devices.ini"
		rm -rf "$lab_run/$name/box"/{bin,lib}
	done
}

command_up() {
	need 1 "$@"
	mkdir -p "$1"
	[ ! -e "$1/lab" ] || misuse "up: $1 has machines: 'down $1' ends them"
	lab_lock
	lab_prepare amd64 arm64
	lab_build amd64 "$lab_info"
	lab_build arm64 "$lab_info"
	lab_open
	vm_new host
	vm_new dpu
	lab_ready dpu host
	lab_unlock
	echo "$lab_run" >"$1/lab"
	# They stay.
	trap - EXIT
}

command_down() {
	need 1 "$@"
	lab_run=$(cat "$1/lab" 2>/dev/null) || misuse "down: $1 has no machines"
	vm_recall host dpu
	vm_kill host dpu
	rm -rf "$lab_run" "$1"/{lab,lock}
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
	local arch run=() options=(--buildtype=release "${@:4}")
	[ $# -ge 3 ] || misuse "wrong number of arguments (--help)"
	[ -n "$(vm_peer "$1")" ] || misuse "compile: '$1' is neither host nor dpu"
	arch=${vm_arch[$1]}
	[ -e "$2/meson.build" ] || misuse "compile: there is no $2/meson.build"
	[ "$arch" != arm64 ] || arm64_can_run
	lab_lock
	"$top/devtools/setup.sh" build lab
	mkdir -p "$lab_dir"
	if [ "$arch" = arm64 ]; then
		arm64_prepare "$mirror"
		arm64_hide_cuda
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
	[ $# -gt 1 ] || misuse "$1 needs a value"
}

# number OPTION VALUE [...]: the option has a whole number.
number() {
	option "$@"
	[[ $2 =~ ^[0-9]{1,9}$ ]] || misuse "$1: expected a whole number, not '$2'"
}

# Also while it builds: what it has started ends with it.
trap 'exit 130' INT
trap 'exit 143' TERM HUP

while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage | sed "s|devtools/lab.sh|${COMCH_LAB_NAME:-&}|"
		exit 0 ;;
	--files)
		option "$@"
		lab_files=$(realpath -e "$2") || misuse "--files: there is no $2" ;;
	--lib)
		option "$@"
		lab_libs_amd64+=("$(realpath -e "$2")") || misuse "--lib: there is no $2" ;;
	--dpu-lib)
		option "$@"
		lab_libs_arm64+=("$(realpath -e "$2")") || misuse "--dpu-lib: there is no $2" ;;
	--devices)
		option "$@"
		lab_devices=$(realpath -e "$2") || misuse "--devices: there is no $2" ;;
	--doca)
		option "$@"
		lab_release=(--doca "$2") ;;
	--samples)
		option "$@"
		# shellcheck disable=SC2034 # of a test
		lab_samples=$(realpath -e "$2") || misuse "--samples: there is no $2" ;;
	--out)
		option "$@"
		lab_out=$2 ;;
	--delay)
		number "$@"
		lab_delay=$2 ;;
	--time)
		number "$@"
		lab_time=$2 ;;
	--grace)
		number "$@"
		lab_grace=$2 ;;
	--may-die)
		option "$@"
		[ -n "$(vm_peer "$2")" ] || misuse "--may-die: expected host or dpu, not '$2'"
		lab_may_die+=("$2") ;;
	--machines)
		option "$@"
		lab_machines=$2 ;;
	--mem)
		number "$@"
		vm_mem=$2 ;;
	--mirror)
		option "$@"
		mirror=$2 ;;
	-*)
		misuse "unknown option $1 (--help)" ;;
	*)
		break ;;
	esac
	shift 2
done
command=${1:-}
case $command in
run | up | down | one | shell | test | compile | list | devices | fetch)
	shift
	"command_$command" "$@" ;;
'')
	usage
	exit 2 ;;
*)
	misuse "unknown command '$command' (--help)" ;;
esac

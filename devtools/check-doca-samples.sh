#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Build NVIDIA's public programs for DOCA Comch, DMA, SHA, Compress and sync events with comch,
# unchanged, and run both sides of each with comch-run.
#
# usage: devtools/check-doca-samples.sh [--quick] [--faults] [--lab] [--write] [--work DIR] DIR
#
# DIR is a checkout of https://github.com/NVIDIA-DOCA/doca-samples, of any release from 2.9
# on (see its file VERSION). The script does not write to it.
#
#   --quick     fewer messages, and no file of 1 GiB
#   --faults    also with each fault of comch-run on each side: a program may fail, but where it
#               hangs, comch-run must say what it waits for; and no side crashes, but for one program's mistake
#   --lab       the host's on the x86-64 machine of lab.sh, the DPU's on the arm64 one; few messages,
#               and no DMA: memory of another machine cannot be copied
#   --write     put the result into doc/guides/doca/programs.md
#   --work DIR  build in DIR and keep the files; removes those of an earlier run
#               (default: a temporary directory)
#
# Prints one line per build and per run, with the end of the output if it failed. The last
# line is "N passed, N failed"; the exit status is 0 if nothing failed.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

quick=false
faults=false
lab=false
write=false
work=
samples=
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0 ;;
	--quick) quick=true ;;
	--faults) faults=true ;;
	--lab) lab=true ;;
	--write) write=true ;;
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

cleanup() {
	[ ! -e "$work/machines/lab" ] || "$top/devtools/lab.sh" down "$work/machines"
	rm -rf ${temporary:+"$temporary"}
}
# They would set where the sides meet, and the role of both.
unset COMCH_DIR COMCH_ROLE RUNTIME_DIRECTORY
if [ -z "$work" ]; then
	temporary=$(mktemp -d)
	work=$temporary
fi
trap cleanup EXIT
mkdir -p "$work"
work=$(cd "$work" && pwd)
[ ! -e "$work/machines/lab" ] || "$top/devtools/lab.sh" down "$work/machines"
(cd "$work" && rm -rf tree root dpu host run machines)
mkdir "$work/tree" "$work/dpu" "$work/host" "$work/run"

passed=0
failed=0
: >"$work/results"

# result STATUS WHAT [LOG...]: count and print a result; for a failure, with the end of the logs.
result() {
	local status=$1 what=$2 log
	shift 2
	if [ "$status" -eq 0 ]; then
		printf 'ok      %s\n' "$what" | tee -a "$work/results"
		passed=$((passed + 1))
		return
	fi
	printf 'FAILED  %s\n' "$what" | tee -a "$work/results"
	failed=$((failed + 1))
	for log; do
		printf '  the end of %s:\n' "${log#"$work"/}"
		tail -n 15 "$log" | sed 's/^/    /'
	done
}

# compile ROLE SOURCE BUILD [OPTION...]: as this machine's program, or as that of the lab's.
compile() {
	if $lab; then
		"$top/devtools/lab.sh" --doca "$release" compile "$@"
	else
		"$doca_env" --doca "$release" "$1" -- meson setup "${@:4}" "$3" "$2" &&
			"$doca_env" --doca "$release" "$1" -- ninja -C "$3"
	fi
}

# build_program ROLE NAME SOURCE PROGRAM [OPTION...]: configure and build a directory of the
# tree, which must produce PROGRAM, a path in the build directory.
build_program() {
	local role=$1 name=$2 source=$3 program=$4 dir=$work/$1/$2 status=0
	shift 4
	{
		compile "$role" "$source" "$dir" "$@" && [ -x "$dir/$program" ]
	} >"$dir.log" 2>&1 || status=$?
	result "$status" "build $name for the $role" "$dir.log"
}

# How the programs are told their device.
device=-p

# pair OUT OPTION... -- DPU-PROGRAM HOST-PROGRAM [ARGUMENT...]: run both programs, given relative to
# the role's directory, with these options of comch-run, and show what it showed.
pair() {
	local out=$1 options=(--doca "$release") server client
	! $lab || options=(--lab)
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	server=$work/dpu/$2 client=$work/host/$3
	shift 3
	# comch-doca-env has the installation's libraries found by comch-info.
	"$doca_env" dpu -- "${doca_env%/*}/comch-run" --no-colour --out "$out" \
		"${options[@]}" -- "$server" "$device" 03:00.0 -r b1:00.0 "$@" \
		--- "$client" "$device" b1:00.0 "$@"
}

# run_pair NAME PATTERN DPU-PROGRAM HOST-PROGRAM [ARGUMENT...]: both must exit with status 0 and
# print PATTERN.
run_pair() {
	local name=$1 pattern=$2 status=0 log
	log=$work/run/${name//[^a-z0-9]/_}
	shift 2
	pair "$log" --timeout "$seconds" -- "$@" >"$log.log" 2>&1 || status=1
	for side in dpu host; do
		grep -qE "$pattern" "$log/$side.log" 2>/dev/null || status=1
	done
	result "$status" "run $name" "$log.log"
}

# run_alone NAME PATTERN PROGRAM ARGUMENT...: one program of the DPU.
run_alone() {
	local name=$1 pattern=$2 status=0 log=$work/run/$1.log
	"$doca_env" --doca "$release" dpu -- timeout "$seconds" "$work/dpu/$3" "${@:4}" >"$log" 2>&1 ||
		status=1
	grep -qE "$pattern" "$log" || status=1
	result "$status" "run $name" "$log"
}

# run_dma_copy TEXT: the host exports its memory in two files and waits for a key, and the DPU copies it.
run_dma_copy() {
	local at=$work/run/dma_copy status=0 host
	mkdir "$at"
	mkfifo "$at/keys"
	"$doca_env" --doca "$release" host -- timeout "$seconds" \
		"$work/host/dma_copy_host/doca_dma_copy_host" -p b1:00.0 -t "$1" -d "$at/desc" -b "$at/buf" \
		<"$at/keys" >"$at/host.log" 2>&1 &
	host=$!
	exec 3>"$at/keys"
	until grep -q 'press enter' "$at/host.log" || ! kill -0 "$host" 2>/dev/null; do
		sleep 0.1
	done
	run_alone dma_copy_dpu "Memory content: $1" dma_copy_dpu/doca_dma_copy_dpu -p 03:00.0 \
		-d "$at/desc" -b "$at/buf"
	echo >&3
	exec 3>&-
	wait "$host" || status=1
	result "$status" 'run dma_copy_host' "$at/host.log"
}

# run_file NAME BYTES SIDE...: each of these sides in turn has a file, and the other one gets it.
run_file() {
	local name=$1 bytes=$2 program=$1/$1/doca_$1 from status log
	head -c "$bytes" /dev/urandom >"$work/run/file"
	for from in "${@:3}"; do
		log=$work/run/${name}_${bytes}_of_$from status=0
		rm -rf "$work/run/there"
		mkdir "$work/run/there"
		mv "$work/run/file" "$work/run/there/of-$from"
		"$doca_env" dpu -- "${doca_env%/*}/comch-run" --no-colour --out "$log" --timeout "$seconds" \
			--doca "$release" -- "$work/dpu/$program" -p 03:00.0 -r b1:00.0 \
			-f "$work/run/there/of-$([ "$from" = dpu ] && echo dpu || echo new)" \
			--- "$work/host/$program" -p b1:00.0 \
			-f "$work/run/there/of-$([ "$from" = host ] && echo host || echo new)" \
			>"$log.log" 2>&1 || status=1
		cmp -s "$work/run/there/of-$from" "$work/run/there/of-new" || status=1
		result "$status" "run $name: $bytes of the $from" "$log.log"
		mv "$work/run/there/of-$from" "$work/run/file"
	done
	rm -rf "$work/run/file" "$work/run/there"
}

# run_packer NAME IN EXPECTED [ARGUMENT...]: a sample of DOCA Compress makes a file of another one, which,
# where EXPECTED is a name, is like that one.
run_packer() {
	local name=$1 at=$work/run/packed status=0 log=$work/run/$1.log
	"$doca_env" --doca "$release" dpu -- timeout "$seconds" "$work/dpu/$name/doca_$name" -p 03:00.0 \
		-f "$at/$2" -o "$at/of-$name" "${@:4}" >"$log" 2>&1 || status=1
	[ -z "$3" ] || cmp "$at/$3" "$at/of-$name" >>"$log" 2>&1 || status=1
	result "$status" "run $name${4:+ $4}" "$log"
}

# The samples of DOCA Compress, and what gzip and lz4 make of the same file.
run_packers() {
	local at=$work/run/packed status=0
	mkdir "$at"
	seq 100000 >"$at/plain"
	gzip -n <"$at/plain" >"$at/gzip"
	# Without the header and the trailer of gzip.
	tail -c +11 "$at/gzip" | head -c -8 >"$at/deflate"
	lz4 -q <"$at/plain" >"$at/lz4"
	run_packer compress_deflate plain ''
	{
		head -c 10 "$at/gzip"
		cat "$at/of-compress_deflate"
		tail -c 8 "$at/gzip"
	} | gzip -d 2>&1 | cmp "$at/plain" - >"$at/log" 2>&1 || status=1
	result "$status" 'gzip decompresses what compress_deflate made' "$at/log"
	run_packer decompress_deflate deflate plain
	run_packer compress_deflate plain '' --with-frame
	cp "$at/of-compress_deflate" "$at/zlib"
	run_packer decompress_deflate zlib plain --with-frame
	run_packer decompress_lz4_stream lz4 plain --with-frame
}

# fail_pair NAME FAULT DPU-PROGRAM HOST-PROGRAM [ARGUMENT...]: with a fault. If time runs out, the last
# line names a side and what it waits for, or who has sent what since when.
fail_pair() {
	local name=$1 fault=$2 status=0 log verdict
	log=$work/run/${name//[^a-z0-9]/_}_${fault//[^a-z0-9]/_}
	shift 2
	pair "$log" --timeout "$late" --grace 3 --fault "$fault" -- "$@" >"$log.log" 2>&1 || status=$?
	verdict=$(tail -n 1 "$log.log" | cut -c 1-150)
	# Its detached threads count themselves down in a variable on the stack of main(), which may have
	# returned: comch_utils_destroy() of a broken connection does not wait for them.
	if [[ $name = secure_channel && $fault =~ :(reset|exit)= && $status = 139 ]]; then
		result 0 "$name with $fault: crashed: its threads write to the stack of main() after its end"
		return
	fi
	case $status in
	2 | 126 | 127 | 12[89] | 1[3-9]? | 2??)
		result 1 "$name with $fault: status $status" "$log.log"
		return ;;
	esac
	if [ "$status" -eq 124 ]; then
		grep -qE '^comch-run: timeout after [0-9.]+ s: (.*(dpu|host): |connected, and (silent for [1-9]|at work))' \
			<<<"$verdict" ||
			{
				result 1 "$name with $fault: a hang without a name" "$log.log"
				return
			}
	elif [ "$status" -eq 0 ]; then
		verdict='both ended well'
	fi
	result 0 "$name with $fault: status $status: $verdict"
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
		# Not the build directories of a reader who follows the guide.
		[ -e "$source/meson.build" ] || continue
		name=$(basename "$source")
		build_program "$role" "$name" "$source" "doca_$name"
	done
	for name in secure_channel dma_copy file_integrity file_compression; do
		build_program "$role" "$name" "$work/tree/applications" "$name/doca_$name" \
			-Denable_all_applications=false "-Denable_$name=true"
	done
done
for name in dma_local_copy dma_copy_dpu; do
	build_program dpu "$name" "$work/tree/samples/doca_dma/$name" "doca_$name"
done
build_program host dma_copy_host "$work/tree/samples/doca_dma/dma_copy_host" doca_dma_copy_host
for name in sha_create sha_partial_create; do
	build_program dpu "$name" "$work/tree/samples/doca_sha/$name" "doca_$name"
done
for name in compress_deflate decompress_deflate decompress_lz4_stream; do
	build_program dpu "$name" "$work/tree/samples/doca_compress/$name" "doca_$name"
done
# They look at progress engines, by DMA.
engines=(pe_async_stop pe_event pe_multi_context pe_polling pe_reactive pe_single_task_comp_cb
	pe_task_error pe_task_resubmit pe_task_try_submit)
for name in "${engines[@]}"; do
	build_program dpu "$name" "$work/tree/samples/doca_common/$name" "doca_$name"
done
for role in dpu host; do
	for name in sync_event_local_pci sync_event_remote_pci; do
		build_program "$role" "$name" "$work/tree/samples/doca_common/$name" "doca_$name"
	done
done

step 'Running the programs'
short=10000000 long=100000 seconds=600 late=8
if $lab; then
	step 'Booting the machines'
	"$top/devtools/lab.sh" up "$work/machines"
	export COMCH_LAB=$top/devtools/lab.sh COMCH_LAB_MACHINES=$work/machines
	short=1000 long=50 seconds=120 late=15
elif $quick; then
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

if ! $lab; then
	run_alone dma_local_copy 'memory copied and verified as correct' \
		dma_local_copy/doca_dma_local_copy -p 03:00.0 -t 'of the DPU'
	run_dma_copy 'of the host'
	text='more than the 64 bytes of a block, since a part of a message has whole blocks'
	digest=$(printf %s "$text" | sha256sum | cut -c 1-64)
	for name in sha_create sha_partial_create; do
		run_alone "$name" "$digest" "$name/doca_$name" -d "$text"
	done
	run_packers
	for name in "${engines[@]}"; do
		run_alone "$name" 'finished successfully' "$name/doca_$name"
	done
	device=-d
	for mode in '' --atomic '--async --async-num-tasks 1' '--async --atomic'; do
		for sides in 'local remote' 'remote local'; do
			read -r dpu host <<<"$sides"
			# shellcheck disable=SC2086
			run_pair "sync_event_${dpu}_pci and sync_event_${host}_pci $mode" \
				'finished successfully' \
				"sync_event_${dpu}_pci/doca_sync_event_${dpu}_pci" \
				"sync_event_${host}_pci/doca_sync_event_${host}_pci" $mode
		done
	done
	device=-p
	sizes='1 1048576'
	$quick || sizes+=' 1073741824'
	for bytes in $sizes; do
		run_file dma_copy "$bytes" dpu host
		run_file file_integrity "$bytes" host
	done
	# Its files have at most 128 MiB.
	for bytes in 1 1048576; do
		run_file file_compression "$bytes" host
	done
fi

if $faults; then
	step 'Each fault against each'
	for side in dpu host; do
		for fault in again=1 again=1/3 error=1 late=1 late=1/2 reset=1 reset=2 exit=1 exit=2 slow_ms=20; do
			for name in comch_ctrl_path comch_data_path_high_speed; do
				fail_pair "$name" "$side:$fault" "${name}_server/doca_${name}_server" \
					"${name}_client/doca_${name}_client"
			done
			fail_pair secure_channel "$side:$fault" "$program" "$program" -s 64 -n 100
		done
	done
fi

if $write; then
	where='one machine'
	! $lab || where='two machines'
	"$top/devtools/doca-programs.py" "$release" "$where" "$work/results"
fi
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]

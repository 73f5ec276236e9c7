#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# What bash completes.
#
# usage: complete.sh COMPLETION COMCH-PERF COMCH-INFO COMCH-RUN COMCH-LAB

set -euo pipefail

# shellcheck source=/dev/null
. "$1"
perf=$2 info=$3 run=$4 lab=$5

# completes COMMAND BEFORE CURRENT WORDS: after the word BEFORE, CURRENT becomes one of WORDS.
completes() {
	COMPREPLY=()
	_comch "$1" "$3" "$2"
	[ "${COMPREPLY[*]}" = "$4" ] || {
		printf "%s %s %s: expected '%s', got '%s'\n" "${1##*/}" "$2" "$3" "$4" "${COMPREPLY[*]}" >&2
		exit 1
	}
}

completes "$perf" comch-perf data- 'data-lat data-rate data-bw'
completes "$perf" comch-perf --hist --histogram
completes "$perf" --memory '' 'shared heap eal'
if "$perf" --help | grep -q -- --work; then
	completes "$perf" --work sha 'sha1 sha256 sha512'
fi
completes "$perf" --role h host
completes "$perf" --output '' ''
completes "$perf" --verify msgq-r msgq-rate
completes "$info" comch-info --ex --explain
completes "$run" --gdb d dpu
completes "$run" comch-run --va --valgrind
completes "$lab" comch-lab s shell
complete -p comch-perf | grep -q _comch

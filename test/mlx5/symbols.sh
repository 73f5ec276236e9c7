#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# A plugin exports nothing. What it exports, a library of the program that has the same name
# replaces; DPDK's driver for these devices is named mlx5, too.
#
# usage: symbols.sh PLUGIN

set -euo pipefail

if ! command -v nm >/dev/null; then
	echo "skipped: nm is missing (package binutils)"
	exit 77
fi
symbols=$(nm -D --defined-only "$1")
# gcov's and the sanitizers' own are not ours.
symbols=$(grep -Ev ' _+(gcov|asan|odr_asan|tsan)_' <<<"$symbols" || true)
if [ -n "$symbols" ]; then
	printf '%s exports:\n%s\n' "${1##*/}" "$symbols" >&2
	exit 1
fi

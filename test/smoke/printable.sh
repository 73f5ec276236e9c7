#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# What a peer sends does not control the terminal: its bytes are printed escaped.
#
# usage: printable.sh DPU-PROGRAM [ARGUMENT...] -- HOST-PROGRAM [ARGUMENT...]

set -euo pipefail

text=$'\e]0;title\a red \x9b31m back\\slash'
out=$TMPDIR/out
"$(dirname "$0")/pair.sh" "$@" --text "$text" >"$out"
if LC_ALL=C grep -q '[^[:print:]]' "$out"; then
	LC_ALL=C sed -n 'l' "$out" >&2
	exit 1
fi
grep -qF 'received "\x1b]0;title\x07 red \x9b31m back\x5cslash"' "$out" ||
	grep -qF 'client 1: "\x1b]0;title\x07 red \x9b31m back\x5cslash"' "$out"

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# What the workflows run: build both sides, and run them as a pair. An argument is a further
# option of comch-run.

set -euo pipefail

build=${BUILD:-build}
for role in dpu host; do
	[ -e "$build/$role/build.ninja" ] || comch-doca-env "$role" -- meson setup "$build/$role"
	ninja -C "$build/$role"
done
comch-run --timeout 20 --out "$build/out" "$@" -- "$build/dpu/greet" -p 03:00.0 -r b1:00.0 \
	--- "$build/host/greet" -p b1:00.0

# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# To be sourced by a test: a directory, $tmp, and a process, $server_pid, that go when the test
# does.

# shellcheck disable=SC2034 # used by those that source this
tmp=$(mktemp -d)
# A process that the test has started.
server_pid=
cleanup() {
	[ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
	rm -rf "$tmp"
}
trap cleanup EXIT

fail() {
	echo "$*" >&2
	exit 1
}

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Run a command as in a container with the usual limits: a read-only root, a tmpfs at /tmp, 64 MB of
# /dev/shm, a user without root and without capabilities, and the default seccomp filter, which
# refuses ptrace(). Needs root, and a compiler.
#
# usage: container.sh SOURCE-DIR COMMAND...

set -euo pipefail

source=$1
shift
deny=$(mktemp)
root=$(mktemp -d)
# The directory is empty but for what is mounted in another namespace: nothing below it is removed.
trap 'rm -f "$deny"; rmdir "$root"' EXIT
cc -O1 -o "$deny" "$source/test/environments/deny.c"

# What the engines' default filter refuses to who has no capabilities.
refused=(add_key bpf get_mempolicy io_uring_setup kcmp keyctl mbind mount move_pages
	name_to_handle_at open_by_handle_at perf_event_open ptrace set_mempolicy setns umount2
	unshare userfaultfd)
# No mount may get out. In a chroot, whose root is none, the one who made it has seen to that.
propagation=private
unshare --mount true 2>/dev/null || propagation=unchanged
# shellcheck disable=SC2016 # for the inner shell
unshare --mount --pid --fork --kill-child --propagation "$propagation" bash -c '
	set -e
	root=$1 deny=$2 source=$3
	shift 3
	mount --rbind / "$root"
	mount -t proc proc "$root/proc"
	mount -t tmpfs tmpfs "$root/tmp"
	mount -t tmpfs -o size=64m tmpfs "$root/dev/shm"
	mkdir -m 755 "$root/tmp/bin"
	install -m 755 "$deny" "$root/tmp/bin/deny"
	cp -r "$source/examples/ci" "$root/tmp/project"
	cp "$source/test/ci/verdicts.sh" "$root/tmp/bin"
	chown -R 1000:1000 "$root/tmp/project"
	mount -o remount,bind,ro "$root"
	exec chroot "$root" env -i -C /tmp/project PATH=/usr/bin:/bin HOME=/tmp LANG=C.UTF-8 \
		setpriv --reuid 1000 --regid 1000 --clear-groups --bounding-set=-all --no-new-privs \
		"$@"
' - "$root" "$deny" "$source" /tmp/bin/deny EPERM "${refused[@]}" -- "$@"

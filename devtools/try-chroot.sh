#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Run devtools/run.sh and devtools/test.sh like a new user: in a fresh Debian base system,
# with a clean clone of this repository.
#
# usage: devtools/try-chroot.sh [--tree] [--release NAME] [--mirror URL] [COMMAND...]
#
#   --tree     use the files of the work tree instead of the last commit
#   --release  Debian release: bookworm (12, with DPDK 22.11; default), trixie (13, with
#              DPDK 24.11), sid
#   --mirror   Debian mirror; default: http://deb.debian.org/debian
#   COMMAND    command to run in the clone instead, such as .ci/run, or
#              devtools/test.sh --suite fast
#
# Needs root, the network and 3 GB below $TMPDIR (/tmp). Mounts and processes have their own
# namespaces. The script removes everything when it exits, even after a failure.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

# Second half: inside the namespaces.
if [ "${1:-}" = --inside ]; then
	root=$2
	shift 2
	mount --make-rprivate /
	for dir in dev sys; do
		mount --rbind "/$dir" "$root/$dir"
	done
	mount -t proc proc "$root/proc"
	run() {
		step "In the chroot: $*"
		chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
			sh -c 'cd /root/comch && exec "$@"' - "$@" </dev/null
	}
	if [ $# -gt 0 ]; then
		run "$@"
	else
		run devtools/run.sh
		run devtools/test.sh
		# Again, with everything installed and built.
		run devtools/test.sh --suite fast
	fi
	exit 0
fi

tree=false
release=bookworm
mirror=http://deb.debian.org/debian
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0 ;;
	--tree)
		tree=true
		shift ;;
	--release)
		release=${2:?--release needs a name}
		shift 2 ;;
	--mirror)
		mirror=${2:?--mirror needs a URL}
		shift 2 ;;
	*)
		break ;;
	esac
done
[ "$(id -u)" -eq 0 ] || die 'needs root'

"$top/devtools/setup.sh" chroot
root=$(mktemp -d)
# For apt, which downloads as another user.
chmod 755 "$root"
# The mounts are in another namespace, so this removes our files only.
trap 'rm -rf --one-file-system "$root"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

step "A fresh Debian $release in $root, from $mirror"
quietly debootstrap --variant=minbase "$release" "$root" "$mirror"
# Copy this machine's proxy and name settings.
apt-config dump | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/90host" || true
for file in /etc/resolv.conf /etc/hosts; do
	[ ! -e "$file" ] || cp -L "$file" "$root/etc/"
done

if $tree; then
	mkdir "$root/root/comch"
	(cd "$top" && project_files . | tar -c -T - -f -) | tar -x -C "$root/root/comch"
else
	git clone -q --no-hardlinks "$top" "$root/root/comch"
	chown -R root: "$root/root/comch"
fi
# When this shell exits, --kill-child ends all processes in the namespaces.
unshare --mount --pid --fork --kill-child "$0" --inside "$root" "$@"

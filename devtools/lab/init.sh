#!/bin/busybox sh
# shellcheck shell=dash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# The first process of a virtual machine of lab.sh: loads the modules, mounts what the
# machine shares, and starts guest.sh in it. Parameters come as lab.NAME=VALUE on the
# kernel's command line.

/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
while read -r module; do
	insmod "/modules/$module" || echo "lab: insmod $module failed"
done </order
read -r line </proc/cmdline
for word in $line; do
	case $word in
	lab.*=*) export "LAB_${word#lab.}" ;;
	esac
done

# share TAG DIR OPTIONS: mount a directory of the machine that runs lab.sh.
share() {
	mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,$3" "$1" "$2"
}

share root /root ro,cache=loose || echo "lab: the root directory is missing"
cd /root || poweroff -f
mount -t proc proc proc
mount -t sysfs sys sys
mount -o bind /dev dev
mkdir -p dev/shm dev/pts
mount -t tmpfs shm dev/shm
mount -t devpts pts dev/pts
for dir in tmp run root; do
	mount -t tmpfs "$dir" "$dir"
done
share build lab/build ro,cache=loose
# Both sides write here, so nothing is cached.
share box lab/box rw,cache=none || poweroff -f
if [ -n "$LAB_files" ]; then
	share files lab/files ro,cache=loose
fi
ulimit -l unlimited
chroot /root /bin/sh /lab/guest.sh
sync
poweroff -f

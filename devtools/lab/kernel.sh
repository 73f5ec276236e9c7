# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Kernels and initial file systems of the virtual machines. Part of lab.sh.

# What a guest loads. crc32_generic must come before rdma_rxe, which looks for it.
lab_modules=(crc32_generic virtio_pci virtio_net virtio_rng virtio_console 9pnet_virtio 9p
	rdma_rxe rdma_ucm ib_uverbs)

# kernel_fetch ARCHITECTURE MIRROR: download Debian's kernel and keep the image and the
# modules that a guest needs. Debian's "cloud" kernels lack rdma_rxe.
kernel_fetch() {
	local dir=$lab_cache/kernel-$1 work package version file
	[ ! -e "$dir/version" ] || return 0
	step "Fetching Debian's kernel for $1 from $2"
	rm -rf "$dir"
	mkdir -p "$dir/modules"
	work=$dir/unpacked
	debs_open "$dir/apt" "$1" "$2"
	package=$(debs_first_depends "linux-image-$1")
	[ -n "$package" ] || die "$2 has no linux-image-$1"
	debs_get "$package"
	mkdir "$work"
	debs_unpack "$work"
	version=${package#linux-image-}
	[ -d "$work/lib" ] || ln -s usr/lib "$work/lib"
	/sbin/depmod -b "$work" "$version"
	for file in "${lab_modules[@]}"; do
		/sbin/modprobe -d "$work" -S "$version" --show-depends "$file" ||
			die "kernel $version has no module $file"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$dir/files"
	while read -r file; do
		kernel_module "$file" "$dir/modules"
	done <"$dir/files" >"$dir/order"
	kernel_image "$work/boot/vmlinuz-$version" "$dir/vmlinuz"
	rm -rf "$work" "$dir/apt" "$dir/files"
	echo "$version" >"$dir/version"
}

# kernel_module FILE DIR: copy a module, uncompressed, and print its name.
kernel_module() {
	local name=${1##*/}
	case $name in
	*.xz)
		name=${name%.xz}
		xz -dc "$1" >"$2/$name" ;;
	*)
		cp "$1" "$2/$name" ;;
	esac
	echo "$name"
}

# kernel_image FILE TO: copy a kernel; that of x86-64, a bzImage with an xz payload, without
# its decompressor, which would take two seconds under emulation.
kernel_image() {
	python3 - "$1" "$2" <<-'END'
		import lzma
		import sys

		image = open(sys.argv[1], "rb").read()
		start = image.find(b"\xfd7zXZ\x00")
		if image[0x202:0x206] == b"HdrS" and start >= 0:
		    image = lzma.LZMADecompressor().decompress(image[start:])
		open(sys.argv[2], "wb").write(image)
	END
}

# kernel_initrd ARCHITECTURE BUSYBOX OUT: an initial file system that loads the modules and
# runs devtools/lab/init.sh.
kernel_initrd() {
	local dir=$lab_cache/kernel-$1 tree
	tree=$(mktemp -d)
	mkdir "$tree/bin" "$tree/dev" "$tree/proc" "$tree/root" "$tree/sys"
	cp "$2" "$tree/bin/busybox"
	cp -r "$dir/modules" "$dir/order" "$tree/"
	install -m 755 "$top/devtools/lab/init.sh" "$tree/init"
	(cd "$tree" && find . | cpio -o -H newc --quiet) >"$3.$$"
	mv "$3.$$" "$3"
	rm -rf "$tree"
}

# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# The arm64 libraries and the cross build. Source this file after common.sh and debs.sh.
#
# The sysroot is unpacked once, into build-arm64, or into $COMCH_LAB_CACHE if that is set.

arm64_dir=${top:?}/build-arm64
arm64_build=$arm64_dir/build
# The cross file needs an absolute path.
arm64_cache=$(realpath -m "${COMCH_LAB_CACHE:-$arm64_dir}")
arm64_sysroot=$arm64_cache/sysroot

# arm64_prepare MIRROR: make the sysroot and the cross file.
arm64_prepare() {
	local packages
	mapfile -t packages < <("$top/devtools/setup.sh" --list sysroot)
	mkdir -p "$arm64_dir" "$arm64_cache"
	if [ "${packages[*]}" != "$(cat "$arm64_cache/packages" 2>/dev/null)" ]; then
		step "Unpacking arm64 libraries into $arm64_sysroot, from $1"
		rm -rf "$arm64_sysroot" "$arm64_cache/packages"
		mkdir -p "$arm64_sysroot"
		debs_open "$arm64_cache/apt" arm64 "$1"
		debs_get_all "${packages[@]}"
		debs_unpack "$arm64_sysroot"
		arm64_merge_usr
		echo "${packages[*]}" >"$arm64_cache/packages"
	fi
	arm64_cross_file >"$arm64_dir/cross.ini.new"
	if ! cmp -s "$arm64_dir/cross.ini.new" "$arm64_dir/cross.ini"; then
		# meson does not notice that a cross file changes.
		rm -rf "$arm64_build"
		mv "$arm64_dir/cross.ini.new" "$arm64_dir/cross.ini"
	fi
	rm -f "$arm64_dir/cross.ini.new"
}

# arm64_merge_usr: move /bin, /sbin and /lib below /usr, and turn absolute links into
# relative ones, which stay within the sysroot.
arm64_merge_usr() {
	local name link
	for name in bin sbin lib; do
		[ ! -L "$arm64_sysroot/$name" ] || continue
		[ -e "$arm64_sysroot/$name" ] || continue
		mkdir -p "$arm64_sysroot/usr/$name"
		cp -a "$arm64_sysroot/$name/." "$arm64_sysroot/usr/$name/"
		rm -r "${arm64_sysroot:?}/$name"
		ln -s "usr/$name" "$arm64_sysroot/$name"
	done
	find "$arm64_sysroot/usr/lib" -type l -lname '/*' | while read -r link; do
		ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" \
			"$arm64_sysroot$(readlink "$link")")" "$link"
	done
}

arm64_cross_file() {
	local libs=$arm64_sysroot/usr/lib/aarch64-linux-gnu ccache=
	local flags="['--sysroot=$arm64_sysroot']"
	local link_flags="['--sysroot=$arm64_sysroot', '-Wl,-rpath-link,$libs']"
	! command -v ccache >/dev/null || ccache="'ccache', "
	cat <<-END
		[binaries]
		c = [$ccache'aarch64-linux-gnu-gcc']
		cpp = [$ccache'aarch64-linux-gnu-g++']
		ar = 'aarch64-linux-gnu-ar'
		strip = 'aarch64-linux-gnu-strip'
		pkgconfig = 'pkg-config'
		[built-in options]
		c_args = $flags
		c_link_args = $link_flags
		cpp_args = $flags
		cpp_link_args = $link_flags
		[properties]
		needs_exe_wrapper = false
		sys_root = '$arm64_sysroot'
		pkg_config_libdir = ['$libs/pkgconfig', '$arm64_sysroot/usr/share/pkgconfig']
		[host_machine]
		system = 'linux'
		cpu_family = 'aarch64'
		cpu = 'armv8-a'
		endian = 'little'
	END
}

# arm64_run COMMAND...: run a command in namespaces that execute arm64 programs with qemu's
# user emulation, including those that execute themselves, such as Criterion tests. Needs
# Linux 6.7 or newer for binfmt_misc of its own.
arm64_run() {
	local magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
	local mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
	# CC and CXX would select native compilers.
	# shellcheck disable=SC2016 # for the inner shell
	env -u CC -u CXX QEMU_LD_PREFIX="$arm64_sysroot" \
		unshare --user --map-root-user --mount sh -c '
			mount -t binfmt_misc none /proc/sys/fs/binfmt_misc || {
				echo "no binfmt_misc in a user namespace: needs Linux 6.7 or newer" >&2
				exit 1
			}
			printf %s "$1" >/proc/sys/fs/binfmt_misc/register || exit
			shift
			exec "$@"
		' - ":arm64:M::$magic:$mask:/usr/bin/qemu-aarch64-static:PF" "$@"
}

# arm64_hide_cuda: take this machine's CUDA out of PATH. Programs that find it build parts for it, and it
# makes none for arm64.
arm64_hide_cuda() {
	local dir path=
	while read -r -d : dir; do
		[ -x "$dir/nvcc" ] || path+=${path:+:}$dir
	done <<<"$PATH:"
	export PATH=$path
}

# arm64_can_run: end, unless this machine executes arm64 programs so: before anything is fetched.
arm64_can_run() {
	unshare --user --map-root-user --mount \
		mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null ||
		die "this kernel, $(uname -r), has no binfmt_misc in a user namespace, by which arm64 programs" \
			"are built and run: Linux 6.7 or newer is needed, on Debian 12 that of bookworm-backports"
}

# arm64_configure: configure the cross build unless it is, and bring its build files up to
# date.
arm64_configure() {
	if [ ! -e "$arm64_build/build.ninja" ]; then
		step "Configuring: meson setup $arm64_build"
		quietly arm64_run meson setup --cross-file "$arm64_dir/cross.ini" \
			--buildtype=release ${CI:+-Dwerror=true} "$arm64_build" "$top"
	fi
	quietly arm64_run ninja -C "$arm64_build" build.ninja
}

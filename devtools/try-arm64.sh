#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Build for arm64 on amd64, and run tests with qemu's user emulation.
#
# usage: devtools/try-arm64.sh [--mirror URL] [TEST...]
#
#   --mirror  Debian mirror; default: http://deb.debian.org/debian
#   TEST      names of tests, with wildcards, or suite:NAME; default: unit tests,
#             conformance and all tests with two processes, without those that cannot
#             run emulated, which the script lists
#
# Unpacks arm64 libraries into build-arm64/sysroot once, and builds in build-arm64/build.
# Needs Linux 6.7 or newer for its own binfmt_misc. The emulation does not reproduce arm64's
# weak memory order.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
dir=$top/build-arm64
sysroot=$dir/sysroot
libs=usr/lib/aarch64-linux-gnu
defaults=('unit-*' 'conformance-*' suite:multiproc comch-perf-roles
	# A tick of 4096 cycles of the emulated counter, of 62.5 MHz, is 65 us, and each
	# send waits for one: too slow.
	-coarse-t_order
	# With qemu 7.2, replies of the threads that receive descriptors, in descriptor
	# tables of their own, do not arrive in its clients.
	-t_cchan_102_procs
)

# targets PATTERN...: print the ninja targets of these tests on one line, and the names of
# the tests on another. "-NAME" excludes a test.
targets() {
	meson introspect --tests --targets "$dir/build" | python3 -c '
import fnmatch, json, os, sys
build = os.path.realpath(sys.argv[1])
wanted = [pattern for pattern in sys.argv[2:] if not pattern.startswith("-")]
excluded = [pattern[1:] for pattern in sys.argv[2:] if pattern.startswith("-")]
found = json.load(sys.stdin)
paths = {target["id"]: target["filename"] for target in found["targets"]}
names, files = [], set()
for test in found["tests"]:
    called = [test["name"]] + ["suite:" + suite.split(":")[-1] for suite in test["suite"]]
    if test["name"] in excluded or not any(
            fnmatch.fnmatch(name, pattern) for name in called for pattern in wanted):
        continue
    names.append(test["name"])
    for target in test["depends"]:
        files |= {os.path.relpath(path, build) for path in paths[target]}
print(*sorted(files))
print(*names)
' "$dir/build" "$@"
}

# Second half: inside the namespaces, which run arm64 programs, including those that execute
# themselves, such as Criterion tests.
if [ "${1:-}" = --inside ]; then
	shift
	magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
	mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
	mount -t binfmt_misc none /proc/sys/fs/binfmt_misc ||
		die 'no binfmt_misc in a user namespace: needs Linux 6.7 or newer'
	printf '%s' ":arm64:M::$magic:$mask:/usr/bin/qemu-aarch64-static:PF" \
		>/proc/sys/fs/binfmt_misc/register
	export QEMU_LD_PREFIX=$sysroot
	# These would select native compilers.
	unset CC CXX
	if [ ! -e "$dir/build/build.ninja" ]; then
		step "Configuring: meson setup $dir/build"
		quietly meson setup --cross-file "$dir/cross.ini" --buildtype=release \
			-Dwerror=true "$dir/build" "$top"
	fi
	# The build files may be out of date.
	quietly ninja -C "$dir/build" build.ninja
	mapfile -t found < <(targets "$@")
	read -ra files <<<"${found[0]}"
	read -ra names <<<"${found[1]}"
	[ "${#names[@]}" -gt 0 ] || die "no tests match $*"
	step "Building: ${#files[@]} programs for arm64"
	ninja -C "$dir/build" "${files[@]}"
	step "Testing: ${#names[@]} tests, emulated"
	status=0
	meson test -C "$dir/build" --no-rebuild --print-errorlogs --timeout-multiplier 10 \
		"${names[@]}" | tee "$dir/log" || status=$?
	# Print the same last line as devtools/test.sh, from meson's summary.
	awk -F': *' '
		/^(Ok|Expected Fail):/ { passed += $2 }
		/^(Fail|Timeout|Unexpected Pass):/ { failed += $2 }
		/^Skipped:/ { skipped += $2 }
		END { printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped }
	' "$dir/log"
	exit "$status"
fi

# unpack PACKAGE...: unpack these packages and their dependencies, of this Debian release.
# Does not use multiarch, which would replace packages of this machine.
unpack() {
	local options=(-o Dir::State="$dir/apt" -o Dir::State::status="$dir/apt/status"
		-o Dir::Cache="$dir/apt" -o APT::Architecture=arm64 -o APT::Architectures=arm64
		-o APT::Install-Recommends=false -o APT::Sandbox::User="$(id -un)"
		-o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=-)
	local deb link name

	rm -rf "$dir/apt" "$sysroot"
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/archives/partial" "$sysroot"
	: >"$dir/apt/status"
	# shellcheck disable=SC1091 # file of this machine
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror" \
		"$(. /etc/os-release && echo "$VERSION_CODENAME") main" >"$dir/apt/sources.list"
	quietly apt-get "${options[@]}" -q update
	quietly apt-get "${options[@]}" -q install -y --download-only "$@"
	for deb in "$dir"/apt/archives/*.deb; do
		dpkg -x "$deb" "$sysroot"
	done
	for name in bin sbin lib; do
		[ ! -L "$sysroot/$name" ] || continue
		cp -a "$sysroot/$name/." "$sysroot/usr/$name/"
		rm -r "${sysroot:?}/$name"
		ln -s "usr/$name" "$sysroot/$name"
	done
	# Absolute links must point into the sysroot.
	find "$sysroot/usr/lib" -type l -lname '/*' | while read -r link; do
		ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" \
			"$sysroot$(readlink "$link")")" "$link"
	done
	rm -rf "$dir/apt/archives"
}

cross_file() {
	local flags="['--sysroot=$sysroot']"
	local link_flags="['--sysroot=$sysroot', '-Wl,-rpath-link,$sysroot/$libs']"
	cat <<-END
		[binaries]
		c = [$(command -v ccache >/dev/null && echo "'ccache', ")'aarch64-linux-gnu-gcc']
		cpp = [$(command -v ccache >/dev/null && echo "'ccache', ")'aarch64-linux-gnu-g++']
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
		sys_root = '$sysroot'
		pkg_config_libdir = ['$sysroot/$libs/pkgconfig', '$sysroot/usr/share/pkgconfig']
		[host_machine]
		system = 'linux'
		cpu_family = 'aarch64'
		cpu = 'armv8-a'
		endian = 'little'
	END
}

mirror=http://deb.debian.org/debian
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0 ;;
	--mirror)
		mirror=${2:?--mirror needs a URL}
		shift 2 ;;
	*)
		break ;;
	esac
done

"$top/devtools/setup.sh" build arm64
mapfile -t packages < <("$top/devtools/setup.sh" --list sysroot)
if [ "${packages[*]}" != "$(cat "$dir/packages" 2>/dev/null)" ]; then
	step "Unpacking arm64 libraries into $sysroot, from $mirror"
	mkdir -p "$dir"
	unpack "${packages[@]}"
	echo "${packages[*]}" >"$dir/packages"
fi
cross_file >"$dir/cross.ini"
if [ $# -eq 0 ]; then
	set -- "${defaults[@]}"
fi
unshare --user --map-root-user --mount "$0" --inside "$@"

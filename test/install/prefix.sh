#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Programs that have the path of DOCA in their build files: comch-doca-env
# --prefix makes the directory that they look into. With meson, make and CMake,
# without any variable, in a directory that was moved after it was made.
#
# usage: prefix.sh SOURCE-DIR BUILD-DIR PREFIX LIBDIR COMPILER...

set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=installed.sh
. "$(dirname "$0")/installed.sh"
cc=("$@")
triplet=$(uname -m)-linux-gnu
warn=(-Wall -Wextra -Werror)
doca_env=$root/bin/comch-doca-env

# new_prefix ROLE RELEASE: $tmp/doca-ROLE-RELEASE, where programs look for DOCA.
new_prefix() {
	"$doca_env" --doca "$2" --prefix "$tmp/made" "$1" >"$tmp/said"
	[ "$(cat "$tmp/said")" = "$tmp/made is DOCA $(cat "$tmp/made/applications/VERSION") for the $1" ] ||
		fail "comch-doca-env said: $(cat "$tmp/said")"
	mv "$tmp/made" "$tmp/doca-$1-$2"
}

# new_project TOOL ROLE RELEASE: $dir, with the sources; $doca, what its build
# files name; $main, the source with main().
new_project() {
	dir=$tmp/$1-$2-$3 doca=$tmp/doca-$2-$3 main=ctrl.c
	[ "$3" != 2.2 ] || main=endpoint.c
	cp -r "$source/test/doca/programs" "$dir"
	[ -e "$doca" ] || new_prefix "$2" "$3"
}

with_meson() {
	new_project meson "$@"
	cat >"$dir/meson.build" <<-END
		project('program', 'c',
			default_options: 'pkg_config_path=$doca/lib64/pkgconfig',
			version: run_command('cat', '$doca/applications/VERSION', check: true).stdout().strip())
		cc = meson.get_compiler('c')
		lib = '$doca' / 'lib' / host_machine.cpu_family() + '-linux-gnu'
		deps = []
		foreach name : ['doca_common', 'doca_comch', 'doca_argp']
			deps += cc.find_library(name, dirs: lib)
		endforeach
		executable('program', '$main', 'app.c', 'base.c', 'options.c',
			c_args: '-DDOCA_ALLOW_EXPERIMENTAL_API',
			include_directories: include_directories('$doca/include'),
			build_rpath: lib,
			dependencies: deps)
		executable('by-pkg-config', '$main', 'app.c', 'base.c', 'options.c',
			c_args: '-DDOCA_ALLOW_EXPERIMENTAL_API',
			dependencies: [dependency('doca-common'), dependency('doca-comch'),
				dependency('doca-argp')])
	END
	{
		CC="${cc[*]}" meson setup "$dir/build" "$dir" && ninja -C "$dir/build"
	} >"$tmp/log" 2>&1 || fail "meson $*: $(cat "$tmp/log")"
	cp "$dir/build/program" "$tmp/meson-$1-$2-program"
}

# Of a DPU, with its architecture in the path; and one library of several.
with_make() {
	new_project make "$@"
	cat >"$dir/Makefile" <<-END
		LIB = $doca/lib/aarch64-linux-gnu
		CFLAGS = ${warn[*]} -I$doca/include -DDOCA_ALLOW_EXPERIMENTAL_API
		LIBS = -L\$(LIB) -Wl,-rpath,\$(LIB) -ldoca_comch -ldoca_argp
		program: $main app.c base.c options.c; \$(CC) \$(CFLAGS) \$^ -o \$@ \$(LIBS)
	END
	make -C "$dir" CC="${cc[*]}" >"$tmp/log" 2>&1 || fail "make $*: $(cat "$tmp/log")"
	cp "$dir/program" "$tmp/make-$1-$2-program"
}

# As configure scripts do: pkg-config with a directory of its own.
with_pkg_config() {
	local flags
	new_project pkg-config "$@"
	export PKG_CONFIG_PATH=$doca/lib/aarch64-linux-gnu/pkgconfig
	read -ra flags < <(pkg-config --cflags --libs doca)
	[[ "${flags[*]}" != *"$root"* ]] || fail "pkg-config names what is behind: ${flags[*]}"
	[ "$(pkg-config --modversion doca)" = "$(cat "$doca/applications/VERSION")" ] ||
		fail "$2: pkg-config and applications/VERSION differ"
	unset PKG_CONFIG_PATH
	"${cc[@]}" "${warn[@]}" -DDOCA_ALLOW_EXPERIMENTAL_API "$dir/$main" "$dir/base.c" \
		"$dir/options.c" -o "$tmp/pkg-config-$1-$2-program" "${flags[@]}" \
		-Wl,-rpath,"$doca/lib64"
}

with_cmake() {
	new_project cmake "$@"
	cat >"$dir/CMakeLists.txt" <<-END
		cmake_minimum_required(VERSION 3.16)
		project(program C)
		find_path(DOCA_INCLUDE doca_dev.h PATHS $doca/include REQUIRED NO_DEFAULT_PATH)
		find_library(DOCA_COMMON doca_common PATHS $doca/lib/$triplet REQUIRED NO_DEFAULT_PATH)
		find_library(DOCA_COMCH doca_comch PATHS $doca/lib64 REQUIRED NO_DEFAULT_PATH)
		find_library(DOCA_ARGP doca_argp PATHS $doca/lib/$triplet REQUIRED NO_DEFAULT_PATH)
		add_executable(program $main app.c base.c options.c)
		target_compile_definitions(program PRIVATE DOCA_ALLOW_EXPERIMENTAL_API)
		target_include_directories(program PRIVATE \${DOCA_INCLUDE})
		target_link_libraries(program \${DOCA_COMMON} \${DOCA_COMCH} \${DOCA_ARGP})
	END
	# CMake takes one word: without ccache.
	{
		CC="${cc[-1]}" cmake -S "$dir" -B "$dir/build" && cmake --build "$dir/build"
	} >"$tmp/log" 2>&1 || fail "cmake $*: $(cat "$tmp/log")"
	cp "$dir/build/program" "$tmp/cmake-$1-$2-program"
}

# run_pair DPU-PROGRAM HOST-PROGRAM
run_pair() {
	rm -rf "$tmp/pair"
	mkdir "$tmp/pair"
	TMPDIR=$tmp/pair COMCH_DIR=$tmp/pair/comch timeout 60 \
		"$source/test/doca/programs/pair.sh" "$tmp/$1-program" "$tmp/$2-program" ||
		fail "the pair $* has failed"
}

# The version is that of the release asked for, not of the last one with its signatures.
version_of() {
	"$doca_env" --doca "$1" --prefix "$tmp/version" host >/dev/null
	cat >"$tmp/version.c" <<-END
		#include <doca_version.h>
		_Static_assert(DOCA_VERSION_EXACT == DOCA_VERSION_CALC_EXACT($2), "another");
		const char *version;
		int main(void) { version = doca_version(); return 0; }
	END
	"${cc[@]}" "${warn[@]}" -I "$tmp/version/include" -c "$tmp/version.c" -o "$tmp/version.o" ||
		fail "version $1: the headers have another"
	grep -q "DOCA_VERSION_STRING \"$3\"" "$tmp/version/include/comch_doca_generation.h" ||
		fail "version $1: the string is another"
	[ "$(cat "$tmp/version/applications/VERSION")" = "$3" ] || fail "version $1: VERSION differs"
	export PKG_CONFIG_PATH=$tmp/version/lib64/pkgconfig
	for module in doca doca-common doca-comch; do
		[ "$(pkg-config --modversion "$module")" = "$3" ] ||
			fail "version $1: pkg-config has another for $module"
	done
	pkg-config --exists --print-errors "doca-comch = $3" || fail "version $1: pkg-config"
	unset PKG_CONFIG_PATH
}
version_of 3.1 '3, 1, 0' 3.1.0000
version_of 2.9.0072 '2, 9, 72' 2.9.0072

with_make dpu 2.10
with_meson host 2.10
run_pair make-dpu-2.10 meson-host-2.10
with_pkg_config dpu 2.2
with_pkg_config host 2.2
run_pair pkg-config-dpu-2.2 pkg-config-host-2.2
if command -v cmake >/dev/null; then
	with_cmake dpu 3.3
	with_cmake host 2.10
	run_pair cmake-dpu-3.3 cmake-host-2.10
fi
"$tmp/doca-dpu-2.10/tools/dpacc" --version >/dev/null || fail 'there is no dpacc'

# Made again for another role and release: only an added file is left. Foreign
# directories are refused.
touch "$tmp/doca-dpu-2.10/applications/added"
"$doca_env" --doca 1.5 --prefix "$tmp/doca-dpu-2.10" host >/dev/null
"$doca_env" --doca 1.5 --prefix "$tmp/fresh" host >/dev/null
diff -r --no-dereference "$tmp/fresh" "$tmp/doca-dpu-2.10" >"$tmp/said" || true
[ "$(cat "$tmp/said")" = "Only in $tmp/doca-dpu-2.10/applications: added" ] ||
	fail "made anew it is different: $(cat "$tmp/said")"
mkdir "$tmp/foreign"
touch "$tmp/foreign/VERSION"
! "$doca_env" --prefix "$tmp/foreign" dpu 2>"$tmp/said" || fail 'a foreign directory was taken'
[ "$(ls -A "$tmp/foreign")" = VERSION ] || fail 'a foreign directory was changed'
! "$doca_env" --prefix "$tmp/fresh" dpu -- true 2>/dev/null || fail 'a command was taken'

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# What a user gets: install into a temporary directory, build the examples and
# the first program of README.md outside the tree by pkg-config, with the shared
# and the static library, and run the program. Then the same for a program of
# DOCA, by pkg-config, by meson and by hand.
#
# usage: install.sh SOURCE-DIR BUILD-DIR PREFIX LIBDIR PROGRAM,... COMPILER...

set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=installed.sh
. "$(dirname "$0")/installed.sh"
IFS=, read -ra programs <<<"$1"
shift
cc=("$@")

for file in "$libdir/librte_comch.a" "$libdir/librte_comch.so" "$libdir/librte_comch.so.0" \
	"$libdir/pkgconfig/librte_comch.pc" "$libdir/libcomch_doca.so" \
	"$libdir/comch/libdoca_comch.so" "$libdir/comch/dpu/libdoca_common.so" \
	bin/comch-dpacc "$libdir/comch/tools/dpacc" "$libdir/comch/libdoca_dpa.so" \
	"$libdir/comch/libdoca_compress.so" \
	"$libdir/comch/libdoca_dma.so" \
	"$libdir/comch/libdoca_sha.so" \
	"${programs[@]/#/bin/}"; do
	[ -e "$root/$file" ] || fail "not installed: $file"
done
for header in "$source"/lib/comch/rte_comch*.h "$source"/lib/pipe/rte_comch*.h; do
	[ -e "$root/include/${header##*/}" ] || fail "not installed: ${header##*/}"
done
for header in "$source"/lib/doca/include/*.h; do
	[ -e "$root/include/comch/doca/${header##*/}" ] || fail "not installed: ${header##*/}"
done
# Below /usr there are those of others.
private=$(find "$root/include" -type f ! -name 'rte_comch*' ! -name 'doca_*' ! -name 'comch_doca*')
[ -z "$private" ] || [ -n "${T_INSTALLED:-}" ] || fail "installed, but private: $private"

# The file knows its place, so DESTDIR needs no help.
export PKG_CONFIG_PATH=$root/$libdir/pkgconfig
[ "$(pkg-config --modversion librte_comch)" = "$(cat "$source/VERSION")" ]
export LD_LIBRARY_PATH=$root/$libdir
for program in "${programs[@]}"; do
	"$root/bin/$program" --help >/dev/null || fail "$program --help failed"
done

cp -r "$source/examples" "$tmp/examples"
for makefile in "$tmp"/examples/*/Makefile; do
	dir=${makefile%/*}
	[[ $dir != */doca_* ]] || continue # below
	make -s -C "$dir" CC="${cc[*]}" CFLAGS='-O2 -Werror'
done
make -s -C "$tmp/examples/ctrl_path" clean
make -s -C "$tmp/examples/ctrl_path" CC="${cc[*]}" CFLAGS='-O2 -Werror' PROGRAMS=server static

# A program with ports and nodes links librte_graph, others do not.
! readelf -d "$root/$libdir/librte_comch.so" | grep -E 'NEEDED.*librte_(graph|port|pipeline)' ||
	fail 'librte_comch needs libraries of pipelines'
make -s -C "$tmp/examples/graph_pipeline" PROGRAMS=pipeline clean
make -s -C "$tmp/examples/graph_pipeline" CC="${cc[*]}" CFLAGS='-O2 -Werror' PROGRAMS=pipeline \
	static

# The first block of C in README.md.
# shellcheck disable=SC2016 # backticks as they stand
sed -n '/^```c$/,/^```$/p' "$source/README.md" | sed '1d;/^```$/,$d' >"$tmp/hello.c"
read -ra flags < <(pkg-config --cflags librte_comch)
read -ra libs < <(pkg-config --libs librte_comch)
read -ra static_libs < <(pkg-config --static --libs librte_comch)
"${cc[@]}" -Wall -Wextra -Werror -O2 "$tmp/hello.c" -o "$tmp/hello" "${flags[@]}" "${libs[@]}"
"${cc[@]}" -Wall -Wextra -Werror -O2 "$tmp/hello.c" -o "$tmp/hello-static" "${flags[@]}" \
	"${static_libs[@]}"
# A static program may link all of DPDK: each name is defined once.
names_of() {
	nm -g --defined-only "$@" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u
}
mapfile -t of_dpdk < <(find "$(pkg-config --variable=libdir libdpdk)" -maxdepth 1 \
	-name 'librte_*.a' ! -name 'librte_comch*')
names_of "$root/$libdir"/librte_comch*.a >"$tmp/names"
grep -qx rte_comch_server_create "$tmp/names" || fail 'the static library has no names'
twice=$(names_of "${of_dpdk[@]}" | comm -12 - "$tmp/names")
[ -z "$twice" ] || fail "DPDK's static libraries also define: $twice"

# Neither a second EAL nor a second librte_comch in the process.
for program in hello-static examples/ctrl_path/build/server \
	examples/graph_pipeline/build/pipeline; do
	! readelf -d "$tmp/$program" | grep 'NEEDED.*librte_' || fail "$program is not static"
done

# A server and a client of each kind, so that they also meet each other.
eal=(--no-huge -m 64 --no-pci --no-telemetry)
for pair in 'hello hello-static' 'hello-static hello'; do
	read -r server client <<<"$pair"
	timeout 60 "$tmp/$server" "${eal[@]}" --file-prefix=server -- server >"$tmp/server.out" &
	server_pid=$!
	timeout 60 "$tmp/$client" "${eal[@]}" --file-prefix=client -- client >"$tmp/client.out" ||
		fail "the client ended with status $?"
	wait "$server_pid" || fail "the server ended with status $?"
	server_pid=
	grep -q 'hello, DPU' "$tmp/server.out" || fail "the server said: $(cat "$tmp/server.out")"
	grep -q 'hello, host' "$tmp/client.out" || fail "the client said: $(cat "$tmp/client.out")"
done

# A static graph: its nodes are registered by a constructor in the archive.
timeout 60 "$tmp/examples/graph_pipeline/build/pipeline" >"$tmp/server.out" &
server_pid=$!
timeout 60 "$tmp/examples/port_pipeline/build/traffic" --count 10000 >"$tmp/client.out" ||
	fail "traffic ended with status $?: $(cat "$tmp/client.out")"
wait "$server_pid" || fail "the graph ended with status $?"
server_pid=

# Without an argument it says which there are.
! timeout 60 "$tmp/hello" "${eal[@]}" --file-prefix=usage 2>"$tmp/usage.out" ||
	fail "the first program takes no argument"
grep -q '^usage: .* server|client$' "$tmp/usage.out" || fail "no usage: $(cat "$tmp/usage.out")"

# DOCA. The variables come from comch-doca-env; only the linker needs the role.
unset LD_LIBRARY_PATH
doca_env=$root/bin/comch-doca-env

# A program that uses both APIs shares librte_comch with libcomch_doca. The archive
# would be a second copy, so the linker refuses it.
# both [--static]: link such a program with what pkg-config says.
both() {
	local flags
	read -ra flags < <("$doca_env" dpu -- pkg-config --cflags --libs "$@" \
		doca-common doca-argp librte_comch)
	"${cc[@]}" "$source/test/install/probe.c" -o "$tmp/both" "${flags[@]}" >"$tmp/log" 2>&1
}
both || fail "with both APIs: $(cat "$tmp/log")"
"$doca_env" dpu -- "$tmp/both" "${eal[@]}" >"$tmp/both.out" || fail "with both APIs: status $?"
! both --static || fail 'two copies of librte_comch were linked'
grep -q 'comch_is_static_but_doca_needs_it_shared' "$tmp/log" ||
	fail "with both APIs, static: $(cat "$tmp/log")"

unset PKG_CONFIG_PATH
"$doca_env" --help | grep -q '^usage: comch-doca-env' || fail "comch-doca-env --help failed"
for bad in '' gpu '--doca 2.11 dpu' '--doca 2.4 dpu' '--doca 1.1 dpu' '--doca 1.6 dpu' \
	'--doca x dpu' 'dpu host' --; do
	read -ra words <<<"$bad"
	! "$doca_env" "${words[@]}" >/dev/null 2>&1 || fail "comch-doca-env took: $bad"
done
# Of one generation each; 2.10 is newer than 2.9.
for pair in '2.10.0087 2.9' '2.8 2.7' '2.2 2.0' '2.1 2.0' '1.3 1.2' '1.4.0079 1.2'; do
	read -r one other <<<"$pair"
	[ "$("$doca_env" --doca "$one" dpu)" = "$("$doca_env" --doca="$other" dpu)" ] ||
		fail "$one and $other are different"
done
[ "$("$doca_env" --doca 1.5 dpu)" != "$("$doca_env" --doca 1.4 dpu)" ] ||
	fail '1.4 and 1.5 are the same'
# Each release has the libraries of its time.
while read -r release channels; do
	for module in doca doca-common doca-argp doca-comch doca-comm-channel doca-compress doca-dma doca-dpa doca-sha libflexio; do
		wanted=1
		[[ " doca doca-common doca-argp $channels " != *" $module "* ]] || wanted=0
		there=0
		"$doca_env" --doca "$release" host -- pkg-config --exists "$module" || there=1
		[ "$there" = "$wanted" ] || fail "$release: pkg-config $module: $there, not $wanted"
	done
done <<-END
	1.2 doca-comm-channel
	1.5 doca-comm-channel
	2.1 doca-comm-channel
	2.5 doca-comm-channel doca-compress doca-dma doca-sha
	2.6 doca-comm-channel doca-compress doca-dma doca-sha
	2.8 doca-comm-channel doca-comch doca-compress doca-dma doca-sha doca-dpa libflexio
	2.9 doca-comch doca-compress doca-dma doca-sha doca-dpa libflexio
	3.0 doca-comch doca-compress doca-dma doca-sha doca-dpa libflexio
END
[ "$("$doca_env" dpu -- dpacc --version)" = "comch-dpacc $(cat "$source/VERSION")" ] ||
	fail 'there is no dpacc'
mkdir "$tmp/doca"
cat >"$tmp/doca/program.c" <<'END'
#include <stdio.h>

#include <doca_error.h>

int
main(void)
{
	const char *role = "host";

#ifdef DOCA_ARCH_DPU
	role = "dpu";
#endif
	printf("%s %s %s\n", role, doca_version(), doca_error_get_name(DOCA_ERROR_AGAIN));
	return doca_version_runtime() == NULL;
}
END
# The same as it was written for 1.5 or 2.2.
sed -e 's/doca_error_get_name/doca_get_error_name/
	s/doca_version_runtime() == NULL/doca_log_global_level_get() != DOCA_LOG_LEVEL_INFO/
	s/<doca_error.h>/<doca_dev.h>\n#include <doca_log.h>/' "$tmp/doca/program.c" \
	>"$tmp/doca/older.c"

# expect PROGRAM ENVIRONMENT...: the program says its role and release.
expect() {
	local program=$1 said
	shift
	said=$("$doca_env" "$@" -- "$program") || fail "$program ($*) ended with status $?"
	[[ $said == "${*: -1} ${2}."*' DOCA_ERROR_AGAIN' ]] || fail "$program ($*) said: $said"
}

# in_doca ROLE RELEASE CHANNEL SOURCE MODULE...: build in all three ways, with the
# variables set; by pkg-config and meson, with these modules.
in_doca() {
	local to=$tmp/doca/$1-$2 source=$tmp/doca/$4 flags libs
	local warn=(-Wall -Wextra -Werror -DDOCA_ALLOW_EXPERIMENTAL_API)
	[[ $(pkg-config --modversion "$3") == "$2".* ]] || fail "$3 is not of $2"
	read -ra flags < <(pkg-config --cflags doca)
	# With its own flags only, not by the variables.
	(unset CPATH && "${cc[@]}" "${warn[@]}" "${flags[@]}" -c "$source" -o "$to.o")
	"${cc[@]}" "${warn[@]}" -c "$source" -o "$to.o"
	read -ra libs < <(pkg-config --libs "${@:5}")
	"${cc[@]}" "$to.o" -o "$to-pkg-config" "${libs[@]}"
	"${cc[@]}" "$to.o" -o "$to-plain" -ldoca_common -ldoca_argp "-l${3//-/_}"
	mkdir "$to-meson"
	cp "$source" "$to-meson/program.c"
	cat >"$to-meson/meson.build" <<-END
		project('program', 'c')
		deps = []
		foreach module : '${*:5}'.split()
			deps += dependency(module)
		endforeach
		executable('program', 'program.c',
			c_args: '-DDOCA_ALLOW_EXPERIMENTAL_API',
			dependencies: deps)
	END
	CC="${cc[*]}" meson setup "$to-meson/build" "$to-meson" >"$to.log" || fail "$(cat "$to.log")"
	# Later, in another shell.
	(unset CPATH LIBRARY_PATH && ninja -C "$to-meson/build") >"$to.log" || fail "$(cat "$to.log")"
}

for role in dpu host; do
	for release in 1.4 2.2 2.6 3.3; do
		case $release in
		1.4 | 2.2) arguments=(doca-comm-channel older.c doca) ;;
		2.6) arguments=(doca-comm-channel program.c doca-common doca-comm-channel doca-argp) ;;
		*) arguments=(doca-comch program.c doca-common doca-comch doca-argp) ;;
		esac
		(
			eval "$("$doca_env" --doca "$release" "$role")"
			in_doca "$role" "$release" "${arguments[@]}"
		)
		for program in pkg-config plain meson/build/program; do
			expect "$tmp/doca/$role-$release-$program" --doca "$release" "$role"
		done
	done
done

# The examples for DOCA, each role in a shell of its own, and both together.
doca_run() {
	local role=$1 program=$2
	shift 2
	timeout 60 "$doca_env" "${of_release[@]}" "$role" -- \
		"$tmp/examples/$program/build/${program}_$role" "$@"
}
for program in doca_ctrl_path doca_data_path doca_cc_data_path doca_file; do
	of_release=()
	[[ $program != *_cc_* ]] || of_release=(--doca 2.6)
	for role in dpu host; do
		"$doca_env" "${of_release[@]}" "$role" -- make -s -C "$tmp/examples/$program" CC="${cc[*]}" \
			CFLAGS='-O2 -Werror'
	done
	doca_run dpu "$program" >"$tmp/server.out" &
	server_pid=$!
	doca_run host "$program" >"$tmp/client.out" ||
		fail "$program: the host's side ended with status $?: $(cat "$tmp/client.out")"
	wait "$server_pid" || fail "$program: the DPU's side ended with status $?"
	server_pid=
	[[ $program == *_ctrl_* ]] || grep -Eq 'all (blocks|pieces) are intact' "$tmp/client.out" ||
		fail "$program said: $(cat "$tmp/client.out")"
done

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Programs of Comm Channel, as its users build them: outside the tree, against
# the installed headers of each release, by pkg-config alone; with meson for one
# side and with make for the other, and the other way round. They run as pairs,
# and so do the commands of the guide.
#
# usage: comm_channel.sh SOURCE-DIR BUILD-DIR PREFIX LIBDIR COMPILER...

set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=installed.sh
. "$(dirname "$0")/installed.sh"
cc=("$@")
releases=(1.2 1.5 2.0 2.5 2.6 2.7)
PATH=$root/bin:$PATH

# What a user has, for the sources of one release.
# new_project DIRECTORY PROGRAM RELEASE
new_project() {
	local main=endpoint.c
	[ "$3" != 1.2 ] || main=endpoint_102.c
	mkdir "$1"
	for file in base.c base.h options.c options.h release.h "$main"; do
		cp "$source/test/doca/programs/$file" "$1"
	done
	cat >"$1/meson.build" <<-END
		project('$2', 'c', default_options: ['warning_level=2', 'werror=true'])
		executable('$2', '$main', 'base.c', 'options.c',
			c_args: '-DDOCA_ALLOW_EXPERIMENTAL_API',
			dependencies: dependency('doca'))
	END
	cat >"$1/Makefile" <<-END
		CFLAGS = -O2 -Wall -Wextra -Werror -DDOCA_ALLOW_EXPERIMENTAL_API
		CFLAGS += \$(shell pkg-config --cflags doca)
		$2: $main base.c options.c; \$(CC) \$(CFLAGS) \$^ -o \$@ \$(shell pkg-config --libs doca)
	END
}

# build_with make|meson ROLE RELEASE
build_with() {
	local dir=$tmp/$1-$2-$3 program=endpoint-$2-$3
	new_project "$dir" "$program" "$3"
	if [ "$1" = meson ]; then
		CC="${cc[*]}" comch-doca-env --doca "$3" "$2" -- \
			meson setup "$dir/build" "$dir" >"$dir/log" &&
			ninja -C "$dir/build" >>"$dir/log" && mv "$dir/build/$program" "$dir"
	else
		# Without the variables for compilers: pkg-config has to say all.
		comch-doca-env --doca "$3" "$2" -- env -u CPATH -u LIBRARY_PATH \
			make -C "$dir" CC="${cc[*]}" >"$dir/log"
	fi || fail "$1 of $2 $3: $(cat "$dir/log")"
}

# run_pair DPU-BUILD RELEASE HOST-BUILD RELEASE
run_pair() {
	local dir=$tmp/pair
	rm -rf "$dir"
	mkdir "$dir"
	TMPDIR=$dir COMCH_DIR=$dir/comch LD_LIBRARY_PATH=$root/$libdir \
		timeout 60 "$source/test/doca/programs/pair.sh" \
		"$tmp/$1-dpu-$2/endpoint-dpu-$2" "$tmp/$3-host-$4/endpoint-host-$4" ||
		fail "the pair $* has failed"
}

for release in "${releases[@]}"; do
	for role in dpu host; do
		build_with make "$role" "$release"
		build_with meson "$role" "$release"
	done
	run_pair make "$release" meson "$release"
	run_pair meson "$release" make "$release"
done
run_pair make 2.7 meson 1.2
run_pair make 1.2 meson 2.7

# The guide: what its first section for the shell says, and what is to be seen.
# block LANGUAGE: the blocks of that section in a language.
block() {
	sed -n '/^## Five minutes/,/^## /p' "$source/doc/guides/doca/comm-channel.md" |
		sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" | grep -v '^```'
}
cp -r "$source/examples" "$tmp"
block sh >"$tmp/commands"
[ -s "$tmp/commands" ] || fail 'the guide has no commands'
(cd "$tmp" && COMCH_DIR=$tmp/guide CC="${cc[*]}" timeout 60 bash -e commands) >"$tmp/said" 2>&1 ||
	fail "the guide's commands have failed: $(cat "$tmp/said")"
while IFS= read -r line; do
	grep -qxF -- "$line" "$tmp/said" || fail "nobody said '$line', but: $(cat "$tmp/said")"
done < <(block text)

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Check the style of C files, and a few rules for all files.
#
#   all files  no space at the end of a line, a newline at the end of the file
#   C          tabs; lines of up to 100 columns, files of up to 800 lines (600 in lib,
#              drivers and app), functions of up to 70 lines; no // comments, no struct
#              typedefs
#              DPDK version checks only in comch_compat.h, and the right header for
#              functions that moved between versions
#   lib and drivers
#              each C file is listed in its meson.build
#              no functions that print, end the program, or write without a size
#
# usage: devtools/check-style.sh

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
cd "$top"

status=0

# none PERL-REGEX REASON FILE...: report lines that match.
none() {
	local regex=$1 reason=$2
	shift 2
	if [ $# -gt 0 ] && grep -HnP -- "$regex" "$@" | sed "s|\$|   <- $reason|" | grep .; then
		status=1
	fi
}

mapfile -t all < <(project_files | grep -v '/corpus/')
mapfile -t c < <(project_files '*.c' '*.h')
mapfile -t quiet < <(project_files 'lib/*.c' 'lib/*.h' 'drivers/*.c' 'drivers/*.h')

none '\s+$' 'space at the end' "${all[@]}"
# shellcheck disable=SC2016 # perl expands it
printf '%s\n' "${all[@]}" | perl -ne '
	chomp;
	open(my $file, "<", $_) or die "$_: $!";
	next if -z $file;
	seek($file, -1, 2);
	next if getc($file) eq "\n";
	print "$_: no newline at the end\n";
	$failed = 1;
	END { $? ||= $failed // 0 }
' || status=1

none '^( {2,}[^ *]|\t* {8,}[^*]|\t* +\t)' 'indent by tabs' "${c[@]}"
none '^[^"]*(?<!:)//' 'comments are /* */' "${c[@]}"
none '\b(if|for|while|switch)\(' 'a space after the keyword' "${c[@]}"
none '\btypedef struct\b' 'no typedef for structs' "${c[@]}"

writers='strcpy|strcat|v?sprintf|alloca'
printers='v?printf|puts|putchar|perror'
enders='rte_exit|rte_panic|abort|assert|_?exit|system'
# comch_guard.h ends a program on purpose, in builds with debug checks; argp_exit.c does so
# after --help, as in DOCA.
mapfile -t never_end < <(printf '%s\n' "${quiet[@]}" |
	grep -Ev '/(comch_guard\.h|argp_exit\.c)$')
none "(?<![\\w>.*/])($writers|$printers)\\(" 'not in a library' "${quiet[@]}"
none "(?<![\\w>.*/])($enders)\\(" 'not in a library' "${never_end[@]}"

mapfile -t no_version < <(printf '%s\n' "${c[@]}" | grep -v '/comch_compat\.h$')
none '\bRTE_VERSION\b' 'versions of DPDK: comch_compat.h' "${no_version[@]}"
# In rte_common.h or rte_bitops.h, depending on the version; comch_compat.h includes both.
moved='rte_(align(32|64)(prev)?pow2|is_power_of_2|combine(32|64)ms1b|(bsf|fls_u|log2_u)(32|64))'
mapfile -t no_bitops < <(printf '%s\0' "${c[@]}" |
	xargs -0 grep -LE '#include ("sdk/comch_compat\.h"|<rte_bitops\.h>)')
none "\\b$moved\\(" 'include rte_bitops.h and rte_common.h' "${no_bitops[@]}"

for file in "${quiet[@]}"; do
	[[ $file == *.c ]] || continue
	if ! grep -qF "'${file##*/}'," "${file%/*}/meson.build"; then
		echo "$file: not in ${file%/*}/meson.build"
		status=1
	fi
done

awk '
	function columns(line,    i, n) {
		n = 0
		for (i = 1; i <= length(line); i++)
			n += substr(line, i, 1) == "\t" ? 8 - n % 8 : 1
		return n
	}
	function bad(text) {
		print FILENAME ":" FNR ": " text
		failed = 1
	}
	FNR == 1 { start = 0 }
	columns($0) > 100 { bad("longer than 100 columns") }
	FNR == (FILENAME ~ /^(lib|drivers|app)\// ? 601 : 801) {
		bad("longer than " FNR - 1 " lines: split it by concern")
	}
	# In this style only a function has its brace in the first column.
	/^{/ { start = FNR }
	/^}/ {
		if (start && FNR - start - 1 > 70)
			bad("a function of " FNR - start - 1 " lines ends here; at most 70 are allowed")
		start = 0
	}
	END { exit failed }
' "${c[@]}" || status=1
exit "$status"

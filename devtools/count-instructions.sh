#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Count the instructions and the system calls per message, and compare them with the table in
# test/count/instructions.txt.
#
# usage: devtools/count-instructions.sh [--accept] [ROW...]
#
#   --accept   write the results to the table
#   ROW        count these rows only; "build/test/count/count --list" lists them
#
# Counts with valgrind's callgrind, so the figures do not depend on the load of the machine
# and repeat exactly. The library is the optimised build of devtools/run.sh, in build/.
# Each row has the figures of the sender and those of the receiver. System calls are counted
# without valgrind, by ptrace.
#
# A row fails if it takes more system calls than in the table, or 2 % more instructions. The
# table applies to one compiler and DPDK version, and to kernels with a certain feature; with
# others, the figures are printed without judging them. The last line is "N passed, N failed,
# N skipped".

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

table=$top/test/count/instructions.txt
program=$top/build/test/count/count
limit=2

# count DIR ROW: run a row under callgrind; its figures go to DIR/ROW.
count() {
	local dir=$1 row=$2 status=0
	# Use the C library's simplest copy functions, because its choice depends on the CPU.
	GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX_Fast_Unaligned_Load,-ERMS,-FSRM \
		"$top/test/isolate.sh" valgrind --tool=callgrind -q --instr-atstart=no \
		--collect-atstart=no --combine-dumps=yes --callgrind-out-file="$dir/$row.out" \
		"$program" "$row" >"$dir/$row.log" 2>&1 </dev/null || status=$?
	if [ "$status" -ne 0 ]; then
		printf 'row %s failed with status %d:\n' "$row" "$status" >&2
		cat "$dir/$row.log" >&2
		return 1
	fi
	# The cheapest span of each side: see test/count/count.c.
	awk -v row="$row" -v nb="$(awk -v row="$row" '$1 == row { print $2 }' "$dir/list")" '
		/^desc: Trigger: Client Request:/ { side = $NF }
		/^totals:/ {
			if (side != "" && (!(side in least) || $2 < least[side]))
				least[side] = $2
			side = ""
		}
		END { printf "%s %.1f %.1f ", row, least["send"] / nb, least["receive"] / nb }
	' "$dir/$row.out" >"$dir/$row"
	"$top/test/isolate.sh" "$program" --calls "$row" >"$dir/$row.log" 2>&1 </dev/null ||
		status=$?
	if [ "$status" -ne 0 ]; then
		printf 'row %s failed with status %d, as its system calls were counted:\n' "$row" \
			"$status" >&2
		cat "$dir/$row.log" >&2
		return 1
	fi
	awk -v row="$row" '$1 == row "/calls" { print $2, $3 }' "$dir/$row.log" >>"$dir/$row"
}

# judge: compare the results (stdin: row, send, receive, calls of each) with the table.
judge() {
	awk -v limit="$limit" -v known="$1" '
		NR == FNR {
			if ($1 !~ /^#/ && NF == 5) {
				send[$1] = $2; receive[$1] = $3
				calls_send[$1] = $4; calls_receive[$1] = $5
			}
			next
		}
		FNR == 1 {
			printf "%-16s %22s %22s %20s\n", "row", "send", "receive", "system calls"
		}
		function change(now, was) {
			if (was == 0)
				return sprintf("%8.1f (new)", now)
			return sprintf("%8.1f (%+.1f %%)", now, (now / was - 1) * 100)
		}
		function worse(now, was) { return was > 0 && now > was * (1 + limit / 100) }
		{
			judged = known && ($1 in send)
			bad = judged && (worse($2, send[$1]) || worse($3, receive[$1]) ||
				$4 > calls_send[$1] || $5 > calls_receive[$1])
			printf "%-16s %22s %22s %9.3f %10.3f%s\n", $1, change($2, send[$1]),
				change($3, receive[$1]), $4, $5,
				bad ? "  WORSE" : ""
			if (!judged)
				skipped++
			else if (bad)
				failed++
			else
				passed++
		}
		END {
			if (failed)
				printf "\n%d rows cost more than %g %% above the table. Make them cheaper, or" \
					" accept the\nfigures with devtools/count-instructions.sh --accept and" \
					" say why in the commit.\n", failed, limit
			printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped
			exit failed > 0
		}
	' "$table" -
}

accept=false
rows=()
for arg; do
	case $arg in
	-h | --help) usage; exit 0 ;;
	--accept) accept=true ;;
	-*) die "unknown option '$arg': see --help" ;;
	*) rows+=("$arg") ;;
	esac
done

"$top/devtools/setup.sh" test
build_release
[ -x "$program" ] || die "$program was not built: valgrind's headers were missing when build/ was configured"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$program" --list >"$dir/list"
if [ ${#rows[@]} -eq 0 ]; then
	mapfile -t rows < <(awk '{ print $1 }' "$dir/list")
	all=true
else
	all=false
fi
for row in "${rows[@]}"; do
	grep -q "^$row " "$dir/list" || die "unknown row '$row': see $program --list"
done

step "Counting ${#rows[@]} rows"
made_with="# $("$program" --version), $(uname -m)"
export top program
export -f count
printf '%s\n' "${rows[@]}" | xargs -P "$(nproc)" -I ROW bash -euo pipefail -c 'count "$@"' count "$dir" ROW ||
	die "counting failed for some rows"

if $accept; then
	$all || die "--accept writes the whole table: do not name rows"
	{
		echo "# SPDX-License-Identifier: BSD-3-Clause"
		echo "# Copyright(c) 2026 The comch authors"
		echo "#"
		echo "# Per message: row, instructions of the side that sends, of the one that receives,"
		echo "# system calls of both."
		echo "# Written by devtools/count-instructions.sh --accept, with:"
		echo "$made_with"
		for row in "${rows[@]}"; do
			cat "$dir/$row"
		done | column -t
	} >"$dir/table"
	cp "$dir/table" "$table"
	step "Written to ${table#"$top"/}"
fi

step "Per message: instructions, and the change against the table; system calls"
known=0
if grep -qxF "$made_with" "$table"; then
	known=1
else
	printf 'Not judged: the table is for other versions than\n%s\n' "$made_with"
fi
for row in "${rows[@]}"; do
	cat "$dir/$row"
done | judge "$known"

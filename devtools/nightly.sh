#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Run what the gate, .ci/run, leaves out: what depends on a clock, a random moment or many
# processes, or takes long.
#
# usage: devtools/nightly.sh [--resume] [PART...]
#        devtools/nightly.sh --changed [--base COMMIT]
#        devtools/nightly.sh --list
#
#   PART       run these parts only, in this order; default: all
#   --resume   leave out the parts that the record has for this commit
#   --changed  run the parts that the changes since COMMIT touch (default: where the branch
#              left origin/main), as many as fit into 45 minutes, and list the others
#   --list     print the parts: about how many minutes each takes, and what it does
#
# Each part stands alone. Its output goes to build-nightly/PART.log, and one line to
# test/nightly.txt, to be committed: date, commit, part, minutes, the machine's floors of the
# latency of a cache line and of the rate of slots, and counts; then a line for each failure:
# new, or still there since the part's last record; or mended since.
# A part that fails does not end the run. The last line is "N passed, N failed, N skipped".

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

out=$top/build-nightly
record=$top/test/nightly.txt
test_sh=$top/devtools/test.sh

# The parts: name; minutes on two CPUs; paths whose changes it tests; what it does. The function
# part_NAME, with _ for -, runs it; its last line has the counts.
parts=(
	'timed 6 ^(lib|drivers|test/(hostile|mlx5|common))/ tests that judge times, one at a time; needs an idle machine'
	'random 4 ^(lib|drivers|test/(soak|deaths|multiproc|ring|lab|doca))/ kills and choices at random; each test prints its seed'
	'crowd 5 ^(lib|drivers|test/(hostile|multiproc|siege|doca))/ many processes and threads'
	'tsan 20 ^(lib|drivers|test)/ the suite tsan with TSan'
	'delays 7 ^(lib/|drivers/comch/common|test/(fake|conformance|doca))/ the conformance suite with other delays of the driver in memory, and with a DMA device; DOCA programs with any delay'
	'late 5 ^(lib/comch|drivers/comch/mlx5|test/(mlx5|conformance))/ the conformance suite on verbs that deliver late'
	'agents 4 ^(lib/comch|drivers/comch|test/(agent|conformance))/ the conformance suite with the other end in another process'
	'asan 30 ^(lib|drivers|app|test)/ all tests with ASan and UBSan'
	'clang 20 ^(lib|drivers|app|examples|test)/ all tests, built with clang'
	'compile 12 ^(lib/doca/|lib/.*meson.build|examples/|test/(install|headers|dpacc)/) what takes minutes of compiling: installed programs, DOCA headers, comch-dpacc'
	'environments 3 ^(lib|drivers|test/environments)/ two programs in namespaces, limits, filters, with other allocators and clocks'
	'old 5 ^(lib|drivers|examples)/ examples in pairs with the library of an older commit, both ways'
	'model 5 ^test/model/ the protocols, by spin'
	'perf 4 ^(app/comch-perf|test/smoke)/ comch-perf runs in each of its modes'
	'exhaust 8 ^(lib|drivers/comch|test/exhaust)/ each call that needs a resource fails in turn, five times'
	'soak 11 ^(lib/comch|drivers/comch/(shm|common)|test/soak)/ ten minutes of lost messages hunted, with 500 kills'
	'soak-mlx5 6 ^(lib/comch|drivers/comch/mlx5|test/(soak|mlx5))/ five minutes of the same over RDMA'
	'fuzz 20 ^(lib|drivers|test/fuzz)/ each fuzzer for two minutes'
	'check-checks 3 ^devtools/check- each check of the sources finds a planted violation'
	'check-gate 3 ^(devtools/(run_tests|check-gate)|[.]ci/) the gate forgives planted failures, or not, as devtools/run_tests.py says'
	'flaky 10 ^test/flaky.txt what is listed in test/flaky.txt, 200 times each'
	'lab 5 ^(devtools/lab|drivers/comch/mlx5|test/lab) the quick tests of the two virtual machines'
	'chroot 15 ^(devtools/setup|README|meson|config) the README in a fresh Debian 12'
	'packages 25 ^(debian|meson|config|doc/man|python|examples/ci|test/(install|ci)|devtools/(build-deb|try-deb|try-image)|.*/meson.build) Debian packages: built, for arm64 as well; installed, upgraded, purged; an image for CI'
	'debian13 20 ^(meson|config) the fast tests on Debian 13'
	"samples 7 ^(lib/doca/|devtools/(check-doca-samples|doca-programs)) NVIDIA's programs for DOCA, with files of 1 GiB; needs checkouts, COMCH_SAMPLES=DIR[:DIR...]"
	'arm64 30 ^(devtools/(try-)?arm64|lib/comch/wire) unit, conformance and two processes, emulated'
)
# Of --changed.
max_minutes=45

part_clang() { "$test_sh" --clang --all; }
part_asan() { "$test_sh" --asan --all; }
part_tsan() { "$test_sh" --tsan --all; }
part_timed() { T_TIMED=1 "$test_sh" --suite timed --num-processes 1; }
part_random() { "$test_sh" --suite random; }
part_crowd() { "$test_sh" --suite crowd; }
part_compile() { "$test_sh" --suite compile; }
part_environments() {
	# Other allocators: without them, their rows are skipped.
	local allocator
	for allocator in libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0; do
		apt-get install -qq -y --no-install-recommends "$allocator" >/dev/null 2>&1 || true
	done
	"$test_sh" --suite environments
}
part_old() { "$top/devtools/try-old.sh"; }
part_model() { "$test_sh" --suite model; }
part_delays() { "$test_sh" --suite delays; }
part_late() { "$test_sh" --suite late; }
part_agents() { "$test_sh" --suite agents; }
part_perf() { "$test_sh" --suite perf-smoke --num-processes 1; }
part_exhaust() { "$test_sh" --suite exhaust --repeat 5; }
part_soak() { "$top/devtools/soak.sh" 600 --kills 500; }
part_soak_mlx5() { "$top/devtools/soak.sh" 300 --dev mlx5 --kills 200; }
part_fuzz() { "$top/devtools/fuzz.sh" 120; }
part_check_gate() { "$top/devtools/check-gate.sh"; }
part_lab() { "$top/devtools/lab.sh" test --quick; }
part_arm64() { "$top/devtools/try-arm64.sh"; }
part_debian13() { "$top/devtools/try-chroot.sh" --release trixie devtools/test.sh --suite fast; }

part_packages() {
	local deb=$top/build-deb build=("$top/devtools/build-deb.sh")
	{
		"${build[@]}" --twice --out "$deb/12" &&
			# The commit of try-old.sh.
			"${build[@]}" --out "$deb/older" e26d2c3 &&
			"$top/devtools/try-deb.sh" --older "$deb/older" "$deb/12" &&
			"$top/devtools/try-image.sh" "$deb/12" &&
			"${build[@]}" --release trixie --twice --without-net --out "$deb/13" &&
			"$top/devtools/try-deb.sh" --release trixie "$deb/13" &&
			"$top/devtools/try-image.sh" --release trixie "$deb/13" &&
			"${build[@]}" --arch arm64 --out "$deb/12-arm64" &&
			"$top/devtools/try-deb-lab.sh" "$deb/12" "$deb/12-arm64"
	} || return
	printf '\n9 passed, 0 failed, 0 skipped\n'
}

part_samples() {
	local dirs dir passed=0 failed=0 counts
	IFS=: read -ra dirs <<<"${COMCH_SAMPLES:-}"
	if [ ${#dirs[@]} -eq 0 ]; then
		printf 'COMCH_SAMPLES names no checkout of doca-samples\n\n0 passed, 0 failed, 1 skipped\n'
		return
	fi
	for dir in "${dirs[@]}"; do
		"$top/devtools/check-doca-samples.sh" "$dir" | tee "$out/samples.out" || true
		# "77 passed, 0 failed"; else the script itself has failed.
		read -r -a counts < <(tail -n 1 "$out/samples.out")
		[ "${counts[1]:-}" = passed, ] || counts=(0 'passed,' 1 failed)
		passed=$((passed + counts[0]))
		failed=$((failed + counts[2]))
	done
	printf '\n%d passed, %d failed, 0 skipped\n' "$passed" "$failed"
	[ "$failed" -eq 0 ]
}

part_check_checks() {
	"$top/devtools/check-checks.sh" &&
		printf '\n1 passed, 0 failed, 0 skipped\n'
}

part_chroot() {
	"$top/devtools/try-chroot.sh" &&
		printf '\n1 passed, 0 failed, 0 skipped\n'
}

part_flaky() {
	local test nb=0 failed=0
	while read -r test; do
		nb=$((nb + 1))
		"$test_sh" "$test" --repeat 200 || failed=$((failed + 1))
	done < <(sed -n 's/^\([^# ][^ ]*\) .*/\1/p' "$top/test/flaky.txt")
	printf '\n%d passed, %d failed, 0 skipped\n' $((nb - failed)) "$failed"
	[ "$failed" -eq 0 ]
}

# floors: the floors of this machine, in short: nanoseconds of a line, millions of slots a second.
floors() {
	build_release >/dev/null
	own_runtime
	"$top/build/app/comch-perf/comch-perf" --format csv floor 2>/dev/null | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
		{ value[$column["floor"]] = $column["floor_value"] }
		END { printf "line %.0f ns, slot %.0f M/s\n", value["line"], value["slot"] / 1e6 }
	'
}

# failures LOG: what failed, without what may differ from one time to another.
failures() {
	sed -nE '
		s/^(failed: [^:]*: [^ ]+ \/ [^:]+).*/\1/p; t
		s/^(failed: .*)/\1/p; t
		s/^(FAILED +[a-z_0-9]+) .* runs, .*/\1/p; t
		s/^FAILED +[0-9.]+ s +/FAILED /p; t
		s/^FAILED /&/p; t
		/FAILED: /{ s/.*FAILED: /FAILED: /; s/[0-9]+/N/g; p }
	' "$1" | sort -u
}

# recorded PART: what had failed when the part was recorded last.
recorded() {
	awk -v part="$1," '
		/^[0-9]/ { mine = $4 == part; if (mine) out = "" }
		mine && sub(/^  (new|still): /, "") { out = out $0 "\n" }
		END { printf "%s", out }
	' "$record" 2>/dev/null | sort -u
}

# news PART: each failure, new or still there, and those that are mended.
news() {
	local log=$out/$1.log
	failures "$log" >"$out/now"
	[ -s "$out/now" ] || echo "failed: see build-nightly/$1.log" >"$out/now"
	recorded "$1" >"$out/before"
	comm -23 "$out/now" "$out/before" | sed 's/^/  new: /'
	comm -12 "$out/now" "$out/before" | sed 's/^/  still: /'
	comm -13 "$out/now" "$out/before" | sed 's/^/  mended: /'
}

# run PART: run it, and record what came of it.
run() {
	local part=$1 log=$out/$1.log begin=$SECONDS status=0 counts
	step "nightly: $part"
	"part_${part//-/_}" >"$log" 2>&1 </dev/null || status=$?
	counts=$(counts_of "$log" "$status")
	{
		printf '%s %s %s, %d min, %s: %s\n' "$(date -u +'%F %H:%M')" "$commit" "$part" \
			$(((SECONDS - begin + 59) / 60)) "$floors" "$counts"
		if [[ $counts == *' 0 failed,'* ]]; then
			recorded "$part" | sed 's/^/  mended: /'
		else
			news "$part"
		fi
	} >"$out/lines"
	tee -a "$record" <"$out/lines"
}

# touched: the names of the parts that the changes since $base touch, as far as they fit.
touched() {
	local part name minutes paths sum=0
	own_git diff --name-only "$base" >"$out/paths"
	for part in "${parts[@]}"; do
		read -r name minutes paths _ <<<"$part"
		grep -qE "$paths" "$out/paths" || continue
		sum=$((sum + minutes))
		if [ "$sum" -le "$max_minutes" ]; then
			echo "$name"
		else
			printf 'touched, but not run: %s (%d minutes)\n' "$name" "$minutes" >&2
			sum=$((sum - minutes))
		fi
	done
}

changed=false
resume=false
base=
while :; do
	case ${1:-} in
	-h | --help)
		usage
		exit 0 ;;
	--list)
		for part in "${parts[@]}"; do
			read -r name minutes _ text <<<"$part"
			printf '%-13s %3d min  %s\n' "$name" "$minutes" "$text"
		done
		exit 0 ;;
	--changed) changed=true ;;
	--resume) resume=true ;;
	--base)
		base=${2:?--base needs a commit}
		shift ;;
	-*) die "unknown option '$1': see --help" ;;
	*) break ;;
	esac
	shift
done
for part; do
	[[ $(type -t "part_${part//-/_}") == function ]] || die "unknown part '$part': see --list"
done

export CI=true
mkdir -p "$out"
commit=$(tree_commit)
if $changed; then
	[ -n "$base" ] || base=$(own_git merge-base HEAD origin/main) ||
		die "there is no origin/main: name a commit with --base"
	mapfile -t names < <(touched)
	if [ ${#names[@]} -eq 0 ]; then
		echo "the changes since $base touch no part"
		printf '\n0 passed, 0 failed, 0 skipped\n'
		exit 0
	fi
	set -- "${names[@]}"
elif [ $# -eq 0 ]; then
	set -- "${parts[@]%% *}"
fi
# In this shell, so that its directory is removed at the end.
floors >"$out/floors" || echo 'floors unknown' >"$out/floors"
floors=$(cat "$out/floors")
names=("$@")
for part; do
	if $resume && [[ $commit != *+ ]] && grep -qF " $commit $part," "$record"; then
		continue
	fi
	run "$part"
done
# The newest line of each part for this commit.
awk -v names=" ${names[*]} " -v commit="$commit" '
	/^[0-9]/ && $3 == commit { part = $4; sub(/,$/, "", part); last[part] = $0 }
	END {
		for (part in last) {
			if (index(names, " " part " ") == 0)
				continue
			n = split(last[part], field, " ")
			passed += field[n - 5]
			failed += field[n - 3]
			skipped += field[n - 1]
		}
		printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped
		exit failed > 0
	}
' "$record"

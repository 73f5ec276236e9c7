#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Make all files of a release of the last commit, check them, and say what a person would do next.
#
# usage: devtools/release.sh --dry-run [--quick] [--without-net RELEASE] [--out DIR]
#
#   --dry-run  there is no other way: nothing is tagged or published
#   --quick    no packages: the versions, the checks, the tarball and the documentation
#   --without-net RELEASE
#              of this release of Debian, leave out librte-net-comch: its mirror has no source
#              package of DPDK
#   --out DIR  where the files go; default: build-release
#
# The tarball is built from; packages for amd64 are built twice, installed and purged, and run the project
# of examples/ci; those for arm64 are built. Takes some half an hour, and a minute or two with --quick.
# Needs root and the network for the packages. DIR is new, empty, or that of an earlier run.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

out=$top/build-release
dry=false
quick=false
without_net=
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0 ;;
	--dry-run)
		dry=true
		shift ;;
	--quick)
		quick=true
		shift ;;
	--without-net)
		case ${2:-} in
		bookworm | trixie) without_net=$2 ;;
		*) misuse "--without-net: expected bookworm or trixie, not '${2:-}'" ;;
		esac
		shift 2 ;;
	--out)
		[ -n "${2:-}" ] || misuse '--out needs a value'
		out=$(realpath -m "$2")
		shift 2 ;;
	*) misuse "unexpected '$1' (try --help)" ;;
	esac
done
$dry || die 'a person publishes: use --dry-run, and do what it says at its end'
cd "$top"

wrong=()
version=$(cat VERSION)
step "The files that have the version $version"
changed=$(own_git status --porcelain)
[ -z "$changed" ] || die "files are not committed, and would not be in the release: $changed"
[ ! -e "$out" ] || [ -z "$(ls -A "$out")" ] || [ -e "$out/SHA256SUMS" ] ||
	die "--out: $out has files that are not of an earlier run: name another directory"
devtools/check-symbols.py >/dev/null || wrong+=('devtools/check-symbols.py says what')
packaged=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
[ "$packaged" = "$version" ] || wrong+=("debian/changelog begins with $packaged")
grep -qE "^## $version - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md ||
	wrong+=("CHANGELOG.md has no section '## $version - DATE': what is Unreleased goes there")
[ "$(sed -n '/^## Unreleased/,/^## [0-9]/p' CHANGELOG.md | grep -c '^\*')" -eq 0 ] ||
	wrong+=("CHANGELOG.md has entries under Unreleased, which are of no version")
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || wrong+=("there is a tag v$version")
[ "${#wrong[@]}" -eq 0 ] || printf 'not ready: %s\n' "${wrong[@]}"

devtools/check-all.sh
rm -rf "$out"
mkdir -p "$out"

step 'The tarball, and a build from it'
devtools/setup.sh build docs
configure build --buildtype=release
rm -rf build/meson-dist
quietly meson dist -C build --no-tests
cp "build/meson-dist/comch-$version.tar.xz" "$out"
tmp=$(mktemp -d)
trap 'rm -rf --one-file-system "$tmp"' EXIT
tar -xJf "$out/comch-$version.tar.xz" -C "$tmp"
quietly meson setup --buildtype=release -Dtests=disabled -Ddocs=enabled "$tmp/build" \
	"$tmp/comch-$version"
quietly ninja -C "$tmp/build"
quietly meson install -C "$tmp/build" --no-rebuild --destdir "$tmp/root"
"$tmp/build/app/comch-perf/comch-perf" --duration 0.1 data-lat >/dev/null ||
	die 'comch-perf of the tarball does not run'

step 'The documentation'
html=$(dirname "$(find "$tmp/root" -name index.html -path '*doc*' | head -1)")
[ -e "$html/index.html" ] || die 'the tarball made no documentation'
tar -cJf "$out/comch-$version-doc.tar.xz" -C "$html" --transform "s|^\.|comch-$version-doc|" .

if ! $quick; then
	for release in bookworm trixie; do
		net=()
		[ "$release" != "$without_net" ] || net=(--without-net)
		devtools/build-deb.sh --release "$release" --twice "${net[@]}" --out "$out/$release-amd64"
		devtools/try-deb.sh --release "$release" "$out/$release-amd64"
		devtools/try-image.sh --release "$release" "$out/$release-amd64"
		devtools/build-deb.sh --release "$release" --arch arm64 "${net[@]}" \
			--out "$out/$release-arm64"
	done
fi
(cd "$out" && find . -type f -printf '%P\0' | sort -z | xargs -0 sha256sum) >"$tmp/sums"
mv "$tmp/sums" "$out/SHA256SUMS"

step "In $out:"
(cd "$out" && du -ak --exclude='*dbgsym*' | sort -k 2)
if [ "${#wrong[@]}" -gt 0 ]; then
	printf 'not ready: %s\n' "${wrong[@]}"
	exit 1
fi
[ -z "$without_net" ] || printf '\nThe packages of %s lack librte-net-comch: build them with it first.\n' \
	"$without_net"
cat <<END

What a person does next:
  1. read test/nightly.txt: each part has passed on this commit, $(git rev-parse --short HEAD), or on one
     that differs from it in nothing that the part looks at (devtools/nightly.sh --changed --base COMMIT)
  2. git tag -s v$version -m "comch $version" && git push origin v$version
  3. publish the files above with SHA256SUMS, and its signature: gpg --armor --detach-sign SHA256SUMS
  4. push the image of examples/ci (doc/guides/doca/ci.md) with the packages
  5. open the next version: VERSION, RTE_COMCH_VERSION_STRING, python/pyproject.toml, debian/changelog,
     and "## Unreleased" in CHANGELOG.md; devtools/check-symbols.py says what is missing
END

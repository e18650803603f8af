#!/usr/bin/env bash
# Writes all files of a release into DIST, and prints the command that tags it: release.sh VENV DIST
#
# `make wheel` writes the wheel of this machine and the sources. This script adds the wheel for aarch64, the bill of
# materials, the notes and the checksums. It refuses before it builds.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
dist=$2

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
refuse() {
    echo "release.sh: $1" >&2
    exit 2
}
grep -Eq "^## $version \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" CHANGELOG.md ||
    refuse "CHANGELOG.md has no section \"## $version (DATE)\": make notes VERSION=$version"
[[ -z $(git status --porcelain) ]] || refuse "the work tree has changes: commit or remove them"
tags=$(git tag --points-at HEAD "v*")
[[ -z $tags || $tags == "v$version" ]] || refuse "the tag is $tags, and the version in Cargo.toml is $version: they must be equal"

make --no-print-directory wheel
PATH=$(cd "$venv/bin" && pwd):$PATH # maturin looks for Zig there

# Not optimized by training runs: this machine cannot execute that module.
target=aarch64-unknown-linux-gnu
rustup target add "$target" >/dev/null 2>&1
maturin build --release --locked --quiet --target "$target" --zig --compatibility manylinux_2_28 --out "$dist"

# maturin writes the bill of materials into each wheel (PEP 770).
wheel=$(ls "$dist"/dumbbell-"$version"-*x86_64.whl)
python -m zipfile -e "$wheel" "$dist/.unpacked"
cp "$dist"/.unpacked/dumbbell-"$version".dist-info/sboms/*.cyclonedx.json "$dist/dumbbell-$version.cyclonedx.json"
rm -rf "$dist/.unpacked"

sed -n "/^## $version /,/^## /p" CHANGELOG.md | sed '$d' >"$dist/NOTES.md"
(cd "$dist" && rm -f SHA256SUMS && sha256sum -- * >SHA256SUMS)
echo "git tag -s v$version -m 'dumbbell $version' && git push origin v$version"

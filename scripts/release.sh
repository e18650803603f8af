#!/usr/bin/env bash
# Completes dist/ for a release, and prints the command that tags it: release.sh VENV DIST
#
# `make wheel` has written the wheel of this machine and the sources. This adds the wheel for aarch64, the bill of
# materials, the notes and the checksums.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
dist=$2
PATH=$(cd "$venv/bin" && pwd):$PATH # maturin looks for Zig there

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
if ! grep -q "^## $version " CHANGELOG.md; then
    echo "release.sh: CHANGELOG.md has no section \"## $version (DATE)\": make notes VERSION=$version" >&2
    exit 2
fi
if [[ -n $(git status --porcelain) ]]; then
    echo "release.sh: the work tree has changes: commit or remove them" >&2
    exit 2
fi

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

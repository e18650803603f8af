#!/usr/bin/env bash
# Writes what others install with pip: dumbbell as a wheel and as sources, and the programs for real packets as the wheel
# dumbbell-real. Usage: wheels.sh VENV DIST
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
dist=$2

# What `dumbbell --version` says where there is no checkout.
if DUMBBELL_COMMIT=$(git rev-parse HEAD 2>/dev/null); then
    git diff --quiet HEAD || DUMBBELL_COMMIT+=+
    export DUMBBELL_COMMIT
fi
rm -rf "$dist"
# zig links against an old glibc, so that the wheel also installs on systems that are older than this one.
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement requirements-wheel.lock
PATH=$PWD/$venv/bin:$PATH "$venv/bin/maturin" build --release --locked --quiet --zig --compatibility manylinux_2_17 --sdist --out "$dist"
"$venv/bin/python" scripts/real_wheel.py "$venv/bin" "$dist"
ls -l "$dist"

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
PATH=$(cd "$venv/bin" && pwd):$PATH # maturin looks for Zig there
# Profile-guided optimization: the simulator is a fifth faster. The first module counts what it executes in the training
# runs; Zig cannot link that one, whose flags and target are otherwise those of the wheel.
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
target=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="-Cprofile-generate=$profile/raw" \
    "$venv/bin/maturin" build --release --locked --quiet --target "$target" --compatibility linux --out "$profile/wheel"
"$venv/bin/python" -m zipfile -e "$profile"/wheel/*.whl "$profile/module"
PYTHONPATH="$profile/module" "$venv/bin/python" -m scripts.training_runs
merged=$(PYTHONPATH="$profile/module" "$venv/bin/python" -m scripts.training_runs --merge "$profile/raw")
# Zig links against glibc 2.28, that of RHEL 8, Debian 10 and Ubuntu 20.04; maturin refuses a wheel that needs a newer one.
RUSTFLAGS="-Cprofile-use=$merged" "$venv/bin/maturin" build --release --locked --quiet --target "$target" --zig \
    --compatibility manylinux_2_28 --out "$dist"
"$venv/bin/maturin" sdist --out "$dist"
"$venv/bin/python" scripts/real_wheel.py "$venv/bin" "$dist"
ls -l "$dist"

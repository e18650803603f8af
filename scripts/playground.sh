#!/usr/bin/env bash
# The playground as a folder of static files: scripts/playground.sh PYTHON TARGET FOLDER
#
# PYTHON has dumbbell, TARGET is where cargo builds, FOLDER is made anew. What it takes is installed by the stages `wasm` and
# `node` of scripts/bootstrap.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
target=$2
folder=$3

# Debian's compiler, for it comes with the sources of std. No unwinding: what panics ends the module, and the worker begins a
# new one for each run.
RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld \
    /usr/bin/cargo rustc --locked --quiet --release --package playground --lib --crate-type cdylib \
    -Z build-std=std,panic_abort --target wasm32-unknown-unknown --target-dir "$target/wasm" \
    --config 'profile.release.panic="abort"' --config 'profile.release.strip=true'

rm -rf "$folder"
mkdir -p "$folder"
install -m 644 "$target/wasm/wasm32-unknown-unknown/release/playground.wasm" "$folder/simulator.wasm"
"$python" -m scripts.playground_catalogue "$folder"
node web/build.mjs playground "$(realpath "$folder")"

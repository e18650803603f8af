#!/usr/bin/env bash
# The playground as a folder of static files: scripts/playground.sh PYTHON TARGET FOLDER
#
# PYTHON has dumbbell, TARGET is where cargo builds, FOLDER is made anew. What it takes: Debian's rustc-web, cargo-web,
# rust-web-src and lld (scripts/bootstrap.sh web), and node for the page.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1 target=$2 folder=$3

for needed in /usr/bin/cargo /usr/lib/rustlib/src/rust/library "$(command -v wasm-ld || true)"; do
	[ -e "$needed" ] || {
		echo "playground: needs rustc-web, cargo-web, rust-web-src and lld: scripts/bootstrap.sh web" >&2
		exit 1
	}
done

# Debian's compiler, for it comes with the sources of std. No unwinding: what panics ends the module, and the worker begins a
# new one. The module has no names and nothing for debuggers.
RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld \
	/usr/bin/cargo rustc --locked --quiet --release --package playground --lib --crate-type cdylib \
	-Z build-std=std,panic_abort --target wasm32-unknown-unknown --target-dir "$target/wasm" \
	--config 'profile.release.panic="abort"' --config 'profile.release.strip=true'
wasm=$target/wasm/wasm32-unknown-unknown/release/playground.wasm

rm -rf "$folder"
mkdir -p "$folder"
install -m 644 "$wasm" "$folder/simulator.wasm"
"$python" -m scripts.playground_catalogue "$folder"
(cd web && npm ci --silent --no-audit --no-fund && node build.mjs playground "$(realpath --relative-to=. "$OLDPWD/$folder" 2>/dev/null || realpath "$folder")")

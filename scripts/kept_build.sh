#!/usr/bin/env bash
# Keeps what cargo compiled of other people's crates for the next clone on this machine. Usage: kept_build.sh restore|keep TARGET
#   restore  copies it into TARGET, if nothing was built there yet
#   keep     copies it out of TARGET, if this set of crates was not kept yet
# A set belongs to one Cargo.lock, compiler and profile. Without a kept set, cargo compiles everything: nothing else changes.
set -euo pipefail
cd "$(dirname "$0")/.."
action=$1
target=$2
place=${XDG_CACHE_HOME:-$HOME/.cache}/dumbbell/build
most=3 # sets that are kept

key() {
    { cat Cargo.lock Cargo.toml .cargo/config.toml; rustc --version --verbose; echo "${CARGO_INCREMENTAL:-} ${RUSTFLAGS:-}"; } |
        sha256sum | cut -c1-20
}

own_crates() { # names of our packages and of their test programs, as in names of files: `py_bindings`, `_core`, `it`
    sed -n 's/^name = "\(.*\)"/\1/p' crates/*/Cargo.toml | sort -u | sed 'p; s/-/_/g'
    printf '%s\n' _core it real
}

restore() {
    local from
    from=$place/$(key)
    [[ -d $from && ! -e $target/debug ]] || return 0
    mkdir -p "$target"
    touch "$from" # the ones not used for longest are dropped
    cp -a "$from/debug" "$target/"
}

keep() {
    local into part name
    into=$place/$(key)
    [[ ! -e $into && -d $target/debug ]] || return 0
    mkdir -p "$place"
    part=$(mktemp -d "$place/.part-XXXXXX")
    trap "rm -rf '$part'" EXIT
    mkdir "$part/debug"
    cp -a "$target/debug/deps" "$target/debug/.fingerprint" "$target/debug/build" "$part/debug/"
    while read -r name; do
        rm -rf "$part/debug/deps/"{lib,}"$name"-* "$part/debug/deps/lib$name."* "$part/debug/"{.fingerprint,build}/"$name"-*
    done < <(own_crates)
    mv -T "$part" "$into" 2>/dev/null || true # another clone was faster
    find "$place" -mindepth 1 -maxdepth 1 -not -name '.part-*' -printf '%T@ %p\n' | sort -rn | tail -n +$((most + 1)) |
        cut -d' ' -f2- | xargs -r rm -rf
}

case $action in
restore | keep) "$action" ;;
*) echo "kept_build.sh: $action is no action; allowed: restore, keep" >&2 && exit 2 ;;
esac

